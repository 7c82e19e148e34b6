/* Training, storing and loading dictionaries; see dictionary.h.
 *
 * meta holds `dictionary/KIND` -> id of the dictionary in use, and `dictionary-copy/` id -> a
 * second copy of the record, since all records of a kind depend on a few kilobytes. Envelopes name
 * a dictionary by the first bytes of its id. */
#include "store/record/dictionary.h"

#include "checkpoint.pb-c.h"
#include "store/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <zdict.h>
#include <zstd.h>

enum {
    TRAIN_AT = 256 << 10,  /* bytes of samples at which a run trains its first */
    TRAIN_FROM = 16 << 10, /* bytes of samples needed to train one */
    SHARE = 16,            /* ratio of sample bytes to dictionary bytes */
    DICTIONARY_MAX = 64 << 10,
};
enum { COPY_KEY = sizeof DICTIONARY_COPY_PREFIX - 1 + DIGEST_SIZE };

void samples_add(struct samples *s, struct span payload)
{
    buf_add(&s->bytes, payload.data, payload.len);
    s->sizes = vec_grow(s->sizes, &s->cap, s->n + 1, sizeof *s->sizes);
    s->sizes[s->n++] = payload.len;
}

void samples_free(struct samples *s)
{
    buf_free(&s->bytes);
    free(s->sizes);
    *s = (struct samples){0};
}

bool dictionary_serves(enum record_kind kind)
{
    return kind == KIND_EXPR || kind == KIND_RULE || kind == KIND_EGRAPH || kind == KIND_CLUSTER ||
           kind == KIND_TOKEN_BATCH || kind == KIND_EQUATION || kind == KIND_MATHML ||
           kind == KIND_GRAPH;
}

void dictionaries_init(struct dictionaries *d, struct store *s, bool trains)
{
    *d = (struct dictionaries){.store = s, .trains = trains};
    pthread_mutex_init(&d->lock, NULL);
}

static void dictionary_free(struct dictionary *it)
{
    if (!it)
        return;
    ZSTD_freeDDict(it->decompress);
    buf_free(&it->content);
    for (int i = 0; i < EFFORTS; i++)
        ZSTD_freeCDict(it->compress[i]);
    free(it);
}

void dictionaries_free(struct dictionaries *d)
{
    for (size_t i = 0; i < d->n; i++)
        dictionary_free(d->loaded[i]);
    for (int kind = 0; kind < KIND_END; kind++)
        samples_free(&d->kinds[kind].samples);
    pthread_mutex_destroy(&d->lock);
}

static enum err_code add_loaded(struct dictionary **out, struct dictionaries *d,
                                const struct digest *id, struct span content, struct err *e)
{
    struct dictionary *new = must_calloc(1, sizeof *new);
    if (d->n < sizeof d->loaded / sizeof *d->loaded) {
        new->id = *id;
        buf_add(&new->content, content.data, content.len);
        new->decompress = ZSTD_createDDict(content.data, content.len);
    }
    if (!new->decompress) {
        dictionary_free(new);
        return err_fail(e, ERR_NOMEM, "no room for another dictionary");
    }
    *out = d->loaded[d->n++] = new;
    return OK;
}

static struct span copy_key(uint8_t key[COPY_KEY], const uint8_t *id, size_t n)
{
    memcpy(key, DICTIONARY_COPY_PREFIX, sizeof DICTIONARY_COPY_PREFIX - 1);
    memcpy(key + sizeof DICTIONARY_COPY_PREFIX - 1, id, n);
    return span_of(key, sizeof DICTIONARY_COPY_PREFIX - 1 + n);
}

struct entry {
    struct arena *arena;
    size_t at; /* of the id in the key */
    struct digest id;
    struct span value;
};

static enum err_code take_entry(void *arg, struct span key, struct span value, struct err *e)
{
    struct entry *x = arg;
    if (span_digest(&x->id, span_of(key.data + x->at, key.len - x->at)))
        x->value = span_of(arena_memdup(x->arena, value.data, value.len), value.len);
    return ERR_NOTFOUND; /* one is enough */
}

/* Reads the dictionary under the first key that begins with `prefix`; its id is at `at` in the
 * key. */
static enum err_code read_first(struct digest *id, struct span *content, struct dictionaries *d,
                                struct arena *a, enum rocks_family family, struct span prefix,
                                size_t at, struct err *e)
{
    struct entry x = {.arena = a, .at = at};
    struct record r;
    const Eqloom__Chunk *chunk;
    enum err_code code = rocks_each(d->store->rocks, family, prefix, take_entry, &x, e);
    if (!x.value.data)
        return code ? err_up(e, code) : err_fail(e, ERR_NOTFOUND, "not in the store");
    *id = x.id;
    struct coder *c = coder_new();
    code = envelope_verify(&r, c, id, x.value, a, e);
    coder_free(c);
    if (!code && r.kind != KIND_DICTIONARY)
        code = err_fail(e, ERR_CORRUPT, "not a dictionary");
    if (!code)
        code = canonical_unpack(&chunk, a, kind_info(r.kind)->descriptor, r.payload, e);
    if (!code)
        *content = span_of(chunk->data.data, chunk->data.len);
    return err_up(e, code);
}

/* A temporary error, which does not depend on the stored bytes. */
static bool is_passing(enum err_code code)
{
    return code == ERR_IO || code == ERR_NOMEM;
}

/* A missing or damaged dictionary counts as absent; only temporary errors are returned. */
static enum err_code settle(enum err_code code, struct err *e)
{
    if (code == OK || is_passing(code))
        return err_up(e, code);
    err_clear(e);
    return OK;
}

/* Caller holds the lock. */
static enum err_code load(struct dictionary **out, struct dictionaries *d,
                          const uint8_t prefix[ENVELOPE_DICTIONARY], struct err *e)
{
    *out = NULL;
    for (size_t i = 0; i < d->n; i++)
        if (memcmp(d->loaded[i]->id.bytes, prefix, ENVELOPE_DICTIONARY) == 0) {
            *out = d->loaded[i];
            return OK;
        }
    struct arena a = {0};
    struct span content;
    struct digest id;
    uint8_t key[COPY_KEY];
    enum err_code code =
        read_first(&id, &content, d, &a, ROCKS_OBJECTS, span_of(prefix, ENVELOPE_DICTIONARY), 0, e);
    if (code && !is_passing(code)) {
        err_clear(e);
        code =
            read_first(&id, &content, d, &a, ROCKS_META, copy_key(key, prefix, ENVELOPE_DICTIONARY),
                       sizeof DICTIONARY_COPY_PREFIX - 1, e);
    }
    if (!code)
        code = add_loaded(out, d, &id, content, e);
    arena_free(&a);
    return err_up(e, settle(code, e));
}

static enum err_code by_prefix(const struct dictionary **out, void *arg,
                               const uint8_t id[ENVELOPE_DICTIONARY], struct err *e)
{
    struct dictionaries *d = arg;
    struct dictionary *found = NULL;
    pthread_mutex_lock(&d->lock);
    enum err_code code = load(&found, d, id, e);
    *out = found;
    pthread_mutex_unlock(&d->lock);
    return err_up(e, code);
}

/* Caller holds the lock. */
static enum err_code look_for_current(struct dictionaries *d, enum record_kind kind, struct err *e)
{
    char key[64];
    struct rocks_value v;
    snprintf(key, sizeof key, "dictionary/%s", kind_info(kind)->name);
    enum err_code code = rocks_get(&v, d->store->rocks, ROCKS_META, span_str(key), e);
    if (!code && v.bytes.len == DIGEST_SIZE)
        code = load(&d->kinds[kind].current, d, v.bytes.data, e);
    rocks_value_free(&v);
    code = settle(code, e);
    d->kinds[kind].searched = code == OK;
    return err_up(e, code);
}

/* Caller holds the lock. Does not prepare for compression what only readers load. */
static enum err_code prepare(struct dictionary *it, enum effort effort, struct err *e)
{
    static const int levels[EFFORTS] = {[EFFORT_FAST] = LEVEL_FAST, [EFFORT_HIGH] = LEVEL_HIGH};
    if (!it->compress[effort])
        it->compress[effort] = ZSTD_createCDict(it->content.data, it->content.len, levels[effort]);
    return it->compress[effort] ? OK : err_fail(e, ERR_NOMEM, "no memory for a dictionary");
}

static enum err_code current(const struct dictionary **out, struct dictionaries *d,
                             enum record_kind kind, enum effort effort, struct err *e)
{
    enum err_code code = OK;
    pthread_mutex_lock(&d->lock);
    if (!d->kinds[kind].searched)
        code = look_for_current(d, kind, e);
    *out = d->kinds[kind].current;
    if (!code && *out)
        code = prepare(d->kinds[kind].current, effort, e);
    pthread_mutex_unlock(&d->lock);
    return err_up(e, code);
}

/* Takes a sample. Returns true if it was the last one needed: `out` then owns all of them. */
static bool take_sample(struct samples *out, struct dictionaries *d, enum record_kind kind,
                        struct span payload)
{
    bool full = false;
    pthread_mutex_lock(&d->lock);
    if (!d->kinds[kind].full && !d->kinds[kind].current) {
        struct samples *s = &d->kinds[kind].samples;
        samples_add(s, payload);
        if (s->bytes.len >= TRAIN_AT) {
            full = d->kinds[kind].full = true;
            *out = *s;
            *s = (struct samples){0};
        }
    }
    pthread_mutex_unlock(&d->lock);
    return full;
}

static enum err_code for_payload(const struct dictionary **out, void *arg, enum record_kind kind,
                                 enum effort effort, struct span payload, struct err *e)
{
    struct dictionaries *d = arg;
    struct samples samples;
    *out = NULL;
    if (!dictionary_serves(kind))
        return OK;
    enum err_code code = current(out, d, kind, effort, e);
    if (code || *out || !d->trains || !take_sample(&samples, d, kind, payload))
        return err_up(e, code);
    code = dictionaries_train(d, kind, &samples, e);
    samples_free(&samples);
    return err_up(e, code ? code : current(out, d, kind, effort, e));
}

struct coder_dictionaries dictionaries_for_coder(struct dictionaries *d)
{
    return (struct coder_dictionaries){for_payload, by_prefix, d};
}

/* Puts the dictionary record before any record that needs it. */
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
    if (!code)
        code = envelope_write(&envelope, c, EFFORT_HIGH, KIND_DICTIONARY, payload, e);
    if (!code) {
        *id = record_id(KIND_DICTIONARY, payload);
        snprintf(name, sizeof name, "dictionary/%s", kind_info(kind)->name);
        struct span value = span_of(envelope.data, envelope.len);
        struct rocks_write writes[] = {
            {ROCKS_OBJECTS, false, digest_span(id), value},
            {ROCKS_META, false, copy_key(copy, id->bytes, DIGEST_SIZE), value},
            {ROCKS_META, false, span_str(name), digest_span(id)},
        };
        code = rocks_write(d->store->rocks, writes, 3, false, e);
    }
    coder_free(c);
    buf_free(&envelope);
    arena_free(&a);
    return err_up(e, code);
}

enum err_code dictionaries_train(struct dictionaries *d, enum record_kind kind,
                                 const struct samples *s, struct err *e)
{
    size_t room = s->bytes.len / SHARE < DICTIONARY_MAX ? s->bytes.len / SHARE : DICTIONARY_MAX;
    if (s->bytes.len < TRAIN_FROM)
        return OK;
    struct digest id;
    uint8_t *content = malloc(room);
    if (!content)
        return err_fail(e, ERR_NOMEM, "out of memory training a dictionary");
    size_t n = ZDICT_trainFromBuffer(content, room, s->bytes.data, s->sizes, (unsigned)s->n);
    enum err_code code = OK;
    if (!ZDICT_isError(n)) {
        code = keep(&id, d, kind, span_of(content, n), e);
        pthread_mutex_lock(&d->lock);
        if (!code)
            code = load(&d->kinds[kind].current, d, id.bytes, e);
        d->kinds[kind].searched = code == OK;
        pthread_mutex_unlock(&d->lock);
    }
    free(content);
    return err_up(e, code);
}
