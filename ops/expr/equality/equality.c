#include "ops/expr/equality/equality.h"

#include "ops/expr/equality/exact.h"

void equality_test_begin(struct equality_test *t, const struct expr *x,
                         const struct ball_options *options)
{
    *t = (struct equality_test){.x = *x};
    if (!exact_applies(x->lang))
        t->values = ball_reference_new(x, options);
}

void equality_test_end(struct equality_test *t)
{
    ball_reference_free(t->values);
    t->values = NULL;
}

static enum equality compare_values(const char **witness, struct arena *a, struct equality_test *t,
                                    const struct expr *y)
{
    struct ball_compare result;
    ball_reference_compare(&result, t->values, y);
    switch (result.verdict) {
    case BALL_EQUAL: return EQUALITY_AGREES;
    case BALL_UNDEFINED: return EQUALITY_UNDECIDED;
    case BALL_DIFFERENT: break;
    }
    *witness = arena_strdup(a, result.witness);
    return EQUALITY_REFUTED;
}

enum equality equality_test_ask(const char **witness, struct arena *a, struct equality_test *t,
                                const struct expr *y)
{
    const char *unwanted;
    struct exact_result exact;
    witness = witness ? witness : &unwanted;
    *witness = NULL;
    if (expr_equal(&t->x, y))
        return EQUALITY_AGREES;
    if (t->values)
        return compare_values(witness, a, t, y);
    if (exact_compare(&exact, a, &t->x, y, NULL))
        return EQUALITY_UNDECIDED;
    if (exact.equal)
        return EQUALITY_AGREES;
    *witness = exact.witness;
    return EQUALITY_REFUTED;
}
