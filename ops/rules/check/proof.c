/* Pattern variables are complex, or as the conditions on them alone say. Under a derivative d(?x,
 * f) they stand for functions of ?x. By the chain rule only their values and derivatives matter, so
 * that ?a becomes ?a + ?a_1 ?x + ?a_2 ?x^2, which has any value and derivatives up to the second.
 */
#include "ops/rules/check/proof.h"

#include "ops/expr/normal/normal.h"
#include "ops/expr/rational.h"
#include "ops/rules/check/lemma.h"
#include "ops/rules/check/range.h"

#include <string.h>

enum { MAX_VARIABLES = 8 };

struct proof {
    struct arena *a;
    const struct rule *rule;
    struct ball_domain domains[MAX_VARIABLES];
    char parity[MAX_VARIABLES]; /* 'e', 'o' or 0 */
    size_t n;
    const char *derived; /* the variable of the derivatives; NULL: there are none */
    bool several;        /* there are others */
};

static bool has(const struct proof *p, enum rule_predicate predicate, const struct expr *x)
{
    for (size_t i = 0; i < p->rule->n_conditions; i++)
        if (p->rule->conditions[i].predicate == predicate &&
            expr_equal(&p->rule->conditions[i].args[0], x))
            return true;
    return false;
}

static bool is_compared(const struct proof *p, const struct expr *x)
{
    for (size_t i = 0; i < p->rule->n_conditions; i++) {
        const struct rule_condition *c = &p->rule->conditions[i];
        if ((c->predicate == RULE_LESS || c->predicate == RULE_LESS_EQUAL) &&
            (expr_equal(&c->args[0], x) || expr_equal(&c->args[1], x)))
            return true;
    }
    return false;
}

/* c x <= q: x <= q/c; the same of |x|. */
static void narrow_by_scaled(const struct proof *p, const struct expr *x,
                             const struct expr *absolute, struct ball_domain *d, struct range *size)
{
    for (size_t i = 0; i < p->rule->n_conditions; i++) {
        const struct rule_condition *c = &p->rule->conditions[i];
        if (c->predicate != RULE_LESS && c->predicate != RULE_LESS_EQUAL)
            continue;
        for (int side = 0; side < 2; side++) {
            const struct expr *term = &c->args[side], *number = &c->args[1 - side];
            if (term->nodes[0].op != X_MUL || term->nodes[1].op != X_NUM ||
                number_sign(term->nodes[1].leaf) <= 0 || number->nodes[0].op != X_NUM)
                continue;
            struct expr of = expr_sub(term, 2);
            const char *end = number_combine(p->a, '/', number->nodes[0].leaf, term->nodes[1].leaf,
                                             EXPR_MAX_DIGITS);
            if (side == 1 && expr_equal(&of, x) && !d->low)
                d->low = end;
            else if (side == 0 && expr_equal(&of, x) && !d->high)
                d->high = end;
            else if (side == 0 && expr_equal(&of, absolute) && !size->high)
                size->high = end;
        }
    }
}

static struct ball_domain domain_of(const struct proof *p, const struct expr *x)
{
    struct range r, size;
    struct expr absolute = expr_apply(p->a, x->lang, X_ABS, x, 1);
    range_of_term(&r, p->rule, x);
    range_of_term(&size, p->rule, &absolute);
    struct ball_domain d = {arena_printf(p->a, "?%s", x->nodes[0].leaf), "complex", r.low, r.high};
    narrow_by_scaled(p, x, &absolute, &d, &size);
    bool integer = has(p, RULE_INTEGER, x) || r.even || r.odd;
    if (integer || d.low || d.high || r.constant || is_compared(p, x) || has(p, RULE_REAL, x))
        d.domain = integer ? "integer" : d.low && number_sign(d.low) >= 0 ? "positive" : "real";
    if (strcmp(d.domain, "real") == 0 && !d.low && !d.high && size.high) {
        d.high = size.high;
        d.low = number_combine(p->a, '-', "0", size.high, EXPR_MAX_DIGITS);
    }
    if (d.low && d.high && number_compare(d.low, d.high) >= 0)
        d.low = d.high = NULL;
    return d;
}

/* False: too many variables. */
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
            range_of_term(&r, p->rule, &variable);
            p->parity[k] = r.even && !r.low && !r.high ? 'e' : r.odd && !r.low && !r.high ? 'o' : 0;
            p->domains[p->n++] = domain_of(p, &variable);
        }
    }
    return true;
}

static struct expr variable(struct arena *a, const struct expr *x, const char *name)
{
    return expr_leaf(a, x->lang, X_VAR, name);
}

static struct expr binary(struct arena *a, uint16_t op, struct expr left, struct expr right)
{
    struct expr args[2] = {left, right};
    return expr_apply(a, left.lang, op, args, 2);
}

/* Whether as_function has a function for all values and derivatives. */
static bool has_all_functions(const struct ball_domain *d)
{
    bool unit = d->high && strcmp(d->high, "1") == 0;
    return strcmp(d->domain, "complex") == 0 || strcmp(d->domain, "integer") == 0 ||
           (strcmp(d->domain, "real") == 0 && !d->low && !d->high) ||
           (d->low && (number_sign(d->low) == 0 ? !d->high || unit : !d->high));
}

/* A polynomial p as a function with values in a domain, of which it has all values and
 * derivatives: l + e^p, 1/(1 + e^p). */
static struct expr into_domain(struct proof *p, const struct ball_domain *d, struct expr x)
{
    if (!d->low)
        return x;
    struct expr e = expr_leaf(p->a, x.lang, X_SYM, "e"), one = expr_leaf(p->a, x.lang, X_NUM, "1");
    struct expr power = binary(p->a, X_POW, e, x);
    return d->high ? binary(p->a, X_DIV, one, binary(p->a, X_ADD, one, power))
                   : binary(p->a, X_ADD, expr_leaf(p->a, x.lang, X_NUM, d->low), power);
}

/* A variable as a function of the one of the derivatives. */
static struct expr as_function(struct proof *p, const struct expr *x)
{
    const char *name = x->nodes[0].leaf;
    const struct ball_domain *domain = p->domains;
    while (strcmp(domain->name + 1, name) != 0)
        domain++;
    if (strcmp(domain->domain, "integer") == 0)
        return *x;
    struct expr by = variable(p->a, x, p->derived);
    for (size_t i = 0; i < p->rule->n_conditions; i++) {
        const struct rule_condition *c = &p->rule->conditions[i];
        if (expr_equal(&c->args[0], x) &&
            (c->predicate == RULE_FREE_OF || c->predicate == RULE_CONSTANT_OR_OTHER_SYMBOL ||
             c->predicate == RULE_CONSTANT))
            return *x;
    }
    struct expr first =
        binary(p->a, X_MUL, variable(p->a, x, arena_printf(p->a, "%s_1", name)), by);
    struct expr second = binary(p->a, X_MUL, variable(p->a, x, arena_printf(p->a, "%s_2", name)),
                                binary(p->a, X_MUL, by, by));
    return into_domain(p, domain, binary(p->a, X_ADD, *x, binary(p->a, X_ADD, first, second)));
}

/* An even n is 2 n, an odd one 2 n + 1. */
static struct expr with_parity(struct proof *p, const struct expr *x, size_t i)
{
    const struct expr_node *node = &x->nodes[0];
    if (node->op == X_VAR && strcmp(node->leaf, p->domains[i].name + 1) == 0) {
        struct expr two = expr_leaf(p->a, x->lang, X_NUM, "2");
        struct expr one = expr_leaf(p->a, x->lang, X_NUM, "1");
        struct expr even = binary(p->a, X_MUL, two, *x);
        return p->parity[i] == 'e' ? even : binary(p->a, X_ADD, even, one);
    }
    if (node->arity == 0)
        return *x;
    struct expr *children = arena_array(p->a, struct expr, node->arity);
    for (uint32_t k = 0, at = 1; k < node->arity; k++, at += x->nodes[at].size) {
        struct expr child = expr_sub(x, at);
        children[k] = with_parity(p, &child, i);
    }
    return expr_apply(p->a, x->lang, node->op, children, node->arity);
}

static struct expr with_functions(struct proof *p, const struct expr *x)
{
    const struct expr_node *node = &x->nodes[0];
    if (node->op == X_VAR && strcmp(node->leaf, p->derived) != 0)
        return as_function(p, x);
    if (node->arity == 0)
        return *x;
    struct expr *children = arena_array(p->a, struct expr, node->arity);
    for (uint32_t i = 0, at = 1; i < node->arity; i++, at += x->nodes[at].size) {
        struct expr child = expr_sub(x, at);
        children[i] = with_functions(p, &child);
    }
    return expr_apply(p->a, x->lang, node->op, children, node->arity);
}

/* The coefficients of a function's polynomial are real where the function is. */
static void free_domain(struct proof *p, struct ball_domain *d)
{
    if (strcmp(d->name + 1, p->derived) == 0 || strcmp(d->domain, "complex") == 0 ||
        strcmp(d->domain, "integer") == 0)
        return;
    static const char *const suffixes[] = {"_1", "_2"};
    for (size_t k = 0; k < 2 && p->n < MAX_VARIABLES; k++)
        p->domains[p->n++] = (struct ball_domain){arena_printf(p->a, "%s%s", d->name, suffixes[k]),
                                                  "real", NULL, NULL};
    d->domain = "real";
    d->low = d->high = NULL;
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
        lhs = with_functions(&p, &lhs);
        rhs = with_functions(&p, &rhs);
    }
    for (size_t i = 0; i < p.n; i++)
        if (p.parity[i]) {
            lhs = with_parity(&p, &lhs, i);
            rhs = with_parity(&p, &rhs, i);
        }
    for (size_t i = 0, n = p.n; i < n && p.derived; i++)
        free_domain(&p, &p.domains[i]);
    return normal_equal(way, &lhs, &rhs, p.domains, p.n) ||
           normal_equal(way, &rhs, &lhs, p.domains, p.n) ||
           (!p.derived && lemma_prove(way, a, r, p.domains, p.n));
}
