/* Answers to questions among vectors written by hand, ties included; and mistake detection against
 * its definition, step by step and pair by pair. */
#include "base/rng.h"
#include "ops/eval/examined.h"
#include "tests/ops/in_memory.h"
#include "tests/unit.h"

extern const struct op op_evaluate_derivations, op_evaluate_questions;

static Eqloom__Exercise *exercise_of(struct arena *a, size_t n)
{
    Eqloom__Exercise *x = arena_new(a, Eqloom__Exercise);
    eqloom__exercise__init(x);
    x->terms = arena_array(a, Eqloom__ExerciseTerm *, n);
    for (; x->n_terms < n; x->n_terms++) {
        Eqloom__ExerciseTerm *t = x->terms[x->n_terms] = arena_new(a, Eqloom__ExerciseTerm);
        eqloom__exercise_term__init(t);
        t->prefix = arena_printf(a, "a%zu", x->n_terms);
    }
    return x;
}

/* The vectors, in the plane, of n terms. */
static Eqloom__EmbeddingBatch *batch_of(struct arena *a, const float (*x)[2], size_t n)
{
    Eqloom__EmbeddingBatch *b = arena_new(a, Eqloom__EmbeddingBatch);
    eqloom__embedding_batch__init(b);
    b->dim = 2;
    b->count = (uint32_t)n;
    b->values = (ProtobufCBinaryData){n * sizeof *x, arena_memdup(a, x, n * sizeof *x)};
    b->source_id = (ProtobufCBinaryData){DIGEST_SIZE, arena_zalloc(a, DIGEST_SIZE)};
    return b;
}

static void give(struct op_ctx *ctx, size_t input, const char *role, ProtobufCMessage *const *all,
                 size_t n)
{
    ctx->inputs[input].role = role;
    ctx->inputs[input].all = all;
    ctx->inputs[input].n = n;
}

/* ---- questions ---- */

enum { MOST = 6 };
static const uint32_t like[MOST] = {0, 0, 0, 1, 1, 1};

/* One question: the candidates' cosines with the query, the answer's first. */
static Eqloom__Exercise *ask(struct op_ctx *ctx, const float *cosines, size_t n)
{
    Eqloom__Exercise *q = exercise_of(&ctx->a, n + 1);
    ProtobufCMessage **all = arena_array(&ctx->a, ProtobufCMessage *, 2);
    float x[MOST + 1][2] = {{1}};
    for (size_t i = 1; i <= n; i++) {
        q->terms[i]->wrong = i > 1;
        q->terms[i]->like = i > 1 ? like[i - 1] : 0;
        x[i][0] = cosines[i - 1];
        x[i][1] = sqrtf(1 - cosines[i - 1] * cosines[i - 1]);
    }
    all[0] = &q->base;
    all[1] = &batch_of(&ctx->a, x, n + 1)->base;
    give(ctx, 0, "questions", all, 1);
    give(ctx, 1, "embeddings", all + 1, 1);
    return q;
}

/* What is chosen of MOST candidates ("": the answer), with its cosine and the answer's; and the
 * shares of the question. */
static void check_choice(const float *cosines, const char *chosen, const char *of_chosen,
                         const char *of_answer, double right, double like_query, double like_answer)
{
    struct op_ctx ctx = {.op = &op_evaluate_questions};
    struct err e = {0};
    ask(&ctx, cosines, MOST);
    if (op_evaluate_questions.run(&ctx, NULL, &e))
        fail_msg("%s", e.message);
    char *const *cells = report_emitted(&ctx)->tables[1]->rows[0]->cells;
    assert_string_equal(cells[0], "a0");
    assert_string_equal(cells[1], "a1");
    assert_string_equal(cells[2], chosen);
    assert_string_equal(cells[3], of_answer);
    assert_string_equal(cells[4], of_chosen);
    assert_true(fabs(figure_emitted(&ctx, "accuracy") - right) < 1e-12);
    assert_true(fabs(figure_emitted(&ctx, "like_query") - like_query) < 1e-12);
    assert_true(fabs(figure_emitted(&ctx, "like_answer") - like_answer) < 1e-12);
    assert_true(fabs(figure_emitted(&ctx, "random") - 1.0 / MOST) < 1e-12);
    arena_free(&ctx.a);
}

TEST(right_and_wrong)
{
    check_choice((const float[]){0.9F, 0.5F, 0.8F, 0.1F, -1, 0}, "", "", "0.900", 1, 0, 0);
    check_choice((const float[]){0.9F, 0.5F, 0.95F, 0.1F, -1, 0}, "a3", "0.950", "0.900", 0, 1, 0);
    check_choice((const float[]){-0.9F, -0.95F, -0.95F, -0.95F, -0.95F, -0.5F}, "a6", "-0.500",
                 "-0.900", 0, 0, 1);
}

TEST(ties)
{
    check_choice((const float[]){0.5F, 0.5F, 0.25F, 0.5F, 0.5F, 0}, "a2", "0.500", "0.500", 0.25,
                 0.25, 0.5);
    check_choice((const float[]){0.25F, 0.5F, 0.25F, 0.5F, 0.5F, 0}, "a2", "0.500", "0.250", 0,
                 1 / 3.0, 2 / 3.0);
}

TEST(not_questions)
{
    for (int fault = 0; fault < 6; fault++) {
        struct op_ctx ctx = {.op = &op_evaluate_questions};
        struct err e = {0};
        Eqloom__Exercise *q = ask(&ctx, (const float[]){1, 1, 1}, fault == 5 ? 1 : 3);
        switch (fault) {
        case 1: q->terms[1]->wrong = true; break;
        case 2: q->terms[2]->wrong = false; break;
        case 3: q->terms[2]->like = 2; break;
        case 4: q->terms[1]->reason = "group/rule"; break; /* as a derivation's step says */
        }
        assert_int_equal(op_evaluate_questions.run(&ctx, NULL, &e), fault ? ERR_INPUT : OK);
        assert_string_equal(e.message, fault ? "exercise 1 of 'questions' is not a question" : "");
        arena_free(&ctx.a);
    }
}

/* ---- derivations ---- */

enum { DERIVATIONS = 30, MOST_STEPS = 9 };

/* n derivations and their vectors on a half circle, at few angles, so that there are equal cosines.
 */
static struct examined add_derivations(struct op_ctx *ctx, size_t input, const char *derivations,
                                       const char *embeddings, size_t n, struct rng *r)
{
    static const float angles[][2] = {{1, 0}, {0.8F, 0.6F}, {0.6F, 0.8F}, {0, 1}, {-0.6F, 0.8F}};
    struct examined out;
    ProtobufCMessage **all = arena_array(&ctx->a, ProtobufCMessage *, 2 * n);
    for (size_t k = 0; k < n; k++) {
        Eqloom__Exercise *d = exercise_of(&ctx->a, 1 + rng_below(r, MOST_STEPS + 1));
        float x[MOST_STEPS + 1][2];
        for (size_t i = 0; i < d->n_terms; i++) {
            memcpy(x[i], angles[rng_below(r, 5)], sizeof x[i]);
            d->terms[i]->wrong = i > 0 && rng_below(r, 4) == 0;
            d->terms[i]->reason = i > 0 && !d->terms[i]->wrong ? "group/rule" : "";
        }
        all[k] = &d->base;
        all[n + k] = &batch_of(&ctx->a, x, d->n_terms)->base;
    }
    give(ctx, input, derivations, all, n);
    give(ctx, input + 1, embeddings, all + n, n);
    assert_int_equal(examined_load(&out, ctx, derivations, embeddings, NULL), OK);
    return out;
}

static struct examined add_given(struct op_ctx *ctx, struct rng *r)
{
    return add_derivations(ctx, 0, "derivations", "embeddings", DERIVATIONS, r);
}

/* One to three, so that the threshold is anywhere. */
static struct examined add_calibration(struct op_ctx *ctx, struct rng *r)
{
    return add_derivations(ctx, 2, "calibration", "calibration_embeddings", 1 + rng_below(r, 3), r);
}

static double cosine(const struct examined *x, size_t k, size_t i)
{
    return (double)examined_similarity(x, k, i - 1, i);
}

/* counts[wrong][flagged] */
static void count(size_t counts[2][2], const struct examined *x, double threshold)
{
    for (size_t k = 0; k < x->n; k++)
        for (size_t i = 1; i < x->exercises[k]->n_terms; i++)
            counts[x->exercises[k]->terms[i]->wrong][cosine(x, k, i) < threshold]++;
}

static double area_by_pairs(const struct examined *x)
{
    double pairs = 0, won = 0;
    for (size_t k = 0; k < x->n; k++)
        for (size_t i = 1; i < x->exercises[k]->n_terms; i++)
            for (size_t l = 0; l < x->n; l++)
                for (size_t j = 1; j < x->exercises[l]->n_terms; j++)
                    if (x->exercises[k]->terms[i]->wrong && !x->exercises[l]->terms[j]->wrong) {
                        double wrong = cosine(x, k, i), right = cosine(x, l, j);
                        pairs++;
                        won += wrong < right ? 1 : wrong == right ? 0.5 : 0;
                    }
    return pairs > 0 ? won / pairs : 0.5;
}

/* Algorithm 1. False if no step is right. */
static bool threshold_by_walk(double *out, const struct examined *x)
{
    double sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < x->n; k++) {
        double least = 2;
        for (size_t i = 1; i < x->exercises[k]->n_terms; i++)
            if (!x->exercises[k]->terms[i]->wrong && cosine(x, k, i) < least)
                least = cosine(x, k, i);
        sum += least < 2 ? least : 0;
        n += least < 2;
    }
    *out = sum / (double)n;
    return n > 0;
}

static void assert_figure(const struct op_ctx *ctx, const char *name, double want)
{
    double got = figure_emitted(ctx, name);
    if (!(fabs(got - want) < 1e-9))
        fail_msg("%s is %.12g, not %.12g", name, got, want);
}

static void check_detected(const struct op_ctx *ctx, const char *const names[3], size_t both,
                           size_t found, size_t there)
{
    assert_figure(ctx, names[0], found ? (double)both / (double)found : 0);
    assert_figure(ctx, names[1], there ? (double)both / (double)there : 0);
    assert_figure(ctx, names[2], both ? 2.0 * (double)both / (double)(found + there) : 0);
}

static void check_detection(struct op_ctx *ctx, const struct examined *x,
                            const struct examined *calibration)
{
    struct err e = {0};
    static const char *const mistake[] = {"mistake_precision", "mistake_recall", "mistake_f1"};
    static const char *const no_mistake[] = {"no_mistake_precision", "no_mistake_recall",
                                             "no_mistake_f1"};
    size_t c[2][2] = {{0}};
    double threshold;
    if (!threshold_by_walk(&threshold, calibration)) {
        assert_int_equal(op_evaluate_derivations.run(ctx, NULL, &e), ERR_INPUT);
        assert_string_equal(e.message, "no derivation of 'calibration' has a correct step");
        return;
    }
    if (op_evaluate_derivations.run(ctx, NULL, &e))
        fail_msg("%s", e.message);
    assert_figure(ctx, "threshold", threshold);
    count(c, x, figure_emitted(ctx, "threshold"));
    assert_figure(ctx, "steps", (double)(c[0][0] + c[0][1] + c[1][0] + c[1][1]));
    assert_figure(ctx, "mistakes", (double)(c[1][0] + c[1][1]));
    check_detected(ctx, mistake, c[1][1], c[0][1] + c[1][1], c[1][0] + c[1][1]);
    check_detected(ctx, no_mistake, c[0][0], c[0][0] + c[1][0], c[0][0] + c[0][1]);
    assert_figure(ctx, "auc", area_by_pairs(x));
}

TEST(against_counts)
{
    struct rng r = rng_new(8, 0);
    for (int round = 0; round < 200; round++) {
        struct op_ctx ctx = {.op = &op_evaluate_derivations};
        struct examined x = add_given(&ctx, &r), calibration = add_calibration(&ctx, &r);
        check_detection(&ctx, &x, &calibration);
        arena_free(&ctx.a);
    }
}

TEST(nothing_right)
{
    struct rng r = rng_new(10, 0);
    struct op_ctx ctx = {.op = &op_evaluate_derivations};
    struct examined x = add_given(&ctx, &r), calibration = add_calibration(&ctx, &r);
    for (size_t k = 0; k < x.n; k++)
        for (size_t i = 1; i < x.exercises[k]->n_terms; i++)
            x.exercises[k]->terms[i]->wrong = true;
    check_detection(&ctx, &x, &calibration);
    assert_figure(&ctx, "no_mistake_f1", 0);
    assert_figure(&ctx, "auc", 0.5);
    arena_free(&ctx.a);
}

/* A question is none: its answer follows from no rule. */
TEST(not_derivations)
{
    for (int fault = 0; fault < 3; fault++) {
        struct rng r = rng_new(11, 0);
        struct op_ctx ctx = {.op = &op_evaluate_derivations};
        struct err e = {0};
        add_given(&ctx, &r);
        add_calibration(&ctx, &r);
        Eqloom__Exercise *d = (Eqloom__Exercise *)ctx.inputs[0].all[0];
        assert_true(d->n_terms > 1);
        d->terms[1]->wrong = false;
        d->terms[1]->reason = fault == 1 ? "" : "group/rule";
        d->terms[0]->wrong = fault == 2;
        assert_int_equal(op_evaluate_derivations.run(&ctx, NULL, &e), fault ? ERR_INPUT : OK);
        assert_string_equal(e.message,
                            fault ? "exercise 1 of 'derivations' is not a derivation" : "");
        arena_free(&ctx.a);
    }
}
