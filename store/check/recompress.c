/* store_compact: reclaiming space; see maintain.h. A run compresses its records fast; this
 * recompresses all at a high level, those of small kinds under fresh dictionaries. Identities do
 * not depend on compression. If interrupted, finished work is kept.
 *
 * A dictionary is trained from the records with the least ids, which are a random sample, and the
 * same whatever the order in which records were put. */
#include "store/maintain.h"

#include "base/map.h"
#include "store/internal.h"

#include <stdlib.h>

enum {
    WRITE_AT = 4 << 20,
    SAMPLES = 4 << 20, /* bytes, for one dictionary */
};

struct compactor {
    struct coder *coder;
    struct samples samples[KIND_END];
    struct digest_map used; /* dictionaries of records that are not recompressed */
    struct store_batch *batch;
};

/* Bad records are left to fsck. */
static bool read_record(struct record *r, struct compactor *c, struct arena *a, struct span key,
                        struct span value)
{
    struct digest id;
    return span_digest(&id, key) && envelope_verify(r, c->coder, &id, value, a, NULL) == OK;
}

static enum err_code sample_record(void *arg, struct span key, struct span value, struct err *e)
{
    struct compactor *c = arg;
    enum record_kind kind;
    uint64_t length;
    struct record r;
    struct arena a = {0};
    if (envelope_peek(&kind, &length, value, NULL) == OK && dictionary_serves(kind) &&
        c->samples[kind].bytes.len + length <= SAMPLES && read_record(&r, c, &a, key, value))
        samples_add(&c->samples[kind], r.payload);
    arena_free(&a);
    return OK;
}

static void note_used(struct compactor *c, struct span name)
{
    struct digest padded = {0};
    memcpy(padded.bytes, name.data, name.len);
    digest_map_put(&c->used, &padded, 1, NULL);
}

static enum err_code encode_record(void *arg, struct span key, struct span value, struct err *e)
{
    struct compactor *c = arg;
    struct record r;
    struct arena a = {0};
    struct buf made = {0};
    enum err_code code = OK;
    bool good = read_record(&r, c, &a, key, value);
    if (good)
        code = envelope_write(&made, c->coder, EFFORT_HIGH, r.kind, r.payload, e);
    /* A record may be longer under another dictionary; the old dictionary is then no longer
     * needed. */
    bool renewed =
        good && !code &&
        !span_equal(envelope_dictionary(value), envelope_dictionary(span_of(made.data, made.len)));
    if (good && !code && (renewed || made.len < value.len)) {
        value = span_of(made.data, made.len);
        store_batch_write(c->batch, ROCKS_OBJECTS, key, value);
        if (store_batch_bytes(c->batch) >= WRITE_AT)
            code = store_batch_commit(c->batch, e);
    }
    if (envelope_dictionary(value).len)
        note_used(c, envelope_dictionary(value));
    buf_free(&made);
    arena_free(&a);
    return err_up(e, code);
}

static enum err_code drop_dictionary(void *arg, struct span key, struct span value, struct err *e)
{
    struct compactor *c = arg;
    struct span prefix = span_str(DICTIONARY_COPY_PREFIX);
    struct digest padded = {0};
    if (key.len != prefix.len + DIGEST_SIZE)
        return OK;
    struct span id = span_of(key.data + prefix.len, DIGEST_SIZE);
    memcpy(padded.bytes, id.data, ENVELOPE_DICTIONARY);
    if (digest_map_get(&c->used, &padded))
        return OK;
    store_batch_remove(c->batch, ROCKS_META, key);
    store_batch_remove(c->batch, ROCKS_OBJECTS, id);
    return OK;
}

enum err_code store_compact(struct store *s, struct err *e)
{
    struct compactor c = {.coder = store_coder_take(s), .batch = store_batch_new(s)};
    enum err_code code = rocks_each(s->rocks, ROCKS_OBJECTS, span_of("", 0), sample_record, &c, e);
    for (int kind = KIND_NONE + 1; !code && kind < KIND_END; kind++) {
        if (c.samples[kind].n)
            code =
                dictionaries_train(&s->dictionaries, (enum record_kind)kind, &c.samples[kind], e);
        const struct dictionary *current = s->dictionaries.kinds[kind].current;
        if (current)
            note_used(&c, span_of(current->id.bytes, ENVELOPE_DICTIONARY));
    }
    if (!code)
        code = rocks_each(s->rocks, ROCKS_OBJECTS, span_of("", 0), encode_record, &c, e);
    if (!code)
        code = store_batch_commit(c.batch, e);
    if (!code)
        code = rocks_each(s->rocks, ROCKS_META, span_str(DICTIONARY_COPY_PREFIX), drop_dictionary,
                          &c, e);
    if (!code)
        code = store_batch_commit(c.batch, e);
    if (!code)
        code = rocks_flush(s->rocks, e);
    for (int i = ROCKS_DEFAULT + 1; !code && i < ROCKS_FAMILIES; i++)
        rocks_compact(s->rocks, (enum rocks_family)i);
    store_coder_give(s, c.coder);
    for (int kind = 0; kind < KIND_END; kind++)
        samples_free(&c.samples[kind]);
    digest_map_free(&c.used);
    store_batch_free(c.batch);
    return err_up(e, code);
}
