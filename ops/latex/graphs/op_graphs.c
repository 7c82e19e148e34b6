/* The op `graphs`: MathML -> graphs whose nodes have features of an alphabet. */
#include "base/map.h"
#include "engine/op.h"
#include "graph.pb-c.h"
#include "ops/latex/graphs/graph_nodes.h"
#include "token.pb-c.h"

#include <stdlib.h>

/* Names -> features, each part in a map of its own; features are counted from 1 within it. */
struct alphabet {
    struct name_map parts[3];
    struct digest id;
};

static const uint32_t sizes[] = {FEATURE_TAGS, FEATURE_ATTRIBUTES, FEATURE_CHARACTERS};

static void release(void *state)
{
    struct alphabet *x = state;
    for (size_t p = 0; p < 3; p++)
        name_map_free(&x->parts[p]);
    free(x);
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    ProtobufCMessage *m;
    enum err_code code = op_get(&m, ctx, "alphabet", 0, e);
    if (code)
        return err_up(e, code);
    const Eqloom__Vocabulary *v = (const Eqloom__Vocabulary *)m;
    if (strcmp(v->encoding, "mathml") || v->n_tokens != FEATURES)
        return err_fail(e, ERR_INPUT, "the vocabulary is no alphabet of MathML");
    struct alphabet *x = calloc(1, sizeof *x);
    if (!x)
        return err_fail(e, ERR_NOMEM, "no memory for an alphabet");
    x->id = op_input_id(ctx, "alphabet", 0);
    for (uint32_t p = 0, from = 0; p < 3; from += sizes[p++])
        for (uint32_t i = 0; i + 1 < sizes[p]; i++)
            if (v->tokens[from + i][0])
                name_map_put(&x->parts[p], v->tokens[from + i], i + 1, NULL);
    *state = x;
    return OK;
}

/* 0 for none; the last one for what the alphabet does not have. */
static uint32_t feature(const struct alphabet *x, uint32_t part, const char *name)
{
    const uint64_t *found = name[0] ? name_map_get(&x->parts[part], name) : NULL;
    return !name[0] ? 0 : found ? (uint32_t)*found : sizes[part];
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const struct alphabet *x = state;
    struct arena *a = op_arena(ctx);
    struct graph_nodes nodes;
    ProtobufCMessage *message;
    enum err_code code = op_get(&message, ctx, "mathml", 0, e);
    if (code)
        return err_up(e, code);
    const Eqloom__MathML *m = (const Eqloom__MathML *)message;
    if (!m->mathml[0])
        return OK;
    if (graph_nodes_of(&nodes, a, m->mathml))
        return err_fail(e, ERR_CORRUPT, "a record of MathML is none");
    if (nodes.n > (uint32_t)op_int(ctx, "max_nodes"))
        return OK;
    Eqloom__Graph g = EQLOOM__GRAPH__INIT;
    uint32_t *arrays = arena_array(a, uint32_t, 5 * (size_t)nodes.n);
    g.place = m->place;
    g.vocabulary_id = (ProtobufCBinaryData){DIGEST_SIZE, (uint8_t *)x->id.bytes};
    g.n_parent = g.n_position = g.n_tag = g.n_attribute = g.n_character = nodes.n;
    g.parent = arrays;
    g.position = arrays + nodes.n;
    g.tag = arrays + 2 * (size_t)nodes.n;
    g.attribute = arrays + 3 * (size_t)nodes.n;
    g.character = arrays + 4 * (size_t)nodes.n;
    for (uint32_t i = 0; i < nodes.n; i++) {
        const struct graph_node *node = &nodes.nodes[i];
        g.parent[i] = node->parent;
        g.position[i] = node->position;
        g.tag[i] = feature(x, 0, node->tag) - 1;
        g.attribute[i] = feature(x, 1, node->attributes);
        g.character[i] = feature(x, 2, node->character);
    }
    return err_up(e, op_emit(NULL, ctx, "graphs", &g.base, e));
}

static const struct op_param params[] = {
    {"max_nodes", OP_INT, "2000", NULL, 1, 100000, "Larger graphs are left out."},
    {NULL},
};
static const struct op_port inputs[] = {
    {"mathml", KIND_MATHML, OP_COLLECTION, false, "What was refused there has no graph."},
    {"alphabet", KIND_VOCABULARY, OP_ONE, false, "What the op `alphabet` chose."},
    {NULL},
};
static const struct op_port outputs[] = {
    {"graphs", KIND_GRAPH, OP_COLLECTION, false, "In the order of the equations."},
    {NULL},
};

const struct op op_graphs = {
    .name = "graphs",
    .version = 1,
    .node = OP_MAP,
    .doc = "Graphs of equations: the nodes of their MathML, each with its tag, attributes, "
           "character and place under its parent. Edges go from each node to its parent and back.",
    .params = params,
    .inputs = inputs,
    .outputs = outputs,
    .prepare = prepare,
    .release = release,
    .run = run,
};
