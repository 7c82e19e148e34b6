/* The op `split-images`: the pictures of whole papers into train, valid and test. */
#include "engine/op.h"
#include "image.pb-c.h"
#include "ops/corpus/split.h"
#include "ops/latex/study/equation_place.h"

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    double held = op_real(ctx, "valid") + op_real(ctx, "test");
    return held <= 1 ? OK : err_fail(e, ERR_INPUT, "'valid' and 'test' add up to %g", held);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    double valid = op_real(ctx, "valid"), test = op_real(ctx, "test");
    struct arena *a = op_arena(ctx);
    for (uint64_t i = 0; i < op_count(ctx, "images"); i++) {
        const Eqloom__Place *place;
        struct arena_mark mark = arena_mark(a);
        enum err_code code = equation_place_get(&place, ctx, "images", i, a, e);
        if (!code) {
            int part = split_part((uint64_t)op_int(ctx, "seed"), place->paper, valid, test);
            code = op_pass(ctx, split_names[part], "images", i, e);
        }
        if (code)
            return err_up(e, code);
        arena_release(a, mark);
    }
    return OK;
}

static const struct op_param params[] = {
    {"valid", OP_REAL, "0.05", NULL, 0, 1, "The fraction of papers for validation."},
    {"test", OP_REAL, "0.2", NULL, 0, 1, "The fraction of papers held out for tests."},
    {"seed", OP_INT, "0", NULL, 0, 0, "Chooses another split."},
    {NULL},
};
static const struct op_port inputs[] = {
    {"images", KIND_IMAGE, OP_COLLECTION, false, "Pictures with their papers."},
    {NULL},
};
static const struct op_port outputs[] = {
    {"train", KIND_IMAGE, OP_COLLECTION, false, "For training."},
    {"valid", KIND_IMAGE, OP_COLLECTION, false, "For validation."},
    {"test", KIND_IMAGE, OP_COLLECTION, false, "Held out."},
    {NULL},
};

const struct op op_split_images = {
    .name = "split-images",
    .version = 1,
    .node = OP_TASK,
    .doc = "Divides pictures by their papers, as `split-papers` divides graphs.",
    .params = params,
    .inputs = inputs,
    .outputs = outputs,
    .check = check,
    .run = run,
    .summarize = equation_place_summarize,
};
