#include "engine/run/node_pack.h"

#include "engine/node/chain.h"
#include "store/collection/collection.h"

#include <limits.h>

void node_pack_open(struct node_pack *p, struct node_run *r)
{
    *p = (struct node_pack){.r = r};
}

void node_pack_close(struct node_pack *p)
{
    arena_free(&p->work);
    arena_free(&p->arena);
    digest_map_free(&p->is_action);
}

static void add_root(struct node_pack *p, const struct digest *id)
{
    if (digest_is_zero(id))
        return;
    p->roots = arena_grow(&p->arena, p->roots, p->n_roots, &p->cap_roots, sizeof *p->roots);
    p->roots[p->n_roots++] = (struct pack_root){NULL, *id};
}

static void add_action(struct node_pack *p, const struct digest *key)
{
    bool added;
    digest_map_put(&p->is_action, key, 1, &added);
    if (!added)
        return;
    p->actions =
        arena_grow(&p->arena, p->actions, p->n_actions, &p->cap_actions, sizeof *p->actions);
    p->actions[p->n_actions++] = *key;
}

static void add_trace(struct node_pack *p, const struct digest *key)
{
    p->traces = arena_grow(&p->arena, p->traces, p->n_traces, &p->cap_traces, sizeof *p->traces);
    p->traces[p->n_traces++] = *key;
}

/* Adds a trace that refers to an action of the pack, and the trace of the action that ran. */
static enum err_code visit_trace(void *arg, const struct digest *key, struct span value,
                                 struct err *e)
{
    struct node_pack *p = arg;
    struct trace t;
    arena_reset(&p->work);
    if (!trace_parse(&t, &p->work, value) || !digest_map_get(&p->is_action, &t.action))
        return OK;
    add_trace(p, key);
    if (!digest_is_zero(&t.made_by))
        add_trace(p, &t.made_by);
    return OK;
}

/* Adds the action of an element or block and, if `outputs`, the outputs of the action. */
static enum err_code add_part(struct node_pack *p, const struct digest *id, bool outputs,
                              struct err *e)
{
    struct action_result made;
    struct key key;
    arena_reset(&p->work);
    enum err_code code = node_element_key(&key, p->r, &p->work, id, e);
    if (code)
        return err_up(e, code);
    add_action(p, &key.digest);
    if (!outputs || action_read(&made, &p->work, p->r->s->store, p->r->op, &key.digest, NULL))
        return OK;
    for (size_t r = 0; r < op_count_outputs(p->r->op); r++)
        for (size_t k = 0; k < made.outputs[r].n; k++)
            add_root(p, &made.outputs[r].ids[k]);
    return OK;
}

/* Adds the blocks of the lowest `depths` levels. */
static enum err_code add_blocks(struct node_pack *p, struct collection *c, unsigned depths,
                                struct err *e)
{
    enum err_code code = OK;
    for (unsigned d = 0; d < depths && d < collection_depth(c) && !code; d++)
        for (uint64_t at = 0; at < collection_count(c) && !code;) {
            struct collection_block block;
            code = collection_block(&block, c, d, at, e);
            if (!code)
                code = add_part(p, &block.id, false, e);
            at = block.first + block.n;
        }
    return err_up(e, code);
}

enum { ELEMENTS = 1024 };

static enum err_code add_elements(struct node_pack *p, struct collection *c, bool outputs,
                                  struct err *e)
{
    struct digest ids[ELEMENTS];
    uint64_t count = collection_count(c);
    enum err_code code = OK;
    for (uint64_t from = 0; from < count && !code; from += ELEMENTS) {
        uint64_t n = count - from < ELEMENTS ? count - from : ELEMENTS;
        code = collection_ids(ids, c, from, n, e);
        for (uint64_t k = 0; k < n && !code; k++)
            code = add_part(p, &ids[k], outputs, e);
    }
    return err_up(e, code);
}

/* Adds the elements and blocks of a map. Unless `whole`, leaves out blocks above the leaves, whose
 * actions refer to the map's collections. */
static enum err_code add_parts(struct node_pack *p, bool whole, struct err *e)
{
    struct collection *c;
    if (!p->r->inputs[0].n)
        return OK;
    enum err_code code = collection_open(&c, p->r->s->store, p->r->inputs[0].ids, e);
    if (code)
        return err_up(e, code);
    code = add_blocks(p, c, whole ? UINT_MAX : 1, e);
    if (!code)
        code = add_elements(p, c, !whole, e);
    collection_close(c);
    return err_up(e, code);
}

enum err_code node_pack_name(struct digest *name, struct node_pack *p, struct err *e)
{
    struct chain chain;
    *name = p->r->key.digest;
    add_action(p, name);
    if (p->r->op->node != OP_CHAIN)
        return OK;
    enum err_code code = chain_open(&chain, p->r, e);
    if (code)
        return err_up(e, code);
    if (chain.n)
        *name = chain.segments[chain.n - 1].key;
    add_action(p, name);
    return OK;
}

enum err_code node_pack_fill(struct pack_contents *out, struct node_pack *p, bool whole,
                             struct err *e)
{
    const struct node_run *r = p->r;
    enum err_code code = OK;
    for (size_t k = 0; whole && k < op_count_outputs(r->op); k++)
        add_root(p, &r->outputs[k]);
    if (r->op->node == OP_MAP)
        code = add_parts(p, whole, e);
    if (!code)
        code = store_each_trace(r->s->store, visit_trace, p, e);
    *out = (struct pack_contents){.roots = p->roots,
                                  .n_roots = p->n_roots,
                                  .actions = p->actions,
                                  .n_actions = p->n_actions,
                                  .traces = p->traces,
                                  .n_traces = p->n_traces};
    size_t n = r->op->node == OP_SOURCE ? 0 : op_count_inputs(r->op), n_base = 0;
    for (size_t k = 0; k < n; k++)
        n_base += r->inputs[k].n;
    struct digest *base = arena_array(&p->arena, struct digest, n_base);
    for (size_t k = 0; k < n; k++)
        for (size_t m = 0; m < r->inputs[k].n; m++)
            base[out->n_base++] = r->inputs[k].ids[m];
    out->base = base;
    return err_up(e, code);
}
