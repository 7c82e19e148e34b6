/* Batches: writes collected, then applied at once; see store.h.
 *
 * A batch holds its writes as spans into its own arena, so that one batch can be appended to
 * another (group commit), and the ids it puts, so that nothing is put twice. */
#include "base/err.h"
#include "store/internal.h"
#include "store/marks.h"

#include <assert.h>
#include <stdlib.h>

enum { KEPT_SLOTS = 1 << 14 }; /* a map of more is given back after a commit */

struct store_batch {
    struct store *store;
    struct arena arena;
    struct rocks_write *writes;
    size_t n, cap;
    struct digest *put; /* ids of the records among the writes, in order */
    size_t n_put, cap_put;
    struct digest_map have;          /* id -> position among the writes */
    const struct digest_map *stored; /* see store_batch_expect */
    size_t bytes;
    struct coder *coder;
    struct arena payload; /* of the record being put */
    struct buf scratch;
};

struct store_batch *store_batch_new(struct store *s)
{
    struct store_batch *b = must_calloc(1, sizeof *b);
    b->store = s;
    b->coder = store_coder_take(s);
    return b;
}

void store_batch_free(struct store_batch *b)
{
    if (!b)
        return;
    store_coder_give(b->store, b->coder);
    arena_free(&b->arena);
    arena_free(&b->payload);
    digest_map_free(&b->have);
    buf_free(&b->scratch);
    free(b->writes);
    free(b->put);
    free(b);
}

size_t store_batch_count(const struct store_batch *b)
{
    return b->n;
}

size_t store_batch_bytes(const struct store_batch *b)
{
    return b->bytes;
}

static void batch_clear(struct store_batch *b)
{
    arena_reset(&b->arena);
    if (b->have.size <= KEPT_SLOTS)
        digest_map_clear(&b->have);
    else
        digest_map_free(&b->have);
    b->n = b->n_put = b->bytes = 0;
}

void store_batch_expect(struct store_batch *b, const struct digest_map *stored)
{
    b->stored = stored;
}

void store_batch_write(struct store_batch *b, enum rocks_family family, struct span key,
                       struct span value)
{
    b->writes = vec_grow(b->writes, &b->cap, b->n + 1, sizeof *b->writes);
    b->writes[b->n++] = (struct rocks_write){
        .family = family,
        .key = span_of(arena_memdup(&b->arena, key.data, key.len), key.len),
        .value = span_of(arena_memdup(&b->arena, value.data, value.len), value.len),
    };
    b->bytes += key.len + value.len;
}

void store_batch_remove(struct store_batch *b, enum rocks_family family, struct span key)
{
    store_batch_write(b, family, key, span_of("", 0));
    b->writes[b->n - 1].remove = true;
}

static void write_record(struct store_batch *b, const struct digest *id, struct span envelope)
{
    digest_map_put(&b->have, id, b->n, NULL);
    b->put = vec_grow(b->put, &b->cap_put, b->n_put + 1, sizeof *b->put);
    b->put[b->n_put++] = *id;
    store_batch_write(b, ROCKS_OBJECTS, digest_span(id), envelope);
}

/* The payload is canonical. */
static enum err_code put(struct digest *id, struct store_batch *b, enum record_kind kind,
                         struct span payload, struct err *e)
{
    *id = record_id(kind, payload);
    if (digest_map_get(&b->have, id) || (b->stored && digest_map_get(b->stored, id)) ||
        store_has(b->store, id))
        return OK;
    buf_clear(&b->scratch);
    enum err_code code = envelope_write(&b->scratch, b->coder, EFFORT_FAST, kind, payload, e);
    if (!code)
        write_record(b, id, span_of(b->scratch.data, b->scratch.len));
    return err_up(e, code);
}

enum err_code store_batch_put(struct digest *id, struct store_batch *b, enum record_kind kind,
                              struct span payload, struct err *e)
{
    const struct kind_info *info = kind_info(kind);
    if (!info)
        return err_fail(e, ERR_INPUT, "there is no record kind %d", (int)kind);
    enum err_code code = canonical_check(info->descriptor, payload, e);
    return err_up(e, code == OK ? put(id, b, kind, payload, e) : code);
}

enum err_code store_batch_put_message(struct digest *id, struct store_batch *b,
                                      enum record_kind kind, const ProtobufCMessage *message,
                                      struct err *e)
{
    assert(message->descriptor == kind_info(kind)->descriptor);
    struct span payload;
    enum err_code code = canonical_pack(&payload, &b->payload, message, e);
    if (code == OK)
        code = put(id, b, kind, payload, e);
    arena_reset(&b->payload);
    return err_up(e, code);
}

static bool find_put(struct span *envelope, const struct store_batch *b, const struct digest *id)
{
    const uint64_t *at = digest_map_get(&b->have, id);
    if (at)
        *envelope = b->writes[*at].value;
    return at != NULL;
}

void store_overlay(struct store *s, const struct store_batch *b)
{
    s->overlay = b;
    s->overlay_find = find_put;
}

enum err_code store_batch_commit(struct store_batch *b, struct err *e)
{
    if (b->n == 0)
        return OK;
    struct store *s = b->store;
    pthread_rwlock_rdlock(&s->commit_lock);
    enum err_code code = rocks_write(s->rocks, b->writes, b->n, s->durable, e);
    pthread_rwlock_unlock(&s->commit_lock);
    if (code == ERR_CORRUPT)
        mark_damaged(s->path, rocks_damage(s->rocks));
    if (code != OK)
        return err_up(e, code);
    store_forgive(s, b->put, b->n_put);
    batch_clear(b);
    return OK;
}

void store_batch_append(struct store_batch *to, struct store_batch *from)
{
    assert(to->store == from->store && to != from);
    for (size_t i = 0; i < from->n; i++) {
        const struct rocks_write *w = &from->writes[i];
        struct digest id;
        if (w->remove) {
            store_batch_remove(to, w->family, w->key);
        } else if (w->family == ROCKS_OBJECTS) {
            memcpy(id.bytes, w->key.data, DIGEST_SIZE);
            if (!digest_map_get(&to->have, &id))
                write_record(to, &id, w->value);
        } else {
            store_batch_write(to, w->family, w->key, w->value);
        }
    }
    batch_clear(from);
}
