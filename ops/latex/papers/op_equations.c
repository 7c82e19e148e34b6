/* The op `equations`: papers -> their displays, each with the macros that it uses. */
#include "engine/op.h"
#include "paper.pb-c.h"

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const Eqloom__Paper *p;
    enum err_code code = op_get(&p, ctx, "papers", 0, e);
    if (code)
        return err_up(e, code);
    for (size_t i = 0; i < p->n_sections; i++)
        for (size_t k = 0; k < p->sections[i]->n_equations && !code; k++) {
            Eqloom__Equation *q = p->sections[i]->equations[k];
            if (q->place && !q->place->paper[0])
                q->place->paper = p->paper;
            code = op_emit(NULL, ctx, "equations", &q->base, e);
        }
    return err_up(e, code);
}

const struct op op_equations = {
    .name = "equations",
    .version = 1,
    .node = OP_MAP,
    .doc =
        "Extracts the displays of papers, each with its place and the macros that it uses, so that "
        "a changed macro affects only the equations that use it.",
    .inputs =
        OP_PORTS({"papers", KIND_PAPER, OP_COLLECTION, false, "The output of the op `papers`."}),
    .outputs = OP_PORTS({"equations", KIND_EQUATION, OP_COLLECTION, false,
                         "The equations of each paper, in order."}),
    .run = run,
};
