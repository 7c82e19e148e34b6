/* Ops train and embed behind a stand-in for the engine: what keys their segments, that a chain of
 * segments gives the weights of a longer one, and that embed needs nothing but the checkpoint. */
#include "embedding.pb-c.h"
#include "tests/ops/learn/stand_in.h"

#include <math.h>

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

TEST(segment_keys)
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
    static const char *const matters[] = {
        " lr=0.1",          " temperature=0.2", " dropout=0.1",      " batch=100",
        " seed=3",          " weight_decay=0",  " clip=4",           " beta1=0.8",
        " beta2=0.9",       " eps=1e-6",        " pooling=max",      " activation=gelu",
        " layers=3",        " log_every=5",     " segment=100",      " valid_every=7",
        " valid_batches=2", " patience=3",      " target=shortest",  " optimizer=muon",
        " negatives=2",     " related=2",       " objective=simcse", " near_share=0.2"};
    for (size_t i = 0; i < sizeof matters / sizeof *matters; i++)
        assert_false(same_key(matters[i], "", 1));
    /* bf16 without units for it is f32. */
    assert_int_equal(same_key(" precision=bf16", "", 1), !gpu_cpu_bf16());
    static const char *const objectives[] = {" objective=triplet", " objective=siamese",
                                             " objective=histogram"};
    for (int i = 0; i < 3; i++)
        assert_false(same_key(objectives[i], objectives[(i + 1) % 3], 1));
    for (int i = 0; i < 2; i++) {
        char set[80];
        snprintf(set, sizeof set, "%s hinge=squared", objectives[i]);
        assert_false(same_key(objectives[i], set, 1));
    }
    assert_false(same_key(" objective=triplet", " objective=triplet swap=true", 1));
    assert_false(same_key("", " similarity=maxsim", 1));
    assert_false(same_key(" patience=3", " patience=3 min_steps=500", 1));
    /* In steps it is the validations that these take. */
    assert_true(same_key(" valid_every=100 patience=3", " valid_every=100 patience_steps=250", 1));
    assert_false(same_key(" valid_every=100 patience=3", " valid_every=100 patience_steps=301", 1));
}

TEST(check)
{
    static const char *const refused[][2] = {
        {" heads=3", "d_model 128 is not divisible by heads 3"},
        {" objective=seq2seq", "objective seq2seq needs decoder_layers"},
        {" objective=siamese decoder_layers=1", "objective siamese does not use decoder_layers"},
        {" objective=siamese related=2 batch=4",
         "'related' needs objective contrastive or histogram, without 'negatives'"},
        {" batch=5 related=2", "'batch' (5) is not a multiple of 'related' (2)"},
        {" objective=simcse dropout=0.1 negatives=2", "objective simcse has no 'negatives'"},
        {" swap=true", "'swap' belongs to objective triplet, not to contrastive"},
        {" objective=siamese swap=true", "'swap' belongs to objective triplet, not to siamese"},
        {" objective=histogram hinge=squared",
         "'hinge' belongs to objectives triplet and siamese, not to histogram"},
        {" objective=triplet hinge=euclidean",
         "'hinge: euclidean' belongs to objective siamese, not to triplet"},
        {" objective=siamese similarity=maxsim",
         "'similarity: maxsim' belongs to objectives contrastive and simcse, not to siamese"},
        {" min_steps=5", "'min_steps' needs 'patience' or 'patience_steps'"},
        {" patience=5 patience_steps=5",
         "'patience' counts validations, 'patience_steps' steps: give only one"},
        {" schedule=cosine lr_min=0.1",
         "'lr_min' (0.1) is greater than 'lr' (0.001): the schedule would rise"},
    };
    static const char *const taken[] = {
        "", " lr_min=0.1", " objective=triplet swap=true hinge=squared",
        " objective=siamese hinge=squared negatives=3", " objective=histogram related=2 batch=4"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct op_ctx *ctx = context(&op_train, refused[i][0]);
        struct err e;
        assert_int_equal(op_train.check(ctx, &e), ERR_INPUT);
        assert_string_equal(e.message, refused[i][1]);
        context_free(ctx);
    }
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        struct op_ctx *ctx = context(&op_train, taken[i]);
        assert_int_equal(op_train.check(ctx, NULL), OK);
        context_free(ctx);
    }
}

TEST(chain)
{
    struct op_ctx *one = context(&op_train, SMALL " steps=9 segment=9");
    struct op_ctx *many = context(&op_train, SMALL " steps=9 segment=6");
    uint64_t n;
    assert_int_equal(op_train.segments(&n, one, NULL), OK);
    assert_int_equal(n, 2);
    assert_int_equal(op_train.segments(&n, many, NULL), OK);
    assert_int_equal(n, 3);
    Eqloom__Checkpoint *a[2], *b[3];
    for (uint64_t i = 0; i < 2; i++)
        a[i] = segment(one, i);
    for (uint64_t i = 0; i < 3; i++)
        b[i] = segment(many, i);
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

    /* Rounded products are told, where there were any. */
    struct op_ctx *rounded = context(&op_train, SMALL " steps=3 segment=3 precision=bf16");
    Eqloom__Checkpoint *begun = segment(rounded, 0);
    Eqloom__Checkpoint *trained = segment(rounded, 1);
    assert_string_equal(begun->numerics, "test");
    const char *units = gpu_cpu_bf16();
    assert_string_equal(trained->numerics,
                        units ? arena_printf(&rounded->a, "test, bf16 products: %s", units)
                              : "test");
    context_free(rounded);

    struct op_ctx *wrong = context(&op_train, SMALL " steps=9 segment=3");
    struct err e;
    wrong->segment = 3;
    wrong->checkpoint = &b[0]->base; /* of step 0, not 6 */
    memcpy(wrong->chunks, many->chunks, sizeof many->chunks);
    wrong->n_chunks = many->n_chunks;
    assert_int_equal(op_train.run(wrong, many->shared, &e), ERR_CORRUPT);
    wrong->segment = 1;
    wrong->cancel_at = 2;
    assert_int_equal(op_train.run(wrong, many->shared, &e), ERR_CANCELLED);
    assert_null(wrong->out);
    context_free(wrong);

    context_free(one);
    context_free(many);
}

static size_t count_metric(const Eqloom__Checkpoint *c, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_metrics; i++)
        n += strcmp(c->metrics[i]->name, name) == 0;
    return n;
}

/* Nothing is learnt at rate 0: the first of equal losses is the best, and two more end it at step
 * 6, or where patience may. */
static void check_stop(const char *set, int end)
{
    struct op_ctx *ctx = context(&op_train, set);
    ctx->valid = 4;
    Eqloom__Checkpoint *c[4];
    for (uint64_t i = 0; i < 4; i++)
        c[i] = segment(ctx, i);
    assert_int_equal(c[1]->step, 2);
    assert_int_equal(c[1]->n_tensors, c[0]->n_tensors);
    assert_true(same_tensors(c[0], c[1], c[0]->n_tensors));
    assert_int_equal(count_metric(c[1], "valid_loss"), end / 2);
    assert_int_equal(count_metric(c[1], "valid_accuracy"), end / 2);
    assert_int_equal(c[1]->metrics[c[1]->n_metrics - 1]->step, end);
    for (int i = 2; i < 4; i++) {
        struct span x, y;
        assert_int_equal(canonical_pack(&x, &ctx->a, &c[1]->base, NULL), OK);
        assert_int_equal(canonical_pack(&y, &ctx->a, &c[i]->base, NULL), OK);
        assert_true(span_equal(x, y));
    }
    context_free(ctx);
}

TEST(stop)
{
#define STOPS SMALL " lr=0 steps=40 segment=16 valid_every=2 patience=2"
    check_stop(STOPS, 6);
    check_stop(STOPS " min_steps=5", 6);
    check_stop(STOPS " min_steps=9", 10);
}

/* Without eps, what has no gradient is divided by 0; tokens that are not drawn do not show in the
 * loss. */
TEST(last_step_not_finite)
{
    struct op_ctx *ctx = context(&op_train, SMALL " eps=0 weight_decay=0 steps=1 segment=1");
    struct err e;
    segment(ctx, 0);
    ctx->segment = 1;
    ctx->out = NULL;
    assert_int_equal(op_train.run(ctx, prepared(ctx), &e), ERR_FAILED);
    assert_string_equal(e.message, "after step 1, embedding.weight is not finite");
    assert_null(ctx->out);
    context_free(ctx);
}

TEST(validation_refused)
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
    assert_ptr_equal(op_embed.units(ctx), gpu_cpu_bf16());
    ctx->out = NULL;
    assert_int_equal(op_embed.prepare(&model, ctx, NULL), OK);
    assert_int_equal(op_embed.run(ctx, model, NULL), OK);
    const Eqloom__EmbeddingBatch *v = (const Eqloom__EmbeddingBatch *)ctx->out;
    assert_int_equal(v->values.len, f32->values.len);
    double max = 0;
    for (size_t i = 0; i < v->values.len; i += sizeof(float)) {
        float x, y;
        memcpy(&x, v->values.data + i, sizeof x);
        memcpy(&y, f32->values.data + i, sizeof y);
        max = fmax(max, fabs((double)x - (double)y));
    }
    assert_true(max < 0.05 && (max > 1e-6 || !gpu_cpu_bf16()));
    op_embed.release(model);
}

TEST(embed)
{
    struct op_ctx *ctx = context(&op_train, SMALL " steps=0");
    void *model;
    uint64_t n;
    assert_int_equal(op_train.segments(&n, ctx, NULL), OK);
    assert_int_equal(n, 1);
    segment(ctx, 0);
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
    op_embed.release(model);
    context_free(ctx);
}
