/* What the segments of a training keep and read, on data made for it, behind a stand-in for the
 * engine. */
#include "tests/ops/learn/stand_in.h"

#include <math.h>

/* ---- the best weights ---- */

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
    context_free(plain);
    for (int i = 0; i < 2; i++)
        context_free(ctx[i]);
}

/* Validation on what is learnt gets better, and on clusters that contradict it worse: the best is
 * late, or early. */
TEST(best)
{
    check_best(data_learnt, 4, 14);
    check_best(data_contradicting, 2, 12);
}

/* ---- what segments read ---- */

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

enum { SEGMENTS = 4, EDITS = 12 };

/* A chain: what each segment reads, and what it gives. */
struct told {
    struct digest reads;
    struct span record;
};

static struct op_ctx *tell(struct told out[SEGMENTS], const char *set, uint64_t edit)
{
    struct op_ctx *ctx = context(&op_train, set);
    ctx->valid = 4;
    ctx->data = data_edited;
    ctx->edit = edit;
    for (uint64_t i = 0; i < SEGMENTS; i++) {
        const char *reason;
        ctx->segment = i;
        assert_int_equal(op_train.reads(&out[i].reads, &reason, ctx, prepared(ctx), NULL), OK);
        Eqloom__Checkpoint *c = segment(ctx, i);
        assert_int_equal(canonical_pack(&out[i].record, &ctx->a, &c->base, NULL), OK);
    }
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

TEST(reads)
{
#define CHAIN SMALL " steps=6 segment=2 valid_every=4"
    check_reads(" batch=2" CHAIN, true);
    check_reads(" batch=2 negatives=1" CHAIN, true);
    check_reads(" batch=2 related=2" CHAIN, false);
    check_reads(" batch=2 objective=simcse dropout=0.1" CHAIN, true);
    check_reads(" batch=2 objective=triplet negatives=1" CHAIN, true);
    check_reads(" batch=2 objective=siamese hinge=squared" CHAIN, true);
    check_reads(" batch=2 objective=histogram" CHAIN, true);
    check_reads(" batch=2 objective=seq2seq decoder_layers=1 target=shortest" CHAIN, true);
    check_reads(" batch=2 objective=autoencode decoder_layers=1 optimizer=muon" CHAIN, true);
}

/* ---- epochs ---- */

/* The keys of all segments, one below the other. */
static char *keys(struct arena *a, const char *set)
{
    struct op_ctx *ctx = context(&op_train, set);
    struct op_segment s;
    uint64_t n;
    char *out = arena_strdup(a, "");
    assert_int_equal(op_train.check(ctx, NULL), OK);
    assert_int_equal(op_train.segments(&n, ctx, NULL), OK);
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(op_train.segment(&s, ctx, i, NULL), OK);
        out = arena_printf(a, "%s%s\n%s\n", out, s.label, s.key);
    }
    context_free(ctx);
    return out;
}

/* Of 20 clusters, 8 a step: what epochs say is what as many steps say. */
TEST_IN_ARENA(epochs)
{
    struct err e;
#define FALLS SMALL " segment=3 schedule="
    assert_string_equal(keys(a, FALLS "step epochs=3 decay_every=1"),
                        keys(a, FALLS "step steps=8 decay_every=3"));
    assert_string_equal(keys(a, FALLS "linear epochs=5 warmup=2"),
                        keys(a, FALLS "linear steps=13 warmup=5"));
    assert_string_equal(keys(a, FALLS "cosine-restarts restart_period=2 epochs=2"),
                        keys(a, FALLS "cosine-restarts restart_period=5 steps=5"));
    assert_string_equal(keys(a, SMALL), keys(a, SMALL " steps=1000"));
    assert_string_not_equal(keys(a, SMALL " epochs=3"), keys(a, SMALL " steps=3"));
    /* A step at least. */
    assert_string_equal(keys(a, " batch=64" SMALL " epochs=3"),
                        keys(a, " batch=64" SMALL " steps=3"));
    struct op_ctx *both = context(&op_train, SMALL " steps=0 epochs=1");
    assert_int_equal(op_train.check(both, &e), ERR_INPUT);
    assert_non_null(strstr(e.message, "'steps' and 'epochs' both set the length of the training"));
    context_free(both);
}
