#include "tests/ops/eval/stand_in.h"

#include "schemas/canonical.h"
#include "tests/unit.h"

int64_t op_int(const struct op_ctx *ctx, const char *name)
{
    return 8;
}

const char *op_string(const struct op_ctx *ctx, const char *name)
{
    return strcmp(name, "match") == 0 ? ctx->match : "";
}

static size_t input(const struct op_ctx *ctx, const char *role)
{
    size_t k = 0;
    while (strcmp(ctx->inputs[k].role, role) != 0)
        k++;
    return k;
}

uint64_t op_count(struct op_ctx *ctx, const char *role)
{
    return ctx->inputs[input(ctx, role)].n;
}

enum err_code op_get(void *out, struct op_ctx *ctx, const char *role, uint64_t i, struct err *e)
{
    *(ProtobufCMessage **)out = ctx->inputs[input(ctx, role)].all[i];
    return OK;
}

struct digest op_input_id(struct op_ctx *ctx, const char *role, uint64_t i)
{
    return (struct digest){0};
}

enum err_code op_emit(struct digest *id, struct op_ctx *ctx, const char *role,
                      const ProtobufCMessage *message, struct err *e)
{
    struct span bytes;
    ctx->n_outputs++;
    assert_int_equal(canonical_pack(&bytes, &ctx->a, message, e), OK);
    return canonical_unpack(&ctx->output, &ctx->a, message->descriptor, bytes, e);
}

struct arena *op_arena(struct op_ctx *ctx)
{
    return &ctx->a;
}

struct pool *op_pool(struct op_ctx *ctx)
{
    return NULL;
}

bool op_cancelled(const struct op_ctx *ctx)
{
    return false;
}

const Eqloom__Report *stand_in_report(const struct op_ctx *ctx)
{
    return (const Eqloom__Report *)ctx->output;
}

double stand_in_figure(const struct op_ctx *ctx, const char *name)
{
    const Eqloom__Report *r = stand_in_report(ctx);
    for (size_t i = 0; i < r->n_values; i++)
        if (strcmp(r->values[i]->name, name) == 0)
            return r->values[i]->value;
    return NAN;
}
