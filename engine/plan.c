/* What a run would do, without doing it. Sources are read (and parsed, if they changed) into a
 * batch that is thrown away, so that ids below them are known; a map of which all elements are
 * known is put together in the same way. Below a node that would have to run, nothing is known. */
#include "engine/session.h"

#include "base/buf.h"
#include "base/map.h"
#include "engine/elements.h"
#include "engine/label.h"
#include "store/collection.h"

#include <stdlib.h>
#include <string.h>

struct plan {
    struct session s; /* first: callbacks get it as `arg` */
    struct store_batch *discard;
    struct unstored_set unstored;
    struct digest_map labels; /* record -> index into label_list */
    char **label_list;
    size_t n_labels, cap_labels;
    bool *unknown; /* by node: its outputs are */
};

/* ---- sources ---- */

static void on_emitted(void *arg, const struct digest *id, const ProtobufCMessage *message)
{
    struct plan *p = arg;
    bool added;
    digest_map_put(&p->labels, id, p->n_labels, &added);
    if (!added)
        return;
    char *label = label_of_message(p->s.arena, message);
    p->label_list = vec_grow(p->label_list, &p->cap_labels, p->n_labels + 1, sizeof(char *));
    p->label_list[p->n_labels++] = label ? label : label_short_id(p->s.arena, id);
}

static struct unstored *add_unstored(struct plan *p, const struct digest *id, size_t n)
{
    struct unstored_set *set = &p->unstored;
    set->lists = vec_grow(set->lists, &set->cap, set->n + 1, sizeof *set->lists);
    struct unstored *u = &set->lists[set->n++];
    *u = (struct unstored){.id = *id, .n = n};
    u->ids = arena_array(p->s.arena, struct digest, n);
    u->labels = arena_array(p->s.arena, char *, n);
    return u;
}

static void on_source(struct session *s, uint32_t i, const struct made *made,
                      const struct id_list *emitted)
{
    struct plan *p = (struct plan *)s;
    const struct op *op = s->job->nodes[i].op;
    for (size_t r = 0; r < op_count_outputs(op); r++) {
        if (op->outputs[r].cardinality != OP_COLLECTION ||
            store_has(s->store, made->outputs[r].ids))
            continue;
        struct unstored *u = add_unstored(p, made->outputs[r].ids, emitted[r].n);
        for (size_t k = 0; k < u->n; k++) {
            u->ids[k] = emitted[r].ids[k];
            u->labels[k] = p->label_list[*digest_map_get(&p->labels, &u->ids[k])];
        }
    }
}

static void set_outputs(struct plan *p, uint32_t i, const struct made *made)
{
    struct node_run *r = &p->s.nodes[i];
    for (size_t k = 0; k < op_count_outputs(p->s.job->nodes[i].op); k++)
        r->outputs[k] = made->outputs[k].n ? made->outputs[k].ids[0] : (struct digest){0};
}

static enum err_code plan_source(struct plan *p, uint32_t i, struct err *e)
{
    struct node_run *r = &p->s.nodes[i];
    struct made made;
    bool fresh, hit;
    enum err_code code = source_node(&made, &fresh, &hit, &p->s, i, &r->arena, p->discard, e);
    if (code)
        return err_up(e, code);
    set_outputs(p, i, &made);
    r->state = fresh ? NODE_RAN : NODE_READ;
    r->why = hit ? NULL : strdup(node_why(&p->s, i, &r->arena, false));
    return OK;
}

/* ---- maps ---- */

struct walk {
    struct plan *p;
    uint32_t node;
    const struct unstored *list;
    struct elements *elements;
    struct collection_builder **builders;
};

static enum err_code walk_element(struct walk *w, uint64_t k, bool *known, struct arena *a,
                                  struct err *e)
{
    struct session *s = &w->p->s;
    const struct op *op = s->job->nodes[w->node].op;
    struct digest id;
    struct key key;
    struct made made;
    enum err_code code = OK;
    if (w->list)
        id = w->list->ids[k];
    else
        code = elements_at(&id, w->elements, k, e);
    if (!code)
        code = map_element_key(&key, s, a, w->node, &id, e);
    if (code)
        return err_up(e, code);
    *known = !made_read(&made, a, s->store, op, &key.digest, NULL) &&
             made_is_whole(s->store, op, &made, a, false);
    for (size_t r = 0; *known && r < op_count_outputs(op); r++)
        for (size_t m = 0; !code && m < made.outputs[r].n; m++)
            code = collection_builder_add(w->builders[r], &made.outputs[r].ids[m], e);
    return err_up(e, code);
}

static enum err_code walk_elements(struct walk *w, struct err *e)
{
    struct node_run *r = &w->p->s.nodes[w->node];
    struct arena a = {0};
    enum err_code code = OK;
    r->elements = w->list ? w->list->n : elements_count(w->elements);
    r->cached = r->ran = 0;
    for (uint64_t k = 0; !code && k < r->elements; k++) {
        bool known = false;
        code = walk_element(w, k, &known, &a, e);
        r->cached += known;
        r->ran += !known;
        arena_reset(&a);
    }
    arena_free(&a);
    return err_up(e, code);
}

static enum err_code finish_walk(struct walk *w, struct made *made, struct err *e)
{
    const struct op *op = w->p->s.job->nodes[w->node].op;
    struct arena *a = &w->p->s.nodes[w->node].arena;
    size_t n = op_count_outputs(op);
    enum err_code code = OK;
    made->outputs = arena_array(a, struct id_list, n);
    for (size_t r = 0; !code && r < n; r++) {
        struct digest *id = arena_new(a, struct digest);
        code = collection_builder_finish(id, w->builders[r], e);
        made->outputs[r] = (struct id_list){id, 1};
    }
    return err_up(e, code);
}

static enum err_code plan_map(struct plan *p, uint32_t i, struct err *e)
{
    struct node_run *r = &p->s.nodes[i];
    const struct op *op = p->s.job->nodes[i].op;
    size_t n = op_count_outputs(op);
    struct walk w = {.p = p, .node = i, .list = unstored_find(&p->unstored, r->inputs[0].ids)};
    enum err_code code = OK;
    if (!w.list)
        code = elements_open(&w.elements, p->s.store, r->inputs[0].ids, NULL);
    p->unknown[i] = true;
    if (code)
        return OK; /* damaged: the run will find out, and heal it */
    w.builders = arena_array(&r->arena, struct collection_builder *, n);
    for (size_t k = 0; k < n; k++)
        w.builders[k] = collection_builder_new(p->discard, op->outputs[k].kind);
    code = walk_elements(&w, e);
    if (!code && r->ran == 0) {
        struct made made;
        code = finish_walk(&w, &made, e);
        if (!code) {
            set_outputs(p, i, &made);
            p->unknown[i] = false;
            r->state = NODE_CACHED;
        }
    }
    for (size_t k = 0; k < n; k++)
        collection_builder_free(w.builders[k]);
    elements_close(w.elements);
    return err_up(e, code);
}

static void plan_chain(struct plan *p, uint32_t i)
{
    struct node_run *r = &p->s.nodes[i];
    struct err e = {0};
    uint64_t cached;
    int lost;
    p->unknown[i] = true;
    if (ctx_node_new(&r->shared, &p->s.host, &p->s.job->nodes[i], i, r->inputs, &lost, &e))
        return; /* an input that is not stored yet: the number of segments stays unknown */
    size_t n_outputs = op_count_outputs(p->s.job->nodes[i].op);
    struct digest *outputs = arena_array(&r->arena, struct digest, n_outputs);
    if (chain_count(&r->elements, &cached, outputs, &p->s, i, &e))
        return;
    r->cached = cached;
    r->ran = r->elements - cached;
    if (r->ran || r->elements == 0)
        return;
    memcpy(r->outputs, outputs, n_outputs * sizeof *outputs);
    p->unknown[i] = false;
    r->state = NODE_CACHED;
}

/* ---- nodes ---- */

static bool is_after(struct plan *p, uint32_t i)
{
    const struct node *node = &p->s.job->nodes[i];
    for (size_t k = 0; k < op_count_inputs(node->op); k++)
        for (size_t m = 0; m < node->inputs[k].n_sources; m++) {
            uint32_t source = node->inputs[k].sources[m].node;
            if (!p->unknown[source])
                continue;
            if (asprintf(&p->s.nodes[i].why, "after %s", p->s.job->nodes[source].name) < 0)
                p->s.nodes[i].why = NULL;
            return true;
        }
    return false;
}

static enum err_code plan_node(struct plan *p, uint32_t i, struct err *e)
{
    struct node_run *r = &p->s.nodes[i];
    const struct op *op = p->s.job->nodes[i].op;
    struct made made;
    if (is_after(p, i)) {
        p->unknown[i] = true;
        r->state = NODE_WAITING;
        return OK;
    }
    node_bind(&p->s, i);
    enum err_code code = node_make_key(&p->s, i, e);
    if (code)
        return err_up(e, code);
    bool exists = !made_read(&made, &r->arena, p->s.store, op, &r->key.digest, NULL);
    if (exists && made_is_whole(p->s.store, op, &made, &r->arena, false)) {
        r->state = NODE_CACHED;
        r->elements = r->cached = made.elements;
        set_outputs(p, i, &made);
        return OK;
    }
    r->state = NODE_RAN;
    r->why = strdup(node_why(&p->s, i, &r->arena, exists));
    if (op->node == OP_MAP)
        return err_up(e, plan_map(p, i, e));
    p->unknown[i] = true;
    if (op->node == OP_CHAIN)
        plan_chain(p, i);
    return OK;
}

enum err_code job_plan(struct run_result *out, struct arena *a, const struct job *job,
                       struct store *store, const struct run_options *options, struct err *e)
{
    struct run_options quiet = *options;
    struct plan p = {0};
    quiet.events = NULL;
    quiet.check = false;
    quiet.interrupted = NULL;
    memset(out, 0, sizeof *out);
    out->nodes = arena_array(a, struct node_result, job->n_nodes);
    enum err_code code = session_open(&p.s, a, job, store, &quiet, e);
    if (code)
        goto out;
    p.discard = store_batch_new(store);
    p.unknown = arena_array(a, bool, job->n_nodes);
    p.s.unstored = &p.unstored;
    p.s.on_source = on_source;
    p.s.host.emitted = on_emitted;
    p.s.host.spill = NULL;
    for (uint32_t i = 0; !code && i < job->n_nodes; i++) {
        if (p.s.nodes[i].phase == PHASE_UNWANTED)
            continue;
        code = job->nodes[i].op->node == OP_SOURCE ? plan_source(&p, i, e) : plan_node(&p, i, e);
        p.s.nodes[i].phase = PHASE_DONE;
    }
    if (code)
        goto out;
    session_fill_result(out, &p.s);
    out->run = p.s.history.last ? p.s.history.last->run : NULL;
out:
    store_batch_free(p.discard);
    digest_map_free(&p.labels);
    free(p.label_list);
    free(p.unstored.lists);
    session_close(&p.s);
    return err_up(e, code);
}
