#include "ops/latex/study/paper_split.h"

#include "ops/corpus/split.h"
#include "ops/latex/study/equation_place.h"

const struct op_param paper_split_params[] = {
    {"valid", OP_REAL, "0.05", NULL, 0, 1, "The fraction of papers for validation."},
    {"test", OP_REAL, "0.2", NULL, 0, 1, "The fraction of papers held out for tests."},
    {"seed", OP_INT, "0", NULL, 0, 0, "Chooses another split."},
    {NULL},
};

enum err_code paper_split_check(struct op_ctx *ctx, struct err *e)
{
    double valid = op_real(ctx, "valid"), test = op_real(ctx, "test");
    if (valid + test > 1)
        return err_fail(e, ERR_INPUT, "'valid' (%g) and 'test' (%g) add up to more than 1", valid,
                        test);
    return OK;
}

enum err_code paper_split_run(struct op_ctx *ctx, const char *role, struct err *e)
{
    uint64_t seed = (uint64_t)op_int(ctx, "seed");
    double valid = op_real(ctx, "valid"), test = op_real(ctx, "test");
    struct arena a = {0};
    enum err_code code = OK;
    for (uint64_t i = 0, n = op_count(ctx, role); i < n && !code; i++) {
        const Eqloom__Place *place;
        arena_reset(&a);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "dividing papers was interrupted");
        else if (!(code = equation_place_get(&place, ctx, role, i, &a, e)))
            code =
                op_pass(ctx, split_names[split_part(seed, place->paper, valid, test)], role, i, e);
    }
    arena_free(&a);
    return err_up(e, code);
}
