/* Reading and putting records; see store.h.
 *
 * Invariant: store_get returns the bytes that the id identifies or fails; bad bytes are quarantined
 * (meta family), which makes the record absent, so that it is made again.
 *
 * A batch holds its writes as spans into its own arena, so that one batch can be appended to
 * another (group commit), and the ids it puts, so that nothing is put twice. */
#include "store/internal.h"
#include "store/marks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_SLOTS = 1 << 14 }; /* a larger map is freed after a commit */

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

struct coder *store_coder_take(struct store *s)
{
    pthread_mutex_lock(&s->lock);
    struct coder *c = s->n_coders ? s->coders[--s->n_coders] : NULL;
    pthread_mutex_unlock(&s->lock);
    if (!c) {
        c = coder_new();
        coder_set_dictionaries(c, dictionaries_for_coder(&s->dictionaries));
    }
    return c;
}

void store_coder_give(struct store *s, struct coder *c)
{
    pthread_mutex_lock(&s->lock);
    if (s->n_coders < sizeof s->coders / sizeof *s->coders) {
        s->coders[s->n_coders++] = c;
        c = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    coder_free(c);
}

enum err_code err_name_record(struct err *e, enum err_code code, const struct digest *id)
{
    char hex[DIGEST_HEX];
    if (!e)
        return code;
    struct err inner = *e;
    err_clear(e);
    return err_fail(e, code, "record %s: %.400s", digest_hex(hex, id), inner.message);
}

/* Finds the envelope of a record that the batch would put; see store_overlay. */
static bool find_put(struct span *envelope, const struct store_batch *b, const struct digest *id)
{
    const uint64_t *at = b ? digest_map_get(&b->have, id) : NULL;
    if (at)
        *envelope = b->writes[*at].value;
    return at != NULL;
}

static bool is_bad(struct store *s, const struct digest *id)
{
    pthread_mutex_lock(&s->lock);
    uint64_t *value = s->any_bad ? digest_map_get(&s->bad, id) : NULL;
    bool bad = value && *value;
    pthread_mutex_unlock(&s->lock);
    return bad;
}

static void note_bad(struct store *s, const struct digest *id)
{
    char hex[DIGEST_HEX];
    pthread_mutex_lock(&s->lock);
    if (s->trouble.code == OK)
        err_fail(&s->trouble, ERR_CORRUPT, "record %s is damaged", digest_hex(hex, id));
    *digest_map_put(&s->bad, id, 1, NULL) = 1;
    s->any_bad = true;
    pthread_mutex_unlock(&s->lock);
}

/* Records that were put again are no longer bad. */
static void forgive(struct store *s, const struct digest *ids, size_t n)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; s->any_bad && i < n; i++) {
        uint64_t *value = digest_map_get(&s->bad, &ids[i]);
        if (value)
            *value = 0;
    }
    pthread_mutex_unlock(&s->lock);
}

/* A block that fails its checksum affects more than the requested record. */
static enum err_code get_object(struct rocks_value *v, struct store *s, const struct digest *id,
                                struct err *e)
{
    enum err_code code = rocks_get(v, s->rocks, ROCKS_OBJECTS, digest_span(id), e);
    if (code == ERR_CORRUPT && !rocks_is_read_only(s->rocks))
        mark_damaged(s->path, rocks_damage(s->rocks));
    return code;
}

/* Returns ERR_NOTFOUND, ERR_CORRUPT, ... without the record's name. */
static enum err_code read_verified(struct record *out, struct store *s, const struct digest *id,
                                   struct arena *a, struct err *e)
{
    struct rocks_value v = {0};
    bool staged = find_put(&v.bytes, s->overlay, id);
    enum err_code code = staged ? OK : get_object(&v, s, id, e);
    if (code)
        return err_up(e, code);
    struct coder *c = store_coder_take(s);
    code = err_up(e, envelope_verify(out, c, id, v.bytes, a, e));
    store_coder_give(s, c);
    if (!staged)
        rocks_value_free(&v);
    return code;
}

/* Moves the entry of the id into meta, if it can be read at all. */
enum err_code store_remove_bad(struct store *s, const struct digest *id, struct err *e)
{
    struct rocks_value v;
    enum err_code code = rocks_get(&v, s->rocks, ROCKS_OBJECTS, digest_span(id), NULL);
    uint8_t key[sizeof QUARANTINE_PREFIX - 1 + DIGEST_SIZE];
    memcpy(key, QUARANTINE_PREFIX, sizeof QUARANTINE_PREFIX - 1);
    memcpy(key + sizeof QUARANTINE_PREFIX - 1, id->bytes, DIGEST_SIZE);
    struct rocks_write writes[] = {
        {ROCKS_META, false, span_of(key, sizeof key), code == OK ? v.bytes : span_str("")},
        {ROCKS_OBJECTS, true, digest_span(id), {0}},
    };
    code = rocks_write(s->rocks, writes, 2, true, e);
    rocks_value_free(&v);
    return err_up(e, code);
}

/* Quarantines a record if it is still bad; a reader only remembers it. */
static void store_quarantine(struct store *s, const struct digest *id)
{
    mark_suspect(s->path);
    if (rocks_is_read_only(s->rocks)) {
        note_bad(s, id);
        return;
    }
    pthread_rwlock_wrlock(&s->commit_lock);
    struct arena a = {0};
    struct record r;
    /* Another thread may have been faster. */
    if (read_verified(&r, s, id, &a, NULL) == ERR_CORRUPT && store_remove_bad(s, id, NULL) != OK)
        note_bad(s, id);
    arena_free(&a);
    pthread_rwlock_unlock(&s->commit_lock);
}

enum err_code store_get(struct record *out, struct store *s, const struct digest *id,
                        struct arena *a, struct err *e)
{
    if (is_bad(s, id))
        return err_name_record(e, err_fail(e, ERR_CORRUPT, "in quarantine"), id);
    enum err_code code = read_verified(out, s, id, a, e);
    if (code == OK)
        return OK;
    if (code == ERR_CORRUPT)
        store_quarantine(s, id);
    return err_name_record(e, code, id);
}

enum err_code store_get_message(void *out, struct store *s, const struct digest *id,
                                enum record_kind kind, struct arena *a, struct err *e)
{
    struct record r;
    enum err_code code = store_get(&r, s, id, a, e);
    if (code != OK)
        return err_up(e, code);
    if (r.kind != kind) {
        char hex[DIGEST_HEX];
        return err_fail(e, ERR_CORRUPT, "record %s is of kind %s where %s is needed",
                        digest_hex(hex, id), kind_info(r.kind)->name, kind_info(kind)->name);
    }
    code = canonical_unpack(out, a, kind_info(kind)->descriptor, r.payload, e);
    return code == OK ? OK : err_name_record(e, code, id);
}

bool store_has(struct store *s, const struct digest *id)
{
    if (is_bad(s, id))
        return false;
    struct rocks_value v;
    if (find_put(&v.bytes, s->overlay, id))
        return true;
    if (get_object(&v, s, id, NULL) != OK)
        return false;
    rocks_value_free(&v);
    return true;
}

enum err_code store_read(struct span *out, struct store *s, enum rocks_family family,
                         struct span key, struct arena *a, struct err *e)
{
    struct rocks_value v;
    enum err_code code = rocks_get(&v, s->rocks, family, key, e);
    if (code != OK)
        return err_up(e, code);
    *out = span_of(arena_memdup(a, v.bytes.data, v.bytes.len), v.bytes.len);
    rocks_value_free(&v);
    return OK;
}

/* ---- batches ---- */

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

/* The payload must be canonical. */
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

void store_overlay(struct store *s, const struct store_batch *b)
{
    s->overlay = b;
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
    forgive(s, b->put, b->n_put);
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
