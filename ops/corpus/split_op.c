/* Names and fractions of parts; see split_op.h. */
#include "ops/corpus/split_op.h"

const char *const split_names[SPLIT_PARTS] = {"train", "valid", "test"};

enum err_code split_check(struct op_ctx *ctx, struct err *e)
{
    double valid = op_real(ctx, "valid"), test = op_real(ctx, "test");
    if (valid + test > 1)
        return err_fail(e, ERR_INPUT, "'valid' (%g) and 'test' (%g) are more than 1 together",
                        valid, test);
    return OK;
}
