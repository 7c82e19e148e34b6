/* The op `split-papers`: splits equations by paper into train, valid and test. */
#include "ops/latex/study/equation_place.h"
#include "ops/latex/study/equation_vectors.h"

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    return err_up(e, paper_split_run(ctx, "graphs", e));
}

const struct op op_split_papers = {
    .name = "split-papers",
    .version = 1,
    .node = OP_TASK,
    .doc = "Splits equations by paper, by a hash of the paper's name, so that adding or removing a "
           "paper moves no other.",
    .params = paper_split_params,
    .inputs = OP_PORTS({"graphs", KIND_GRAPH, OP_COLLECTION, false, "Graphs of equations."}),
    .outputs = OP_PORTS({"train", KIND_GRAPH, OP_COLLECTION, false, "For training."},
                        {"valid", KIND_GRAPH, OP_COLLECTION, false, "For validation."},
                        {"test", KIND_GRAPH, OP_COLLECTION, false, "Held out."}),
    .check = paper_split_check,
    .run = run,
    .summarize = equation_place_summarize,
};
