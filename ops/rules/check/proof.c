/* Pattern variables are complex, unless conditions on single variables restrict them. Under a
 * derivative d(?x, f) they represent functions of ?x. By the chain rule only their values and
 * derivatives matter, so ?a becomes ?a + ?a'1 ?x + ?a'2 ?x^2, which has any value and derivatives
 * up to the second. No rule can use these names of coefficients. */
#include "ops/rules/check/proof.h"

#include "ops/expr/normal/normal.h"
#include "ops/expr/rational.h"
#include "ops/rules/check/range.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_VARIABLES = 8 };

struct proof {
    struct arena *a;
    const struct rule *rule;
    struct ball_domain domains[MAX_VARIABLES];
    char parity[MAX_VARIABLES]; /* 'e', 'o' or 0 */
    size_t n;
    const char *derived; /* the variable of the derivatives, or NULL if there are none */
    bool several;        /* derivatives have several variables */
};

static struct ball_domain domain_of(const struct proof *p, const struct expr *x)
{
    struct range r, size;
    struct expr absolute = expr_apply(p->a, x->lang, X_ABS, x, 1);
    range_of_term(&r, p->a, p->rule, x);
    range_of_term(&size, p->a, p->rule, &absolute);
    struct ball_domain d = {arena_printf(p->a, "?%s", x->nodes[0].leaf), "complex", r.low, r.high};
    if (r.integer || d.low || d.high || r.constant || r.real)
        d.domain = r.integer ? "integer" : d.low && number_sign(d.low) >= 0 ? "positive" : "real";
    if (strcmp(d.domain, "real") == 0 && !d.low && !d.high && size.high) {
        d.high = size.high;
        d.low = number_combine(p->a, '-', "0", size.high, EXPR_MAX_DIGITS);
    }
    if (d.low && d.high && number_compare(d.low, d.high) >= 0)
        d.low = d.high = NULL;
    return d;
}

/* Returns false if there are too many variables. */
static bool add_variables(struct proof *p, const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expr_node *node = &x->nodes[i];
        if (node->op == X_D && node[1].op == X_VAR) {
            p->several = p->several || (p->derived && strcmp(p->derived, node[1].leaf) != 0);
            p->derived = node[1].leaf;
        }
        p->several = p->several || (node->op == X_D && node[1].op != X_VAR);
        if (node->op != X_VAR)
            continue;
        size_t k = 0;
        while (k < p->n && strcmp(p->domains[k].name + 1, node->leaf) != 0)
            k++;
        if (k == MAX_VARIABLES)
            return false;
        struct expr variable = expr_sub(x, i);
        if (k == p->n) {
            struct range r;
            range_of_term(&r, p->a, p->rule, &variable);
            p->parity[k] = r.even && !r.low && !r.high ? 'e' : r.odd && !r.low && !r.high ? 'o' : 0;
            p->domains[p->n++] = domain_of(p, &variable);
        }
    }
    return true;
}

/* Whether as_function attains all values and derivatives in the domain. */
static bool has_all_functions(const struct ball_domain *d)
{
    bool unit = d->high && strcmp(d->high, "1") == 0;
    return strcmp(d->domain, "complex") == 0 || strcmp(d->domain, "integer") == 0 ||
           (strcmp(d->domain, "real") == 0 && !d->low && !d->high) ||
           (d->low && (number_sign(d->low) == 0 ? !d->high || unit : !d->high));
}

/* Maps a polynomial p to a function with values in a domain that attains all values and
 * derivatives: l + e^p, 1/(1 + e^p). */
static struct expr into_domain(struct proof *p, const struct ball_domain *d, struct expr x)
{
    if (!d->low)
        return x;
    struct expr e = expr_leaf(p->a, x.lang, X_SYM, "e"), one = expr_leaf(p->a, x.lang, X_NUM, "1");
    struct expr power = expr_binary(p->a, X_POW, e, x);
    return d->high ? expr_binary(p->a, X_DIV, one, expr_binary(p->a, X_ADD, one, power))
                   : expr_binary(p->a, X_ADD, expr_leaf(p->a, x.lang, X_NUM, d->low), power);
}

/* A variable as a function of the variable of the derivatives. */
static struct expr as_function(struct proof *p, const struct expr *x)
{
    const char *name = x->nodes[0].leaf;
    const struct ball_domain *domain = p->domains;
    while (strcmp(domain->name + 1, name) != 0)
        domain++;
    if (strcmp(domain->domain, "integer") == 0)
        return *x;
    struct expr by = expr_leaf(p->a, x->lang, X_VAR, p->derived);
    for (size_t i = 0; i < p->rule->n_conditions; i++) {
        const struct rule_condition *c = &p->rule->conditions[i];
        if (expr_equal(&c->args[0], x) &&
            (c->predicate == RULE_FREE_OF || c->predicate == RULE_CONSTANT_OR_OTHER_SYMBOL ||
             c->predicate == RULE_CONSTANT))
            return *x;
    }
    struct expr first = expr_binary(
        p->a, X_MUL, expr_leaf(p->a, x->lang, X_VAR, arena_printf(p->a, "%s'1", name)), by);
    struct expr second =
        expr_binary(p->a, X_MUL, expr_leaf(p->a, x->lang, X_VAR, arena_printf(p->a, "%s'2", name)),
                    expr_binary(p->a, X_MUL, by, by));
    return into_domain(p, domain,
                       expr_binary(p->a, X_ADD, *x, expr_binary(p->a, X_ADD, first, second)));
}

static bool function_for(struct expr *out, void *arg, const struct expr *leaf)
{
    struct proof *p = arg;
    if (leaf->nodes[0].op != X_VAR || strcmp(leaf->nodes[0].leaf, p->derived) == 0)
        return false;
    *out = as_function(p, leaf);
    return true;
}

/* Replaces an even n by 2 n, an odd one by 2 n + 1. */
static bool parity_for(struct expr *out, void *arg, const struct expr *leaf)
{
    struct proof *p = arg;
    size_t i = 0;
    while (i < p->n && !expr_node_is(leaf->nodes, X_VAR, p->domains[i].name + 1))
        i++;
    if (i == p->n || !p->parity[i])
        return false;
    *out = expr_binary(p->a, X_MUL, expr_leaf(p->a, leaf->lang, X_NUM, "2"), *leaf);
    if (p->parity[i] == 'o')
        *out = expr_binary(p->a, X_ADD, *out, expr_leaf(p->a, leaf->lang, X_NUM, "1"));
    return true;
}

/* The polynomial of a real function has real coefficients. */
static void free_domain(struct proof *p, struct ball_domain *d)
{
    if (strcmp(d->name + 1, p->derived) == 0 || strcmp(d->domain, "complex") == 0 ||
        strcmp(d->domain, "integer") == 0)
        return;
    static const char *const suffixes[] = {"'1", "'2"};
    for (size_t k = 0; k < 2 && p->n < MAX_VARIABLES; k++)
        p->domains[p->n++] = (struct ball_domain){arena_printf(p->a, "%s%s", d->name, suffixes[k]),
                                                  "real", NULL, NULL};
    d->domain = "real";
    d->low = d->high = NULL;
}

/* ---- lemmas: one variable as a function that attains all values that the conditions allow ---- */

/* Normal forms can prove a rule after such a substitution: atan(?a) for |?a| < pi/2, (1 - ?a)/?b
 * for ?a ?b < 1. For a complex variable in a disc the proof has two steps: the sides are equal for
 * real values, and both are analytic in the disc (identity theorem), which is covered by a function
 * of u with Re u > 0. */
enum { MAX_CONDITIONS = 3 };

/* (u - 1)/(u + 1) maps to the unit disc; -i ln u to the strip |Re a| < pi/2. */
#define DISC "/ - ?a 1 + ?a 1"
#define STRIP "* * -1 sqrt -1 ln ?a"

static const struct lemma {
    const char *conditions[MAX_CONDITIONS]; /* on ?a, or ?a and ?b */
    const char *value;                      /* substituted for ?a, in prefix tokens */
    const char *domain, *low, *high;        /* of ?a in `value` */
    const char *cover;                      /* maps Re ?a > 0 onto them; NULL: ?a is real */
} lemmas[] = {
    {{"less(abs(?a), 1)"}, "?a", "real", "-1", "1", DISC},
    {{"less(abs(?a), pi/2)"}, "atan ?a", "real", NULL, NULL, STRIP},
    {{"less_equal(abs(?a), pi/2)"}, "atan ?a", "real", NULL, NULL, STRIP},
    {{"nonnegative(?a)", "less_equal(?a, pi)"}, "* pi ?a", "positive", "0", "1"},
    {{"nonpositive(?a)", "less_equal(-?a, pi)"}, "- 0 * pi ?a", "positive", "0", "1"},
    {{"real(?a)", "less_equal(2*?a^2, 1)"}, "/ ?a sqrt 2", "real", "-1", "1"},
    {{"real(?a)", "real(?b)", "less(?a*?b, 1)"}, "/ - 1 ?a ?b", "positive"},
    {{"real(?a)", "real(?b)", "less(-1, ?a*?b)"}, "/ - ?a 1 ?b", "positive"},
    {{"positive(?a)", "positive(?b)", "less(1, ?a*?b)"}, "/ + ?a 1 ?b", "positive"},
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

/* Substitutes a value, in prefix tokens, for ?a in both sides. */
static void with_value(struct expr sides[2], struct arena *a, const struct rule *r,
                       const char *prefix)
{
    struct expr value;
    if (expr_from_prefix(&value, a, r->lhs.lang, prefix, NULL))
        abort(); /* a bug in the table above */
    sides[0] = expr_replace(a, &r->lhs, X_VAR, "a", &value);
    sides[1] = expr_replace(a, &r->rhs, X_VAR, "a", &value);
}

static bool is_covered(const struct lemma *l, struct arena *a, const struct rule *r)
{
    struct expr sides[2];
    if (!l->cover || asks(a, r, "real(?a)"))
        return true;
    with_value(sides, a, r, l->cover);
    return normal_is_analytic(&sides[0]) && normal_is_analytic(&sides[1]);
}

/* `domains` are those of the rule's variables. */
static bool prove_by_lemma(const char **way, struct arena *a, const struct rule *r,
                           const struct ball_domain *domains, size_t n)
{
    struct ball_domain *all = arena_memdup(a, domains, n * sizeof *all);
    struct expr sides[2];
    size_t at = 0;
    while (at < n && strcmp(all[at].name, "?a") != 0)
        at++;
    for (size_t i = 0; i < sizeof lemmas / sizeof *lemmas && at < n; i++) {
        const struct lemma *l = &lemmas[i];
        if (!applies(l, a, r) || !is_covered(l, a, r))
            continue;
        with_value(sides, a, r, l->value);
        all[at] = (struct ball_domain){"?a", l->domain, l->low, l->high};
        if (normal_equal(way, &sides[0], &sides[1], all, n))
            return true;
    }
    return false;
}

bool rule_prove(const char **way, struct arena *a, const struct rule *r)
{
    struct proof p = {.a = a, .rule = r};
    struct expr lhs = r->lhs, rhs = r->rhs;
    if (!add_variables(&p, &lhs) || !add_variables(&p, &rhs) || p.several)
        return false;
    for (size_t i = 0; i < p.n && p.derived; i++)
        if (strcmp(p.domains[i].name + 1, p.derived) == 0)
            p.domains[i].domain = "positive";
        else if (!has_all_functions(&p.domains[i]))
            return false;
    if (p.derived) {
        lhs = expr_substitute(a, &lhs, function_for, &p);
        rhs = expr_substitute(a, &rhs, function_for, &p);
    }
    lhs = expr_substitute(a, &lhs, parity_for, &p);
    rhs = expr_substitute(a, &rhs, parity_for, &p);
    for (size_t i = 0, n = p.n; i < n && p.derived; i++)
        free_domain(&p, &p.domains[i]);
    return normal_equal(way, &lhs, &rhs, p.domains, p.n) ||
           normal_equal(way, &rhs, &lhs, p.domains, p.n) ||
           (!p.derived && prove_by_lemma(way, a, r, p.domains, p.n));
}
