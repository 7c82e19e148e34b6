/* Ops train and embed behind a stand-in for the engine: what keys their segments, what they read,
 * that a chain of segments gives the weights of a longer one, and that embed needs nothing but the
 * checkpoint. */
#include "embedding.pb-c.h"
#include "engine/op.h"
#include "ops/learn/checkpoint.h"
#include "tests/ops/learn/toy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct op op_train, op_embed;

/* ---- the stand-in ---- */

enum { CLUSTERS = 20, MEMBERS = 6 };

struct chunk {
    struct digest id;
    struct span data;
};

/* Cluster i of the batches, or of those to validate on. */
typedef Eqloom__TokenBatch *data_source(const struct op_ctx *ctx, struct arena *a, bool valid,
                                        uint64_t i);

struct op_ctx {
    const struct op *op;
    const char *set; /* "name=value name=value": what is not the default */
    struct arena a;
    uint64_t segment, valid;            /* valid: clusters under that role */
    const ProtobufCMessage *checkpoint; /* previous, or the input of embed */
    ProtobufCMessage *out;
    struct chunk chunks[4096];
    size_t n_chunks;
    char progress[100];
    data_source *data; /* NULL: toy clusters, others to validate on */
    uint64_t edit;     /* of data_edited */
    int seen;          /* calls of op_cancelled */
    int cancel_at;
};

static Eqloom__TokenBatch *data_toy(const struct op_ctx *ctx, struct arena *a, bool valid,
                                    uint64_t i)
{
    return toy_batch(a, 1, valid ? CLUSTERS + i : i, MEMBERS, 4, 9);
}

/* Validates on what is trained on. */
static Eqloom__TokenBatch *data_learnt(const struct op_ctx *ctx, struct arena *a, bool valid,
                                       uint64_t i)
{
    return data_toy(ctx, a, false, i);
}

/* Clusters to validate on have one member of each of several that are told apart in training. */
static Eqloom__TokenBatch *data_contradicting(const struct op_ctx *ctx, struct arena *a, bool valid,
                                              uint64_t i)
{
    Eqloom__TokenBatch *out = data_toy(ctx, a, false, i);
    if (!valid)
        return out;
    out->n_tokens = 0;
    for (uint64_t j = 0; j < MEMBERS; j++) {
        const Eqloom__TokenBatch *b = data_toy(ctx, a, false, (i + j) % CLUSTERS);
        for (uint32_t k = b->offset[j]; k < b->offset[j + 1]; k++)
            out->tokens[out->n_tokens++] = b->tokens[k];
        out->offset[j + 1] = (uint32_t)out->n_tokens;
    }
    return out;
}

/* Of a member: the second token becomes another. */
static void edit_member(Eqloom__TokenBatch *b, size_t i)
{
    uint32_t *token = &b->tokens[b->offset[i] + 1];
    *token = *token == 3 ? 4 : 3;
}

/* Edit 0 is none; from EDIT_TOKEN on, it is of one member of one cluster. */
enum { EDIT_MOVED = 1, EDIT_VALID, EDIT_CLUSTER, EDIT_TOKEN };
static Eqloom__TokenBatch *data_edited(const struct op_ctx *ctx, struct arena *a, bool valid,
                                       uint64_t i)
{
    bool moved = ctx->edit == EDIT_MOVED && !valid, here = i == 7 * ctx->edit % CLUSTERS;
    Eqloom__TokenBatch *b = data_toy(ctx, a, valid, moved ? CLUSTERS - 1 - i : i);
    for (size_t k = 0; k < MEMBERS && valid && ctx->edit == EDIT_VALID; k++)
        edit_member(b, k);
    if (ctx->edit == EDIT_CLUSTER && !valid && here)
        return toy_batch(a, 2, i, MEMBERS, 4, 9);
    if (ctx->edit >= EDIT_TOKEN && !valid && here)
        edit_member(b, ctx->edit % MEMBERS);
    return b;
}

static const char *text_of(const struct op_ctx *ctx, const char *name)
{
    static char value[64];
    char key[64];
    snprintf(key, sizeof key, " %s=", name);
    const char *at = ctx->set ? strstr(ctx->set, key) : NULL;
    if (at) {
        at += strlen(key);
        snprintf(value, sizeof value, "%.*s", (int)strcspn(at, " "), at);
        return value;
    }
    for (const struct op_param *p = ctx->op->params; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p->initial;
    fail_msg("parameter %s is not in the table", name);
    return NULL;
}

int64_t op_int(const struct op_ctx *ctx, const char *name)
{
    return strtoll(text_of(ctx, name), NULL, 10);
}

double op_real(const struct op_ctx *ctx, const char *name)
{
    return strtod(text_of(ctx, name), NULL);
}

bool op_bool(const struct op_ctx *ctx, const char *name)
{
    return strcmp(text_of(ctx, name), "true") == 0;
}

const char *op_string(const struct op_ctx *ctx, const char *name)
{
    return arena_strdup(&((struct op_ctx *)ctx)->a, text_of(ctx, name));
}

uint64_t op_count(struct op_ctx *ctx, const char *role)
{
    if (strcmp(role, "init") == 0)
        return 0;
    return strcmp(role, "batches") == 0 ? CLUSTERS : strcmp(role, "valid") == 0 ? ctx->valid : 1;
}

enum err_code op_get_in(ProtobufCMessage **out, struct op_ctx *ctx, const char *role, uint64_t i,
                        struct arena *a, struct err *e)
{
    if (strcmp(role, "batches") == 0 || strcmp(role, "valid") == 0) {
        data_source *data = ctx->data ? ctx->data : data_toy;
        *out = &data(ctx, a, strcmp(role, "valid") == 0, i)->base;
    } else if (strcmp(role, "checkpoint") == 0) {
        *out = (ProtobufCMessage *)ctx->checkpoint;
    } else {
        Eqloom__Vocabulary *v = arena_new(a, Eqloom__Vocabulary);
        eqloom__vocabulary__init(v);
        v->n_tokens = TOY_VOCABULARY;
        *out = &v->base;
    }
    return OK;
}

enum err_code op_get(ProtobufCMessage **out, struct op_ctx *ctx, const char *role, uint64_t i,
                     struct err *e)
{
    return op_get_in(out, ctx, role, i, &ctx->a, e);
}

struct digest op_input_id(struct op_ctx *ctx, const char *role, uint64_t i)
{
    struct span s = span_str(role);
    return digest_of(&s, 1);
}

enum err_code op_get_chunk(struct span *out, struct op_ctx *ctx, const uint8_t id[32],
                           struct arena *a, struct err *e)
{
    for (size_t i = 0; i < ctx->n_chunks; i++)
        if (memcmp(ctx->chunks[i].id.bytes, id, DIGEST_SIZE) == 0) {
            *out = ctx->chunks[i].data;
            return OK;
        }
    return err_fail(e, ERR_NOTFOUND, "no such chunk");
}

enum err_code op_previous(ProtobufCMessage **out, struct op_ctx *ctx, struct err *e)
{
    *out = (ProtobufCMessage *)ctx->checkpoint;
    return OK;
}

struct digest op_previous_id(struct op_ctx *ctx)
{
    struct digest d = {{0}};
    d.bytes[0] = ctx->checkpoint != NULL;
    return d;
}

uint64_t op_segment_index(struct op_ctx *ctx)
{
    return ctx->segment;
}

/* Packed and unpacked again, so that what the op leaves in its own memory is not kept. */
enum err_code op_emit(struct digest *id, struct op_ctx *ctx, const char *role,
                      const ProtobufCMessage *message, struct err *e)
{
    size_t n = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = arena_alloc(&ctx->a, n);
    protobuf_c_message_pack(message, bytes);
    assert_null(ctx->out);
    ctx->out = protobuf_c_message_unpack(message->descriptor, NULL, n, bytes);
    return OK;
}

enum err_code op_emit_chunk(struct digest *id, struct op_ctx *ctx, struct span data, struct err *e)
{
    assert_true(ctx->n_chunks < 4096 && data.len <= 4 << 20);
    *id = digest_of(&data, 1);
    ctx->chunks[ctx->n_chunks++] =
        (struct chunk){*id, span_of(arena_memdup(&ctx->a, data.data, data.len), data.len)};
    return OK;
}

struct arena *op_arena(struct op_ctx *ctx)
{
    return &ctx->a;
}

struct pool *op_pool(struct op_ctx *ctx)
{
    return NULL;
}

const char *op_numerics(const struct op_ctx *ctx)
{
    return "test";
}

bool op_cancelled(const struct op_ctx *ctx)
{
    return ctx->cancel_at && ++((struct op_ctx *)ctx)->seen >= ctx->cancel_at;
}

void op_progress(struct op_ctx *ctx, uint64_t done, uint64_t total, const char *text)
{
    snprintf(ctx->progress, sizeof ctx->progress, "%d/%d %s", (int)done, (int)total, text);
}

/* ---- tests ---- */

/* A segment of more steps than a key has rates of. */
#define LONG " steps=3000000 segment=2000000"
#define SMALL " d_model=16 d_ff=32 heads=2 layers=1 batch=8 max_length=12 log_every=3"

static struct op_ctx *context(const struct op *op, const char *set)
{
    struct op_ctx *ctx = calloc(1, sizeof *ctx);
    assert_non_null(ctx);
    ctx->op = op;
    ctx->set = set;
    return ctx;
}

static void context_free(struct op_ctx *ctx)
{
    arena_free(&ctx->a);
    free(ctx);
}

/* Whether segment `index` has the same key under two settings. */
static bool same_key(const char *a, const char *b, uint64_t index)
{
    struct op_ctx *x = context(&op_train, a), *y = context(&op_train, b);
    struct op_segment p, q;
    assert_int_equal(op_train.segment(&p, x, index, NULL), OK);
    assert_int_equal(op_train.segment(&q, y, index, NULL), OK);
    bool same = strcmp(p.key, q.key) == 0;
    context_free(x);
    context_free(y);
    return same;
}

static void test_segment_keys(void **state)
{
    /* More steps: the common prefix is the same, the last short segment is not. */
    assert_true(same_key(" steps=1000", " steps=2000", 5));
    assert_true(same_key(" steps=1000 schedule=cosine-restarts",
                         " steps=2000 schedule=cosine-restarts", 5));
    assert_false(same_key(" steps=900", " steps=2000", 5));
    /* With patience the last segment gives the best weights alone. */
    assert_true(same_key(" steps=1000 patience=3", " steps=2000 patience=3", 4));
    assert_false(same_key(" steps=1000 patience=3", " steps=2000 patience=3", 5));
    assert_true(same_key(" steps=900", " steps=2000", 4));
    /* Schedules that end with the last step. */
    assert_false(same_key(" steps=1000 schedule=cosine", " steps=2000 schedule=cosine", 1));
    assert_false(same_key(" steps=1000 schedule=linear", " steps=2000 schedule=linear", 1));
    /* The initialisation depends on model and seed alone. */
    assert_true(same_key(" lr=0.1 batch=2", " schedule=cosine steps=9 dropout=0.1", 0));
    assert_false(same_key(" seed=1", " seed=2", 0));
    assert_false(same_key(" d_model=64", " d_model=32", 0));
    /* What no step looks at, and what each does. */
    assert_true(same_key(" restart_period=5", " restart_period=7", 1));
    assert_true(same_key(" warmup=100", " warmup=150", 2)); /* both over by step 200 */
    assert_false(same_key(" warmup=100", " warmup=150", 1));
    /* A schedule counts by the rates that its steps have. */
    assert_true(same_key(" lr=0.1 warmup=900 schedule=cosine steps=1000",
                         " lr=0.1 warmup=900 schedule=linear steps=2000", 4));
    assert_true(same_key(" schedule=step decay_every=500", " schedule=constant", 2));
    assert_true(same_key(" schedule=step decay_every=500 decay_factor=0.5",
                         " schedule=step decay_every=500 decay_factor=0.3", 2));
    assert_false(same_key(" schedule=step decay_every=500 decay_factor=0.5",
                          " schedule=step decay_every=500 decay_factor=0.3", 3));
    assert_false(same_key(" schedule=step decay_every=500", " schedule=constant", 3));
    /* Of a segment too long for that, what the rates are made from. */
    assert_true(same_key(LONG " lr=0.1", LONG " lr=0.1", 1));
    assert_false(same_key(LONG " schedule=linear", LONG " schedule=cosine", 1));
    assert_false(same_key(LONG " decay_every=500", LONG " decay_every=400", 1));
    assert_false(same_key(LONG " decay_factor=0.5", LONG " decay_factor=0.3", 1));
    static const char *const matters[] = {
        " lr=0.1",          " temperature=0.2", " dropout=0.1",    " batch=100",
        " seed=3",          " weight_decay=0",  " clip=4",         " beta1=0.8",
        " beta2=0.9",       " eps=1e-6",        " pooling=max",    " activation=gelu",
        " layers=3",        " log_every=5",     " segment=100",    " valid_every=7",
        " valid_batches=2", " patience=3",      " precision=bf16", " target=shortest",
        " optimizer=muon",  " negatives=2",     " related=2",      " objective=simcse"};
    for (size_t i = 0; i < sizeof matters / sizeof *matters; i++)
        assert_false(same_key(matters[i], "", 1));
}

static void test_check(void **state)
{
    struct op_ctx *ctx = context(&op_train, " heads=3");
    struct err e;
    assert_int_equal(op_train.check(ctx, &e), ERR_INPUT);
    assert_string_equal(e.message, "d_model 128 is not divisible by heads 3");
    context_free(ctx);
}

static Eqloom__Checkpoint *segment(struct op_ctx *ctx, void *shared, uint64_t index)
{
    struct err e;
    ctx->segment = index;
    ctx->out = NULL;
    if (op_train.run(ctx, shared, &e))
        fail_msg("%s", e.message);
    ctx->checkpoint = ctx->out;
    return (Eqloom__Checkpoint *)ctx->out;
}

static void free_checkpoint(Eqloom__Checkpoint *c)
{
    protobuf_c_message_free_unpacked(&c->base, NULL);
}

static void test_chain(void **state)
{
    struct op_ctx *one = context(&op_train, SMALL " steps=9 segment=9");
    struct op_ctx *many = context(&op_train, SMALL " steps=9 segment=6");
    void *shared1, *shared2;
    uint64_t n;
    assert_int_equal(op_train.segments(&n, one, NULL), OK);
    assert_int_equal(n, 2);
    assert_int_equal(op_train.segments(&n, many, NULL), OK);
    assert_int_equal(n, 3);
    assert_int_equal(op_train.prepare(&shared1, one, NULL), OK);
    assert_int_equal(op_train.prepare(&shared2, many, NULL), OK);
    Eqloom__Checkpoint *a[2], *b[3];
    for (uint64_t i = 0; i < 2; i++)
        a[i] = segment(one, shared1, i);
    for (uint64_t i = 0; i < 3; i++)
        b[i] = segment(many, shared2, i);
    assert_int_equal(a[0]->step, 0);
    assert_int_equal(a[0]->n_metrics, 0);
    assert_int_equal(a[0]->parent_id.len, 0);
    assert_int_equal(b[1]->step, 6);
    assert_int_equal(b[2]->step, 9);
    assert_int_equal(b[2]->parent_id.len, DIGEST_SIZE);
    assert_string_equal(b[2]->numerics, "test");
    assert_int_equal(a[1]->n_tensors, b[2]->n_tensors);
    for (size_t i = 0; i < a[1]->n_tensors; i++) {
        assert_string_equal(a[1]->tensors[i]->name, b[2]->tensors[i]->name);
        assert_memory_equal(a[1]->tensors[i]->chunk_ids.data, b[2]->tensors[i]->chunk_ids.data,
                            a[1]->tensors[i]->chunk_ids.len);
    }
    assert_int_equal(b[2]->n_metrics, 3 * 5); /* steps 3, 6, 9 */
    for (size_t i = 0; i < 15; i++) {
        assert_string_equal(a[1]->metrics[i]->name, b[2]->metrics[i]->name);
        assert_true(a[1]->metrics[i]->value == b[2]->metrics[i]->value);
        assert_int_equal(b[2]->metrics[i]->step, 3 + i / 5 * 3);
    }
    assert_non_null(strstr(many->progress, "3/3 loss "));

    struct op_ctx *wrong = context(&op_train, SMALL " steps=9 segment=3");
    struct err e;
    wrong->segment = 3;
    wrong->checkpoint = &b[0]->base; /* of step 0, not 6 */
    memcpy(wrong->chunks, many->chunks, sizeof many->chunks);
    wrong->n_chunks = many->n_chunks;
    assert_int_equal(op_train.run(wrong, shared2, &e), ERR_CORRUPT);
    wrong->segment = 1;
    wrong->cancel_at = 2;
    assert_int_equal(op_train.run(wrong, shared2, &e), ERR_CANCELLED);
    assert_null(wrong->out);
    context_free(wrong);

    for (int i = 0; i < 2; i++)
        free_checkpoint(a[i]);
    for (int i = 0; i < 3; i++)
        free_checkpoint(b[i]);
    op_train.release(shared1);
    op_train.release(shared2);
    context_free(one);
    context_free(many);
}

static bool same_tensors(const Eqloom__Checkpoint *a, const Eqloom__Checkpoint *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(a->tensors[i]->name, b->tensors[i]->name) != 0 ||
            a->tensors[i]->chunk_ids.len != b->tensors[i]->chunk_ids.len ||
            memcmp(a->tensors[i]->chunk_ids.data, b->tensors[i]->chunk_ids.data,
                   a->tensors[i]->chunk_ids.len) != 0)
            return false;
    return true;
}

static size_t count_metric(const Eqloom__Checkpoint *c, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_metrics; i++)
        n += strcmp(c->metrics[i]->name, name) == 0;
    return n;
}

/* Nothing is learnt at rate 0: the first of equal losses is the best, two more end it at step 6. */
static void test_stop(void **state)
{
    struct op_ctx *ctx =
        context(&op_train, SMALL " lr=0 steps=20 segment=8 valid_every=2 patience=2");
    void *shared;
    ctx->valid = 4;
    assert_int_equal(op_train.prepare(&shared, ctx, NULL), OK);
    Eqloom__Checkpoint *c[4];
    for (uint64_t i = 0; i < 4; i++)
        c[i] = segment(ctx, shared, i);
    assert_int_equal(c[1]->step, 2);
    assert_int_equal(c[1]->n_tensors, c[0]->n_tensors);
    assert_true(same_tensors(c[0], c[1], c[0]->n_tensors));
    assert_int_equal(count_metric(c[1], "valid_loss"), 3);
    assert_int_equal(count_metric(c[1], "valid_accuracy"), 3);
    assert_int_equal(c[1]->metrics[c[1]->n_metrics - 1]->step, 6);
    for (int i = 2; i < 4; i++) {
        size_t n = protobuf_c_message_get_packed_size(&c[1]->base);
        assert_int_equal(protobuf_c_message_get_packed_size(&c[i]->base), n);
        uint8_t *x = arena_alloc(&ctx->a, n), *y = arena_alloc(&ctx->a, n);
        protobuf_c_message_pack(&c[1]->base, x);
        protobuf_c_message_pack(&c[i]->base, y);
        assert_memory_equal(x, y, n);
    }
    for (int i = 0; i < 4; i++)
        free_checkpoint(c[i]);
    op_train.release(shared);
    context_free(ctx);
}

static Eqloom__Checkpoint *train_whole(struct op_ctx *ctx)
{
    void *shared;
    uint64_t n;
    assert_int_equal(op_train.prepare(&shared, ctx, NULL), OK);
    assert_int_equal(op_train.segments(&n, ctx, NULL), OK);
    Eqloom__Checkpoint *c = segment(ctx, shared, 0);
    for (uint64_t i = 1; i < n; i++) {
        Eqloom__Checkpoint *previous = c;
        c = segment(ctx, shared, i);
        free_checkpoint(previous);
    }
    op_train.release(shared);
    return c;
}

/* What is kept are the weights of the step that validation names, however the chain is cut. */
static void check_best(data_source *data, uint64_t least_step, uint64_t most_step)
{
#define LEARNS SMALL " lr=0.01 valid_every=2"
    static const char *const set[] = {LEARNS " steps=14 segment=14 patience=100",
                                      LEARNS " steps=14 segment=5 patience=100"};
    struct op_ctx *ctx[2];
    Eqloom__Checkpoint *c[2];
    for (int i = 0; i < 2; i++) {
        ctx[i] = context(&op_train, set[i]);
        ctx[i]->valid = 8;
        ctx[i]->data = data;
        c[i] = train_whole(ctx[i]);
    }
    double least = INFINITY;
    uint64_t step = 0;
    for (size_t i = 0; i < c[0]->n_metrics; i++)
        if (strcmp(c[0]->metrics[i]->name, "valid_loss") == 0 && c[0]->metrics[i]->value < least) {
            least = c[0]->metrics[i]->value;
            step = c[0]->metrics[i]->step;
        }
    assert_in_range(step, least_step, most_step); /* else the test shows nothing */
    assert_int_equal(c[0]->step, step);
    assert_int_equal(c[1]->step, step);
    assert_int_equal(c[0]->n_tensors, c[1]->n_tensors);
    assert_true(same_tensors(c[0], c[1], c[0]->n_tensors));
    char steps[160];
    snprintf(steps, sizeof steps, LEARNS " steps=%d segment=14", (int)step);
    struct op_ctx *plain = context(&op_train, steps);
    plain->valid = 8;
    plain->data = data;
    Eqloom__Checkpoint *want = train_whole(plain);
    assert_int_equal(want->n_tensors, 3 * c[0]->n_tensors);
    assert_true(same_tensors(want, c[0], c[0]->n_tensors));
    free_checkpoint(want);
    context_free(plain);
    for (int i = 0; i < 2; i++) {
        free_checkpoint(c[i]);
        context_free(ctx[i]);
    }
}

/* Validation on what is learnt gets better, and on clusters that contradict it worse: the best is
 * late, or early. */
static void test_best(void **state)
{
    check_best(data_learnt, 4, 14);
    check_best(data_contradicting, 2, 12);
}

/* ---- what segments read ---- */

enum { SEGMENTS = 4, EDITS = 12 };

/* A chain: what each segment reads, and what it gives. */
struct told {
    struct digest reads;
    struct span record;
};

static struct op_ctx *tell(struct told out[SEGMENTS], const char *set, uint64_t edit)
{
    struct op_ctx *ctx = context(&op_train, set);
    void *shared;
    ctx->valid = 4;
    ctx->data = data_edited;
    ctx->edit = edit;
    assert_int_equal(op_train.prepare(&shared, ctx, NULL), OK);
    Eqloom__Checkpoint *previous = NULL;
    for (uint64_t i = 0; i < SEGMENTS; i++) {
        const char *reason;
        ctx->segment = i;
        assert_int_equal(op_train.reads(&out[i].reads, &reason, ctx, shared, NULL), OK);
        Eqloom__Checkpoint *c = segment(ctx, shared, i);
        size_t n = protobuf_c_message_get_packed_size(&c->base);
        uint8_t *bytes = arena_alloc(&ctx->a, n);
        protobuf_c_message_pack(&c->base, bytes);
        out[i].record = span_of(bytes, n);
        if (previous)
            free_checkpoint(previous);
        previous = c;
    }
    free_checkpoint(previous);
    op_train.release(shared);
    return ctx;
}

/* As long as a chain reads the same it gives the same, whatever became of its data. */
static void check_reads(const char *set, bool moved_is_same)
{
    struct told was[SEGMENTS], is[SEGMENTS];
    struct op_ctx *ctx = tell(was, set, 0);
    size_t stand = 0;
    for (uint64_t edit = 1; edit <= EDITS; edit++) {
        struct op_ctx *other = tell(is, set, edit);
        size_t i = 0;
        for (; i < SEGMENTS && digest_equal(&was[i].reads, &is[i].reads); i++)
            assert_true(span_equal(was[i].record, is[i].record));
        assert_true(i > 0); /* the initialisation */
        assert_true(edit != EDIT_MOVED || !moved_is_same || i == SEGMENTS);
        assert_true(edit != EDIT_VALID || i == 2); /* of steps 3 and 4 the latter validates */
        stand += i - 1;
        context_free(other);
    }
    /* Not all, and more than those of EDIT_MOVED and EDIT_VALID. */
    assert_in_range(stand, moved_is_same ? 5 : 2, (SEGMENTS - 1) * EDITS - 4);
    context_free(ctx);
}

static void test_reads(void **state)
{
#define CHAIN SMALL " steps=6 segment=2 valid_every=4"
    check_reads(" batch=2" CHAIN, true);
    check_reads(" batch=2 negatives=1" CHAIN, true);
    check_reads(" batch=2 related=2" CHAIN, false);
    check_reads(" batch=2 objective=simcse dropout=0.1" CHAIN, true);
    check_reads(" batch=2 objective=triplet negatives=1" CHAIN, true);
    check_reads(" batch=2 objective=seq2seq decoder_layers=1 target=shortest" CHAIN, true);
    check_reads(" batch=2 objective=autoencode decoder_layers=1 optimizer=muon" CHAIN, true);
}

static void test_validation_refused(void **state)
{
    struct op_ctx *ctx = context(&op_train, SMALL " patience=2");
    struct err e;
    void *shared;
    assert_int_equal(op_train.prepare(&shared, ctx, &e), ERR_INPUT);
    assert_string_equal(e.message, "patience needs the input 'valid', and clusters in it");
    ctx->valid = 1;
    assert_int_equal(op_train.prepare(&shared, ctx, &e), ERR_INPUT);
    assert_string_equal(e.message, "at least two clusters of two expressions are needed; valid "
                                   "has 1");
    context_free(ctx);
}

/* Nearly the same vectors, by products whose units are in the key. */
static void test_embed_bf16(struct op_ctx *ctx, const Eqloom__EmbeddingBatch *f32)
{
    void *model;
    assert_null(op_embed.units(ctx));
    ctx->set = " precision=bf16";
    assert_string_equal(op_embed.units(ctx), gpu_cpu_bf16());
    ctx->out = NULL;
    assert_int_equal(op_embed.prepare(&model, ctx, NULL), OK);
    assert_int_equal(op_embed.run(ctx, model, NULL), OK);
    const Eqloom__EmbeddingBatch *v = (const Eqloom__EmbeddingBatch *)ctx->out;
    assert_int_equal(v->values.len, f32->values.len);
    double greatest = 0;
    for (size_t i = 0; i < v->values.len; i += sizeof(float)) {
        float x, y;
        memcpy(&x, v->values.data + i, sizeof x);
        memcpy(&y, f32->values.data + i, sizeof y);
        greatest = fmax(greatest, fabs((double)x - (double)y));
    }
    assert_true(greatest > 1e-6 && greatest < 0.05);
    protobuf_c_message_free_unpacked(ctx->out, NULL);
    op_embed.release(model);
}

static void test_embed(void **state)
{
    struct op_ctx *ctx = context(&op_train, SMALL " steps=0");
    void *shared, *model;
    uint64_t n;
    assert_int_equal(op_train.segments(&n, ctx, NULL), OK);
    assert_int_equal(n, 1);
    assert_int_equal(op_train.prepare(&shared, ctx, NULL), OK);
    Eqloom__Checkpoint *c = segment(ctx, shared, 0);
    ctx->op = &op_embed;
    ctx->out = NULL;
    assert_int_equal(op_embed.prepare(&model, ctx, NULL), OK);
    assert_int_equal(op_embed.run(ctx, model, NULL), OK);
    Eqloom__EmbeddingBatch *v = (Eqloom__EmbeddingBatch *)ctx->out;
    assert_int_equal(v->dim, 16);
    assert_int_equal(v->count, MEMBERS);
    assert_int_equal(v->values.len, 16 * MEMBERS * sizeof(float));
    for (int i = 0; i < MEMBERS; i++) {
        double sum = 0;
        float x[16];
        memcpy(x, v->values.data + (size_t)i * sizeof x, sizeof x);
        for (int k = 0; k < 16; k++)
            sum += (double)x[k] * x[k];
        assert_true(fabs(sum - 1) < 1e-5);
    }
    test_embed_bf16(ctx, v);
    protobuf_c_message_free_unpacked(&v->base, NULL);
    op_embed.release(model);
    op_train.release(shared);
    free_checkpoint(c);
    context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segment_keys),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_best),
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_validation_refused),
        cmocka_unit_test(test_embed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
