/* Analogies among vectors written by hand: what is passed over, and what counts as right. */
#include "ops/eval/measure/analogy.h"
#include "tests/ops/expr/balls.h"
#include "tests/unit.h"

/* A vector that is `near` the target of the analogy, which has no third dimension. */
struct given {
    const char *text;
    float near;
};

enum { MOST = 12 };

/* The terms' vectors are such that y1 - x1 + x2 is (1, 1): x1 is to y1 as 0 is to (0, 1). */
static struct analogy analogy_of(struct arena *a, struct vectors *v, const char *const terms[4],
                                 const struct given *pool, size_t n)
{
    static const float at[4][2] = {{-1, 1}, {-1, 2}, {1, 0}, {-1, -1}};
    struct analogy x = {.row = {0, 1, 2, 3}};
    *v = (struct vectors){.n = (uint32_t)n + 4, .dim = 3, .stride = VECTOR_LANES};
    v->x = arena_array(a, float, MOST *VECTOR_LANES);
    v->text = arena_array(a, const char *, MOST);
    for (size_t i = 0; i < 4; i++) {
        v->text[i] = terms[i];
        memcpy(vectors_at(v, i), at[i], sizeof at[i]);
    }
    for (size_t i = 0; i < n; i++) {
        float *row = vectors_at(v, i + 4);
        v->text[i + 4] = pool[i].text;
        row[0] = row[1] = pool[i].near * sqrtf(0.5F);
        row[2] = sqrtf(1 - pool[i].near * pool[i].near);
    }
    analogy_aim(&x, a, v);
    vectors_normalize(v);
    return x;
}

/* By E-Gen's text if `text`. */
static struct analogy_answer answer_of(struct arena *a, struct vectors *v,
                                       const struct language *lang, const struct analogy *x,
                                       bool text)
{
    struct err e = {0};
    struct analogy_answer answer;
    struct analogy_rules how = {lang, 8, text};
    if (analogy_find(&answer, a, x, v, &how, &e))
        fail_msg("%s", e.message);
    for (size_t i = 1; i < answer.n; i++)
        assert_true(answer.similarity[i - 1] >= answer.similarity[i]);
    return answer;
}

static void check(const struct language *lang, const char *const terms[4], const struct given *pool,
                  size_t n, uint32_t rank, const char *first)
{
    struct arena a = {0};
    struct vectors v;
    struct analogy x = analogy_of(&a, &v, terms, pool, n);
    struct analogy_answer answer = answer_of(&a, &v, lang, &x, false);
    assert_int_equal(answer.rank, rank);
    assert_true(answer.n > 0 && answer.n <= ANALOGY_DEPTH);
    assert_string_equal(v.text[answer.found[0]], first);
    arena_free(&a);
}

static const char *const squares[4] = {"x", "pow x 2", "sin x", "pow sin x 2"};

TEST_IN_ARENA(aim)
{
    struct vectors v;
    struct analogy x = analogy_of(a, &v, squares, NULL, 0);
    assert_true(fabsf(x.target[0] - sqrtf(0.5F)) < 1e-6F);
    assert_true(fabsf(x.target[1] - sqrtf(0.5F)) < 1e-6F);
    assert_true(x.target[2] == 0);
}

/* An input again, and another form of an input, are nearest; the answer is another form of y2. */
TEST(inputs_are_passed_over)
{
    const struct given pool[] = {{"sin x", 1},
                                 {"/ 1 csc x", 0.9F},
                                 {"* x x", 0.8F},
                                 {"* sin x sin x", 0.7F},
                                 {"cos x", 0.6F}};
    check(&lang_calculus, squares, pool, 5, 1, "* sin x sin x");
}

/* E-Gen's: what equals y2 or x2 is no answer, y2 as it is written is; forms of x1 and y1 are wrong.
 */
TEST_IN_ARENA(by_text)
{
    const struct given pool[] = {{"sin x", 1},
                                 {"/ 1 csc x", 0.95F},
                                 {"* sin x sin x", 0.9F},
                                 {"* x x", 0.8F},
                                 {"pow sin x 2", 0.7F}};
    struct vectors v;
    struct analogy x = analogy_of(a, &v, squares, pool, 5);
    struct analogy_answer answer = answer_of(a, &v, &lang_calculus, &x, true);
    assert_string_equal(v.text[answer.found[0]], "* x x");
    assert_string_equal(v.text[answer.found[1]], "pow sin x 2");
    assert_int_equal(answer.rank, 2);
}

TEST(wrong_ones_come_first)
{
    const struct given pool[] = {
        {"cos x", 0.9F}, {"cos x", 0.8F}, {"tan x", 0.7F}, {"- 1 pow cos x 2", 0.6F}};
    check(&lang_calculus, squares, pool, 4, 3, "cos x");
}

TEST(too_far)
{
    const struct given pool[] = {{"+ x 1", 0.9F},      {"+ x 2", 0.8F}, {"+ x 3", 0.7F},
                                 {"+ x 4", 0.6F},      {"+ x 5", 0.5F}, {"+ x 6", 0.4F},
                                 {"pow sin x 2", 0.3F}};
    check(&lang_calculus, squares, pool, 7, 0, "+ x 1");
}

/* y2 equals x2: x2 itself is no answer, any other form of it is. */
TEST(answer_equals_input)
{
    static const char *const signs[4] = {"* -1 sin x", "sin * -1 x", "cos x", "cos * -1 x"};
    const struct given pool[] = {{"cos x", 1}, {"* 1 cos x", 0.9F}};
    check(&lang_calculus, signs, pool, 2, 1, "* 1 cos x");
}

TEST(normal_forms)
{
    static const char *const terms[4] = {"a", "not a", "b", "not b"};
    const struct given pool[] = {{"and b b", 0.9F}, {"not and b b", 0.8F}};
    check(lang_by_name("boolean"), terms, pool, 2, 1, "not and b b");
}

/* x1 again for y1, and nothing for x2: what is nearest to nothing? */
TEST_IN_ARENA(no_aim)
{
    struct vectors v;
    struct analogy x = analogy_of(a, &v, squares, &(struct given){"* sin x sin x", 1}, 1);
    memcpy(vectors_at(&v, 1), vectors_at(&v, 0), 3 * sizeof(float));
    memset(vectors_at(&v, 2), 0, 3 * sizeof(float));
    analogy_aim(&x, a, &v);
    struct analogy_answer answer = answer_of(a, &v, &lang_calculus, &x, false);
    assert_int_equal(answer.n, 0);
    assert_int_equal(answer.rank, 0);
}

TEST_IN_ARENA(unreadable)
{
    struct err e = {0};
    struct vectors v;
    struct analogy_answer answer;
    struct analogy_rules how = {&lang_calculus, 8, false};
    struct analogy x = analogy_of(a, &v, squares, &(struct given){"sin sin", 1}, 1);
    assert_int_equal(analogy_find(&answer, a, &x, &v, &how, &e), ERR_INPUT);
}

TESTS_AROUND(NULL, balls_clean)
