/* Predicts what a run would do. Sources are read, and parsed if they changed, into a batch that can
 * be read (store_overlay) and is dropped at the end. The outputs of a map are made in the same
 * batch if all its elements are cached, can be reused, or are few and ran very fast the last time:
 * those few are run. Nodes below one that would have to run are undecided. Planning stops looking
 * at elements after LOOKAHEAD_NS of processor time, which does not depend on the machine's load. */
#include "engine/run/run_open.h"

#include "base/os.h"
#include "engine/node/assemble.h"
#include "engine/node/chain_node.h"
#include "engine/node/element_reuse.h"
#include "engine/node/map_tree.h"
#include "engine/node/source_node.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t LOOKAHEAD_NS = 1000000000, CHEAP_NS = 100000000;

struct plan {
    struct session s;     /* first: ops have its address for theirs */
    struct worker worker; /* its batch is thrown away */
    uint64_t deadline_ns;
    bool *undecided; /* by node: its outputs are not determined */
};

/* Cancels ops that are still deciding about reuse at the deadline. */
static bool is_late(void *arg)
{
    return os_process_ns() >= ((const struct plan *)arg)->deadline_ns;
}

static void set_outputs(struct plan *p, uint32_t i, const struct action_result *made)
{
    struct node_run *r = &p->s.nodes[i];
    for (size_t k = 0; k < op_count_outputs(p->s.job->nodes[i].op); k++)
        r->outputs[k] = made->outputs[k].n ? made->outputs[k].ids[0] : (struct digest){0};
}

static enum err_code plan_source(struct plan *p, uint32_t i, struct err *e)
{
    struct node_run *r = &p->s.nodes[i];
    struct action_result made;
    bool fresh, hit;
    enum err_code code = source_node(&made, &fresh, &hit, &p->s, i, &r->arena, p->worker.batch, e);
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
    struct map_tree *blocks;
    struct assemble *out;
    uint64_t at; /* elements before it are counted */
    uint64_t to_run;
    bool whole;   /* all elements before `at` have outputs */
    bool trying;  /* elements may be run while they are few */
    bool reusing; /* elements may be reused */
};

/* The time for one element in the last run. */
static uint64_t element_ns(const struct walk *w)
{
    const Eqloom__RunNode *last = w->p->s.history.made[w->node];
    if (!last || !last->ran)
        return UINT64_MAX;
    return (last->work_ns ? last->work_ns : last->wall_ns) / last->ran;
}

static bool has_time(const struct walk *w)
{
    return os_process_ns() < w->p->deadline_ns;
}

static bool prepare(struct walk *w)
{
    struct err e = {0};
    return node_prepare(&w->p->worker, w->node, &e) == OK;
}

/* Runs one element if it is cheap. */
static bool try_element(struct action_result *made, struct walk *w, const struct digest *id)
{
    struct node_run *r = &w->p->s.nodes[w->node];
    const struct node *node = &w->p->s.job->nodes[w->node];
    struct arena *a = &w->p->worker.arena;
    struct op_ctx ctx;
    uint64_t each = element_ns(w);
    w->trying = w->trying && !node->op->parallel && has_time(w) && each < CHEAP_NS &&
                (w->to_run + 1) * each < CHEAP_NS && prepare(w);
    if (!w->trying)
        return false;
    ctx_init(&ctx, r->shared, node, a, w->p->worker.batch);
    ctx.element = id;
    ctx.recall.may = true;
    struct err failure = {0}; /* reported by the run */
    bool done = !node->op->run(&ctx, r->op_state, &failure) && ctx.loss.input == LOST_NONE;
    if (done && ctx.recall.found) {
        *made = ctx.recall.made;
    } else if (done) {
        size_t n = op_count_outputs(node->op);
        *made = (struct action_result){.outputs = arena_array(a, struct id_list, n)};
        for (size_t k = 0; k < n; k++)
            made->outputs[k] = (struct id_list){
                arena_memdup(a, ctx.outputs[k].ids, ctx.outputs[k].n * sizeof(struct digest)),
                ctx.outputs[k].n};
    }
    ctx_finish(&ctx);
    w->trying = done;
    return done;
}

static bool try_reuse(struct action_result *made, struct walk *w, const struct digest *id)
{
    struct reuse_origin origin;
    struct span note;
    w->reusing = w->reusing && has_time(w) && prepare(w);
    return w->reusing && reuse_element(made, &origin, &note, &w->p->worker, w->node, id);
}

static void count_witness(struct node_run *r, const struct action_result *made)
{
    r->reused++;
    witness_counts_add(&r->witnesses, witness_reason(made->note), 1);
}

static enum err_code walk_element(struct walk *w, struct err *e)
{
    struct session *s = &w->p->s;
    struct node_run *r = &s->nodes[w->node];
    const struct op *op = s->job->nodes[w->node].op;
    struct arena *a = &w->p->worker.arena;
    struct digest id;
    struct key key;
    struct action_result made;
    enum err_code code = ctx_node_element(&id, r->shared, w->at, e);
    if (!code)
        code = node_element_key(&key, s, a, w->node, &id, e);
    if (code)
        return err_up(e, code);
    bool made_now = true;
    if (!action_read(&made, a, s->store, op, &key.digest, NULL) &&
        action_is_whole(s->store, op, &made, a, false)) {
        r->cached++;
    } else if (try_reuse(&made, w, &id)) {
        count_witness(r, &made);
    } else if (!(made_now = try_element(&made, w, &id)) || !made.note) {
        w->to_run++;
    } else {
        count_witness(r, &made);
    }
    w->whole = w->whole && made_now;
    if (w->whole)
        code = map_tree_add(w->blocks, w->out, s, w->node, w->at, made.outputs, (struct span){0},
                            NULL, e);
    w->at++;
    return err_up(e, code);
}

/* After the deadline, counts all elements outside found blocks as elements to run. */
static void count_rest(struct walk *w)
{
    struct node_run *r = &w->p->s.nodes[w->node];
    w->whole = w->reusing = false;
    while (w->at < r->elements) {
        uint64_t n = map_tree_run(w->blocks, w->at, r->elements - w->at);
        w->to_run += n;
        w->at = map_tree_skip(w->blocks, w->at + n);
    }
}

static enum err_code walk_map(struct walk *w, struct err *e)
{
    struct session *s = &w->p->s;
    struct node_run *r = &s->nodes[w->node];
    enum err_code code = map_tree_new(&w->blocks, &w->p->worker, w->node, w->p->deadline_ns, e);
    r->elements = ctx_node_elements(r->shared);
    r->cached = map_tree_cached(w->blocks);
    r->reused = map_tree_reused(w->blocks);
    map_tree_witnesses(&r->witnesses, w->blocks);
    while (!code && w->at < r->elements) {
        uint64_t before = w->at;
        if (w->whole)
            code = map_tree_feed(w->blocks, w->out, &w->at, s, w->node, NULL, e);
        else
            w->at = map_tree_skip(w->blocks, w->at);
        if (w->at > before || code)
            continue;
        if (has_time(w))
            code = walk_element(w, e);
        else
            count_rest(w);
        arena_reset(&w->p->worker.arena);
    }
    r->ran = w->to_run;
    return err_up(e, code);
}

static enum err_code plan_map(struct plan *p, uint32_t i, struct err *e)
{
    struct node_run *r = &p->s.nodes[i];
    const struct node *node = &p->s.job->nodes[i];
    struct walk w = {
        .p = p, .node = i, .whole = true, .trying = true, .reusing = node->op->reuse != NULL};
    struct err unread = {0};
    int lost;
    p->undecided[i] = true;
    if (ctx_node_new(&r->shared, &p->s.host, node, i, r->inputs, &lost, &unread))
        return OK; /* a damaged input: the run will make it again */
    w.out = assemble_new(node->op, p->s.store, p->worker.batch);
    enum err_code code = walk_map(&w, e);
    if (!code && w.whole) {
        struct action_result made = {0};
        code = assemble_finish(&made.outputs, &r->arena, w.out, e);
        if (!code)
            set_outputs(p, i, &made);
        p->undecided[i] = code != OK;
        r->state = r->ran ? NODE_RAN : r->reused ? NODE_REUSED : NODE_CACHED;
    }
    if (code == ERR_CORRUPT || code == ERR_NOTFOUND) { /* damaged as well */
        err_clear(e);
        code = OK;
        r->ran = r->elements;
        r->cached = r->reused = 0;
    }
    if (!code && node->op->reuse && !w.reusing) { /* too late to decide about all */
        r->ran += r->reused;
        r->reused = 0;
    }
    node_explain_reuse(&p->s, i);
    assemble_free(w.out);
    map_tree_free(w.blocks, node->op);
    return err_up(e, code);
}

static void plan_chain(struct plan *p, uint32_t i)
{
    struct node_run *r = &p->s.nodes[i];
    struct err e = {0};
    int lost;
    p->undecided[i] = true;
    if (ctx_node_new(&r->shared, &p->s.host, &p->s.job->nodes[i], i, r->inputs, &lost, &e))
        return; /* a damaged input: the run will make it again */
    size_t n_outputs = op_count_outputs(p->s.job->nodes[i].op);
    struct digest *outputs = arena_array(&r->arena, struct digest, n_outputs);
    if (chain_plan(outputs, &p->worker, i, &e))
        return;
    node_explain_reuse(&p->s, i);
    if (r->ran || r->elements == 0)
        return;
    memcpy(r->outputs, outputs, n_outputs * sizeof *outputs);
    p->undecided[i] = false;
    r->state = r->reused ? NODE_REUSED : NODE_CACHED;
}

/* ---- nodes ---- */

static bool is_after(struct plan *p, uint32_t i)
{
    const struct node *node = &p->s.job->nodes[i];
    for (size_t k = 0; k < op_count_inputs(node->op); k++)
        for (size_t m = 0; m < node->inputs[k].n_sources; m++) {
            uint32_t source = node->inputs[k].sources[m].node;
            if (!p->undecided[source])
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
    struct action_result made;
    if (is_after(p, i)) {
        p->undecided[i] = true;
        r->state = NODE_WAITING;
        return OK;
    }
    node_bind(&p->s, i);
    enum err_code code = node_make_key(&p->s, i, e);
    if (code)
        return err_up(e, code);
    bool exists = !action_read(&made, &r->arena, p->s.store, op, &r->key.digest, NULL);
    if (exists && action_is_whole(p->s.store, op, &made, &r->arena, false)) {
        r->state = NODE_CACHED;
        r->elements = r->cached = made.elements;
        r->why = node_cut_off(&p->s, i);
        set_outputs(p, i, &made);
        return OK;
    }
    r->state = NODE_RAN;
    r->why = strdup(node_why(&p->s, i, &r->arena, exists));
    if (op->node == OP_MAP)
        return err_up(e, plan_map(p, i, e));
    p->undecided[i] = true;
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
    p.worker = (struct worker){.s = &p.s, .batch = store_batch_new(store)};
    store_overlay(store, p.worker.batch);
    p.undecided = arena_array(a, bool, job->n_nodes);
    p.deadline_ns = os_process_ns() + LOOKAHEAD_NS;
    p.s.host.spill = NULL;
    p.s.host.cancelled = is_late;
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
    session_close(&p.s);
    store_overlay(store, NULL);
    store_batch_free(p.worker.batch);
    arena_free(&p.worker.arena);
    return err_up(e, code);
}
