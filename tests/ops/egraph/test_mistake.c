/* Derivations: what is said of each step is checked again by values at other points. */
#include "tests/ops/egraph/help.h"

#include "ops/egraph/derive/mistake.h"
#include "tests/ops/expr/balls.h"

static const char *const some_rules = "group t\n"
                                      "add-comm: ?a + ?b -> ?b + ?a\n"
                                      "mul-comm: ?a * ?b -> ?b * ?a\n"
                                      "add-assoc: (?a + ?b) + ?c <-> ?a + (?b + ?c)\n"
                                      "mul-assoc: (?a * ?b) * ?c <-> ?a * (?b * ?c)\n"
                                      "square: ?a * ?a <-> ?a^2\n"
                                      "twice: ?a + ?a <-> 2*?a\n"
                                      "pythagoras: sin(?a)^2 + cos(?a)^2 -> 1\n"
                                      "tangent: tan(?a) <-> sin(?a)/cos(?a)\n"
                                      "cancel: ?a / ?b * ?b -> ?a if nonzero(?b)\n";

static const char *const members[] = {
    "+ x + * sin x sin x * cos x cos x",
    "+ + + x * sin x sin x * cos x cos x 0",
    "+ * sin x sin x + x * cos x cos x",
    "+ pow cos x 2 + x * sin x * tan x cos x",
    "+ x 1",
};
enum { MEMBERS = sizeof members / sizeof *members };

struct exercise {
    struct arena a;
    struct rules rules;
    struct ruleset *set;
    Eqloom__Cluster cluster;
    Eqloom__Expr seed;
    struct mistake_options options;
};

static void begin(struct exercise *f, const char *language, const char *rules,
                  const char *const *texts, size_t n)
{
    *f = (struct exercise){.options = {.most = 20,
                                       .least_steps = 2,
                                       .most_steps = 12,
                                       .max_tokens = 40,
                                       .iterations = 6,
                                       .max_nodes = 2000,
                                       .points = 8}};
    f->rules = rules_of(&f->a, rules);
    f->set = ruleset_new(&f->rules);
    eqloom__cluster__init(&f->cluster);
    eqloom__expr__init(&f->seed);
    f->seed.language = (char *)language;
    f->seed.prefix = (char *)texts[0];
    f->cluster.seed = &f->seed;
    f->cluster.members = arena_array(&f->a, Eqloom__Member *, n);
    f->cluster.n_members = n;
    for (size_t i = 0; i < n; i++) {
        f->cluster.members[i] = arena_new(&f->a, Eqloom__Member);
        eqloom__member__init(f->cluster.members[i]);
        f->cluster.members[i]->prefix = (char *)texts[i];
    }
}

static void end(struct exercise *f)
{
    ruleset_free(f->set);
    arena_free(&f->a);
}

static size_t draw(Eqloom__Exercise **out, struct exercise *f, uint64_t seed)
{
    struct rng rng = rng_new(seed, 0);
    struct err e = {0};
    size_t n;
    if (derivations_draw(out, &n, &f->a, &f->cluster, &f->rules, f->set, &f->options, &rng, &e))
        fail_msg("%s", e.message);
    return n;
}

static enum ball_verdict compare(struct exercise *f, const char *x, const char *y)
{
    struct ball_options options = {.points = 12};
    struct ball_compare result;
    struct expr p = prefix_term(&f->a, f->rules.lang, x);
    struct expr q = prefix_term(&f->a, f->rules.lang, y);
    ball_compare(&result, &p, &q, &options);
    return result.verdict;
}

/* How many steps are wrong. */
static size_t check_derivation(struct exercise *f, const Eqloom__Exercise *x)
{
    size_t wrong = 0;
    bool member = false;
    for (size_t i = 0; i < f->cluster.n_members; i++)
        member = member || strcmp(x->terms[0]->prefix, f->cluster.members[i]->prefix) == 0;
    assert_true(member);
    assert_false(x->terms[0]->wrong);
    assert_in_range(x->n_terms - 1, f->options.least_steps, f->options.most_steps);
    for (size_t i = 1; i < x->n_terms; i++) {
        const Eqloom__ExerciseTerm *t = x->terms[i];
        wrong += t->wrong;
        assert_true(t->reason[0]);
        assert_string_not_equal(t->prefix, x->terms[i - 1]->prefix);
        assert_int_equal(compare(f, x->terms[i - 1]->prefix, t->prefix),
                         t->wrong ? BALL_DIFFERENT : BALL_EQUAL);
    }
    return wrong;
}

TEST(every_step)
{
    struct exercise f;
    size_t drawn = 0, with_mistake = 0;
    begin(&f, "", some_rules, members, MEMBERS);
    f.options.wrong = 0.5;
    for (uint64_t seed = 0; seed < 12; seed++) {
        Eqloom__Exercise *x;
        size_t n = draw(&x, &f, seed);
        for (size_t i = 0; i < n; i++) {
            size_t wrong = check_derivation(&f, &x[i]);
            assert_in_range(wrong, 0, 1);
            with_mistake += wrong;
        }
        drawn += n;
    }
    assert_true(drawn > 12 && with_mistake > 0 && with_mistake < drawn);
    end(&f);
}

TEST(all_wrong_or_none)
{
    for (int wrong = 0; wrong < 2; wrong++) {
        struct exercise f;
        Eqloom__Exercise *x;
        begin(&f, "", some_rules, members, MEMBERS);
        f.options.wrong = wrong;
        size_t n = draw(&x, &f, 3);
        assert_true(n > 0);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(check_derivation(&f, &x[i]), wrong);
            /* Without a mistake it ends with the least term. */
            if (!wrong)
                assert_string_equal(x[i].terms[x[i].n_terms - 1]->prefix, "+ 1 x");
        }
        end(&f);
    }
}

TEST(limits)
{
    struct exercise f;
    Eqloom__Exercise *x;
    begin(&f, "", some_rules, members, MEMBERS);
    f.options.most_steps = 3;
    f.options.least_steps = 3;
    f.options.wrong = 0.5;
    size_t n = draw(&x, &f, 1);
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++)
        check_derivation(&f, &x[i]);
    f.options.most = 1;
    assert_int_equal(draw(&x, &f, 1), 1);
    f.options.max_tokens = 3;
    assert_int_equal(draw(&x, &f, 1), 0);
    end(&f);
}

TEST(seeds)
{
    struct exercise f;
    Eqloom__Exercise *x[3];
    size_t n[3], differ = 0;
    begin(&f, "", some_rules, members, MEMBERS);
    f.options.wrong = 1;
    for (int i = 0; i < 3; i++)
        n[i] = draw(&x[i], &f, i == 2 ? 8 : 7);
    assert_int_equal(n[0], n[1]);
    for (size_t i = 0; i < n[0]; i++) {
        assert_int_equal(x[0][i].n_terms, x[1][i].n_terms);
        for (size_t k = 0; k < x[0][i].n_terms; k++)
            assert_string_equal(x[0][i].terms[k]->prefix, x[1][i].terms[k]->prefix);
        differ += i < n[2] && strcmp(x[0][i].terms[0]->prefix, x[2][i].terms[0]->prefix) != 0;
    }
    assert_true(differ > 0);
    end(&f);
}

TEST(simplify)
{
    struct exercise f;
    struct explanation p;
    struct err e = {0};
    struct derive_options o = {.iterations = 6, .max_nodes = 2000};
    begin(&f, "", some_rules, members, MEMBERS);
    struct expr from = infix_term(&f.a, f.rules.lang, "sin(x)*sin(x) + cos(x)^2");
    assert_int_equal(derive_least(&p, &f.a, &f.rules, f.set, &from, &o, &e), OK);
    assert_true(p.n >= 2);
    assert_string_equal(expr_prefix(&f.a, &p.steps[p.n - 1].term), "1");
    assert_int_equal(explanation_check(&p, &from, &p.steps[p.n - 1].term, &f.rules, &e), OK);
    from = infix_term(&f.a, f.rules.lang, "1 + x");
    assert_int_equal(derive_least(&p, &f.a, &f.rules, f.set, &from, &o, &e), OK);
    assert_int_equal(p.n, 0);
    end(&f);
}

TEST(another_language)
{
    static const char *const texts[] = {"and p q"};
    struct exercise f;
    struct rng rng = rng_new(1, 0);
    struct err e = {0};
    Eqloom__Exercise *x;
    size_t n;
    begin(&f, "boolean", some_rules, texts, 1);
    assert_int_equal(
        derivations_draw(&x, &n, &f.a, &f.cluster, &f.rules, f.set, &f.options, &rng, &e),
        ERR_INPUT);
    assert_non_null(strstr(e.message, "boolean"));
    end(&f);
}

TEST(boolean)
{
    static const char *const texts[] = {"not not and p and p and q true", "and q p"};
    struct exercise f;
    Eqloom__Exercise *x;
    begin(&f, "boolean",
          "language boolean\n"
          "group b\n"
          "twice: not(not(?a)) -> ?a\n"
          "same: ?a & ?a -> ?a\n"
          "true: ?a & true -> ?a\n"
          "comm: ?a & ?b -> ?b & ?a\n"
          "assoc: (?a & ?b) & ?c <-> ?a & (?b & ?c)\n",
          texts, 2);
    size_t n = draw(&x, &f, 5);
    assert_int_equal(n, 1);
    assert_string_equal(x[0].terms[x[0].n_terms - 1]->prefix, "and p q");
    f.options.wrong = 1;
    size_t wrong = 0;
    assert_int_equal(draw(&x, &f, 5), 1);
    for (size_t i = 0; i < x[0].n_terms; i++)
        wrong += x[0].terms[i]->wrong;
    assert_int_equal(wrong, 1);
    end(&f);
}

TESTS_AROUND(NULL, balls_clean)

/* Without any rule. */
TEST(evaluation)
{
    static const char *const terms[] = {
        "d x * pow sin * 2 x 2 ln x",
        "+ - * 2 x + x x d x pow / x 3 4",
        "sin asin - + x x d x pow e * 3 x",
        "/ d x tan pow x 2 + * 2 x * 0 cos 0",
    };
    struct exercise f;
    size_t drawn = 0, with_mistake = 0;
    begin(&f, "", "group t\nadd-comm: ?a + ?b -> ?b + ?a\n", terms, 4);
    f.options.evaluates = true;
    f.options.wrong = 0.5;
    for (uint64_t seed = 0; seed < 12; seed++) {
        Eqloom__Exercise *x;
        size_t n = draw(&x, &f, seed);
        for (size_t i = 0; i < n; i++, drawn++)
            with_mistake += check_derivation(&f, &x[i]);
    }
    assert_true(drawn >= 24 && with_mistake >= 6 && with_mistake <= drawn - 6);
    end(&f);
}
