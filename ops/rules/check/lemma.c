/* See lemma.h. A complex variable in a disc is proved in two steps: normal forms prove the rule for
 * real values, and both sides are analytic in the disc (the identity theorem), which a function of
 * u with Re u > 0 covers. */
#include "ops/rules/check/lemma.h"

#include "ops/expr/normal/normal.h"

#include <string.h>

enum { MAX_CONDITIONS = 3 };

/* (u - 1)/(u + 1) is the unit disc; -i ln u the strip |Re a| < pi/2. */
#define DISC "/ - ?a 1 + ?a 1"
#define STRIP "* * -1 sqrt -1 ln ?a"

static const struct lemma {
    const char *conditions[MAX_CONDITIONS]; /* of ?a, or ?a and ?b */
    const char *value;                      /* of ?a, in prefix tokens */
    const char *domain, *low, *high;        /* of ?a in it */
    const char *cover;                      /* of complex values, by Re ?a > 0; NULL: ?a is real */
} lemmas[] = {
    {{"less(abs(?a), 1)"}, "?a", "real", "-1", "1", DISC},
    {{"less(abs(?a), pi/2)"}, "atan ?a", "real", NULL, NULL, STRIP},
    {{"less_equal(abs(?a), pi/2)"}, "atan ?a", "real", NULL, NULL, STRIP},
    {{"nonnegative(?a)", "less_equal(?a, pi)"}, "* pi ?a", "positive", "0", "1", NULL},
    {{"nonpositive(?a)", "less_equal(-?a, pi)"}, "- 0 * pi ?a", "positive", "0", "1", NULL},
    {{"real(?a)", "less_equal(2*?a^2, 1)"}, "/ ?a sqrt 2", "real", "-1", "1", NULL},
    {{"real(?a)", "real(?b)", "less(?a*?b, 1)"}, "/ - 1 ?a ?b", "positive", NULL, NULL, NULL},
    {{"real(?a)", "real(?b)", "less(-1, ?a*?b)"}, "/ - ?a 1 ?b", "positive", NULL, NULL, NULL},
    {{"positive(?a)", "positive(?b)", "less(1, ?a*?b)"},
     "/ + ?a 1 ?b",
     "positive",
     NULL,
     NULL,
     NULL},
};

static bool asks(struct arena *a, const struct rule *r, const char *condition)
{
    for (size_t i = 0; i < r->n_conditions; i++)
        if (strcmp(rule_condition_text(a, &r->conditions[i]), condition) == 0)
            return true;
    return false;
}

static bool applies(const struct lemma *l, struct arena *a, const struct rule *r)
{
    for (int i = 0; i < MAX_CONDITIONS && l->conditions[i]; i++)
        if (!asks(a, r, l->conditions[i]))
            return false;
    return true;
}

static struct expr read_value(struct arena *a, const struct expr *like, const char *prefix)
{
    struct source_text source = {"", prefix, strlen(prefix)};
    struct expr x;
    if (expr_parse_prefix(&x, a, like->lang, &source, 0, source.len, true, NULL))
        return *like;
    return x;
}

/* x with a value for ?a. */
static struct expr with_value(struct arena *a, const struct expr *x, const struct expr *value)
{
    const struct expr_node *node = &x->nodes[0];
    if (node->op == X_VAR && strcmp(node->leaf, "a") == 0)
        return *value;
    if (node->arity == 0)
        return *x;
    struct expr *children = arena_array(a, struct expr, node->arity);
    for (uint32_t i = 0, at = 1; i < node->arity; i++, at += x->nodes[at].size) {
        struct expr child = expr_sub(x, at);
        children[i] = with_value(a, &child, value);
    }
    return expr_apply(a, x->lang, node->op, children, node->arity);
}

static bool is_covered(const struct lemma *l, struct arena *a, const struct rule *r)
{
    if (!l->cover || asks(a, r, "real(?a)"))
        return true;
    struct expr cover = read_value(a, &r->lhs, l->cover);
    struct expr x = with_value(a, &r->lhs, &cover), y = with_value(a, &r->rhs, &cover);
    return normal_is_analytic(&x) && normal_is_analytic(&y);
}

bool lemma_prove(const char **way, struct arena *a, const struct rule *r,
                 const struct ball_domain *domains, size_t n)
{
    struct ball_domain *all = arena_memdup(a, domains, n * sizeof *all);
    size_t at = 0;
    while (at < n && strcmp(all[at].name, "?a") != 0)
        at++;
    for (size_t i = 0; i < sizeof lemmas / sizeof *lemmas && at < n; i++) {
        const struct lemma *l = &lemmas[i];
        if (!applies(l, a, r) || !is_covered(l, a, r))
            continue;
        struct expr value = read_value(a, &r->lhs, l->value);
        struct expr x = with_value(a, &r->lhs, &value), y = with_value(a, &r->rhs, &value);
        all[at] = (struct ball_domain){"?a", l->domain, l->low, l->high};
        if (normal_equal(way, &x, &y, all, n))
            return true;
    }
    return false;
}
