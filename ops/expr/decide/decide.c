/* What is cheap comes first: few points, then normal forms, and only for what they leave open the
 * points of all cells, and high precision. See decide.h. */
#include "ops/expr/decide/decide.h"

#include "ops/expr/normal/normal.h"
#include "ops/expr/own/own.h"
#include "ops/expr/undefined/undefined.h"

#include <string.h>

enum { POINTS = 16 };

static struct ball_options points_of(const struct decide_options *o)
{
    return (struct ball_options){POINTS, o->domains, o->n_domains, o->real_values};
}

bool decide_differ(const struct expr *x, const struct expr *y, const struct decide_options *options)
{
    struct ball_options points = points_of(options);
    struct ball_compare compare;
    ball_compare(&compare, x, y, &points);
    return compare.verdict == BALL_DIFFERENT;
}

/* Which of the two is shown to have no value, and why; NULL if neither is. */
static const char *undefined_of(struct arena *a, const struct expr *x, const struct expr *y,
                                const struct decide_options *o)
{
    const char *left, *right;
    bool first = expr_is_undefined(&left, a, x, o->domains, o->n_domains);
    if (expr_is_undefined(&right, a, y, o->domains, o->n_domains))
        return first ? arena_printf(a, "neither expression has one: %s", left)
                     : arena_printf(a, "the second expression has none: %s", right);
    return first ? arena_printf(a, "the first expression has none: %s", left) : NULL;
}

/* Whether some operator has a value for certain arguments only: definitions and rules do not say
 * so, and would prove max(z, w) equal to max(w, z) for complex z. */
static bool has_domain(const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct op_info *op = &x->lang->ops[x->nodes[i].op];
        for (unsigned k = 0; op->own && k < op->arity; k++)
            if (op->own->domain[k].name && strcmp(op->own->domain[k].domain, "complex") != 0)
                return true;
    }
    return false;
}

static void decide_exactly(struct decided *out, struct arena *a, const struct expr *x,
                           const struct expr *y)
{
    out->exact = !exact_compare(&out->table, a, x, y, NULL);
    if (!out->exact)
        return;
    out->verdict = out->table.equal ? DECIDED_PROVED : DECIDED_REFUTED;
    out->witness = out->table.equal ? NULL : out->table.witness;
}

static void refute(struct decided *out, struct arena *a)
{
    if (out->compare.verdict != BALL_DIFFERENT)
        return;
    out->verdict = DECIDED_REFUTED;
    out->witness = arena_strdup(a, out->compare.witness);
}

static void decide_by_values(struct decided *out, struct arena *a, struct ball_reference *r,
                             const struct expr *x, const struct expr *y,
                             const struct decide_options *o)
{
    ball_reference_compare(&out->compare, r, y);
    bool searched = !out->compare.meet;
    if (searched)
        ball_reference_compare_cells(&out->compare, r, y);
    refute(out, a);
    if (!out->compare.meet && (out->undefined = undefined_of(a, x, y, o)))
        out->verdict = DECIDED_NO_VALUE;
    out->outside = !out->compare.meet && (has_domain(x) || has_domain(y));
    if (out->verdict != DECIDED_OPEN || out->outside)
        return;
    if (!o->no_forms && normal_equal(&out->way, x, y, o->domains, o->n_domains)) {
        out->verdict = DECIDED_PROVED;
        return;
    }
    out->way = NULL;
    if (!searched)
        ball_reference_compare_cells(&out->compare, r, y);
    refute(out, a);
}

void decide_equality(struct decided *out, struct arena *a, const struct expr *x,
                     const struct expr *y, const struct decide_options *options)
{
    *out = (struct decided){.verdict = DECIDED_OPEN};
    if (exact_applies(x->lang)) {
        decide_exactly(out, a, x, y);
        return;
    }
    struct ball_options points = points_of(options);
    struct ball_reference *r = ball_reference_new(x, &points);
    decide_by_values(out, a, r, x, y, options);
    ball_reference_free(r);
}
