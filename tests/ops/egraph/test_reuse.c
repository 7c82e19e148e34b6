/* Reuse by proof, the property: whenever an earlier saturation is said to stand under edited rules,
 * a run from scratch gives the very same record. Random rule sets, terms, budgets and edits; the
 * seed is printed and may be given in EQLOOM_TEST_SEED. */
#include "tests/ops/egraph/help.h"

#include "base/buf.h"
#include "ops/egraph/graph.h"
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
enum { POOL = sizeof pool / sizeof *pool, SET_MAX = 24, TRIALS = 3000, EDITS = 4, TERMS = 3 };

struct set {
    const char *rule[SET_MAX]; /* "left -> right if condition", in an arena */
    unsigned name[SET_MAX];    /* where in the order */
    size_t n;
};

static struct rules rules_of_set(struct arena *a, const struct set *s)
{
    struct buf b = {0};
    buf_puts(&b, "group g\n");
    for (size_t i = 0; i < s->n; i++)
        buf_printf(&b, "r%04u: %s\n", s->name[i], s->rule[i]);
    struct rules rules = rules_of(a, b.data);
    rules_sort(&rules);
    buf_free(&b);
    return rules;
}

/* ---- edits ---- */

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

static void add_rule(struct set *s, const char *rule, struct rng *r)
{
    if (s->n == SET_MAX)
        return;
    unsigned name = new_name(s, r);
    s->rule[s->n] = rule;
    s->name[s->n++] = name;
}

static const char *any_rule(struct rng *r)
{
    return pool[rng_below(r, POOL)];
}

static void remove_rule(struct set *s, size_t at)
{
    s->n--;
    s->rule[at] = s->rule[s->n];
    s->name[at] = s->name[s->n];
}

static const char *without_condition(struct arena *a, const char *rule)
{
    const char *condition = strstr(rule, " if ");
    return condition ? arena_printf(a, "%.*s", (int)(condition - rule), rule) : rule;
}

static const char *other_right_side(struct arena *a, const char *rule, struct rng *r)
{
    const char *arrow = strstr(rule, " -> "), *condition = strstr(rule, " if ");
    int left = (int)(arrow - rule), right = (int)(strlen(without_condition(a, rule))) - left - 4;
    return arena_printf(a, "%.*s -> %s(%.*s)%s%s", left, rule, rng_below(r, 2) ? "1 * " : "0 + ",
                        right, arrow + 4, rng_below(r, 2) ? " * 1" : "",
                        condition ? condition : "");
}

/* Of one variable, or of a term, which waits for it. */
static const char *other_condition(struct arena *a, const char *rule, struct rng *r)
{
    static const char *const predicates[] = {"positive", "nonzero", "real", "integer", "constant"};
    const char *bare = without_condition(a, rule), *variable = strchr(bare, '?');
    if (!variable || variable > strstr(bare, " -> ") || rng_below(r, 4) == 0)
        return bare;
    return arena_printf(a, "%s if %s(?%c%s)", bare, predicates[rng_below(r, 5)], variable[1],
                        rng_below(r, 3) ? "" : " + 1");
}

static const char *other_variables(struct arena *a, const char *rule)
{
    char *out = arena_strdup(a, rule);
    for (char *c = out; *c; c++)
        if (*c == '?' && c[1] < 'm')
            c[1] = (char)(c[1] + 13);
    return out;
}

enum edit {
    ADD,
    REMOVE,
    REPLACE,
    RIGHT,
    CONDITION,
    VARIABLES,
    RENAME,
    REORDER,
    DOUBLE,
    EDIT_KINDS
};

static enum edit edit_set(struct set *s, struct arena *a, struct rng *r)
{
    size_t at = s->n ? (size_t)rng_below(r, s->n) : 0, to = s->n ? (size_t)rng_below(r, s->n) : 0;
    enum edit kind = s->n ? (enum edit)rng_below(r, EDIT_KINDS) : ADD;
    const char *rule = s->n ? s->rule[at] : NULL;
    unsigned name = s->name[at];
    switch (kind) {
    case ADD: add_rule(s, any_rule(r), r); break;
    case REMOVE: remove_rule(s, at); break;
    case REPLACE: s->rule[at] = any_rule(r); break;
    case RIGHT: s->rule[at] = other_right_side(a, rule, r); break;
    case CONDITION: s->rule[at] = other_condition(a, rule, r); break;
    case VARIABLES: s->rule[at] = other_variables(a, rule); break;
    case RENAME: s->name[at] = new_name(s, r); break;
    case REORDER:
        s->name[at] = s->name[to];
        s->name[to] = name;
        break;
    case DOUBLE: add_rule(s, other_right_side(a, rule, r), r); break;
    case EDIT_KINDS: break;
    }
    return kind;
}

/* ---- runs ---- */

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
    g->compact_at.dead = g->compact_at.percent = 0; /* in every iteration in which a node died */
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

/* Records of x that y has not; *messages may be NULL. */
static size_t difference(uint64_t *positions, const Eqloom__Rule **messages,
                         const struct compiled *x, const struct compiled *y, struct arena *a)
{
    size_t n = 0;
    for (size_t i = 0; i < x->rules.n; i++) {
        struct span p, q;
        bool known = false;
        canonical_pack(&p, a, &x->records[i]->base, NULL);
        for (size_t k = 0; k < y->rules.n && !known; k++) {
            canonical_pack(&q, a, &y->records[k]->base, NULL);
            known = span_equal(p, q);
        }
        if (!known) {
            positions[n] = i;
            messages[n++] = x->records[i];
        }
    }
    return n;
}

static struct reuse_change *change_between(const struct compiled *before,
                                           const struct compiled *now, struct arena *a)
{
    uint64_t added[SET_MAX], gone[SET_MAX];
    const Eqloom__Rule *old[SET_MAX], *new[SET_MAX];
    size_t n_gone = difference(gone, old, before, now, a);
    size_t n_added = difference(added, new, now, before, a);
    return reuse_change_new(now->reuse, added, n_added, old, n_gone);
}

/* ---- the property ---- */

struct tally {
    int asked, stood, by_pattern, by_signature, by_matching, could, together;
    int stood_after[EDIT_KINDS];
};

struct change {
    struct compiled before, now;
    struct reuse_change *change;
};

static bool ask(struct tally *t, struct arena *a, const struct change *c, struct made *m,
                const char *text, const struct saturate_options *o)
{
    struct err e = {0};
    struct reuse_question q = {
        .trace = m->trace, .change = c->change, .load = load, .arg = &m->message};
    struct reuse_answer answer;
    assert_int_equal(reuse_decide(&answer, a, &q, &e), OK);
    struct made fresh = make(a, &c->now, text, o);
    bool same = !fresh.failed && span_equal(fresh.record, m->record);
    t->asked++;
    t->could += same;
    t->stood += answer.stands;
    t->by_pattern += answer.stands && answer.by_pattern > 0;
    t->by_signature += answer.stands && answer.by_signature > 0;
    t->by_matching += answer.stands && answer.by_matching > 0;
    if (answer.stands && !same)
        fail_msg("%s: said to stand, and would be another", text);
    return answer.stands;
}

/* One edit, asked of each run, and of all by their traces united, as blocks are: the first ones,
 * then these and the others. */
static void ask_all(struct tally *t, struct arena *a, const struct change *c, struct made *made,
                    const struct buf *text, const struct saturate_options *o, enum edit kind)
{
    struct err e = {0};
    struct span traces[TERMS], united;
    struct reuse_answer answer;
    bool each = true;
    for (size_t i = 0; i < TERMS; i++) {
        bool stands = ask(t, a, c, &made[i], text[i].data, o);
        traces[i] = made[i].trace;
        each &= stands;
        t->stood_after[kind] += stands;
    }
    assert_int_equal(reuse_unite(&united, a, traces, 2, &e), OK);
    traces[1] = united;
    assert_int_equal(reuse_unite(&united, a, traces + 1, TERMS - 1, &e), OK);
    struct reuse_question q = {.trace = united, .change = c->change};
    assert_int_equal(reuse_decide(&answer, a, &q, &e), OK);
    t->together += answer.stands;
    if (answer.stands && !each)
        fail_msg("%s ...: said to stand together, and do not each", text[0].data);
}

static struct saturate_options random_options(struct rng *r)
{
    return (struct saturate_options){
        .iterations = 1 + (uint32_t)rng_below(r, 6),
        .max_nodes = 20 + (uint32_t)rng_below(r, 300),
        .max_matches = rng_below(r, 4) ? 0 : 1 + rng_below(r, 100),
        .match_limit = 1 + (uint32_t)rng_below(r, 30),
        .ban_length = (uint32_t)rng_below(r, 4),
    };
}

static void run_trial(struct tally *t, struct rng *r, bool large)
{
    struct arena a = {0};
    struct set s = {0};
    struct buf text[TERMS] = {0};
    struct made made[TERMS];
    struct change c;
    struct saturate_options o = random_options(r);
    bool failed = false;
    /* of few rules all may rest at a time; of none, none is ever searched for */
    for (uint64_t n = rng_below(r, large ? SET_MAX - 4 : 4); n > 0; n--)
        add_rule(&s, any_rule(r), r);
    compile(&c.before, &a, &s);
    for (size_t i = 0; i < TERMS; i++) {
        random_term(&text[i], r, 1 + (unsigned)rng_below(r, 4));
        made[i] = make(&a, &c.before, text[i].data, &o);
        failed |= made[i].failed;
    }
    for (int k = 0; k < EDITS && !failed; k++) {
        struct set edited = s;
        enum edit kind = edit_set(&edited, &a, r);
        for (uint64_t n = rng_below(r, 3); n > 0; n--)
            edit_set(&edited, &a, r);
        compile(&c.now, &a, &edited);
        c.change = change_between(&c.before, &c.now, &a);
        ask_all(t, &a, &c, made, text, &o, kind);
        reuse_change_free(c.change);
        release(&c.now);
    }
    release(&c.before);
    for (size_t i = 0; i < TERMS; i++)
        buf_free(&text[i]);
    arena_free(&a);
}

static void what_stands_is_the_same(void **state)
{
    struct rng r = rng_new(test_seed(), 0);
    struct tally t = {0};
    for (int trial = 0; trial < TRIALS; trial++)
        run_trial(&t, &r, trial % 2 == 0);
    print_message(
        "%d asked, %d stood (%d with rules refuted by their patterns, %d by signature, %d "
        "by matching), %d together; %d would have been the same\n",
        t.asked, t.stood, t.by_pattern, t.by_signature, t.by_matching, t.together, t.could);
    assert_true(t.by_pattern > t.asked / 50 && t.by_signature > t.asked / 50);
    assert_true(t.by_matching > 0 && t.together > 0 && t.could > t.stood);
    for (int k = 0; k < EDIT_KINDS; k++)
        assert_true(t.stood_after[k] > 0);
}

/* ---- the farther look ---- */

#define OPERATORS                                                                                  \
    "operator f/1\noperator g/1\noperator h/1\noperator k/1\noperator s/1\n"                       \
    "operator t/1\noperator z/1\ngroup g\na: s(?a) -> t(?a)\n"

/* The edited rules give another record: is that known? */
static void is_known_to_differ(const char *text, const char *before, const char *now,
                               uint32_t iterations)
{
    struct arena a = {0};
    struct tally t = {0};
    struct saturate_options o = {.iterations = iterations, .max_nodes = 1000};
    struct change c;
    compile_rules(&c.before, &a, rules_of(&a, before));
    compile_rules(&c.now, &a, rules_of(&a, now));
    c.change = change_between(&c.before, &c.now, &a);
    struct made m = make(&a, &c.before, text, &o);
    ask(&t, &a, &c, &m, text, &o);
    assert_int_equal(t.could, 0);
    reuse_change_free(c.change);
    release(&c.now);
    release(&c.before);
    arena_free(&a);
}

/* A rule that matches nowhere, but looks farther down than the others, makes a search visit f(...)
 * in the second iteration, where it sees what was joined just before: h(y) comes in time. */
static void a_farther_look_is_not_without_effect(void **state)
{
    static const char rules[] = OPERATORS "b: k(t(?a)) -> g(?a)\nc: f(g(?a)) -> h(?a)\n";
    is_known_to_differ("f(k(s(y))) + g(y)", rules,
                       OPERATORS "b: k(t(?a)) -> g(?a)\nc: f(g(?a)) -> h(?a)\n"
                                 "d: z(z(z(?a))) -> ?a\n",
                       2);
}

/* A condition makes its rule look at what ?a has learnt, and so at f(...) in the second iteration,
 * where it matches; without it, it would have in the third. */
static void nor_is_that_of_a_condition(void **state)
{
    static const char rules[] = OPERATORS "b: k(t(?a)) -> h(?a)\nc: f(g(h(?a))) -> t(?a)\n"
                                          "d: z(z(z(z(?a)))) -> ?a\n";
    is_known_to_differ("f(g(k(s(y)))) + h(y)", rules,
                       OPERATORS "b: k(t(?a)) -> h(?a)\nc: f(g(h(?a))) -> t(?a) if positive(?a)\n"
                                 "d: z(z(z(z(?a)))) -> ?a\n",
                       2);
}

/* After two iterations the edited rules give the same record, and that can be known. */
static void is_the_same(const char *text, const char *before, const char *now)
{
    struct arena a = {0};
    struct tally t = {0};
    struct saturate_options o = {.iterations = 2, .max_nodes = 1000};
    struct change c;
    compile_rules(&c.before, &a, rules_of(&a, before));
    compile_rules(&c.now, &a, rules_of(&a, now));
    c.change = change_between(&c.before, &c.now, &a);
    struct made m = make(&a, &c.before, text, &o);
    ask(&t, &a, &c, &m, text, &o);
    assert_int_equal(t.stood, 1);
    reuse_change_free(c.change);
    release(&c.now);
    release(&c.before);
    arena_free(&a);
}

/* In the last iteration f(k(y)) is looked at, then dies in favour of f(h(y)), which is younger, and
 * leaves: what was searched had an f all the same. */
#define LEAVING                                                                                    \
    OPERATORS "b: z(?a) -> f(k(?a)) + h(?a) * h(?a)\nc: ?a * ?a -> g(?a)\n"                        \
              "d: k(?a) -> t(?a)\ne: g(?a) -> f(?a)\nf: t(?a) -> h(?a)\n"
static void what_left_was_searched(void **state)
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
static void what_waited_is_seen_by_all(void **state)
{
    is_the_same("sin(3)+cos(3)+sin(5)+cos(5)+tan(5)+(g(x) + z(x) + f(x))", LATE,
                LATE "g: k(1) -> 0\n");
}

/* ---- one condition of the proof at a time ---- */

static const struct saturate_options few = {.iterations = 3, .max_nodes = 1000};

static bool decide(const struct change *c, struct arena *a, struct span trace, struct made *m)
{
    struct err e = {0};
    struct reuse_answer answer;
    struct reuse_question q = {.trace = trace, .change = c->change};
    if (m) {
        q.load = load;
        q.arg = &m->message;
    }
    assert_int_equal(reuse_decide(&answer, a, &q, &e), OK);
    return answer.stands;
}

static void begin_change(struct change *c, struct arena *a, const char *before, const char *now)
{
    compile_rules(&c->before, a, rules_of(a, arena_printf(a, "group g\n%s", before)));
    compile_rules(&c->now, a, rules_of(a, arena_printf(a, "group g\n%s", now)));
    c->change = change_between(&c->before, &c->now, a);
}

static void end_change(struct change *c)
{
    reuse_change_free(c->change);
    release(&c->now);
    release(&c->before);
}

static bool stands(const char *text, const char *before, const char *now)
{
    struct arena a = {0};
    struct change c;
    begin_change(&c, &a, before, now);
    struct made m = make(&a, &c.before, text, &few);
    bool stands = decide(&c, &a, m.trace, &m);
    end_change(&c);
    arena_free(&a);
    return stands;
}

#define SQUARE "a: ?a * ?a -> ?a^2\n"
#define DEEP "b: cos(cos(cos(?a))) -> ?a\n" /* so that the farthest look stays */

static void each_condition_counts(void **state)
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
static void different_conditions_do_not_unite(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct span traces[2], united;
    struct change c;
    begin_change(&c, &a, SQUARE "b: sin(sin(sin(?a))) -> ?a\n", SQUARE);
    struct made m = make(&a, &c.now, "x + y", &few), far = make(&a, &c.before, "x + y", &few);
    struct reuse_change *none = reuse_change_new(c.now.reuse, NULL, 0, NULL, 0);
    struct change same = {.change = none};
    traces[0] = traces[1] = m.trace;
    assert_int_equal(reuse_unite(&united, &a, traces, 2, &e), OK);
    assert_true(decide(&same, &a, united, NULL));
    traces[1] = far.trace;
    assert_int_equal(reuse_unite(&united, &a, traces, 2, &e), OK);
    assert_false(decide(&same, &a, united, NULL));
    traces[1] = (struct span){0};
    assert_int_equal(reuse_unite(&united, &a, traces, 2, &e), OK);
    assert_false(decide(&same, &a, united, NULL));
    reuse_change_free(none);
    struct reuse_rules *unsound = reuse_rules_new(&c.now.rules, c.now.set, c.now.records, true);
    same.change = reuse_change_new(unsound, NULL, 0, NULL, 0);
    assert_false(decide(&same, &a, m.trace, &m));
    reuse_change_free(same.change);
    reuse_rules_free(unsound);
    end_change(&c);
    arena_free(&a);
}

/* A record from which something was left out is not matched against. */
static void what_was_left_out_may_match(void **state)
{
    struct arena a = {0};
    ProtobufCMessage *trace;
    struct span part;
    struct change c;
    begin_change(&c, &a, SQUARE DEEP, SQUARE DEEP "c: sin(?a) * sin(?a) -> ?a\n");
    struct made m = make(&a, &c.before, "sin(x) * sin(y)", &few);
    assert_true(decide(&c, &a, m.trace, &m));
    assert_false(decide(&c, &a, m.trace, NULL));
    canonical_unpack(&trace, &a, &eqloom__saturation_trace__descriptor, m.trace, NULL);
    ((Eqloom__SaturationTrace *)trace)->whole = false;
    canonical_pack(&part, &a, trace, NULL);
    assert_false(decide(&c, &a, part, &m));
    end_change(&c);
    arena_free(&a);
}

/* More leaves than a union names: any of them may stand anywhere, in all unions of that one. */
static void many_leaves_are_not_told_apart(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct buf text = {0};
    struct span traces[2], united;
    struct change c;
    begin_change(&c, &a, SQUARE, SQUARE "b: sin(7) -> 0\nc: cos(7) -> 0\n");
    struct change d;
    begin_change(&d, &a, SQUARE, SQUARE "c: cos(7) -> 0\n");
    buf_puts(&text, "sin(1)");
    for (int i = 2; i < 200; i++)
        buf_printf(&text, " + sin(%d)", i);
    struct made many = make(&a, &c.before, text.data, &few), one = make(&a, &c.before, "x", &few);
    traces[0] = many.trace;
    traces[1] = one.trace;
    assert_int_equal(reuse_unite(&united, &a, traces, 2, &e), OK);
    assert_false(decide(&c, &a, united, NULL));
    assert_true(decide(&d, &a, united, NULL)); /* operators still are */
    traces[0] = one.trace;
    traces[1] = united;
    assert_int_equal(reuse_unite(&united, &a, traces, 2, &e), OK);
    assert_false(decide(&c, &a, united, NULL));
    end_change(&c);
    end_change(&d);
    buf_free(&text);
    arena_free(&a);
}

static void rules_of_one_name_prove_nothing(void **state)
{
    struct arena a = {0};
    struct rules rules = rules_of(&a, "group g\n" SQUARE "b: ?a + 0 -> ?a\n");
    struct compiled c;
    rules.rules[1].name = "a";
    compile_rules(&c, &a, rules);
    assert_null(make(&a, &c, "x * x", &few).trace.data);
    release(&c);
    arena_free(&a);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stands_is_the_same),
        cmocka_unit_test(a_farther_look_is_not_without_effect),
        cmocka_unit_test(nor_is_that_of_a_condition),
        cmocka_unit_test(what_left_was_searched),
        cmocka_unit_test(what_waited_is_seen_by_all),
        cmocka_unit_test(each_condition_counts),
        cmocka_unit_test(different_conditions_do_not_unite),
        cmocka_unit_test(what_was_left_out_may_match),
        cmocka_unit_test(many_leaves_are_not_told_apart),
        cmocka_unit_test(rules_of_one_name_prove_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
