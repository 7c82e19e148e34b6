/* Training, storing and loading dictionaries; see dictionary.h.
 *
 * meta holds `dictionary/KIND` -> id of the dictionary that new records of the kind use, and
 * `dictionary-copy/` id -> a second copy of the record: all records of a kind hang on a few
 * kilobytes. Samples are taken in the order of their ids, so that the same first records give the
 * same dictionary. */
#include "store/dictionary.h"

#include "checkpoint.pb-c.h"
#include "store/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <zdict.h>
#include <zstd.h>

#define CURRENT_PREFIX "dictionary/"
#define COPY_PREFIX "dictionary-copy/"

enum {
    LEVEL = 3,
    SAMPLES = 128,           /* that a dictionary is trained from */
    MIN_SAMPLES = 32,        /* fewer teach nothing */
    SAMPLE_BYTES = 16 << 10, /* of one record at most: its beginning */
    DICTIONARY_BYTES = 32 << 10,
};

struct sample {
    struct digest id;
    size_t n;
    uint8_t *data;
};

bool dictionary_serves(enum record_kind kind)
{
    return kind == KIND_CLUSTER || kind == KIND_TOKEN_BATCH || kind == KIND_EGRAPH;
}

void dictionaries_init(struct dictionaries *d, struct store *s)
{
    *d = (struct dictionaries){.store = s};
    pthread_mutex_init(&d->lock, NULL);
}

static void forget_samples(struct sampler *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->samples[i].data);
    free(s->samples);
    s->samples = NULL;
    s->n = s->cap = s->bytes = 0;
}

void dictionaries_free(struct dictionaries *d)
{
    for (size_t i = 0; i < d->n; i++) {
        ZSTD_freeCDict(d->loaded[i]->compress);
        ZSTD_freeDDict(d->loaded[i]->decompress);
        free(d->loaded[i]);
    }
    for (int kind = 0; kind < KIND_END; kind++)
        forget_samples(&d->kinds[kind]);
    pthread_mutex_destroy(&d->lock);
}

static const struct dictionary *add_loaded(struct dictionaries *d, const struct digest *id,
                                           struct span content)
{
    struct dictionary *new = calloc(1, sizeof *new);
    if (!new || d->n == sizeof d->loaded / sizeof *d->loaded) {
        free(new);
        return NULL;
    }
    *new = (struct dictionary){*id, ZSTD_createCDict(content.data, content.len, LEVEL),
                               ZSTD_createDDict(content.data, content.len)};
    if (!new->compress || !new->decompress) {
        ZSTD_freeCDict(new->compress);
        ZSTD_freeDDict(new->decompress);
        free(new);
        return NULL;
    }
    return d->loaded[d->n++] = new;
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

static struct span copy_key(uint8_t key[sizeof COPY_PREFIX - 1 + DIGEST_SIZE],
                            const struct digest *id)
{
    memcpy(key, COPY_PREFIX, sizeof COPY_PREFIX - 1);
    memcpy(key + sizeof COPY_PREFIX - 1, id->bytes, DIGEST_SIZE);
    return span_of(key, sizeof COPY_PREFIX - 1 + DIGEST_SIZE);
}

/* The lock is held. */
static const struct dictionary *load(struct dictionaries *d, const struct digest *id)
{
    for (size_t i = 0; i < d->n; i++)
        if (digest_equal(&d->loaded[i]->id, id))
            return d->loaded[i];
    struct arena a = {0};
    struct span content;
    uint8_t key[sizeof COPY_PREFIX - 1 + DIGEST_SIZE];
    enum err_code code = read_content(&content, d, &a, ROCKS_OBJECTS, digest_span(id), id, NULL);
    if (code != OK)
        code = read_content(&content, d, &a, ROCKS_META, copy_key(key, id), id, NULL);
    const struct dictionary *found = code == OK ? add_loaded(d, id, content) : NULL;
    arena_free(&a);
    return found;
}

static const struct dictionary *by_id(void *arg, const struct digest *id)
{
    struct dictionaries *d = arg;
    pthread_mutex_lock(&d->lock);
    const struct dictionary *found = load(d, id);
    pthread_mutex_unlock(&d->lock);
    return found;
}

/* The lock is held. */
static struct sampler *sampler_of(struct dictionaries *d, enum record_kind kind)
{
    struct sampler *s = &d->kinds[kind];
    if (s->state != KIND_UNKNOWN)
        return s;
    char key[64];
    struct rocks_value v;
    snprintf(key, sizeof key, CURRENT_PREFIX "%s", kind_info(kind)->name);
    s->state = KIND_SAMPLING;
    if (!dictionary_serves(kind)) {
        s->state = KIND_WITHOUT;
    } else if (rocks_get(&v, d->store->rocks, ROCKS_META, span_str(key), NULL) == OK) {
        struct digest id;
        if (v.bytes.len == DIGEST_SIZE) {
            memcpy(id.bytes, v.bytes.data, DIGEST_SIZE);
            s->dictionary = load(d, &id);
        }
        if (s->dictionary)
            s->state = KIND_HAS_DICTIONARY;
        rocks_value_free(&v);
    }
    return s;
}

static const struct dictionary *for_kind(void *arg, enum record_kind kind)
{
    struct dictionaries *d = arg;
    if (!dictionary_serves(kind))
        return NULL;
    pthread_mutex_lock(&d->lock);
    const struct dictionary *found = sampler_of(d, kind)->dictionary;
    pthread_mutex_unlock(&d->lock);
    return found;
}

struct coder_dictionaries dictionaries_for_coder(struct dictionaries *d)
{
    return (struct coder_dictionaries){for_kind, by_id, d};
}

static int by_digest(const void *a, const void *b)
{
    return digest_compare(&((const struct sample *)a)->id, &((const struct sample *)b)->id);
}

/* 0 when zstd finds nothing in them. */
static size_t train(uint8_t out[DICTIONARY_BYTES], struct sampler *s)
{
    struct buf all = {0};
    size_t *sizes = calloc(s->n, sizeof *sizes);
    qsort(s->samples, s->n, sizeof *s->samples, by_digest);
    for (size_t i = 0; sizes && i < s->n; i++) {
        buf_add(&all, s->samples[i].data, s->samples[i].n);
        sizes[i] = s->samples[i].n;
    }
    size_t room = s->bytes / 8 < DICTIONARY_BYTES ? s->bytes / 8 : DICTIONARY_BYTES;
    size_t n = sizes ? ZDICT_trainFromBuffer(out, room, all.data, sizes, (unsigned)s->n) : 0;
    free(sizes);
    buf_free(&all);
    return ZDICT_isError(n) ? 0 : n;
}

/* Puts the dictionary into the store before any record that needs it. */
static enum err_code keep(struct digest *id, struct dictionaries *d, enum record_kind kind,
                          struct span content)
{
    struct arena a = {0};
    struct buf envelope = {0};
    struct span payload;
    char current[64];
    uint8_t copy[sizeof COPY_PREFIX - 1 + DIGEST_SIZE];
    Eqloom__Chunk chunk = EQLOOM__CHUNK__INIT;
    chunk.data = (ProtobufCBinaryData){content.len, (uint8_t *)(uintptr_t)content.data};
    struct coder *c = coder_new();
    enum err_code code = canonical_pack(&payload, &a, &chunk.base, NULL);
    if (code == OK)
        code = envelope_write(&envelope, c, KIND_DICTIONARY, payload, NULL);
    if (code == OK) {
        *id = record_id(KIND_DICTIONARY, payload);
        snprintf(current, sizeof current, CURRENT_PREFIX "%s", kind_info(kind)->name);
        struct span value = span_of(envelope.data, envelope.len);
        struct rocks_write writes[] = {
            {ROCKS_OBJECTS, false, digest_span(id), value},
            {ROCKS_META, false, copy_key(copy, id), value},
            {ROCKS_META, false, span_str(current), digest_span(id)},
        };
        code = rocks_write(d->store->rocks, writes, 3, false, NULL);
    }
    coder_free(c);
    buf_free(&envelope);
    arena_free(&a);
    return code;
}

/* The lock is held. */
static void make(struct dictionaries *d, enum record_kind kind)
{
    struct sampler *s = &d->kinds[kind];
    struct digest id;
    uint8_t *content = malloc(DICTIONARY_BYTES);
    size_t n = content && s->n >= MIN_SAMPLES ? train(content, s) : 0;
    if (n && keep(&id, d, kind, span_of(content, n)) == OK)
        s->dictionary = add_loaded(d, &id, span_of(content, n));
    s->state = s->dictionary ? KIND_HAS_DICTIONARY : KIND_WITHOUT;
    forget_samples(s);
    free(content);
}

void dictionaries_sample(struct dictionaries *d, enum record_kind kind, const struct digest *id,
                         struct span payload)
{
    if (!dictionary_serves(kind))
        return;
    pthread_mutex_lock(&d->lock);
    struct sampler *s = sampler_of(d, kind);
    if (s->state == KIND_SAMPLING && payload.len) {
        size_t n = payload.len < SAMPLE_BYTES ? payload.len : SAMPLE_BYTES;
        s->samples = vec_grow(s->samples, &s->cap, s->n + 1, sizeof *s->samples);
        struct sample *new = &s->samples[s->n++];
        *new = (struct sample){*id, n, malloc(n)};
        if (new->data)
            memcpy(new->data, payload.data, n);
        else
            s->n--;
        s->bytes += n;
        if (s->n == SAMPLES)
            make(d, kind);
    }
    pthread_mutex_unlock(&d->lock);
}

void dictionaries_train_now(struct dictionaries *d, enum record_kind kind)
{
    pthread_mutex_lock(&d->lock);
    if (sampler_of(d, kind)->state == KIND_SAMPLING)
        make(d, kind);
    pthread_mutex_unlock(&d->lock);
}
