/* Parameters for op->check, for tests that do without the engine proper. */
#include "engine/job/job.h"

#include <stdlib.h>
#include <string.h>

struct op_ctx {
    const struct node *node;
};

struct op_ctx *op_ctx_for_params(struct arena *a, const struct node *node)
{
    struct op_ctx *ctx = arena_new(a, struct op_ctx);
    ctx->node = node;
    return ctx;
}

static const char *value(const struct op_ctx *ctx, const char *name)
{
    for (size_t i = 0; ctx->node->op->params[i].name; i++)
        if (!strcmp(ctx->node->op->params[i].name, name))
            return ctx->node->params[i].value;
    abort();
}

int64_t op_int(const struct op_ctx *ctx, const char *name)
{
    return strtoll(value(ctx, name), NULL, 10);
}
