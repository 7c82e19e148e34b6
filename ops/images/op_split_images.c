/* The op `split-images`: splits pictures by paper into train, valid and test. */
#include "ops/latex/study/equation_place.h"
#include "ops/latex/study/equation_vectors.h"

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    return err_up(e, paper_split_run(ctx, "images", e));
}

const struct op op_split_images = {
    .name = "split-images",
    .version = 1,
    .node = OP_TASK,
    .doc = "Splits pictures by paper, as `split-papers` splits graphs.",
    .params = paper_split_params,
    .inputs = OP_PORTS({"images", KIND_IMAGE, OP_COLLECTION, false, "Pictures with their papers."}),
    .outputs = OP_PORTS({"train", KIND_IMAGE, OP_COLLECTION, false, "For training."},
                        {"valid", KIND_IMAGE, OP_COLLECTION, false, "For validation."},
                        {"test", KIND_IMAGE, OP_COLLECTION, false, "Held out."}),
    .check = paper_split_check,
    .run = run,
    .summarize = equation_place_summarize,
};
