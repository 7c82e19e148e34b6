/* Explanations: every proof is replayed by the checker, and the checker refuses what is wrong. */
#include "tests/ops/egraph/help.h"

#include "base/map.h"
#include "ops/egraph/explain/explanation.h"

static const char algebra[] = "group ring\n"
                              "add-comm: ?a + ?b -> ?b + ?a\n"
                              "add-assoc: ?a + (?b + ?c) <-> (?a + ?b) + ?c\n"
                              "mul-comm: ?a * ?b -> ?b * ?a\n"
                              "distribute: ?a * (?b + ?c) <-> ?a * ?b + ?a * ?c\n"
                              "square: ?a^2 <-> ?a * ?a\n"
                              "one: ?a * 1 -> ?a\n"
                              "minus: ?a - ?b <-> ?a + (-1) * ?b\n"
                              "group trig\n"
                              "pythagoras: sin(?a)^2 + cos(?a)^2 -> 1\n"
                              "double: sin(2 * ?a) <-> 2 * (sin(?a) * cos(?a))\n";

static void proves(const char *text, const char *from, const char *to, bool expected)
{
    struct fixture f = fixture_of(text, from, true);
    struct expr y = infix_term(&f.a, f.rules->lang, to);
    fixture_saturate(&f, (struct saturate_options){.iterations = 8,
                                                   .max_nodes = 20000,
                                                   .explain = true,
                                                   .has_goal = true,
                                                   .goal = {f.root, egraph_add_expr(f.g, &y)}});
    struct explanation p;
    enum err_code code = egraph_explain(&p, &f.a, f.g, f.set, &f.x, &y, &f.e);
    assert_int_equal(code, expected ? OK : ERR_NOTFOUND);
    if (expected) {
        assert_true(p.n > 0 || expr_equal(&f.x, &y));
        assert_int_equal(f.r.stop, EQLOOM__STOP_REASON__GOAL_REACHED);
        if (explanation_check(&p, &f.x, &y, f.rules, &f.e))
            fail_msg("%s = %s: %s", from, to, f.e.message);
        struct explanation back;
        assert_int_equal(egraph_explain(&back, &f.a, f.g, f.set, &y, &f.x, &f.e), OK);
        if (explanation_check(&back, &y, &f.x, f.rules, &f.e))
            fail_msg("%s = %s: %s", to, from, f.e.message);
    }
    fixture_end(&f);
}

TEST(proofs_replay)
{
    proves(algebra, "x", "x", true);
    proves(algebra, "a + b", "b + a", true);
    proves(algebra, "1 + 2 * 3", "7", true);
    proves(algebra, "x * (1 + 2) + 1/2", "3 * x + (1/4 + 1/4)", true);
    proves(algebra, "(a + b)^2", "a^2 + (2*(a*b) + b^2)", false); /* needs more of a ring */
    proves(algebra, "(a + b) * c", "c * b + c * a", true);
    proves(algebra, "sin(x)^2 * y + cos(x)^2 * y", "y", true);
    proves(algebra, "ln(sin(x + y)^2 + cos(y + x)^2)", "ln(1)", true);
    proves(algebra, "sin(2*x)^2 + cos(x*2)^2", "1", true);
    proves(algebra, "f + ((b + c) + a)", "(a + b) + (c + f)", true);
    proves(algebra, "a + b", "a + c", false);
}

TEST_IN_ARENA(the_checker_is_strict)
{
    struct err e = {0};
    struct rules rules = rules_of(a, algebra);
    struct expr x = infix_term(a, rules.lang, "sin(a + b)"),
                y = infix_term(a, rules.lang, "sin(b + a)");
    struct expr z = infix_term(a, rules.lang, "cos(b + a)"),
                w = infix_term(a, rules.lang, "sin(b + c)");
    const struct {
        const char *rule;
        uint32_t position;
        const struct expr *term, *to;
        enum err_code code;
    } cases[] = {{"ring/add-comm", 1, &y, &y, OK},         {"ring/add-comm", 1, &y, &x, ERR_FAILED},
                 {"ring/add-comm", 0, &y, &y, ERR_FAILED}, {"ring/mul-comm", 1, &y, &y, ERR_FAILED},
                 {"ring/no-such", 1, &y, &y, ERR_FAILED},  {"given", 1, &y, &y, ERR_FAILED},
                 {"ring/add-comm", 1, &z, &z, ERR_FAILED}, {"ring/add-comm", 1, &w, &w, ERR_FAILED},
                 {"ring/add-comm", 99, &w, &w, ERR_FAILED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct explain_step s = {cases[i].rule, false, cases[i].position, *cases[i].term};
        struct explanation p = {&s, 1};
        assert_int_equal(explanation_check(&p, &x, cases[i].to, &rules, &e), cases[i].code);
    }
}

/* A step may be an instance of its rule and yet be false. */
TEST(values_refute_false_steps)
{
    static const struct {
        const char *rule, *from, *to, *message; /* NULL: the values agree */
    } cases[] = {
        {"r: ?a/?a -> 1 if nonzero(?a)", "(x-1)/(x-1)", "1", NULL},
        {"r: ?a -> abs(?a) if positive(?a)", "-x", "abs(-x)", "x = "},
        {"r: sin(?a) -> cos(?a)", "sin(x)", "cos(x)", "against"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct err e = {0};
        struct rules rules = rules_of(&a, arena_printf(&a, "group g\n%s\n", cases[i].rule));
        struct expr x = infix_term(&a, rules.lang, cases[i].from),
                    y = infix_term(&a, rules.lang, cases[i].to);
        struct explain_step s = {.rule = "g/r", .term = y};
        struct explanation p = {&s, 1};
        size_t step = 9;
        assert_int_equal(explanation_check(&p, &x, &y, &rules, &e), OK);
        enum err_code code = explanation_check_values(&step, &p, &x, NULL, 0, &e);
        if (!cases[i].message != (code == OK) || (code && !strstr(e.message, cases[i].message)))
            fail_msg("%s: '%s'", cases[i].rule, code ? e.message : "holds");
        assert_int_equal(step, cases[i].message ? 0 : 9);
        arena_free(&a);
    }
}

/* How `from` is proved to be `to`; the checker accepts it. */
static struct explanation prove(struct arena *a, const struct rules *rules, const char *from,
                                const char *to)
{
    struct err e = {0};
    struct ruleset *set = ruleset_new(rules);
    struct egraph *g = egraph_new(rules->lang);
    struct expr x = infix_term(a, rules->lang, from), y = infix_term(a, rules->lang, to);
    struct saturate_options o = {.iterations = 5, .max_nodes = 3000, .explain = true};
    struct saturate_result r;
    struct explanation p;
    egraph_keep_proofs(g);
    egraph_add_expr(g, &x);
    egraph_add_expr(g, &y);
    assert_int_equal(egraph_saturate(&r, g, set, &o, a, &e), OK);
    if (egraph_explain(&p, a, g, set, &x, &y, &e) || explanation_check(&p, &x, &y, rules, &e))
        fail_msg("%s = %s: %s", from, to, e.message);
    egraph_free(g);
    ruleset_free(set);
    return p;
}

/* Steps that a person would take, where the e-graph knows many detours. */
TEST_IN_ARENA(proofs_are_short)
{
    static const char text[] = "group ring\n"
                               "comm: ?a + ?b -> ?b + ?a\n"
                               "assoc: ?a + (?b + ?c) <-> (?a + ?b) + ?c\n"
                               "zero: ?a + 0 -> ?a\n"
                               "zero-back: ?a -> ?a + 0\n"
                               "one: ?a * 1 -> ?a\n"
                               "square: ?a^2 <-> ?a * ?a\n";
    static const struct {
        const char *from, *to;
        size_t most;
    } cases[] = {{"a + (b + c)", "(a + b) + c", 1},
                 {"(a + b) + c", "c + (b + a)", 2},
                 {"((x + 0) * 1)^2 + 0", "x * x", 4},
                 {"x * (1 + 2) + 0", "x * 3", 2}};
    struct rules rules = rules_of(a, text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct explanation p = prove(a, &rules, cases[i].from, cases[i].to);
        if (p.n > cases[i].most)
            fail_msg("%s = %s in %zu steps instead of %zu", cases[i].from, cases[i].to, p.n,
                     cases[i].most);
    }
}

/* Between random terms that random rewriting made equal. */
TEST(random_proofs_replay)
{
    static const char *const names[] = {"a", "b", "c", "2", "3"};
    struct rng rng = rng_new(test_seed(1), 7);
    for (int round = 0; round < 60; round++) {
        char text[2][200];
        for (int k = 0; k < 2; k++)
            snprintf(text[k], sizeof text[k], "(%s + %s) * (%s - (%s * %s))",
                     names[rng_below(&rng, 5)], names[rng_below(&rng, 5)],
                     names[rng_below(&rng, 5)], names[rng_below(&rng, 5)],
                     names[rng_below(&rng, 5)]);
        struct fixture f = fixture_of(algebra, text[0], true);
        struct expr x = f.x, other = infix_term(&f.a, f.rules->lang, text[1]);
        egraph_add_expr(f.g, &other);
        fixture_saturate(
            &f, (struct saturate_options){.iterations = 4, .max_nodes = 3000, .explain = true});
        /* every subterm's other forms: rewritten by hand at the root */
        struct expr swapped =
            expr_apply(&f.a, f.rules->lang, X_MUL,
                       (struct expr[]){expr_sub(&x, 1 + x.nodes[1].size), expr_sub(&x, 1)}, 2);
        struct explanation p;
        assert_int_equal(egraph_explain(&p, &f.a, f.g, f.set, &x, &swapped, &f.e), OK);
        if (explanation_check(&p, &x, &swapped, f.rules, &f.e))
            fail_msg("round %d: %s", round, f.e.message);
        if (egraph_lookup(f.g, &x) == egraph_lookup(f.g, &other)) {
            assert_int_equal(egraph_explain(&p, &f.a, f.g, f.set, &x, &other, &f.e), OK);
            assert_int_equal(explanation_check(&p, &x, &other, f.rules, &f.e), OK);
        }
        fixture_end(&f);
    }
}

/* ---- shortest ---- */

enum { MOST = 24 };

/* An oracle of its own: all terms that rewriting leads to, breadth first, as texts. Nothing of the
 * e-graph or of the explainer is used, but the checker's matching stands beside a plain one here.
 */
struct oracle {
    const struct rules *rules;
    struct arena a;
    struct expr *terms;
    uint32_t *distance;
    size_t n, cap, distance_cap;
    struct name_map index;
};

static bool oracle_match(const char **names, struct expr *values, size_t *n,
                         const struct expr *pattern, uint32_t p, const struct expr *x, uint32_t i)
{
    const struct expr_node *want = &pattern->nodes[p], *have = &x->nodes[i];
    if (want->op == X_VAR) {
        struct expr value = expr_sub(x, i);
        for (size_t k = 0; k < *n; k++)
            if (strcmp(names[k], want->leaf) == 0)
                return expr_equal(&values[k], &value);
        names[*n] = want->leaf;
        values[(*n)++] = value;
        return true;
    }
    if (want->op != have->op || (want->leaf && strcmp(want->leaf, have->leaf) != 0))
        return false;
    for (uint32_t k = 0, q = p + 1, j = i + 1; k < want->arity; k++) {
        if (!oracle_match(names, values, n, pattern, q, x, j))
            return false;
        q += pattern->nodes[q].size;
        j += x->nodes[j].size;
    }
    return true;
}

/* x with every variable replaced, or (values NULL) with `part` at a position. */
static struct expr oracle_build(struct arena *a, const struct expr *x, uint32_t i,
                                const char **names, const struct expr *values, size_t n,
                                uint32_t position, const struct expr *part)
{
    const struct expr_node *node = &x->nodes[i];
    struct expr kids[4];
    if (part && i == position)
        return *part;
    for (size_t k = 0; node->op == X_VAR && k < n; k++)
        if (strcmp(names[k], node->leaf) == 0)
            return values[k];
    if (node->leaf)
        return expr_leaf(a, x->lang, node->op, node->leaf);
    for (uint32_t k = 0, at = i + 1; k < node->arity; at += x->nodes[at].size, k++)
        kids[k] = oracle_build(a, x, at, names, values, n, position, part);
    return expr_apply(a, x->lang, node->op, kids, node->arity);
}

static void oracle_arrive(struct oracle *o, struct expr x, uint32_t distance)
{
    bool added;
    name_map_put(&o->index, expr_prefix(&o->a, &x), o->n, &added);
    if (!added)
        return;
    o->terms = vec_grow(o->terms, &o->cap, o->n + 1, sizeof *o->terms);
    o->distance = vec_grow(o->distance, &o->distance_cap, o->n + 1, sizeof *o->distance);
    o->distance[o->n] = distance;
    o->terms[o->n++] = x;
}

static bool has_all(const struct expr *x, const struct expr *of)
{
    for (uint32_t i = 0; i < of->n; i++) {
        bool found = of->nodes[i].op != X_VAR;
        for (uint32_t k = 0; k < x->n && !found; k++)
            found = x->nodes[k].op == X_VAR && strcmp(x->nodes[k].leaf, of->nodes[i].leaf) == 0;
        if (!found)
            return false;
    }
    return true;
}

static void oracle_step(struct oracle *o, size_t at)
{
    for (size_t r = 0; r < o->rules->n; r++)
        for (int backwards = 0; backwards < 2; backwards++) {
            const struct rule *rule = &o->rules->rules[r];
            const struct expr *from = backwards ? &rule->rhs : &rule->lhs;
            const struct expr *to = backwards ? &rule->lhs : &rule->rhs;
            for (uint32_t i = 0; has_all(from, to) && i < o->terms[at].n; i++) {
                const char *names[8];
                struct expr values[8], x = o->terms[at];
                size_t n = 0;
                if (!oracle_match(names, values, &n, from, 0, &x, i))
                    continue;
                struct expr part = oracle_build(&o->a, to, 0, names, values, n, 0, NULL);
                if (x.n - x.nodes[i].size + part.n <= MOST)
                    oracle_arrive(o, oracle_build(&o->a, &x, 0, NULL, NULL, 0, i, &part),
                                  o->distance[at] + 1);
            }
        }
}

/* Distances from x, as far as terms of at most MOST nodes lead. */
static void oracle_open(struct oracle *o, const struct rules *rules, const struct expr *x)
{
    *o = (struct oracle){.rules = rules};
    oracle_arrive(o, *x, 0);
    for (size_t i = 0; i < o->n; i++)
        oracle_step(o, i);
}

static void oracle_close(struct oracle *o)
{
    free(o->terms);
    free(o->distance);
    name_map_free(&o->index);
    arena_free(&o->a);
}

static void write_sum(struct buf *b, struct rng *r, int leaves, bool declared)
{
    if (leaves == 1) {
        buf_printf(b, "%c", "abc"[rng_below(r, 3)]);
        return;
    }
    int left = 1 + (int)rng_below(r, (uint64_t)leaves - 1);
    bool function = declared && !rng_below(r, 4);
    buf_puts(b, function ? "g(" : declared && rng_below(r, 2) ? "s(" : "(");
    write_sum(b, r, left, declared);
    buf_puts(b, function ? ", " : " + ");
    write_sum(b, r, leaves - left, declared);
    buf_puts(b, ")");
}

/* Rules that lose nothing and make nothing longer: the oracle sees all terms there are. */
TEST(shortest_proofs_are_shortest)
{
    static const char *const sets[] = {
        "group r\ncomm: ?a + ?b -> ?b + ?a\nassoc: ?a + (?b + ?c) <-> (?a + ?b) + ?c\n",
        "group r\ncomm: ?a + ?b -> ?b + ?a\nrotate: (?a + ?b) + ?c -> ?b + (?c + ?a)\n",
        "operator g/2\noperator s/1\ngroup r\ncomm: ?a + ?b -> ?b + ?a\n"
        "turn: g(?a, ?b) -> g(?b, ?a)\nassoc: ?a + (?b + ?c) <-> (?a + ?b) + ?c\n"
        "other: s(?a + ?b) <-> s(g(?b, ?a))\n",
        "operator g/2\noperator s/1\ngroup r\nassoc: ?a + (?b + ?c) <-> (?a + ?b) + ?c\n"
        "ab: a + b <-> b + a\nsame: s(?a + b) <-> g(?a, a)\n"
        "out: s(?a) + ?b <-> s(?a + ?b)\n",
    };
    struct rng rng = rng_new(test_seed(1), 11);
    uint64_t lengths[40] = {0}, proved = 0;
    for (int round = 0; round < 48; round++) {
        struct buf text = {0};
        struct oracle o;
        write_sum(&text, &rng, 3 + round % 3, round % 4 > 1);
        struct fixture f = fixture_of(sets[round % 4], text.data, true);
        fixture_saturate(
            &f, (struct saturate_options){.iterations = 40, .max_nodes = 20000, .explain = true});
        assert_int_equal(f.r.stop, EQLOOM__STOP_REASON__SATURATED);
        oracle_open(&o, f.rules, &f.x);
        for (int k = 0; k < 12; k++) {
            size_t at = rng_below(&rng, o.n);
            struct explanation p;
            if (egraph_explain(&p, &f.a, f.g, f.set, &f.x, &o.terms[at], &f.e) ||
                explanation_check(&p, &f.x, &o.terms[at], f.rules, &f.e))
                fail_msg("%s = %s: %s", text.data, expr_infix(&f.a, &o.terms[at]), f.e.message);
            if (p.n < o.distance[at] || (p.shortest && p.n != o.distance[at]))
                fail_msg("%s = %s in %zu steps instead of %u", text.data,
                         expr_infix(&f.a, &o.terms[at]), p.n, o.distance[at]);
            assert_true(p.shortest); /* so small a space is searched to the end */
            lengths[p.n < 39 ? p.n : 39]++;
            proved += p.n > 3;
        }
        oracle_close(&o);
        fixture_end(&f);
        buf_free(&text);
    }
    for (size_t n = 0; n < 40; n++)
        if (lengths[n])
            print_message("%llu of %zu steps\n", (unsigned long long)lengths[n], n);
    assert_true(proved > 50);
}

/* What is lost on the way is lost from either end. */
TEST_IN_ARENA(shortest_proofs_lose_parts)
{
    static const char text[] = "group r\nself: ?a - ?a -> 0\nzero: ?a * 0 -> 0\n"
                               "unit: ?a + 0 -> ?a\nsin0: sin(0) -> 0\n";
    static const struct {
        const char *from, *to;
        size_t steps;
    } cases[] = {{"a - a", "b - b", 2},
                 {"sin(a - a)", "b * sin(0)", 4},
                 {"a + (b - b)", "a + c * 0", 2},
                 {"(a + 0) + (b - b)", "a", 3},
                 {"1 + 2", "3", 1},
                 {"(1 + 2) - 3", "a - a", 3}};
    struct rules rules = rules_of(a, text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct explanation p = prove(a, &rules, cases[i].from, cases[i].to);
        if (p.n != cases[i].steps || !p.shortest)
            fail_msg("%s = %s in %zu steps", cases[i].from, cases[i].to, p.n);
    }
}
