/* The op `split-papers`: the equations of whole papers into train, valid and test. */
#include "engine/op.h"
#include "ops/corpus/split.h"
#include "ops/latex/study/equation_place.h"

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    double valid = op_real(ctx, "valid"), test = op_real(ctx, "test");
    if (valid + test > 1)
        return err_fail(e, ERR_INPUT, "'valid' (%g) and 'test' (%g) add up to more than 1", valid,
                        test);
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    uint64_t seed = (uint64_t)op_int(ctx, "seed");
    double valid = op_real(ctx, "valid"), test = op_real(ctx, "test");
    struct arena a = {0};
    enum err_code code = OK;
    for (uint64_t i = 0, n = op_count(ctx, "graphs"); i < n && !code; i++) {
        const Eqloom__Place *place;
        arena_reset(&a);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "split-papers was interrupted");
        else if (!(code = equation_place_get(&place, ctx, "graphs", i, &a, e)))
            code = op_pass(ctx, split_names[split_part(seed, place->paper, valid, test)], "graphs",
                           i, e);
    }
    arena_free(&a);
    return err_up(e, code);
}

static const struct op_param params[] = {
    {"valid", OP_REAL, "0.05", NULL, 0, 1, "The fraction of papers for validation."},
    {"test", OP_REAL, "0.2", NULL, 0, 1, "The fraction of papers held out for tests."},
    {"seed", OP_INT, "0", NULL, 0, 0, "Chooses another split."},
    {NULL},
};
static const struct op_port inputs[] = {
    {"graphs", KIND_GRAPH, OP_COLLECTION, false, "Graphs of equations."},
    {NULL},
};
static const struct op_port outputs[] = {
    {"train", KIND_GRAPH, OP_COLLECTION, false, "For training."},
    {"valid", KIND_GRAPH, OP_COLLECTION, false, "For validation."},
    {"test", KIND_GRAPH, OP_COLLECTION, false, "Held out."},
    {NULL},
};

const struct op op_split_papers = {
    .name = "split-papers",
    .version = 1,
    .node = OP_TASK,
    .doc =
        "Divides equations by their papers, by a hash of the paper's name: a paper that comes or "
        "goes moves no other.",
    .params = params,
    .inputs = inputs,
    .outputs = outputs,
    .check = check,
    .run = run,
    .summarize = equation_place_summarize,
};
