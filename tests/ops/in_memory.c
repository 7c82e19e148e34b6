#include "tests/ops/in_memory.h"

#include "schemas/canonical.h"
#include "tests/unit.h"

const char *op_string(const struct op_ctx *ctx, const char *name)
{
    const struct op_param *p = ctx->op->params;
    if (ctx->name && strcmp(ctx->name, name) == 0)
        return ctx->value;
    while (strcmp(p->name, name) != 0)
        p++;
    return p->initial;
}

int64_t op_int(const struct op_ctx *ctx, const char *name)
{
    return strtoll(op_string(ctx, name), NULL, 10);
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

enum err_code op_get_in(void *out, struct op_ctx *ctx, const char *role, uint64_t i,
                        struct arena *a, struct err *e)
{
    return op_get(out, ctx, role, i, e);
}

enum err_code op_summary(struct span *out, struct op_ctx *ctx, const char *role, uint64_t i,
                         struct err *e)
{
    return ctx->op->summarize(out, &ctx->a, ctx, ctx->inputs[input(ctx, role)].all[i], e);
}

struct digest op_input_id(struct op_ctx *ctx, const char *role, uint64_t i)
{
    return (struct digest){0};
}

static ProtobufCMessage **next_output(struct op_ctx *ctx)
{
    assert_true(ctx->n_outputs < MEMORY_OUTPUTS);
    return &ctx->outputs[ctx->n_outputs++];
}

enum err_code op_emit(struct digest *id, struct op_ctx *ctx, const char *role,
                      const ProtobufCMessage *message, struct err *e)
{
    struct span bytes;
    assert_int_equal(canonical_pack(&bytes, &ctx->a, message, e), OK);
    return canonical_unpack(next_output(ctx), &ctx->a, message->descriptor, bytes, e);
}

enum err_code op_pass(struct op_ctx *ctx, const char *role, const char *from, uint64_t i,
                      struct err *e)
{
    return op_get(next_output(ctx), ctx, from, i, e);
}

void op_progress(struct op_ctx *ctx, uint64_t done, uint64_t total, const char *text)
{
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

const Eqloom__Report *report_emitted(const struct op_ctx *ctx)
{
    return (const Eqloom__Report *)ctx->outputs[ctx->n_outputs - 1];
}

double figure_emitted(const struct op_ctx *ctx, const char *name)
{
    const Eqloom__Report *r = report_emitted(ctx);
    for (size_t i = 0; i < r->n_values; i++)
        if (strcmp(r->values[i]->name, name) == 0)
            return r->values[i]->value;
    return NAN;
}
