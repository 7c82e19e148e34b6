/* Reading; see store.h.
 *
 * Invariant: store_get returns the bytes that the id stands for or fails; bad bytes go into
 * quarantine (meta family), which makes the record absent, so that it is made again. */
#include "store/internal.h"
#include "store/marks.h"

#include <string.h>

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
    pthread_mutex_lock(&s->lock);
    *digest_map_put(&s->bad, id, 1, NULL) = 1;
    s->any_bad = true;
    pthread_mutex_unlock(&s->lock);
}

void store_forgive(struct store *s, const struct digest *ids, size_t n)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; s->any_bad && i < n; i++) {
        uint64_t *value = digest_map_get(&s->bad, &ids[i]);
        if (value)
            *value = 0;
    }
    pthread_mutex_unlock(&s->lock);
}

/* A block that fails its checksum concerns more than the record asked for. */
static enum err_code get_object(struct rocks_value *v, struct store *s, const struct digest *id,
                                struct err *e)
{
    enum err_code code = rocks_get(v, s->rocks, ROCKS_OBJECTS, digest_span(id), e);
    if (code == ERR_CORRUPT && !rocks_is_read_only(s->rocks))
        mark_damaged(s->path, rocks_damage(s->rocks));
    return code;
}

/* ERR_NOTFOUND, ERR_CORRUPT, ... without the record's name. */
static enum err_code read_verified(struct record *out, struct store *s, const struct digest *id,
                                   struct arena *a, struct err *e)
{
    struct rocks_value v = {0};
    bool staged = s->overlay && s->overlay_find(&v.bytes, s->overlay, id);
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

/* Moves what lies under the id into meta, if it can be read at all. */
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

/* Takes a record out of the way if it really is bad; a reader only remembers it. */
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
    /* Unless somebody was faster. */
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
    if (s->overlay && s->overlay_find(&v.bytes, s->overlay, id))
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
