/* Questions: every claim in them is checked again by other means, and a false member of a cluster
 * is never an answer. */
#include "ops/corpus/question_draw.h"
#include "ops/expr/edit_distance.h"
#include "ops/expr/equality/exact.h"
#include "tests/ops/corpus/cluster_of.h"
#include "tests/ops/expr/balls.h"
#include "tests/ops/terms.h"

static const char *const squares[] = {
    "pow sin x 2",
    "- 1 pow cos x 2",
    "* sin x sin x",
    "/ - 1 cos * 2 x 2",
    "/ 1 pow csc x 2",
    "- pow sin x 2 0",
    "* pow tan x 2 pow cos x 2",
    "+ * 3 sin x pow cos x 5" /* a lie */,
};
enum { SQUARES = sizeof squares / sizeof *squares, LIE = SQUARES - 1 };

static bool differs(struct arena *a, const struct expr *x, const struct expr *y)
{
    /* Other points than those that questions are made with. */
    struct ball_options options = {.points = 12};
    struct ball_compare values;
    struct exact_result exact;
    if (exact_applies(x->lang)) {
        assert_int_equal(exact_compare(&exact, a, x, y, NULL), OK);
        return !exact.equal;
    }
    ball_compare(&values, x, y, &options);
    assert_int_not_equal(values.verdict, BALL_UNDEFINED);
    return values.verdict == BALL_DIFFERENT;
}

static uint32_t distance(struct arena *a, const struct expr *x, const struct expr *y)
{
    uint32_t d = 0;
    assert_int_equal(edit_distance(&d, a, x, y, NULL), OK);
    return d;
}

static void check_question(const Eqloom__Exercise *q, const Eqloom__Cluster *c,
                           const struct question_options *o)
{
    struct arena a = {0};
    size_t like_query = 0;
    struct expr query = prefix_term(&a, lang_by_name(q->language), q->terms[0]->prefix);
    struct expr answer = prefix_term(&a, lang_by_name(q->language), q->terms[1]->prefix);
    assert_string_equal(q->language, c->seed->language);
    assert_int_equal(q->n_terms, o->near_misses + 2);
    for (size_t i = 0; i < 2; i++) {
        bool member = false;
        for (size_t k = 0; k < c->n_members; k++)
            member = member || strcmp(q->terms[i]->prefix, c->members[k]->prefix) == 0;
        assert_true(member);
        assert_false(q->terms[i]->wrong);
        assert_int_equal(q->terms[i]->like, 0);
    }
    assert_false(differs(&a, &query, &answer));
    assert_true(distance(&a, &query, &answer) >= o->distance);
    for (size_t i = 2; i < q->n_terms; i++) {
        struct expr miss = prefix_term(&a, lang_by_name(q->language), q->terms[i]->prefix);
        like_query += q->terms[i]->like == 0;
        assert_true(q->terms[i]->wrong);
        assert_true(q->terms[i]->reason[0]);
        assert_true(differs(&a, &query, &miss));
        assert_int_equal(distance(&a, &miss, q->terms[i]->like ? &answer : &query), 1);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(q->terms[i]->prefix, q->terms[k]->prefix);
    }
    assert_int_equal(like_query, (o->near_misses + 1) / 2);
    arena_free(&a);
}

static const struct question_options usual = {
    .most = 5, .near_misses = 6, .distance = 3, .points = 8};

static size_t draw(Eqloom__Exercise **out, struct arena *a, const Eqloom__Cluster *c,
                   const struct question_options *o, uint64_t seed)
{
    struct rng r = rng_new(seed, 0);
    struct err e = {0};
    size_t n;
    if (questions_draw(out, &n, a, c, o, &r, &e))
        fail_msg("%s", e.message);
    return n;
}

TEST_IN_ARENA(claims)
{
    const Eqloom__Cluster *c = cluster_of(a, "", squares, SQUARES);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct question_options o = {
            .most = 6, .near_misses = 6 + seed % 2, .distance = 3, .points = 8};
        Eqloom__Exercise *q;
        size_t n = draw(&q, a, c, &o, seed);
        assert_int_equal(n, 6);
        for (size_t i = 0; i < n; i++) {
            check_question(&q[i], c, &o);
            assert_string_not_equal(q[i].terms[0]->prefix, squares[LIE]);
            assert_string_not_equal(q[i].terms[1]->prefix, squares[LIE]);
            for (size_t k = 0; k < i; k++)
                assert_string_not_equal(q[i].terms[0]->prefix, q[k].terms[0]->prefix);
        }
    }
}

TEST_IN_ARENA(boolean)
{
    static const char *const texts[] = {"implies p q", "or not p q", "not and p not q",
                                        "or q not p"};
    const Eqloom__Cluster *c = cluster_of(a, "boolean", texts, 4);
    struct question_options o = {.most = 4, .near_misses = 2, .distance = 2, .points = 8};
    Eqloom__Exercise *q;
    size_t n = draw(&q, a, c, &o, 1);
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++)
        check_question(&q[i], c, &o);
}

TEST_IN_ARENA(seeds)
{
    const Eqloom__Cluster *c = cluster_of(a, "", squares, SQUARES);
    Eqloom__Exercise *q[3];
    bool all_same[2] = {true, true};
    for (int i = 0; i < 3; i++)
        assert_int_equal(draw(&q[i], a, c, &usual, i == 2 ? 9 : 8), 5);
    for (int other = 1; other < 3; other++)
        for (size_t i = 0; i < 5; i++)
            for (size_t k = 0; k < q[0][i].n_terms; k++)
                all_same[other - 1] =
                    all_same[other - 1] &&
                    strcmp(q[0][i].terms[k]->prefix, q[other][i].terms[k]->prefix) == 0;
    assert_true(all_same[0]);
    assert_false(all_same[1]);
}

/* Each differs from the whole cluster, and from what it was made of by one alteration; a member
 * that is no member, and none that cannot be altered, gets none. */
TEST_IN_ARENA(near_misses)
{
    struct question_options o = {.most = SQUARES - 1, .near_misses = 3, .points = 8};
    struct rng r = rng_new(2, 0), again = rng_new(2, 0);
    Eqloom__Exercise x, y;
    const Eqloom__Cluster *c = cluster_of(a, "", squares, SQUARES);
    assert_int_equal(near_misses_draw(&x, a, c, &o, &r, NULL), OK);
    assert_int_equal(near_misses_draw(&y, a, c, &o, &again, NULL), OK);
    assert_int_equal(x.n_terms, 2 * (SQUARES - 1) * 3);
    assert_int_equal(y.n_terms, x.n_terms);
    struct expr seed = prefix_term(a, &lang_calculus, squares[0]);
    for (size_t i = 0; i < x.n_terms; i += 2) {
        const Eqloom__ExerciseTerm *of = x.terms[i], *miss = x.terms[i + 1];
        struct expr altered = prefix_term(a, &lang_calculus, miss->prefix);
        assert_false(of->wrong);
        assert_true(miss->wrong && miss->reason[0]);
        assert_int_equal(miss->like, i);
        assert_true(differs(a, &seed, &altered));
        assert_string_equal(miss->prefix, y.terms[i + 1]->prefix);
        for (size_t k = 1; k < i; k += 2)
            assert_string_not_equal(miss->prefix, x.terms[k]->prefix);
    }
    static const char *const bare[] = {"x"};
    assert_int_equal(near_misses_draw(&x, a, cluster_of(a, "", bare, 1), &o, &r, NULL), OK);
    assert_int_equal(x.n_terms, 0);
}

/* Members that are all alike, members that are defined nowhere, and one alone. */
TEST_IN_ARENA(no_question)
{
    static const char *const alike[] = {"+ x 2", "+ 2 x"}, *const nowhere[] = {"ln - x x",
                                                                               "/ sin x - * 1 x x"};
    Eqloom__Exercise *q;
    assert_int_equal(draw(&q, a, cluster_of(a, "", alike, 2), &usual, 1), 0);
    assert_int_equal(draw(&q, a, cluster_of(a, "", nowhere, 2), &usual, 1), 0);
    assert_int_equal(draw(&q, a, cluster_of(a, "", squares, 1), &usual, 1), 0);
}

/* Queries that are given up leave nothing behind. */
TEST_IN_ARENA(memory)
{
    enum { MANY = 2000 };
    static const char *texts[MANY];
    struct question_options o = {.most = 5, .near_misses = 6, .distance = 1000, .points = 8};
    Eqloom__Exercise *q;
    for (size_t i = 0; i < MANY; i++)
        texts[i] = "sin x";
    const Eqloom__Cluster *c = cluster_of(a, "", texts, MANY);
    size_t before = a->used;
    assert_int_equal(draw(&q, a, c, &o, 1), 0);
    assert_true(a->used - before < MANY * 1000);
}

TEST_IN_ARENA(errors)
{
    static const char *const texts[] = {"sin x", "sin sin"};
    struct err e = {0};
    struct rng r = rng_new(1, 0);
    struct question_options o = {.most = 5, .near_misses = 6, .distance = 1, .points = 8};
    Eqloom__Exercise *q;
    size_t n;
    const Eqloom__Cluster *c = cluster_of(a, "", texts, 2);
    assert_int_equal(questions_draw(&q, &n, a, c, &o, &r, &e), ERR_INPUT);
    c = cluster_of(a, "klingon", texts, 1);
    assert_int_equal(questions_draw(&q, &n, a, c, &o, &r, &e), ERR_INPUT);
}

TESTS_AROUND(NULL, balls_clean)
