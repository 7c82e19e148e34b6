/* Giving space back; see maintain.h. A run stores its records with little effort; here those of
 * kinds that have a dense form take it, and others are compressed if they were not. Identities do
 * not depend on it. Cut off at any moment, what has been written stays.
 *
 * A kind's model learns from the records whose ids come first, which are as good as drawn at
 * random: an eighth of all bytes, at most DENSE_SAMPLES. It is made again when there are so many
 * more records by now that it can learn from four times as much. */
#include "store/maintain.h"

#include "store/dense/model.h"
#include "store/internal.h"

#include <stdlib.h>

enum {
    WRITE_AT = 4 << 20,
    LEAST_SAMPLES = 1 << 10, /* bytes; a model of less costs more than it saves */
    SHARE = 8,               /* of the bytes of a kind that are samples */
    GROWTH = 4,
    FIRST = 4, /* times what is wanted: so long may the first sample be */
};

struct samples {
    uint64_t total; /* bytes of all payloads */
    size_t wanted, bytes;
    struct span *list;
    size_t n, cap;
};

struct compactor {
    struct store *store;
    struct coder *coder;
    struct arena lasting; /* of samples */
    struct samples kinds[KIND_END];
    struct arena arena; /* of one record, or of the writes */
    struct rocks_write *writes;
    size_t n, cap, bytes;
};

static enum err_code count_record(struct compactor *c, struct span key, struct span value,
                                  struct err *e)
{
    enum record_kind kind;
    uint64_t length;
    if (envelope_peek(&kind, &length, value, NULL) == OK && dense_serves(kind) &&
        length <= DENSE_MAX_PAYLOAD)
        c->kinds[kind].total += length;
    return OK;
}

/* Bad records are left to fsck. */
static bool read_record(struct record *r, struct digest *id, struct compactor *c, struct arena *a,
                        struct span key, struct span value)
{
    if (key.len != DIGEST_SIZE)
        return false;
    memcpy(id->bytes, key.data, DIGEST_SIZE);
    return envelope_verify(r, c->coder, id, value, a, NULL) == OK;
}

static enum err_code sample_record(struct compactor *c, struct span key, struct span value,
                                   struct err *e)
{
    enum record_kind kind;
    uint64_t length;
    struct digest id;
    struct record r;
    if (envelope_peek(&kind, &length, value, NULL) != OK)
        return OK;
    struct samples *s = &c->kinds[kind];
    if (s->bytes >= s->wanted || length == 0 || length > s->wanted * (s->n ? 1 : FIRST))
        return OK;
    struct arena a = {0};
    if (read_record(&r, &id, c, &a, key, value)) {
        s->list = vec_grow(s->list, &s->cap, s->n + 1, sizeof *s->list);
        s->list[s->n++] =
            span_of(arena_memdup(&c->lasting, r.payload.data, r.payload.len), r.payload.len);
        s->bytes += r.payload.len;
    }
    arena_free(&a);
    return OK;
}

static enum err_code write_out(struct compactor *c, struct err *e)
{
    enum err_code code = c->n ? rocks_write(c->store->rocks, c->writes, c->n, false, e) : OK;
    arena_reset(&c->arena);
    c->n = c->bytes = 0;
    return err_up(e, code);
}

/* Whether the record may become smaller: it has not the form that its kind is to have. */
static bool is_loose(const struct dictionary *model, uint64_t length, struct span value)
{
    if (!model || length > DENSE_MAX_PAYLOAD)
        return value.data[3] == CODEC_RAW;
    struct span used = envelope_dictionary(value);
    return value.data[3] != CODEC_MODEL || memcmp(used.data, model->id.bytes, used.len) != 0;
}

static enum err_code encode_record(struct compactor *c, struct span key, struct span value,
                                   struct err *e)
{
    enum record_kind kind;
    uint64_t length;
    struct digest id;
    struct record r;
    struct arena a = {0};
    struct buf made = {0};
    const struct dictionary *model = NULL;
    enum err_code code = OK;
    if (envelope_peek(&kind, &length, value, NULL) != OK)
        return OK;
    code = dictionaries_model(&model, &c->store->dictionaries, kind, e);
    if (code == OK && is_loose(model, length, value) && read_record(&r, &id, c, &a, key, value))
        code = envelope_write(&made, c->coder, EFFORT_MUCH, r.kind, r.payload, e);
    /* So that an old model is needed no longer. */
    bool renewed = made.len && made.data[3] == CODEC_MODEL && value.data[3] == CODEC_MODEL;
    if (code == OK && made.len && (renewed || made.len < value.len)) {
        c->writes = vec_grow(c->writes, &c->cap, c->n + 1, sizeof *c->writes);
        c->writes[c->n++] = (struct rocks_write){
            .family = ROCKS_OBJECTS,
            .key = span_of(arena_memdup(&c->arena, key.data, key.len), key.len),
            .value = span_of(arena_memdup(&c->arena, made.data, made.len), made.len)};
        c->bytes += made.len;
        if (c->bytes >= WRITE_AT)
            code = write_out(c, e);
    }
    buf_free(&made);
    arena_free(&a);
    return err_up(e, code);
}

static enum err_code each_object(struct compactor *c,
                                 enum err_code (*visit)(struct compactor *c, struct span key,
                                                        struct span value, struct err *e),
                                 struct err *e)
{
    struct rocks_iter *it = rocks_iter_new(c->store->rocks, ROCKS_OBJECTS);
    enum err_code code = OK;
    for (rocks_iter_seek(it, span_of("", 0)); code == OK && rocks_iter_valid(it);
         rocks_iter_next(it))
        code = visit(c, rocks_iter_key(it), rocks_iter_value(it), e);
    if (code == OK)
        code = rocks_iter_error(it, e);
    rocks_iter_free(it);
    return err_up(e, code);
}

static enum err_code make_models(struct compactor *c, struct err *e)
{
    struct dictionaries *d = &c->store->dictionaries;
    enum err_code code = each_object(c, count_record, e);
    bool any = false;
    for (int kind = KIND_NONE + 1; kind < KIND_END; kind++) {
        struct samples *s = &c->kinds[kind];
        uint64_t wanted = s->total / SHARE < DENSE_SAMPLES ? s->total / SHARE : DENSE_SAMPLES;
        const struct dictionary *model = NULL;
        if (code == OK && wanted >= LEAST_SAMPLES)
            code = dictionaries_model(&model, d, (enum record_kind)kind, e);
        if (wanted >= LEAST_SAMPLES &&
            (!model || wanted >= GROWTH * dense_model_bytes(model->model)))
            s->wanted = wanted;
        any = any || s->wanted;
    }
    if (code == OK && any)
        code = each_object(c, sample_record, e);
    for (int kind = KIND_NONE + 1; code == OK && kind < KIND_END; kind++) {
        struct samples *s = &c->kinds[kind];
        if (s->bytes >= LEAST_SAMPLES / 2)
            code = dictionaries_make_model(d, (enum record_kind)kind, s->list, s->n, e);
    }
    return err_up(e, code);
}

enum err_code store_compact(struct store *s, struct err *e)
{
    struct compactor c = {.store = s, .coder = store_coder_take(s)};
    enum err_code code = make_models(&c, e);
    if (code == OK)
        code = each_object(&c, encode_record, e);
    if (code == OK)
        code = write_out(&c, e);
    if (code == OK)
        code = rocks_flush(s->rocks, e);
    for (int i = ROCKS_DEFAULT + 1; code == OK && i < ROCKS_FAMILIES; i++)
        rocks_compact(s->rocks, (enum rocks_family)i);
    store_coder_give(s, c.coder);
    for (int kind = 0; kind < KIND_END; kind++)
        free(c.kinds[kind].list);
    arena_free(&c.lasting);
    arena_free(&c.arena);
    free(c.writes);
    return err_up(e, code);
}
