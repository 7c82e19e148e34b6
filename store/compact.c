/* Giving space back; see maintain.h. A run stores its records with little effort; here those of
 * kinds that have a dense form take it, and others are compressed if they were not. Identities do
 * not depend on it. Cut off at any moment, what has been written stays.
 *
 * Runs end with a bit of it (store_tidy), within a budget of time; identities do not depend on what
 * gets done. Clusters come first, e-graphs last. meta holds how far each class of kinds has come,
 * in `tidy/CLASS`: bytes put that are still to be looked at and how many of these there were when
 * the present round began (8 bytes little-endian each), and the id at which it goes on.
 *
 * A kind's model learns from the records whose ids come first, which are as good as drawn at
 * random: an eighth of all bytes, at most DENSE_SAMPLES. It is made again when there are so many
 * more records by now that it can learn from four times as much. */
#include "store/maintain.h"

#include "base/os.h"
#include "store/dense/model.h"
#include "store/internal.h"

#include <stdlib.h>

enum {
    WRITE_AT = 4 << 20,
    LEAST_SAMPLES = 1 << 10, /* bytes; a model of less costs more than it saves */
    SHARE = 8,               /* of the bytes of a kind that are samples */
    GROWTH = 4,
    FIRST = 4,            /* times what is wanted: so long may the first sample be */
    NOTED = 64 << 10,     /* bytes put that are worth a note */
    TIDY_FROM = 1 << 20,  /* bytes waiting that are worth beginning */
    TIDY_BUDGET_MS = 100, /* below, nothing is begun */
    TIDY_SCAN = 16 << 20, /* bytes looked at for samples */
    TIDY_STATE = 16 + DIGEST_SIZE,
};
#define TIDY_KEY "tidy" /* of stores that knew no classes */

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
    uint64_t until_ns;        /* 0: no end */
    const volatile int *stop; /* or NULL */
    uint64_t scan_limit;      /* bytes; 0: none */
    bool one_class;           /* others are passed over */
    enum tidy_class class;
    struct digest last; /* the id that was looked at last */
    bool cut;           /* it did not come to the end */
};

static bool is_over(struct compactor *c)
{
    c->cut = c->cut || (c->stop && *c->stop) || (c->until_ns && os_monotonic_ns() >= c->until_ns);
    return c->cut;
}

static enum err_code count_record(struct compactor *c, struct span key, struct span value,
                                  struct err *e)
{
    enum record_kind kind;
    uint64_t length;
    if (envelope_peek(&kind, &length, value, NULL) == OK && dense_serves(kind) &&
        length <= DENSE_MAX_WRITTEN)
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
    if (!model || length > DENSE_MAX_WRITTEN)
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
    if (envelope_peek(&kind, &length, value, NULL) != OK ||
        (c->one_class && tidy_class_of(kind) != c->class))
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

/* From an id on. */
static enum err_code each_object(struct compactor *c, struct digest from,
                                 enum err_code (*visit)(struct compactor *c, struct span key,
                                                        struct span value, struct err *e),
                                 struct err *e)
{
    struct rocks_iter *it = rocks_iter_new(c->store->rocks, ROCKS_OBJECTS);
    enum err_code code = OK;
    uint64_t seen = 0;
    for (rocks_iter_seek(it, digest_span(&from));
         code == OK && rocks_iter_valid(it) && !is_over(c) &&
         (!c->scan_limit || seen < c->scan_limit);
         rocks_iter_next(it)) {
        struct span key = rocks_iter_key(it), value = rocks_iter_value(it);
        seen += value.len;
        code = visit(c, key, value, e);
        if (key.len == DIGEST_SIZE)
            memcpy(c->last.bytes, key.data, DIGEST_SIZE);
    }
    if (code == OK)
        code = rocks_iter_error(it, e);
    rocks_iter_free(it);
    return err_up(e, code);
}

static enum err_code make_models(struct compactor *c, struct err *e)
{
    struct dictionaries *d = &c->store->dictionaries;
    enum err_code code = each_object(c, (struct digest){0}, count_record, e);
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
        code = each_object(c, (struct digest){0}, sample_record, e);
    for (int kind = KIND_NONE + 1; code == OK && kind < KIND_END && !is_over(c); kind++) {
        struct samples *s = &c->kinds[kind];
        if (s->bytes >= LEAST_SAMPLES / 2)
            code = dictionaries_make_model(d, (enum record_kind)kind, s->list, s->n, e);
    }
    return err_up(e, code);
}

static void compactor_free(struct compactor *c)
{
    store_coder_give(c->store, c->coder);
    for (int kind = 0; kind < KIND_END; kind++)
        free(c->kinds[kind].list);
    arena_free(&c->lasting);
    arena_free(&c->arena);
    free(c->writes);
}

/* ---- how far it came ---- */

struct state {
    uint64_t waiting, in_round;
    struct digest next;
};

static const char *const keys[TIDY_CLASSES] = {"tidy/clusters", "tidy/others", "tidy/egraphs"};

static uint64_t take_le(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static enum err_code read_state(struct state *out, struct store *s, const char *key, struct err *e)
{
    struct rocks_value v;
    enum err_code code = rocks_get(&v, s->rocks, ROCKS_META, span_str(key), e);
    *out = (struct state){0};
    if (code == OK && v.bytes.len == TIDY_STATE) {
        out->waiting = take_le(v.bytes.data);
        out->in_round = take_le(v.bytes.data + 8);
        memcpy(out->next.bytes, v.bytes.data + 16, DIGEST_SIZE);
    }
    if (code == OK)
        rocks_value_free(&v);
    return code;
}

/* What waited before there were classes may be of any: enough to look for it. */
static enum err_code read_states(struct state out[TIDY_CLASSES], struct store *s, struct err *e)
{
    enum err_code code = OK;
    for (int i = 0; i < TIDY_CLASSES && code == OK; i++) {
        code = read_state(&out[i], s, keys[i], e);
        if (code == ERR_NOTFOUND) {
            err_clear(e);
            code = read_state(&out[i], s, TIDY_KEY, e);
            if (i != TIDY_EGRAPHS && out[i].waiting > TIDY_FROM)
                out[i].waiting = TIDY_FROM;
            out[i].in_round = 0;
            out[i].next = (struct digest){0};
        }
        if (code == ERR_NOTFOUND) {
            err_clear(e);
            code = OK;
        }
    }
    return err_up(e, code);
}

static enum err_code write_states(struct store *s, const struct state states[TIDY_CLASSES],
                                  struct err *e)
{
    uint8_t bytes[TIDY_CLASSES][TIDY_STATE];
    struct rocks_write w[TIDY_CLASSES + 1];
    for (int k = 0; k < TIDY_CLASSES; k++) {
        for (int i = 0; i < 8; i++) {
            bytes[k][i] = (uint8_t)(states[k].waiting >> (8 * i));
            bytes[k][8 + i] = (uint8_t)(states[k].in_round >> (8 * i));
        }
        memcpy(bytes[k] + 16, states[k].next.bytes, DIGEST_SIZE);
        w[k] = (struct rocks_write){ROCKS_META, false, span_str(keys[k]),
                                    span_of(bytes[k], TIDY_STATE)};
    }
    w[TIDY_CLASSES] = (struct rocks_write){ROCKS_META, true, span_str(TIDY_KEY), span_of("", 0)};
    return err_up(e, rocks_write(s->rocks, w, TIDY_CLASSES + 1, false, e));
}

/* One stretch of a round. A round that is over has looked at all that was waiting when it began. */
static enum err_code tidy_stretch(struct state *state, struct compactor *c, struct err *e)
{
    if (digest_is_zero(&state->next))
        state->in_round = state->waiting;
    c->last = state->next;
    enum err_code code = each_object(c, state->next, encode_record, e);
    if (code == OK)
        code = write_out(c, e);
    state->next = c->cut ? c->last : (struct digest){0};
    if (!c->cut)
        state->waiting -= state->in_round < state->waiting ? state->in_round : state->waiting;
    return err_up(e, code);
}

/* Models are made when a round begins, whatever the budget: that takes a few tenths of a second. */
static enum err_code tidy_for(struct state states[TIDY_CLASSES], struct store *s,
                              const struct tidy_options *options, uint64_t from, struct err *e)
{
    struct compactor c = {.store = s, .coder = store_coder_take(s), .stop = options->stop};
    enum err_code code = OK;
    bool begins = false;
    for (int i = 0; i < TIDY_CLASSES; i++)
        begins = begins || (states[i].waiting >= from && digest_is_zero(&states[i].next));
    c.scan_limit = TIDY_SCAN;
    if (begins)
        code = make_models(&c, e);
    c.scan_limit = 0;
    c.one_class = true;
    c.until_ns = os_monotonic_ns() + options->budget_ns;
    for (int i = 0; i < TIDY_CLASSES; i++) {
        c.class = (enum tidy_class)i;
        while (code == OK && !is_over(&c) && states[i].waiting >= from)
            code = tidy_stretch(&states[i], &c, e);
    }
    compactor_free(&c);
    return err_up(e, code);
}

enum err_code store_tidy(uint64_t *waiting, struct store *s, const struct tidy_options *options,
                         struct err *e)
{
    struct state states[TIDY_CLASSES];
    uint64_t loose[TIDY_CLASSES], put = 0;
    bool timely = options->any || options->budget_ns >= TIDY_BUDGET_MS * UINT64_C(1000000);
    *waiting = 0;
    for (int i = 0; i < TIDY_CLASSES; i++)
        put += loose[i] = atomic_exchange(&s->loose[i], 0);
    if (put < NOTED && !timely)
        return OK;
    enum err_code code = read_states(states, s, e);
    if (code != OK)
        return err_up(e, code);
    for (int i = 0; i < TIDY_CLASSES; i++) {
        states[i].waiting += loose[i];
        if (options->any && !states[i].waiting)
            states[i].waiting = 1; /* a run that was killed has noted nothing */
        *waiting += states[i].waiting;
    }
    bool begins = options->any || (timely && *waiting >= TIDY_FROM);
    if (!begins && put < NOTED)
        return OK;
    /* Before it begins, too: it may be killed. */
    code = write_states(s, states, e);
    if (code != OK || !begins)
        return err_up(e, code);
    if (options->begins && *waiting >= TIDY_FROM)
        options->begins(options->arg, options->budget_ns);
    code = tidy_for(states, s, options, options->any ? 1 : NOTED, e);
    *waiting = 0;
    for (int i = 0; i < TIDY_CLASSES; i++)
        *waiting += states[i].waiting;
    return err_up(e, code == OK ? write_states(s, states, e) : code);
}

enum err_code store_compact(struct store *s, struct err *e)
{
    struct compactor c = {.store = s, .coder = store_coder_take(s)};
    enum err_code code = make_models(&c, e);
    if (code == OK)
        code = each_object(&c, (struct digest){0}, encode_record, e);
    if (code == OK)
        code = write_out(&c, e);
    if (code == OK)
        code = write_states(s, (struct state[TIDY_CLASSES]){0}, e);
    if (code == OK)
        code = rocks_flush(s->rocks, e);
    for (int i = ROCKS_DEFAULT + 1; code == OK && i < ROCKS_FAMILIES; i++)
        rocks_compact(s->rocks, (enum rocks_family)i);
    compactor_free(&c);
    return err_up(e, code);
}
