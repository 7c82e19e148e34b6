/* The op `graphs`: MathML -> graphs whose nodes have features of an alphabet. */
#include "engine/op.h"
#include "ops/latex/graphs/graph_features.h"
#include "paper.pb-c.h"

#include <stdlib.h>

static void release(void *state)
{
    graph_features_free(state);
    free(state);
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    const Eqloom__Vocabulary *m;
    enum err_code code = op_get(&m, ctx, "alphabet", 0, e);
    if (code)
        return err_up(e, code);
    struct digest id = op_input_id(ctx, "alphabet", 0);
    struct graph_features *f = must_calloc(1, sizeof *f);
    if ((code = err_up(e, graph_features_init(f, m, &id, e))))
        release(f);
    else
        *state = f;
    return code;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    Eqloom__Graph g;
    const Eqloom__MathML *m;
    enum err_code code = op_get(&m, ctx, "mathml", 0, e);
    if (code)
        return err_up(e, code);
    if (!m->mathml[0])
        return OK;
    code = graph_features_of(&g, op_arena(ctx), state, m->mathml,
                             (uint32_t)op_int(ctx, "max_nodes"), e);
    if (code == ERR_LIMIT)
        return OK;
    g.place = m->place;
    return code ? err_up(e, code) : err_up(e, op_emit(NULL, ctx, "graphs", &g.base, e));
}

const struct op op_graphs = {
    .name = "graphs",
    .version = 1,
    .node = OP_MAP,
    .doc =
        "Converts equations to graphs: the nodes of their MathML, each with its tag, attributes, "
        "character and position under its parent. Edges link each node and its parent in both "
        "directions.",
    .params =
        OP_PARAMS({"max_nodes", OP_INT, "2000", NULL, 1, 100000, "Larger graphs are left out."}),
    .inputs = OP_PORTS(
        {"mathml", KIND_MATHML, OP_COLLECTION, false, "MathML; refused equations have no graph."},
        {"alphabet", KIND_VOCABULARY, OP_ONE, false, "The output of the op `alphabet`."}),
    .outputs =
        OP_PORTS({"graphs", KIND_GRAPH, OP_COLLECTION, false, "In the order of the equations."}),
    .prepare = prepare,
    .release = release,
    .run = run,
};
