/* Which elements of a side input took part in what a map made of each element: the rules that
 * matched in an e-graph, the e-graphs in which a rule matched. A map's actions name the whole side
 * input; the op's hook took_part knows more, from the output. So outputs are read, which costs
 * time, but nothing has to be kept for it. */
#include "engine/cli/provenance/lineage_internal.h"

#include "base/buf.h"
#include "schemas/canonical.h"
#include "store/collection.h"

#include <stdlib.h>
#include <string.h>

struct ids {
    struct digest *list;
    size_t n, cap;
};

static void push(struct ids *to, const struct digest *id)
{
    to->list = vec_grow(to->list, &to->cap, to->n + 1, sizeof *to->list);
    to->list[to->n++] = *id;
}

static int compare_ids(const void *a, const void *b)
{
    return digest_compare(a, b);
}

static void sort_unique(struct ids *ids)
{
    size_t kept = 0;
    if (ids->n)
        qsort(ids->list, ids->n, sizeof *ids->list, compare_ids);
    for (size_t i = 0; i < ids->n; i++)
        if (!kept || !digest_equal(&ids->list[i], &ids->list[kept - 1]))
            ids->list[kept++] = ids->list[i];
    ids->n = kept;
}

static enum err_code push_elements(struct ids *to, struct lineage *l, const struct digest *id,
                                   struct err *e)
{
    enum { AT_ONCE = 256 };
    struct digest ids[AT_ONCE];
    struct collection *list;
    enum err_code code = collection_open(&list, l->store, id, e);
    if (code)
        return err_up(e, code);
    uint64_t count = collection_count(list);
    for (uint64_t at = 0; !code && at < count; at += AT_ONCE) {
        uint64_t n = count - at < AT_ONCE ? count - at : AT_ONCE;
        code = collection_ids(ids, list, at, n, e);
        for (uint64_t k = 0; !code && k < n; k++)
            push(to, &ids[k]);
    }
    collection_close(list);
    return err_up(e, code);
}

/* *out NULL: gc took it, or it is none of the kind. */
static enum err_code read_record(ProtobufCMessage **out, struct arena *a, struct lineage *l,
                                 const struct digest *id, struct err *e)
{
    struct record r;
    const struct kind_info *kind = kind_info(lineage_kind(l, id));
    *out = NULL;
    if (!kind)
        return OK;
    enum err_code code = store_get(&r, l->store, id, a, e);
    if (!code)
        code = canonical_unpack(out, a, kind->descriptor, r.payload, e);
    return err_up(e, code);
}

/* What the actions made, element by element. */
static enum err_code push_outputs(struct ids *to, struct lineage *l, uint32_t act, struct err *e)
{
    struct arena a = {0};
    const Eqloom__Action *action;
    enum err_code code = lineage_action(&action, &a, l, act, e);
    for (size_t i = 0; !code && i < action->n_outputs; i++) {
        ProtobufCBinaryData bytes = action->outputs[i]->output_ids;
        for (size_t k = 0; !code && k < bytes.len / DIGEST_SIZE; k++) {
            struct digest id;
            memcpy(id.bytes, bytes.data + k * DIGEST_SIZE, DIGEST_SIZE);
            if (lineage_kind(l, &id) == KIND_COLLECTION)
                code = push_elements(to, l, &id, e);
            else
                push(to, &id);
        }
    }
    arena_free(&a);
    return err_up(e, code);
}

enum err_code lineage_with_part(struct digest **out, size_t *n, struct arena *a, struct lineage *l,
                                const uint32_t *acts, size_t n_acts, const struct digest *parts,
                                size_t n_parts, const char *role, struct err *e)
{
    const struct op *op = op_find(l->ops[l->acts[acts[0]].op]);
    struct ids ids = {0};
    struct arena part_arena = {0}, scratch = {0};
    ProtobufCMessage **elements = arena_array(&part_arena, ProtobufCMessage *, n_parts);
    size_t kept = 0;
    enum err_code code = OK;
    for (size_t i = 0; !code && i < n_parts; i++)
        code = read_record(&elements[i], &part_arena, l, &parts[i], e);
    for (size_t i = 0; !code && i < n_acts; i++)
        code = push_outputs(&ids, l, acts[i], e);
    sort_unique(&ids);
    for (size_t i = 0; !code && i < ids.n; i++) {
        ProtobufCMessage *output;
        bool found = false;
        code = read_record(&output, &scratch, l, &ids.list[i], e);
        for (size_t k = 0; !code && output && !found && k < n_parts; k++)
            found = elements[k] && op->took_part(output, role, elements[k]);
        if (found)
            ids.list[kept++] = ids.list[i];
        arena_reset(&scratch);
    }
    *n = code ? 0 : kept;
    *out = *n ? arena_memdup(a, ids.list, kept * sizeof *ids.list) : NULL;
    free(ids.list);
    arena_free(&part_arena);
    arena_free(&scratch);
    return err_up(e, code);
}

enum err_code lineage_parts_of(struct digest **out, size_t *n, struct arena *a, struct lineage *l,
                               const struct op *op, const struct digest *output, const char *role,
                               const struct digest *collection, struct err *e)
{
    struct ids ids = {0};
    struct arena output_arena = {0}, scratch = {0};
    ProtobufCMessage *made;
    size_t kept = 0;
    enum err_code code = read_record(&made, &output_arena, l, output, e);
    if (!code && made)
        code = push_elements(&ids, l, collection, e);
    for (size_t i = 0; !code && i < ids.n; i++) {
        ProtobufCMessage *element;
        code = read_record(&element, &scratch, l, &ids.list[i], e);
        if (!code && element && op->took_part(made, role, element))
            ids.list[kept++] = ids.list[i];
        arena_reset(&scratch);
    }
    *n = code ? 0 : kept;
    *out = *n ? arena_memdup(a, ids.list, kept * sizeof *ids.list) : NULL;
    free(ids.list);
    arena_free(&output_arena);
    arena_free(&scratch);
    return err_up(e, code);
}
