/* Parts of a source's work; see op.h. What a part emitted is stored as an action, whose key has the
 * part's in place of the files, and the op's note as a trace under the same key. A part that is
 * made again with the same key replaces both. */
#include "base/os.h"
#include "engine/cache/source_files.h"
#include "engine/ctx/ctx_internal.h"

#include <assert.h>

static enum err_code make_key(struct key *out, struct op_ctx *ctx, struct span key, struct err *e)
{
    struct digest *id = arena_new(ctx->arena, struct digest);
    *id = digest_of(&key, 1);
    return err_up(e, key_of_input(out, ctx->arena, ctx->node, op_numerics(ctx), "@part", id, e));
}

bool op_part_find(struct op_part *out, struct op_ctx *ctx, struct span key)
{
    struct action_result *made = arena_new(ctx->arena, struct action_result);
    struct store *s = ctx_store(ctx);
    struct trace trace;
    struct key at;
    if (ctx->shared->r->s->options->check || make_key(&at, ctx, key, NULL) ||
        !trace_read(&trace, ctx->arena, s, &at.digest) ||
        !action_find(made, ctx->arena, s, ctx->node->op, &at.digest))
        return false;
    *out = (struct op_part){trace.witness, made};
    return true;
}

void op_part_again(struct op_ctx *ctx, const struct op_part *part)
{
    const struct action_result *made = part->made;
    size_t n = 0;
    for (size_t r = 0; r < op_count_outputs(ctx->node->op); r++)
        for (size_t i = 0; i < made->outputs[r].n; i++, n++)
            ctx_add_output(ctx, r, &made->outputs[r].ids[i]);
    ctx->parts.again += n > 0;
}

void op_part_begin(struct op_ctx *ctx)
{
    size_t n = op_count_outputs(ctx->node->op);
    assert(!ctx->parts.from);
    ctx->parts.from = arena_array(ctx->arena, size_t, n);
    for (size_t r = 0; r < n; r++)
        ctx->parts.from[r] = ctx->outputs[r].n;
}

enum err_code op_part_end(struct op_ctx *ctx, struct span key, struct span note, struct err *e)
{
    size_t n = op_count_outputs(ctx->node->op), emitted = 0;
    struct action_result made = {.outputs = arena_array(ctx->arena, struct id_list, n),
                                 .run = "",
                                 .finished_ns = os_wall_ns()};
    struct key at;
    for (size_t r = 0; r < n; r++) {
        size_t from = ctx->parts.from[r];
        made.outputs[r] = (struct id_list){ctx->outputs[r].ids + from, ctx->outputs[r].n - from};
        emitted += made.outputs[r].n;
    }
    ctx->parts.from = NULL;
    ctx->parts.made += emitted > 0;
    enum err_code code = make_key(&at, ctx, key, e);
    struct trace trace = {.action = at.digest, .witness = note};
    if (!code)
        code = err_up(e, action_write(ctx->batch, ctx->arena, ctx->node->op, &at, &made, e));
    return code ? code : err_up(e, trace_write(ctx->batch, ctx->arena, &at.digest, &trace, e));
}

enum err_code op_file_text(struct span *out, struct op_ctx *ctx, size_t i, struct arena *a,
                           struct err *e)
{
    return err_up(e, source_text(out, &ctx->files[i], a, e));
}
