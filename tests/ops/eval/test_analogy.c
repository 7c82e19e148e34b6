/* Analogies among vectors written by hand: what is passed over, and what counts as right. */
#include "embedding.pb-c.h"
#include "report.pb-c.h"
#include "tests/ops/expr/balls.h"
#include "tests/ops/in_memory.h"
#include "tests/unit.h"

extern const struct op op_evaluate_analogies;

/* A vector that is `near` the target of the analogy, which has no third dimension. */
struct given {
    const char *text;
    float near;
};

enum { MOST = 12 };

static ProtobufCMessage *batch_of(struct arena *a, const char *language, char **texts,
                                  const float (*x)[3], size_t n)
{
    Eqloom__EmbeddingBatch *b = arena_new(a, Eqloom__EmbeddingBatch);
    eqloom__embedding_batch__init(b);
    b->dim = 3;
    b->count = (uint32_t)n;
    b->values = (ProtobufCBinaryData){n * sizeof *x, arena_memdup(a, x, n * sizeof *x)};
    b->text = arena_memdup(a, texts, n * sizeof *texts);
    b->n_text = n;
    b->language = (char *)language;
    return &b->base;
}

/* Of one analogy, whose terms' vectors are such that y1 - x1 + x2 is (1, 1): x1 is to y1 as 0 is to
 * (0, 1); or, `aimless`, 0. */
static enum err_code answer(struct op_ctx *ctx, const char *language, const char *match,
                            bool aimless, const char *const terms[4], const struct given *pool,
                            size_t n, struct err *e)
{
    static const float at[2][4][3] = {{{-1, 1}, {-1, 2}, {1, 0}, {-1, -1}},
                                      {{-1, 1}, {-1, 1}, {0, 0}, {-1, -1}}};
    ProtobufCMessage *batches[2];
    char *texts[MOST];
    float x[MOST][3];
    for (size_t i = 0; i < n; i++) {
        texts[i] = (char *)pool[i].text;
        x[i][0] = x[i][1] = pool[i].near * sqrtf(0.5F);
        x[i][2] = sqrtf(1 - pool[i].near * pool[i].near);
    }
    *ctx = (struct op_ctx){.op = &op_evaluate_analogies,
                           .name = "match",
                           .value = match,
                           .inputs = {{"analogies", batches, 1}, {"pool", batches + 1, 1}}};
    batches[0] = batch_of(&ctx->a, language, (char **)terms, at[aimless], 4);
    batches[1] = batch_of(&ctx->a, language, texts, x, n);
    return op_evaluate_analogies.run(ctx, NULL, e);
}

/* rank 0: not among five. */
static void check_match(const char *language, const char *match, const char *const terms[4],
                        const struct given *pool, size_t n, int rank, const char *first)
{
    struct op_ctx ctx;
    struct err e = {0};
    if (answer(&ctx, language, match, false, terms, pool, n, &e))
        fail_msg("%s", e.message);
    char *const *cells = report_emitted(&ctx)->tables[1]->rows[0]->cells;
    assert_string_equal(cells[4], first);
    assert_int_equal(atoi(cells[5]), rank);
    assert_true(figure_emitted(&ctx, "accuracy@1") == (rank == 1));
    assert_true(figure_emitted(&ctx, "accuracy@5") == (rank > 0));
    assert_true(figure_emitted(&ctx, "pool") == (double)n);
    arena_free(&ctx.a);
}

static void check(const char *language, const char *const terms[4], const struct given *pool,
                  size_t n, int rank, const char *first)
{
    check_match(language, "equal", terms, pool, n, rank, first);
}

static const char *const squares[4] = {"x", "pow x 2", "sin x", "pow sin x 2"};

/* An input again, and another form of an input, are nearest; the answer is another form of y2. */
TEST(inputs_are_passed_over)
{
    const struct given pool[] = {{"sin x", 1},
                                 {"/ 1 csc x", 0.9F},
                                 {"* x x", 0.8F},
                                 {"* sin x sin x", 0.7F},
                                 {"cos x", 0.6F}};
    check("", squares, pool, 5, 1, "sin(x)*sin(x)");
}

/* E-Gen's: what equals y2 or x2 is no answer, y2 as it is written is; forms of x1 and y1 are wrong.
 */
TEST(by_text)
{
    const struct given pool[] = {{"sin x", 1},
                                 {"/ 1 csc x", 0.95F},
                                 {"* sin x sin x", 0.9F},
                                 {"* x x", 0.8F},
                                 {"pow sin x 2", 0.7F}};
    check_match("", "text", squares, pool, 5, 2, "x*x");
}

TEST(wrong_ones_come_first)
{
    const struct given pool[] = {
        {"cos x", 0.9F}, {"cos x", 0.8F}, {"tan x", 0.7F}, {"- 1 pow cos x 2", 0.6F}};
    check("", squares, pool, 4, 3, "cos(x)");
}

TEST(too_far)
{
    const struct given pool[] = {{"+ x 1", 0.9F},      {"+ x 2", 0.8F}, {"+ x 3", 0.7F},
                                 {"+ x 4", 0.6F},      {"+ x 5", 0.5F}, {"+ x 6", 0.4F},
                                 {"pow sin x 2", 0.3F}};
    check("", squares, pool, 7, 0, "x + 1");
}

/* y2 equals x2: x2 itself is no answer, any other form of it is. */
TEST(answer_equals_input)
{
    static const char *const signs[4] = {"* -1 sin x", "sin * -1 x", "cos x", "cos * -1 x"};
    const struct given pool[] = {{"cos x", 1}, {"* 1 cos x", 0.9F}};
    check("", signs, pool, 2, 1, "1*cos(x)");
}

TEST(normal_forms)
{
    static const char *const terms[4] = {"a", "not a", "b", "not b"};
    const struct given pool[] = {{"and b b", 0.9F}, {"not and b b", 0.8F}};
    check("boolean", terms, pool, 2, 1, "not(b & b)");
}

/* x1 again for y1, and nothing for x2: what is nearest to nothing? */
TEST(no_aim)
{
    struct op_ctx ctx;
    struct given one = {"* sin x sin x", 1};
    assert_int_equal(answer(&ctx, "", "equal", true, squares, &one, 1, NULL), OK);
    char *const *cells = report_emitted(&ctx)->tables[1]->rows[0]->cells;
    assert_string_equal(cells[4], "");
    assert_string_equal(cells[5], "");
    arena_free(&ctx.a);
}

TEST(unreadable)
{
    struct op_ctx ctx;
    struct given one = {"sin sin", 1};
    assert_int_equal(answer(&ctx, "", "equal", false, squares, &one, 1, NULL), ERR_INPUT);
    arena_free(&ctx.a);
}

TESTS_AROUND(NULL, balls_clean)
