/* Reuse by proof, the property: whenever an earlier saturation is said to stand under edited rules,
 * a run from scratch gives the very same record. Random rule sets, terms, budgets and edits; the
 * seed is printed and may be given in EQLOOM_TEST_SEED. */
#include "tests/ops/egraph/help_reuse.h"

#include "base/buf.h"

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
static const struct term_words words = {
    .leaves = {"x", "y", "0", "1", "2", "pi", "1/2"},
    .functions = {"sin", "cos", "tan", "ln", "sqrt", "tanh"},
    .n_leaves = 7,
    .n_functions = 6,
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

/* ---- the property ---- */

struct tally {
    int asked, stood, by_pattern, by_signature, by_matching, could, together;
    int stood_after[EDIT_KINDS];
};

static void count(struct tally *t, const struct asked *asked, enum edit kind)
{
    const struct reuse_answer *answer = &asked->answer;
    t->asked++;
    t->could += asked->same;
    t->stood += answer->stands;
    t->stood_after[kind] += answer->stands;
    t->by_pattern += answer->stands && answer->by_pattern > 0;
    t->by_signature += answer->stands && answer->by_signature > 0;
    t->by_matching += answer->stands && answer->by_matching > 0;
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
        struct asked asked = ask(a, c, &made[i], text[i].data, o);
        traces[i] = made[i].trace;
        each &= asked.answer.stands;
        count(t, &asked, kind);
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
    compile_rules(&c.before, &a, rules_of_set(&a, &s));
    for (size_t i = 0; i < TERMS; i++) {
        random_term(&text[i], r, &words, 1 + (unsigned)rng_below(r, 4));
        made[i] = make(&a, &c.before, text[i].data, &o);
        failed |= made[i].failed;
    }
    for (int k = 0; k < EDITS && !failed; k++) {
        struct set edited = s;
        enum edit kind = edit_set(&edited, &a, r);
        for (uint64_t n = rng_below(r, 3); n > 0; n--)
            edit_set(&edited, &a, r);
        compile_rules(&c.now, &a, rules_of_set(&a, &edited));
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stands_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
