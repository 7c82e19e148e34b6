/* Replays an explanation with only the rules. The e-graph is not used, so an error in it cannot
 * confirm itself. A rule must match one term at the position and produce the other; the rest of the
 * term must stay the same. */
#include "ops/egraph/explain/explanation.h"
#include "ops/egraph/facts/constant.h"
#include "ops/expr/equality/algebraic.h"
#include "ops/expr/equality/equality.h"
#include "ops/expr/equality/residue.h"
#include "ops/expr/normal/normal.h"

#include <string.h>

enum { MAX_VARIABLES = 64, POINTS = 4 };

struct substitution {
    size_t n;
    const char *name[MAX_VARIABLES];
    struct expr value[MAX_VARIABLES];
};

static bool match(struct substitution *s, const struct expr *pattern, uint32_t p,
                  const struct expr *x, uint32_t i)
{
    const struct expr_node *want = &pattern->nodes[p], *have = &x->nodes[i];
    if (want->op == X_VAR) {
        struct expr value = expr_sub(x, i);
        for (size_t k = 0; k < s->n; k++)
            if (strcmp(s->name[k], want->leaf) == 0)
                return expr_equal(&s->value[k], &value);
        if (s->n == MAX_VARIABLES)
            return false;
        s->name[s->n] = want->leaf;
        s->value[s->n++] = value;
        return true;
    }
    if (want->op != have->op || want->arity != have->arity)
        return false;
    if (want->leaf)
        return strcmp(want->leaf, have->leaf) == 0;
    for (uint32_t k = 0, q = p + 1, j = i + 1; k < want->arity; k++) {
        if (!match(s, pattern, q, x, j))
            return false;
        q += pattern->nodes[q].size;
        j += x->nodes[j].size;
    }
    return true;
}

static bool is_rule(const char *name, const struct rule *r)
{
    size_t n = strlen(r->group);
    return strncmp(name, r->group, n) == 0 && name[n] == '/' && strcmp(name + n + 1, r->name) == 0;
}

/* Returns whether (from, to) is an instance of (lhs, rhs), with one substitution for both sides. */
static bool is_instance(const struct rule *r, const struct expr *from, const struct expr *to)
{
    struct substitution s = {0};
    return match(&s, &r->lhs, 0, from, 0) && match(&s, &r->rhs, 0, to, 0);
}

static bool is_arithmetic(const struct expr *sum, const struct expr *number)
{
    if (number->n != 1 || number->nodes[0].op != X_NUM || sum->nodes[0].leaf)
        return false;
    struct constants t = {0};
    uint32_t arity = sum->nodes[0].arity, arg[2] = {NO_CONSTANT, NO_CONSTANT};
    bool ok = arity <= 2 && sum->n == arity + 1;
    for (uint32_t i = 0; ok && i < arity; i++) {
        ok = sum->nodes[1 + i].op == X_NUM;
        if (ok)
            arg[i] = constant_parse(&t, sum->nodes[1 + i].leaf);
    }
    ok = ok && constant_fold(&t, sum->nodes[0].op, arg[0], arg[1]) ==
                   constant_parse(&t, number->nodes[0].leaf);
    constant_free(&t);
    return ok;
}

static bool same_nodes(const struct expr_node *x, const struct expr_node *y, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (x[i].op != y[i].op || x[i].arity != y[i].arity ||
            (x[i].leaf && strcmp(x[i].leaf, y[i].leaf) != 0))
            return false;
    return true;
}

/* Returns whether the terms are the same except for the subterm at a position. */
static bool same_around(const struct expr *a, const struct expr *b, uint32_t position)
{
    if (position >= a->n || position >= b->n)
        return false;
    uint32_t after_a = position + a->nodes[position].size;
    uint32_t after_b = position + b->nodes[position].size;
    return a->n - after_a == b->n - after_b && same_nodes(a->nodes, b->nodes, position) &&
           same_nodes(a->nodes + after_a, b->nodes + after_b, a->n - after_a);
}

/* Finds the subterms that a step equates, in the order in which its rule is written: left side,
 * right side. */
static void find_sides(struct expr *from, struct expr *to, const struct explain_step *s,
                       const struct expr *before)
{
    struct expr x = expr_sub(before, s->position), y = expr_sub(&s->term, s->position);
    *from = s->backwards ? y : x;
    *to = s->backwards ? x : y;
}

static bool step_holds(const struct explain_step *s, const struct expr *before,
                       struct explanation *x, const struct rules *rules)
{
    struct expr from, to;
    if (!same_around(before, &s->term, s->position))
        return false;
    find_sides(&from, &to, s, before);
    if (strcmp(s->rule, "arithmetic") == 0)
        return is_arithmetic(&from, &to);
    if (normal_way_number(s->rule) < NORMAL_WAYS) {
        const char *how;
        bool holds = !explanation_check_form(&how, &from, &to, x->domains, x->n_domains, NULL);
        if (!x->checked || strcmp(how, "values") == 0) /* keep the least exact method */
            x->checked = how;
        return holds;
    }
    for (size_t i = 0; i < rules->n; i++)
        if (is_rule(s->rule, &rules->rules[i]))
            return is_instance(&rules->rules[i], &from, &to);
    return false;
}

enum err_code explanation_check(struct explanation *x, const struct expr *from,
                                const struct expr *to, const struct rules *rules, struct err *e)
{
    const struct expr *before = from;
    x->checked = NULL;
    for (size_t i = 0; i < x->n; i++) {
        if (!step_holds(&x->steps[i], before, x, rules))
            return err_fail(e, ERR_FAILED, "step %zu is not an instance of %s", i + 1,
                            x->steps[i].rule);
        before = &x->steps[i].term;
    }
    return expr_equal(before, to)
               ? OK
               : err_fail(e, ERR_FAILED, "the steps do not end at the second term");
}

enum err_code explanation_check_form(const char **how, const struct expr *from,
                                     const struct expr *to, const struct ball_domain *domains,
                                     size_t n_domains, struct err *e)
{
    bool integers = false; /* e^(2 pi i n) = 1 does not follow from the laws of exponents */
    bool real = true;
    for (size_t i = 0; i < n_domains; i++) {
        integers = integers || strcmp(domains[i].domain, "integer") == 0;
        real = real && strcmp(domains[i].domain, "complex") != 0;
    }
    *how = "values";
    switch (integers ? RESIDUE_UNKNOWN : residue_compare(from, to, real)) {
    case RESIDUE_AGREES: *how = "modulo primes"; return OK;
    case RESIDUE_DIFFERS: return err_fail(e, ERR_FAILED, "the sides differ modulo a prime");
    case RESIDUE_UNKNOWN: break;
    }
    if (algebraic_equal(from, to))
        *how = "separation bound";
    return OK;
}

enum err_code explanation_check_values(size_t *step, const struct explanation *x,
                                       const struct expr *from, const struct ball_domain *domains,
                                       size_t n_domains, struct err *e)
{
    struct ball_options options = {.points = POINTS,
                                   .domains = domains,
                                   .n_domains = n_domains};
    struct arena work = {0};
    const struct expr *before = from;
    enum err_code code = OK;
    for (size_t i = 0; !code && i < x->n; before = &x->steps[i++].term) {
        struct expr left, right;
        struct equality_test test;
        const char *witness;
        find_sides(&left, &right, &x->steps[i], before);
        equality_test_begin(&test, &left, &options);
        if (equality_test_ask(&witness, &work, &test, &right) == EQUALITY_REFUTED) {
            *step = i;
            code = err_fail(e, ERR_FAILED, "step %zu, by %s, is false: %s", i + 1, x->steps[i].rule,
                            witness);
        }
        equality_test_end(&test);
    }
    arena_free(&work);
    return code;
}
