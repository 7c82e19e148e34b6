/* Reuse by proof, the property: whenever an earlier saturation is said to stand under edited rules,
 * a run from scratch gives the very same record. Random rule sets, terms, budgets and edits; the
 * seed is printed and may be given in EQLOOM_TEST_SEED. */
#include "tests/ops/egraph/help.h"

#include "base/buf.h"
#include "ops/egraph/reuse.h"
#include "schemas/canonical.h"

static const char *const pool[] = {
    "?a + ?b -> ?b + ?a",
    "?a * ?b -> ?b * ?a",
    "?a + (?b + ?c) -> (?a + ?b) + ?c",
    "?a * (?b * ?c) -> (?a * ?b) * ?c",
    "?a * (?b + ?c) -> ?a * ?b + ?a * ?c",
    "?a * ?b + ?a * ?c -> ?a * (?b + ?c)",
    "?a + 0 -> ?a",
    "?a * 1 -> ?a",
    "?a * 0 -> 0",
    "?a - ?a -> 0",
    "?a / ?a -> 1 if nonzero(?a)",
    "?a - ?b -> ?a + (-1) * ?b",
    "?a + ?a -> 2 * ?a",
    "?a * ?a -> ?a^2",
    "?a^2 -> ?a * ?a",
    "(?a + ?b)^2 -> ?a^2 + 2 * ?a * ?b + ?b^2",
    "sin(?a)^2 + cos(?a)^2 -> 1",
    "sin(?a)^2 -> 1 - cos(?a)^2",
    "tan(?a) -> sin(?a) / cos(?a)",
    "sin(?a) / cos(?a) -> tan(?a)",
    "sin(2 * ?a) -> 2 * (sin(?a) * cos(?a))",
    "sin(?a + ?b) -> sin(?a) * cos(?b) + cos(?a) * sin(?b)",
    "cos(?a + ?b) -> cos(?a) * cos(?b) - sin(?a) * sin(?b)",
    "sin(pi) -> 0",
    "cos(0) -> 1",
    "ln(?a * ?b) -> ln(?a) + ln(?b) if positive(?a), positive(?b)",
    "ln(?a^2) -> 2 * ln(?a) if positive(?a)",
    "e^(?a + ?b) -> e^?a * e^?b",
    "ln(e^?a) -> ?a if real(?a)",
    "sqrt(?a)^2 -> ?a",
    "sqrt(?a * ?a) -> ?a if positive(?a)",
    "tanh(?a) -> sinh(?a) / cosh(?a)",
    "?a / ?b -> ?a * (1 / ?b)",
    "x + ?a -> ?a + x",
    "1 / (1 / ?a) -> ?a if nonzero(?a)",
    /* these look far down, and seldom match */
    "sin(?a + (?b * (?c + (?d * cos(?a))))) -> ?a",
    "(1 * (?a + (?b + (0 + ?a)))) * ?c -> ?c * ?a",
    "?a + (?b * (?c + ?b)) -> ?a + (?c + ?b) * ?b",
    "?a * ((?b + (?c * (1 + ?d))) + 2) -> ?d",
};
enum { POOL = sizeof pool / sizeof *pool, SET_MAX = 24, TRIALS = 800, EDITS = 4 };

struct set {
    unsigned rule[SET_MAX], name[SET_MAX]; /* what, and where in the order */
    size_t n;
};

static struct rules rules_of_set(struct arena *a, const struct set *s)
{
    struct buf b = {0};
    buf_puts(&b, "group g\n");
    for (size_t i = 0; i < s->n; i++)
        buf_printf(&b, "r%04u: %s\n", s->name[i], pool[s->rule[i]]);
    struct rules rules = rules_of(a, b.data);
    rules_sort(&rules);
    buf_free(&b);
    return rules;
}

static bool has_name(const struct set *s, unsigned name)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->name[i] == name)
            return true;
    return false;
}

static unsigned new_name(const struct set *s, struct rng *r)
{
    unsigned name;
    do
        name = (unsigned)rng_below(r, 1000);
    while (has_name(s, name));
    return name;
}

static void add_rule(struct set *s, struct rng *r)
{
    if (s->n == SET_MAX)
        return;
    unsigned name = new_name(s, r);
    s->rule[s->n] = (unsigned)rng_below(r, POOL);
    s->name[s->n++] = name;
}

static void edit_set(struct set *s, struct rng *r)
{
    size_t at = s->n ? (size_t)rng_below(r, s->n) : 0;
    switch (rng_below(r, 4)) {
    case 0: add_rule(s, r); break;
    case 1: /* one goes */
        if (s->n > 1) {
            s->n--;
            s->rule[at] = s->rule[s->n];
            s->name[at] = s->name[s->n];
        }
        break;
    case 2: s->rule[at] = (unsigned)rng_below(r, POOL); break; /* edited */
    case 3: s->name[at] = new_name(s, r); break;               /* renamed, which may reorder */
    }
}

static void random_term(struct buf *b, struct rng *r, unsigned depth)
{
    static const char *const leaves[] = {"x", "y", "0", "1", "2", "pi", "1/2"};
    static const char *const unary[] = {"sin", "cos", "tan", "ln", "sqrt", "tanh"};
    static const char *const binary[] = {"+", "-", "*", "/", "^"};
    if (depth == 0 || rng_below(r, 5) == 0) {
        buf_puts(b, leaves[rng_below(r, 7)]);
        return;
    }
    if (rng_below(r, 3) == 0) {
        buf_printf(b, "%s(", unary[rng_below(r, 6)]);
        random_term(b, r, depth - 1);
        buf_puts(b, ")");
        return;
    }
    buf_puts(b, "(");
    random_term(b, r, depth - 1);
    buf_printf(b, " %s ", binary[rng_below(r, 5)]);
    random_term(b, r, depth - 1);
    buf_puts(b, ")");
}

/* One run: the record's bytes as the op would write them, and the trace. */
struct made {
    bool failed; /* rules and term contradict one another */
    struct span record, trace;
    Eqloom__EGraph message;
};

struct compiled {
    struct rules rules;
    struct ruleset *set;
    Eqloom__Rule *messages;
    const Eqloom__Rule **records;
    struct reuse_rules *reuse;
};

static void compile_rules(struct compiled *c, struct arena *a, struct rules rules)
{
    c->rules = rules;
    c->set = ruleset_new(&c->rules);
    c->messages = arena_array(a, Eqloom__Rule, c->rules.n);
    c->records = arena_array(a, const Eqloom__Rule *, c->rules.n);
    for (size_t i = 0; i < c->rules.n; i++) {
        rule_to_message(&c->messages[i], a, &c->rules, &c->rules.rules[i]);
        c->records[i] = &c->messages[i];
    }
    c->reuse = reuse_rules_new(&c->rules, c->set, c->records, false);
}

static void compile(struct compiled *c, struct arena *a, const struct set *s)
{
    compile_rules(c, a, rules_of_set(a, s));
}

static void release(struct compiled *c)
{
    reuse_rules_free(c->reuse);
    ruleset_free(c->set);
}

static struct made make(struct arena *a, const struct compiled *c, const char *text,
                        const struct saturate_options *o)
{
    struct made m = {0};
    struct err e = {0};
    struct saturate_result r;
    struct egraph *g = egraph_new(c->rules.lang);
    struct expr x = term(a, c->rules.lang, text);
    eclass_id root = egraph_add_expr(g, &x);
    m.failed = egraph_saturate(&r, g, c->set, o, a, &e) != OK;
    if (!m.failed) {
        egraph_to_message(&m.message, a, g, root);
        m.message.stop = r.stop;
        m.message.iterations = r.iterations;
        m.message.rules = arena_array(a, Eqloom__RuleStats *, c->rules.n);
        for (size_t i = 0; i < c->rules.n; i++) {
            if (!r.matched[i])
                continue;
            Eqloom__RuleStats *stats = arena_new(a, Eqloom__RuleStats);
            eqloom__rule_stats__init(stats);
            stats->rule = arena_strdup(a, c->rules.rules[i].name);
            stats->matched = r.matched[i];
            stats->applied = r.applied[i];
            m.message.rules[m.message.n_rules++] = stats;
        }
        assert_int_equal(reuse_trace(&m.trace, a, c->reuse, &r, g, &m.message, &e), OK);
        assert_int_equal(canonical_pack(&m.record, a, &m.message.base, &e), OK);
    }
    egraph_free(g);
    return m;
}

static enum err_code load(void *arg, const Eqloom__EGraph **out, struct err *e)
{
    *out = arg;
    return OK;
}

/* Records of `now` that `before` has not. */
static size_t find_added(uint64_t *positions, const struct compiled *before,
                         const struct compiled *now, struct arena *a)
{
    size_t n = 0;
    for (size_t i = 0; i < now->rules.n; i++) {
        struct span x, y;
        bool known = false;
        canonical_pack(&x, a, &now->records[i]->base, NULL);
        for (size_t k = 0; k < before->rules.n && !known; k++) {
            canonical_pack(&y, a, &before->records[k]->base, NULL);
            known = span_equal(x, y);
        }
        if (!known)
            positions[n++] = i;
    }
    return n;
}

struct tally {
    int asked, stood, by_signature, by_matching, could;
};

static void ask(struct tally *t, struct arena *a, const struct compiled *before,
                const struct compiled *now, struct made *m, const char *text,
                const struct saturate_options *o)
{
    struct err e = {0};
    uint64_t positions[SET_MAX];
    struct reuse_question q = {.trace = m->trace, .positions = positions, .load = load};
    struct reuse_answer answer;
    q.arg = &m->message;
    q.n = find_added(positions, before, now, a);
    assert_int_equal(reuse_decide(&answer, a, now->reuse, &q, &e), OK);
    struct made fresh = make(a, now, text, o);
    bool same = !fresh.failed && span_equal(fresh.record, m->record);
    t->asked++;
    t->could += same;
    t->stood += answer.stands;
    t->by_signature += answer.stands && answer.by_signature > 0;
    t->by_matching += answer.stands && answer.by_matching > 0;
    if (answer.stands && !same)
        fail_msg("%s: said to stand, and would be another", text);
}

static void what_stands_is_the_same(void **state)
{
    struct rng r = rng_new(test_seed(), 0);
    struct tally t = {0};
    for (int trial = 0; trial < TRIALS; trial++) {
        struct arena a = {0};
        struct set s = {0};
        struct buf text = {0};
        struct compiled before;
        struct saturate_options o = {
            .iterations = 1 + (uint32_t)rng_below(&r, 6),
            .max_nodes = 20 + (uint32_t)rng_below(&r, 300),
            .max_matches = rng_below(&r, 4) ? 0 : 1 + rng_below(&r, 100),
            .match_limit = 1 + (uint32_t)rng_below(&r, 30),
            .ban_length = (uint32_t)rng_below(&r, 4),
        };
        /* of few rules all may rest at a time; of none, none is ever searched for */
        for (uint64_t n = rng_below(&r, trial % 2 ? 4 : SET_MAX - 4); n > 0; n--)
            add_rule(&s, &r);
        random_term(&text, &r, 1 + (unsigned)rng_below(&r, 4));
        compile(&before, &a, &s);
        struct made m = make(&a, &before, text.data, &o);
        for (int k = 0; k < EDITS && !m.failed; k++) {
            struct set edited = s;
            struct compiled now;
            for (uint64_t n = 1 + rng_below(&r, 3); n > 0; n--)
                edit_set(&edited, &r);
            compile(&now, &a, &edited);
            ask(&t, &a, &before, &now, &m, text.data, &o);
            release(&now);
        }
        release(&before);
        buf_free(&text);
        arena_free(&a);
    }
    print_message("%d asked, %d stood (%d with rules refuted by signature, %d by matching); %d "
                  "would have been the same\n",
                  t.asked, t.stood, t.by_signature, t.by_matching, t.could);
    assert_true(t.by_signature > t.asked / 50 && t.by_matching > 0 && t.could > t.stood);
}

/* Runs of several expressions under one set: where their united trace says that all stand, each is
 * what it would be again. United as blocks are: some of the first, then these and the others. */
static void what_stands_together_stands(void **state)
{
    enum { TOGETHER = 5 };
    struct rng r = rng_new(test_seed(), 1);
    int stood = 0, refuted = 0, alone = 0;
    for (int trial = 0; trial < TRIALS / 2; trial++) {
        struct arena a = {0};
        struct err e = {0};
        struct set s = {0};
        struct compiled before;
        struct saturate_options o = {.iterations = 1 + (uint32_t)rng_below(&r, 6),
                                     .max_nodes = 20 + (uint32_t)rng_below(&r, 300),
                                     .match_limit = 1 + (uint32_t)rng_below(&r, 30),
                                     .ban_length = (uint32_t)rng_below(&r, 4)};
        struct made m[TOGETHER];
        char *texts[TOGETHER];
        struct span traces[TOGETHER], all;
        bool failed = false;
        for (uint64_t n = rng_below(&r, trial % 2 ? 4 : SET_MAX - 4); n > 0; n--)
            add_rule(&s, &r);
        compile(&before, &a, &s);
        for (int k = 0; k < TOGETHER; k++) {
            struct buf text = {0};
            random_term(&text, &r, 1 + (unsigned)rng_below(&r, 2));
            texts[k] = arena_strdup(&a, text.data);
            buf_free(&text);
            m[k] = make(&a, &before, texts[k], &o);
            failed = failed || m[k].failed || !m[k].trace.data;
            traces[k] = m[k].trace;
        }
        if (!failed) {
            assert_int_equal(reuse_unite(&all, &a, traces, 2, &e), OK);
            traces[1] = all;
            assert_int_equal(reuse_unite(&all, &a, traces + 1, TOGETHER - 1, &e), OK);
        }
        for (int k = 0; k < EDITS && !failed; k++) {
            struct set edited = s;
            struct compiled now;
            uint64_t positions[SET_MAX];
            struct reuse_question q = {.trace = all, .positions = positions};
            struct reuse_answer answer;
            edit_set(&edited, &r);
            compile(&now, &a, &edited);
            q.n = find_added(positions, &before, &now, &a);
            assert_int_equal(reuse_decide(&answer, &a, now.reuse, &q, &e), OK);
            stood += answer.stands;
            refuted += answer.stands && answer.by_signature > 0;
            for (int i = 0; i < TOGETHER; i++) {
                struct tally t = {0};
                ask(&t, &a, &before, &now, &m[i], texts[i], &o);
                alone += t.stood;
                if (answer.stands && (!t.stood || !t.could))
                    fail_msg("%s: stands with others, but not alone", texts[i]);
            }
            release(&now);
        }
        release(&before);
        arena_free(&a);
    }
    print_message("%d stood together (%d by signature), %d alone\n", stood, refuted, alone);
    assert_true(stood > 0 && refuted > 0 && alone > TOGETHER * stood);
}

/* A rule that matches nowhere, but looks farther down than the others, makes a search visit f(...)
 * in the second iteration, where it sees what was joined just before: h(y) comes in time. */
static void a_farther_look_is_not_without_effect(void **state)
{
    static const char near[] = "operator f/1\noperator g/1\noperator h/1\noperator k/1\n"
                               "operator s/1\noperator t/1\noperator z/1\ngroup g\n"
                               "a: s(?a) -> t(?a)\nb: k(t(?a)) -> g(?a)\nc: f(g(?a)) -> h(?a)\n";
    struct arena a = {0};
    struct tally t = {0};
    struct saturate_options o = {.iterations = 2, .max_nodes = 1000};
    struct compiled before, now;
    compile_rules(&before, &a, rules_of(&a, near));
    compile_rules(&now, &a, rules_of(&a, arena_printf(&a, "%sd: z(z(z(?a))) -> ?a\n", near)));
    struct made m = make(&a, &before, "f(k(s(y))) + g(y)", &o);
    ask(&t, &a, &before, &now, &m, "f(k(s(y))) + g(y)", &o);
    assert_int_equal(t.could, 0);
    release(&now);
    release(&before);
    arena_free(&a);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stands_is_the_same),
        cmocka_unit_test(what_stands_together_stands),
        cmocka_unit_test(a_farther_look_is_not_without_effect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
