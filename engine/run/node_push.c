/* See node_push.h. A map's pack has the actions and traces of all its elements and blocks, so that
 * whoever takes it in can go on from there as if the node had run: a rule edited later costs what
 * it touches. A chain is named by its last segment, so that longer trainings find it. */
#include "engine/run/node_push.h"

#include "base/buf.h"
#include "engine/cache/trace.h"
#include "engine/node/chain_resume.h"
#include "engine/remote/node_pull.h"
#include "engine/remote/remote.h"
#include "store/collection/collection.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct op *op_of(const struct session *s, uint32_t i)
{
    return s->job->nodes[i].op;
}

/* ---- what goes into a pack ---- */

struct parcel {
    struct worker work;
    uint32_t node;
    struct digest *actions, *traces; /* keys */
    size_t n_actions, n_traces, cap_actions, cap_traces;
    struct digest_map is_action;
};

static void add_action(struct parcel *p, const struct digest *key)
{
    bool added;
    digest_map_put(&p->is_action, key, 1, &added);
    if (!added)
        return;
    p->actions = vec_grow(p->actions, &p->cap_actions, p->n_actions + 1, sizeof *p->actions);
    p->actions[p->n_actions++] = *key;
}

static void add_trace(struct parcel *p, const struct digest *key)
{
    p->traces = vec_grow(p->traces, &p->cap_traces, p->n_traces + 1, sizeof *p->traces);
    p->traces[p->n_traces++] = *key;
}

/* One that leads to an action of the parcel, and that of the action which ran. */
static enum err_code visit_trace(void *arg, const struct digest *key, struct span value,
                                 struct err *e)
{
    struct parcel *p = arg;
    struct trace t;
    arena_reset(&p->work.arena);
    if (!trace_parse(&t, &p->work.arena, value) || !digest_map_get(&p->is_action, &t.action))
        return OK;
    add_trace(p, key);
    if (!digest_is_zero(&t.made_by))
        add_trace(p, &t.made_by);
    return OK;
}

/* Of an element of a map or a block of its input. */
static enum err_code add_part(struct parcel *p, const struct digest *id, struct err *e)
{
    struct key key;
    arena_reset(&p->work.arena);
    enum err_code code = node_element_key(&key, p->work.s, &p->work.arena, p->node, id, e);
    if (!code)
        add_action(p, &key.digest);
    return err_up(e, code);
}

static enum err_code add_blocks(struct parcel *p, struct collection *c, struct err *e)
{
    enum err_code code = OK;
    for (unsigned d = 0; d < collection_depth(c) && !code; d++)
        for (uint64_t at = 0; at < collection_count(c) && !code;) {
            struct collection_block block;
            code = collection_block(&block, c, d, at, e);
            if (!code)
                code = add_part(p, &block.id, e);
            at = block.first + block.n;
        }
    return err_up(e, code);
}

enum { ELEMENTS = 1024 };

static enum err_code add_elements(struct parcel *p, struct collection *c, struct err *e)
{
    struct digest ids[ELEMENTS];
    uint64_t count = collection_count(c);
    enum err_code code = OK;
    for (uint64_t from = 0; from < count && !code; from += ELEMENTS) {
        uint64_t n = count - from < ELEMENTS ? count - from : ELEMENTS;
        code = collection_ids(ids, c, from, n, e);
        for (uint64_t k = 0; k < n && !code; k++)
            code = add_part(p, &ids[k], e);
    }
    return err_up(e, code);
}

static enum err_code add_map(struct parcel *p, struct err *e)
{
    const struct node_run *r = &p->work.s->nodes[p->node];
    struct collection *c;
    if (!r->inputs[0].n)
        return OK;
    enum err_code code = collection_open(&c, p->work.s->store, r->inputs[0].ids, e);
    if (code)
        return err_up(e, code);
    code = add_blocks(p, c, e);
    if (!code)
        code = add_elements(p, c, e);
    collection_close(c);
    return err_up(e, code);
}

/* *name: the key of the last segment. */
static enum err_code add_chain(struct digest *name, struct parcel *p, struct err *e)
{
    struct chain chain;
    struct arena a = {0};
    const struct op *op = op_of(p->work.s, p->node);
    enum err_code code = chain_open(&chain, &p->work, p->node,
                                    arena_array(&a, struct digest, op_count_outputs(op)), e);
    if (!code && chain.n) {
        *name = chain.segments[chain.n - 1].key;
        add_action(p, name);
    }
    if (!code)
        chain_close(&chain);
    arena_free(&a);
    return err_up(e, code);
}

/* ---- pushing ---- */

static enum err_code push_contents(struct session *s, const struct digest *name,
                                   const struct parcel *p, struct err *e)
{
    struct arena a = {0};
    struct node_run *r = &s->nodes[p->node];
    const struct op *op = op_of(s, p->node);
    struct pack_contents what = {.actions = p->actions,
                                 .n_actions = p->n_actions,
                                 .traces = p->traces,
                                 .n_traces = p->n_traces};
    struct pack_result packed = {0};
    struct pack_root *roots = arena_array(&a, struct pack_root, op_count_outputs(op) + 1);
    for (size_t k = 0; k < op_count_outputs(op); k++)
        if (!digest_is_zero(&r->outputs[k]))
            roots[what.n_roots++].id = r->outputs[k];
    what.roots = roots;
    size_t n_inputs = op->node == OP_SOURCE ? 0 : op_count_inputs(op), n_base = 0;
    for (size_t k = 0; k < n_inputs; k++)
        n_base += r->inputs[k].n;
    struct digest *base = arena_array(&a, struct digest, n_base + 1);
    for (size_t k = 0; k < n_inputs; k++)
        for (size_t m = 0; m < r->inputs[k].n; m++)
            base[what.n_base++] = r->inputs[k].ids[m];
    what.base = base;
    enum err_code code = remote_push(&packed, s->remote, s->store, op, name, &what, e);
    s->pushed += code == OK;
    s->pushed_bytes += code ? 0 : packed.bytes;
    arena_free(&a);
    return err_up(e, code);
}

static void push(struct session *s, uint32_t i)
{
    struct parcel p = {.work = {.s = s}, .node = i};
    struct digest name = s->nodes[i].key.digest;
    struct err e = {0};
    bool chain = op_of(s, i)->node == OP_CHAIN;
    add_action(&p, &name);
    enum err_code code = chain ? add_chain(&name, &p, &e) : OK;
    if (!code && !node_is_shared(s, i, &name)) {
        if (op_of(s, i)->node == OP_MAP)
            code = add_map(&p, &e);
        if (!code)
            code = store_each_trace(s->store, visit_trace, &p, &e);
        if (!code)
            code = push_contents(s, &name, &p, &e);
    }
    if (code)
        node_note_remote(s, i, "cannot be put into", &e);
    arena_free(&p.work.arena);
    free(p.actions);
    free(p.traces);
    digest_map_free(&p.is_action);
}

void nodes_push(struct session *s)
{
    if (!s->remote || s->options->check)
        return;
    for (uint32_t i = 0; i < s->job->n_nodes && remote_works(s->remote) && !session_interrupted(s);
         i++) {
        const struct node_run *r = &s->nodes[i];
        bool made = r->phase == PHASE_DONE && r->state != NODE_FAILED && r->state != NODE_SKIPPED;
        if (made && r->has_key && !r->failed)
            push(s, i);
    }
    if (s->pulled + s->pushed)
        progress_note(
            s->progress,
            "shared cache: %" PRIu64 " results taken (%.1f MB), %" PRIu64 " given (%.1f MB)",
            s->pulled, (double)s->pulled_bytes / 1e6, s->pushed, (double)s->pushed_bytes / 1e6);
}
