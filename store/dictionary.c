/* Storing and loading models and dictionaries; see dictionary.h.
 *
 * meta holds `model/KIND` -> id of the model that new dense forms of the kind use, and
 * `dictionary-copy/` id -> a second copy of the record: all records of a kind hang on a few
 * kilobytes. Envelopes name a model by the first bytes of its id, a dictionary by all of it. */
#include "store/dictionary.h"

#include "checkpoint.pb-c.h"
#include "store/dense/model.h"
#include "store/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#define CURRENT_PREFIX "model/"

enum { COPY_KEY = sizeof DICTIONARY_COPY_PREFIX - 1 + DIGEST_SIZE };

void dictionaries_init(struct dictionaries *d, struct store *s)
{
    *d = (struct dictionaries){.store = s};
    pthread_mutex_init(&d->lock, NULL);
}

static void dictionary_free(struct dictionary *it)
{
    if (!it)
        return;
    ZSTD_freeDDict(it->decompress);
    dense_model_free(it->model);
    free(it);
}

void dictionaries_free(struct dictionaries *d)
{
    for (size_t i = 0; i < d->n; i++)
        dictionary_free(d->loaded[i]);
    pthread_mutex_destroy(&d->lock);
}

/* *out stays NULL for content that is none. */
static enum err_code add_loaded(const struct dictionary **out, struct dictionaries *d,
                                const struct digest *id, struct span content, struct err *e)
{
    struct dictionary *new = calloc(1, sizeof *new);
    if (!new || d->n == sizeof d->loaded / sizeof *d->loaded) {
        free(new);
        return err_fail(e, ERR_NOMEM, "no room for another model");
    }
    new->id = *id;
    enum err_code code = OK;
    if (dense_is_model(content))
        code = dense_model_new(&new->model, content, e);
    else
        new->decompress = ZSTD_createDDict(content.data, content.len);
    if (!new->model && !new->decompress) {
        dictionary_free(new);
        return code == ERR_NOMEM ? err_up(e, code) : OK;
    }
    *out = d->loaded[d->n++] = new;
    return OK;
}

/* From one of the two places. */
static enum err_code read_content(struct span *out, struct dictionaries *d, struct arena *a,
                                  enum rocks_family family, struct span key,
                                  const struct digest *id, struct err *e)
{
    struct rocks_value v;
    struct record r;
    ProtobufCMessage *message;
    enum err_code code = rocks_get(&v, d->store->rocks, family, key, e);
    if (code != OK)
        return err_up(e, code);
    struct coder *c = coder_new();
    code = envelope_verify(&r, c, id, v.bytes, a, e);
    coder_free(c);
    rocks_value_free(&v);
    if (code == OK && r.kind != KIND_DICTIONARY)
        code = err_fail(e, ERR_CORRUPT, "it is no dictionary");
    if (code == OK)
        code = canonical_unpack(&message, a, kind_info(r.kind)->descriptor, r.payload, e);
    if (code == OK) {
        const Eqloom__Chunk *chunk = (const Eqloom__Chunk *)message;
        *out = span_of(chunk->data.data, chunk->data.len);
    }
    return err_up(e, code);
}

static struct span copy_key(uint8_t key[COPY_KEY], const uint8_t *id, size_t n)
{
    memcpy(key, DICTIONARY_COPY_PREFIX, sizeof DICTIONARY_COPY_PREFIX - 1);
    memcpy(key + sizeof DICTIONARY_COPY_PREFIX - 1, id, n);
    return span_of(key, sizeof DICTIONARY_COPY_PREFIX - 1 + n);
}

/* The first key that begins with `prefix`, what stands before an id left away. ERR_NOTFOUND. */
static enum err_code find_key(struct digest *id, struct store *s, enum rocks_family family,
                              struct span prefix, size_t before, struct err *e)
{
    struct rocks_iter *it = rocks_iter_new(s->rocks, family);
    rocks_iter_seek(it, prefix);
    enum err_code code = rocks_iter_error(it, e);
    if (code == OK && rocks_iter_valid(it)) {
        struct span key = rocks_iter_key(it);
        code = key.len == before + DIGEST_SIZE && memcmp(key.data, prefix.data, prefix.len) == 0
                   ? OK
                   : ERR_NOTFOUND;
        if (code == OK)
            memcpy(id->bytes, key.data + before, DIGEST_SIZE);
    } else if (code == OK) {
        code = ERR_NOTFOUND;
    }
    rocks_iter_free(it);
    return code;
}

/* It says nothing about the store but that it cannot be read now. */
static bool is_passing(enum err_code code)
{
    return code == ERR_IO || code == ERR_NOMEM;
}

static enum err_code find_id(struct digest *id, struct store *s, const uint8_t *prefix, size_t n,
                             struct err *e)
{
    uint8_t key[COPY_KEY];
    enum err_code code =
        find_key(id, s, ROCKS_META, copy_key(key, prefix, n), sizeof DICTIONARY_COPY_PREFIX - 1, e);
    if (code == OK || is_passing(code))
        return code;
    err_clear(e);
    return find_key(id, s, ROCKS_OBJECTS, span_of(prefix, n), 0, e);
}

/* What cannot be had for a lasting reason is not there. */
static enum err_code settle(enum err_code code, struct err *e)
{
    if (code == OK || is_passing(code))
        return err_up(e, code);
    err_clear(e);
    return OK;
}

/* The lock is held. */
static enum err_code load(const struct dictionary **out, struct dictionaries *d,
                          const uint8_t *prefix, size_t n, struct err *e)
{
    *out = NULL;
    for (size_t i = 0; i < d->n; i++)
        if (memcmp(d->loaded[i]->id.bytes, prefix, n) == 0) {
            *out = d->loaded[i];
            return OK;
        }
    struct arena a = {0};
    struct span content;
    struct digest id;
    uint8_t key[COPY_KEY];
    enum err_code code = find_id(&id, d->store, prefix, n, e);
    if (code == OK) {
        code = read_content(&content, d, &a, ROCKS_OBJECTS, digest_span(&id), &id, e);
        if (code != OK && !is_passing(code)) {
            err_clear(e);
            code = read_content(&content, d, &a, ROCKS_META, copy_key(key, id.bytes, DIGEST_SIZE),
                                &id, e);
        }
        if (code == OK)
            code = add_loaded(out, d, &id, content, e);
    }
    arena_free(&a);
    return settle(code, e);
}

static enum err_code by_id(const struct dictionary **out, void *arg, const uint8_t *id, size_t n,
                           struct err *e)
{
    struct dictionaries *d = arg;
    pthread_mutex_lock(&d->lock);
    enum err_code code = load(out, d, id, n, e);
    pthread_mutex_unlock(&d->lock);
    return err_up(e, code);
}

/* The lock is held. */
static enum err_code look_for_current(struct dictionaries *d, enum record_kind kind, struct err *e)
{
    char key[64];
    struct rocks_value v;
    const struct dictionary *found = NULL;
    snprintf(key, sizeof key, CURRENT_PREFIX "%s", kind_info(kind)->name);
    enum err_code code = rocks_get(&v, d->store->rocks, ROCKS_META, span_str(key), e);
    if (code == OK && v.bytes.len == DIGEST_SIZE)
        code = load(&found, d, v.bytes.data, DIGEST_SIZE, e);
    rocks_value_free(&v);
    code = settle(code, e);
    d->kinds[kind].known = code == OK;
    d->kinds[kind].model = found && found->model ? found : NULL;
    return code;
}

static enum err_code model_for_kind(const struct dictionary **out, void *arg, enum record_kind kind,
                                    struct err *e)
{
    struct dictionaries *d = arg;
    enum err_code code = OK;
    pthread_mutex_lock(&d->lock);
    if (!d->kinds[kind].known && dense_serves(kind))
        code = look_for_current(d, kind, e);
    *out = d->kinds[kind].model;
    pthread_mutex_unlock(&d->lock);
    return err_up(e, code);
}

struct coder_dictionaries dictionaries_for_coder(struct dictionaries *d)
{
    return (struct coder_dictionaries){model_for_kind, by_id, d};
}

enum err_code dictionaries_model(const struct dictionary **out, struct dictionaries *d,
                                 enum record_kind kind, struct err *e)
{
    return err_up(e, model_for_kind(out, d, kind, e));
}

/* Puts the record into the store before any that needs it. */
static enum err_code keep(struct digest *id, struct dictionaries *d, enum record_kind kind,
                          struct span content, struct err *e)
{
    struct arena a = {0};
    struct buf envelope = {0};
    struct span payload;
    char name[64];
    uint8_t copy[COPY_KEY];
    Eqloom__Chunk chunk = EQLOOM__CHUNK__INIT;
    chunk.data = (ProtobufCBinaryData){content.len, (uint8_t *)(uintptr_t)content.data};
    struct coder *c = coder_new();
    enum err_code code = canonical_pack(&payload, &a, &chunk.base, e);
    if (code == OK)
        code = envelope_write(&envelope, c, EFFORT_MUCH, KIND_DICTIONARY, payload, e);
    if (code == OK) {
        *id = record_id(KIND_DICTIONARY, payload);
        snprintf(name, sizeof name, CURRENT_PREFIX "%s", kind_info(kind)->name);
        struct span value = span_of(envelope.data, envelope.len);
        struct rocks_write writes[] = {
            {ROCKS_OBJECTS, false, digest_span(id), value},
            {ROCKS_META, false, copy_key(copy, id->bytes, DIGEST_SIZE), value},
            {ROCKS_META, false, span_str(name), digest_span(id)},
        };
        code = rocks_write(d->store->rocks, writes, 3, true, e);
    }
    coder_free(c);
    buf_free(&envelope);
    arena_free(&a);
    return err_up(e, code);
}

enum err_code dictionaries_make_model(struct dictionaries *d, enum record_kind kind,
                                      const struct span *samples, size_t n, struct err *e)
{
    struct buf content = {0};
    struct digest id;
    dense_content(&content, kind, samples, n);
    pthread_mutex_lock(&d->lock);
    enum err_code code = keep(&id, d, kind, span_of(content.data, content.len), e);
    if (code == OK) {
        code = load(&d->kinds[kind].model, d, id.bytes, DIGEST_SIZE, e);
        d->kinds[kind].known = code == OK;
    }
    pthread_mutex_unlock(&d->lock);
    buf_free(&content);
    return err_up(e, code);
}

enum err_code dictionaries_needed(struct digest *id, struct dictionaries *d, struct span envelope,
                                  struct err *e)
{
    struct span prefix = envelope_dictionary(envelope);
    if (!prefix.len)
        return ERR_NOTFOUND;
    pthread_mutex_lock(&d->lock);
    bool found = false;
    for (size_t i = 0; i < d->n && !found; i++) {
        found = memcmp(d->loaded[i]->id.bytes, prefix.data, prefix.len) == 0;
        *id = d->loaded[i]->id;
    }
    pthread_mutex_unlock(&d->lock);
    return found ? OK : find_id(id, d->store, prefix.data, prefix.len, e);
}
