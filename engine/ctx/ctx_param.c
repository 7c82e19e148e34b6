/* Parameters as ops read them. Values were checked against the op's table when the job was loaded,
 * so a text that does not parse, or a name that is not declared, is an error in our own code. */
#include "engine/ctx/ctx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *value_of(const struct op_ctx *ctx, const char *name)
{
    const struct op_param *declared = ctx->node->op->params;
    for (size_t i = 0; declared && declared[i].name; i++)
        if (strcmp(declared[i].name, name) == 0)
            return ctx->node->params[i].value;
    fprintf(stderr, "eqloom: op %s reads the undeclared parameter %s\n", ctx->node->op->name, name);
    abort();
}

int64_t op_int(const struct op_ctx *ctx, const char *name)
{
    return strtoll(value_of(ctx, name), NULL, 10);
}

double op_real(const struct op_ctx *ctx, const char *name)
{
    return strtod(value_of(ctx, name), NULL);
}

bool op_bool(const struct op_ctx *ctx, const char *name)
{
    return strcmp(value_of(ctx, name), "true") == 0;
}

const char *op_string(const struct op_ctx *ctx, const char *name)
{
    return value_of(ctx, name);
}

size_t op_strings(const char *const **out, const struct op_ctx *ctx, const char *name)
{
    const char *text = value_of(ctx, name);
    size_t n = *text ? 1 : 0;
    for (const char *p = text; *p; p++)
        n += *p == '\n';
    const char **list = arena_array(ctx->arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++) {
        size_t len = strcspn(text, "\n");
        list[i] = arena_strndup(ctx->arena, text, len);
        text += len + 1;
    }
    *out = list;
    return n;
}
