/* What a record is a part of that no action made and no collection lists: chunks of checkpoints and
 * files, blocks of collections, the vectors of an index. Nothing leads that way, so the few records
 * of kinds that have such parts are read. Of several wholes (equal chunks of two checkpoints) one
 * that has a name says most, then one that an action made; of equal ones the least id. */
#include "engine/cli/provenance/lineage_internal.h"

#include "schemas/canonical.h"

#include <string.h>

static bool has_parts(enum record_kind whole, enum record_kind part)
{
    switch (part) {
    case KIND_CHUNK: return whole == KIND_CHECKPOINT || whole == KIND_FILE;
    case KIND_COLLECTION_BLOCK: return whole == KIND_COLLECTION || whole == KIND_COLLECTION_BLOCK;
    case KIND_EMBEDDING_BATCH: return whole == KIND_INDEX;
    case KIND_NONE:
    case KIND_EXPR:
    case KIND_RULE:
    case KIND_EGRAPH:
    case KIND_CLUSTER:
    case KIND_VOCABULARY:
    case KIND_TOKEN_BATCH:
    case KIND_CHECKPOINT:
    case KIND_REPORT:
    case KIND_FILE:
    case KIND_COLLECTION:
    case KIND_DICTIONARY:
    case KIND_INDEX:
    case KIND_GENERATION:
    case KIND_EXERCISE:
    case KIND_END: return false;
    }
    return false;
}

struct search {
    struct lineage *l;
    const struct digest *part;
    enum record_kind kind;
    struct arena arena;
    struct digest found;
    unsigned rank; /* 0: nothing found */
};

static enum err_code is_part(void *arg, const uint8_t id[32], struct err *e)
{
    const struct digest *part = arg;
    return memcmp(part->bytes, id, sizeof part->bytes) ? OK : ERR_CANCELLED; /* found */
}

static bool holds(struct search *s, const struct digest *id, enum record_kind kind)
{
    ProtobufCMessage *m;
    arena_reset(&s->arena);
    return !store_get_message(&m, s->l->store, id, kind, &s->arena, NULL) &&
           message_visit_ids(m, is_part, (void *)s->part, NULL) == ERR_CANCELLED;
}

static enum err_code look_at(void *arg, const struct digest *id, enum record_kind kind,
                             uint64_t stored, struct err *e)
{
    struct search *s = arg;
    if (!has_parts(kind, s->kind) || !holds(s, id, kind))
        return OK;
    unsigned rank = digest_map_get(&s->l->names, id)    ? 3
                    : digest_map_get(&s->l->makers, id) ? 2
                                                        : 1;
    if (rank > s->rank || (rank == s->rank && digest_compare(id, &s->found) < 0)) {
        s->found = *id;
        s->rank = rank;
    }
    return OK;
}

enum err_code lineage_whole(struct digest *whole, bool *found, struct lineage *l,
                            const struct digest *part, struct err *e)
{
    struct search s = {.l = l, .part = part, .kind = lineage_kind(l, part)};
    *found = false;
    *whole = *part;
    enum err_code code = OK;
    do {
        s.part = whole;
        s.rank = 0;
        if (has_parts(KIND_CHECKPOINT, s.kind) || has_parts(KIND_COLLECTION, s.kind) ||
            has_parts(KIND_INDEX, s.kind))
            code = store_each_record(l->store, look_at, &s, e);
        if (!code && s.rank) {
            *whole = s.found;
            *found = true;
            s.kind = lineage_kind(l, whole);
        }
    } while (!code && s.rank && s.kind == KIND_COLLECTION_BLOCK);
    arena_free(&s.arena);
    return err_up(e, code);
}
