/* Reuse by proof, case by case: runs that would be others for a reason that is easily overlooked,
 * and what each condition of the proof is for. */
#include "tests/ops/egraph/help_reuse.h"

#include "base/buf.h"

/* ---- the farther look ---- */

#define OPERATORS                                                                                  \
    "operator f/1\noperator g/1\noperator h/1\noperator k/1\noperator s/1\n"                       \
    "operator t/1\noperator z/1\ngroup g\na: s(?a) -> t(?a)\n"

static struct asked ask_about(const char *text, const char *before, const char *now,
                              uint32_t iterations)
{
    struct arena a = {0};
    struct saturate_options o = {.iterations = iterations, .max_nodes = 1000};
    struct rules old = rules_of(&a, before), new = rules_of(&a, now);
    struct change c;
    begin_change(&c, &a, &old, &new);
    struct action_result m = make(&a, &c.before, text, &o);
    struct asked asked = ask(&a, &c, &m, text, &o);
    end_change(&c);
    arena_free(&a);
    return asked;
}

/* The edited rules give another record: is that known? */
static void is_known_to_differ(const char *text, const char *before, const char *now,
                               uint32_t iterations)
{
    struct asked asked = ask_about(text, before, now, iterations);
    assert_false(asked.same || asked.answer.stands);
}

/* A rule that matches nowhere, but looks farther down than the others, makes a search visit f(...)
 * in the second iteration, where it sees what was joined just before: h(y) comes in time. */
TEST(a_farther_look_is_not_without_effect)
{
    static const char rules[] = OPERATORS "b: k(t(?a)) -> g(?a)\nc: f(g(?a)) -> h(?a)\n";
    is_known_to_differ("f(k(s(y))) + g(y)", rules,
                       OPERATORS "b: k(t(?a)) -> g(?a)\nc: f(g(?a)) -> h(?a)\n"
                                 "d: z(z(z(?a))) -> ?a\n",
                       2);
}

/* A condition makes its rule look at what ?a has learnt, and so at f(...) in the second iteration,
 * where it matches; without it, it would have in the third. */
TEST(nor_is_that_of_a_condition)
{
    static const char rules[] = OPERATORS "b: k(t(?a)) -> h(?a)\nc: f(g(h(?a))) -> t(?a)\n"
                                          "d: z(z(z(z(?a)))) -> ?a\n";
    is_known_to_differ("f(g(k(s(y)))) + h(y)", rules,
                       OPERATORS "b: k(t(?a)) -> h(?a)\nc: f(g(h(?a))) -> t(?a) if positive(?a)\n"
                                 "d: z(z(z(z(?a)))) -> ?a\n",
                       2);
}

/* In the last iteration f(k(y)) is looked at, then dies in favour of f(h(y)), which is younger, and
 * leaves: what was searched had an f all the same. */
#define LEAVING                                                                                    \
    OPERATORS "b: z(?a) -> f(k(?a)) + h(?a) * h(?a)\nc: ?a * ?a -> g(?a)\n"                        \
              "d: k(?a) -> t(?a)\ne: g(?a) -> f(?a)\nf: t(?a) -> h(?a)\n"
TEST(what_left_was_searched)
{
    is_known_to_differ("z(y)", LEAVING, LEAVING "g: f(?a) -> 7\n", 3);
}

/* The guarded match comes late, at the beginning of the second iteration, and makes the two sides
 * of the difference congruent. That a rule which matches nowhere has k(x) looked at before is no
 * reason to see it then, or not. */
#define LATE                                                                                       \
    OPERATORS "b: g(?a) -> 3\nc: f(?a) -> h(?a) if constant(g(?a))\n"                              \
              "d: z(?a) -> (ln(f(?a)) - ln(h(?a))) * k(?a)\n"                                      \
              "e: z(?a) -> 5\nf: ?a - ?a -> 0\n"
TEST(what_waited_is_seen_by_all)
{
    struct asked asked = ask_about("sin(3)+cos(3)+sin(5)+cos(5)+tan(5)+(g(x) + z(x) + f(x))", LATE,
                                   LATE "g: k(1) -> 0\n", 2);
    assert_true(asked.answer.stands);
}

/* ---- one condition of the proof at a time ---- */

static const struct saturate_options few = {.iterations = 3, .max_nodes = 1000};

static bool decide(const struct change *c, struct arena *a, struct span trace)
{
    struct err e = {0};
    struct reuse_answer answer;
    assert_int_equal(reuse_decide(&answer, a, trace, c->change, &e), OK);
    return answer.stands;
}

static void begin_edit(struct change *c, struct arena *a, const char *before, const char *now)
{
    struct rules old = rules_of(a, arena_printf(a, "group g\n%s", before));
    struct rules new = rules_of(a, arena_printf(a, "group g\n%s", now));
    begin_change(c, a, &old, &new);
}

static bool stands(const char *text, const char *before, const char *now)
{
    struct arena a = {0};
    struct change c;
    begin_edit(&c, &a, before, now);
    struct action_result m = make(&a, &c.before, text, &few);
    bool stands = decide(&c, &a, m.trace);
    end_change(&c);
    arena_free(&a);
    return stands;
}

#define SQUARE "a: ?a * ?a -> ?a^2\n"

TEST(each_condition_counts)
{
    assert_true(stands("x * x", SQUARE, SQUARE "b: tan(?a) -> sin(?a) / cos(?a)\n"));
    assert_false(stands("x * x", SQUARE, ""));
    assert_false(stands("x * x", SQUARE, "a: ?a * ?a -> ?a^2 + 0\n"));
    assert_false(stands("x * x", SQUARE, "b: ?a * ?a -> ?a^2\n"));
    /* the left side of a rule that is gone and did not match, or is not quite that */
    assert_true(stands("sin(x)", "b: sin(pi) -> 0\n", "b: sin(pi) -> 0 * 1\n"));
    assert_false(stands("sin(0)", "b: sin(pi) -> 0\n", "b: sin(0) -> 0\n"));
    assert_false(stands("sin(x)", "b: cos(?a) -> ?a\n", "b: sin(?a) -> ?a\n"));
    assert_true(stands("x + y", "b: ?a + ?a -> 2 * ?a\n", "b: ?b + ?b -> ?b * 2\n"));
    assert_false(stands("x + y", "b: ?a + ?a -> 2 * ?a\n", "b: ?a + ?b -> ?b + ?a\n"));
    /* of one that is still there, and did or did not match */
    assert_true(stands("x * y", SQUARE, SQUARE "b: ?b * ?b -> ?b^2 * 1\n"));
    assert_false(stands("x * x", SQUARE, SQUARE "b: ?b * ?b -> ?b^2 * 1\n"));
}

/* Traces of runs that took place under different rules or marks prove nothing together. */
TEST_IN_ARENA(different_conditions_do_not_unite)
{
    struct err e = {0};
    struct span traces[2], united;
    struct change c;
    begin_edit(&c, a, SQUARE "b: sin(sin(sin(?a))) -> ?a\n", SQUARE);
    struct action_result m = make(a, &c.now, "x + y", &few),
                         far = make(a, &c.before, "x + y", &few);
    struct reuse_change *none = reuse_change_new(c.now.reuse, NULL, 0, NULL, 0);
    struct change same = {.change = none};
    traces[0] = traces[1] = m.trace;
    assert_int_equal(reuse_unite(&united, a, traces, 2, &e), OK);
    assert_true(decide(&same, a, united));
    traces[1] = far.trace;
    assert_int_equal(reuse_unite(&united, a, traces, 2, &e), OK);
    assert_false(decide(&same, a, united));
    traces[1] = (struct span){0};
    assert_int_equal(reuse_unite(&united, a, traces, 2, &e), OK);
    assert_false(decide(&same, a, united));
    reuse_change_free(none);
    struct reuse_rules *unsound =
        reuse_rules_new(&c.now.rules, c.now.set, c.now.records, EQLOOM__BASIS__FALSEHOOD);
    same.change = reuse_change_new(unsound, NULL, 0, NULL, 0);
    assert_false(decide(&same, a, m.trace));
    reuse_change_free(same.change);
    reuse_rules_free(unsound);
    end_change(&c);
}

/* More leaves than a union names: any of them may stand anywhere, in all unions of that one. */
TEST_IN_ARENA(many_leaves_are_not_told_apart)
{
    struct err e = {0};
    struct buf text = {0};
    struct span traces[2], united;
    struct change c;
    begin_edit(&c, a, SQUARE, SQUARE "b: sin(7) -> 0\nc: cos(7) -> 0\n");
    struct change d;
    begin_edit(&d, a, SQUARE, SQUARE "c: cos(7) -> 0\n");
    buf_puts(&text, "sin(1)");
    for (int i = 2; i < 200; i++)
        buf_printf(&text, " + sin(%d)", i);
    struct action_result many = make(a, &c.before, text.data, &few),
                         one = make(a, &c.before, "x", &few);
    traces[0] = many.trace;
    traces[1] = one.trace;
    assert_int_equal(reuse_unite(&united, a, traces, 2, &e), OK);
    assert_false(decide(&c, a, united));
    assert_true(decide(&d, a, united)); /* operators still are */
    traces[0] = one.trace;
    traces[1] = united;
    assert_int_equal(reuse_unite(&united, a, traces, 2, &e), OK);
    assert_false(decide(&c, a, united));
    end_change(&c);
    end_change(&d);
    buf_free(&text);
}

TEST_IN_ARENA(rules_of_one_name_prove_nothing)
{
    struct rules rules = rules_of(a, "group g\n" SQUARE "b: ?a + 0 -> ?a\n");
    struct compiled c;
    rules.rules[1].name = "a";
    compile_rules(&c, a, rules);
    assert_null(make(a, &c, "x * x", &few).trace.data);
    release(&c);
}
