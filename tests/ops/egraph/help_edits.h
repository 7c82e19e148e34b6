/* Random rule sets and edits of them, for tests of reuse. */
#pragma once

#include "tests/ops/egraph/help.h"

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
enum { POOL = sizeof pool / sizeof *pool, SET_MAX = 24 };

struct set {
    const char *rule[SET_MAX]; /* "left -> right if condition", in an arena */
    unsigned name[SET_MAX];    /* where in the order */
    size_t n;
};

static inline struct rules rules_of_set(struct arena *a, const struct set *s)
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

static inline bool has_name(const struct set *s, unsigned name)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->name[i] == name)
            return true;
    return false;
}

static inline unsigned new_name(const struct set *s, struct rng *r)
{
    unsigned name;
    do
        name = (unsigned)rng_below(r, 1000);
    while (has_name(s, name));
    return name;
}

static inline void add_rule(struct set *s, const char *rule, struct rng *r)
{
    if (s->n == SET_MAX)
        return;
    unsigned name = new_name(s, r);
    s->rule[s->n] = rule;
    s->name[s->n++] = name;
}

static inline const char *any_rule(struct rng *r)
{
    return pool[rng_below(r, POOL)];
}

static inline void remove_rule(struct set *s, size_t at)
{
    s->n--;
    s->rule[at] = s->rule[s->n];
    s->name[at] = s->name[s->n];
}

static inline const char *without_condition(struct arena *a, const char *rule)
{
    const char *condition = strstr(rule, " if ");
    return condition ? arena_printf(a, "%.*s", (int)(condition - rule), rule) : rule;
}

static inline const char *other_right_side(struct arena *a, const char *rule, struct rng *r)
{
    const char *arrow = strstr(rule, " -> "), *condition = strstr(rule, " if ");
    int left = (int)(arrow - rule), right = (int)(strlen(without_condition(a, rule))) - left - 4;
    return arena_printf(a, "%.*s -> %s(%.*s)%s%s", left, rule, rng_below(r, 2) ? "1 * " : "0 + ",
                        right, arrow + 4, rng_below(r, 2) ? " * 1" : "",
                        condition ? condition : "");
}

/* Of one variable, or of a term, which waits for it. */
static inline const char *other_condition(struct arena *a, const char *rule, struct rng *r)
{
    static const char *const predicates[] = {"positive", "nonzero", "real", "integer", "constant"};
    const char *bare = without_condition(a, rule), *variable = strchr(bare, '?');
    if (!variable || variable > strstr(bare, " -> ") || rng_below(r, 4) == 0)
        return bare;
    return arena_printf(a, "%s if %s(?%c%s)", bare, predicates[rng_below(r, 5)], variable[1],
                        rng_below(r, 3) ? "" : " + 1");
}

static inline const char *other_variables(struct arena *a, const char *rule)
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

static inline enum edit edit_set(struct set *s, struct arena *a, struct rng *r)
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
