/* Precision as a parameter; see op_precision.h. */
#include "ops/learn/checkpoint/op_precision.h"

#include <string.h>

enum gpu_precision op_precision(const struct op_ctx *ctx)
{
    return strcmp(op_string(ctx, "precision"), "bf16") == 0 ? GPU_BF16 : GPU_F32;
}

const char *op_precision_units(struct op_ctx *ctx)
{
    return op_precision(ctx) == GPU_BF16 ? gpu_cpu_bf16() : NULL;
}
