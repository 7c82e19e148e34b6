/* Predicts what a run would do, by the code of runs on a batch that is never committed. Sources are
 * read; maps are made if all their elements are cached, can be reused, or are few and ran very fast
 * the last time: those few are run. Tasks and segments of chains do not run, and nodes below one
 * that would have to run are undecided. Planning stops looking at elements after LOOKAHEAD_NS. */
#include "engine/run/run_open.h"

#include "base/os.h"
#include "engine/node/chain_node.h"
#include "engine/node/map_node.h"
#include "engine/node/node_work.h"
#include "engine/node/source_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t LOOKAHEAD_NS = 1000000000;

/* What cannot be read, or fails, is what the run will find out. */
static bool plan_map(struct worker *w, uint32_t i)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    uint64_t from, n;
    r->phase = PHASE_OPEN;
    while (!session_late(s) && map_take(&from, &n, s, i)) {
        map_range(w, i, from, n);
        map_put_back(s, i);
    }
    bool late = session_late(s);
    bool done = !late && map_close(w, i) == OUT_DONE;
    if (late && s->job->nodes[i].op->reuse)
        r->reused = 0; /* not decided about all */
    r->ran = done ? r->ran : r->elements - r->cached - r->reused;
    r->failed = 0;
    free(r->failure);
    r->failure = NULL;
    if (!done)
        node_explain_reuse(s, i);
    return done;
}

static bool plan_chain(struct worker *w, uint32_t i)
{
    struct node_run *r = &w->s->nodes[i];
    size_t n_outputs = op_count_outputs(w->s->job->nodes[i].op);
    struct digest *outputs = arena_array(&r->arena, struct digest, n_outputs);
    struct err e = {0};
    if (chain_plan(outputs, w, i, &e))
        return false;
    node_explain_reuse(w->s, i);
    if (r->ran || r->elements == 0)
        return false;
    memcpy(r->outputs, outputs, n_outputs * sizeof *outputs);
    r->state = r->reused ? NODE_REUSED : NODE_CACHED;
    return true;
}

/* The first node that this one reads and whose outputs are not determined. */
static const struct node *find_undecided(const struct session *s, uint32_t i, const bool *undecided)
{
    const struct node *node = &s->job->nodes[i];
    for (size_t k = 0; k < op_count_inputs(node->op); k++)
        for (size_t m = 0; m < node->inputs[k].n_sources; m++)
            if (undecided[node->inputs[k].sources[m].node])
                return &s->job->nodes[node->inputs[k].sources[m].node];
    return NULL;
}

static bool plan_opened(struct worker *w, uint32_t i)
{
    switch (w->s->job->nodes[i].op->node) {
    case OP_MAP: return plan_map(w, i);
    case OP_CHAIN: return plan_chain(w, i);
    case OP_SOURCE:
    case OP_TASK:
    case OP_EXEC: break;
    }
    return false;
}

static enum err_code plan_node(struct worker *w, uint32_t i, bool *undecided, struct err *e)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    if (s->job->nodes[i].op->node == OP_SOURCE) {
        enum err_code code = source_read(s, i, w->batch, e);
        return err_up(e, code ? code : committer_append(s->commit, w->batch, e));
    }
    const struct node *above = find_undecided(s, i, undecided);
    if (above) {
        undecided[i] = true;
        return asprintf(&r->why, "after %s", above->name) < 0 ? err_fail(e, ERR_NOMEM, "no memory")
                                                              : OK;
    }
    node_bind(s, i);
    enum outcome outcome = node_begin(w, i);
    bool done = outcome == OUT_DONE || (outcome == OUT_OPEN && plan_opened(w, i));
    undecided[i] = !done;
    if (!done)
        r->state = NODE_RAN;
    atomic_store(&s->lost, false);
    if (s->fatal.code && e)
        *e = s->fatal;
    return err_up(e, s->fatal.code);
}

enum err_code job_plan(struct run_result *out, struct arena *a, const struct job *job,
                       struct store *store, const struct run_options *options, struct err *e)
{
    struct run_options quiet = *options;
    struct session s;
    struct worker w = {.s = &s};
    quiet.events = NULL;
    quiet.check = false;
    quiet.interrupted = NULL;
    memset(out, 0, sizeof *out);
    out->nodes = arena_array(a, struct node_result, job->n_nodes);
    enum err_code code = session_open(&s, a, job, store, &quiet, e);
    if (code)
        goto out;
    s.planning = true;
    s.deadline_ns = os_process_ns() + LOOKAHEAD_NS;
    s.host.spill = NULL;
    committer_hold(s.commit);
    w.batch = store_batch_new(store);
    bool *undecided = arena_array(a, bool, job->n_nodes);
    for (uint32_t i = 0; !code && i < job->n_nodes; i++) {
        if (s.nodes[i].phase == PHASE_UNWANTED)
            continue;
        code = plan_node(&w, i, undecided, e);
        s.nodes[i].phase = PHASE_DONE;
    }
    if (code)
        goto out;
    session_fill_result(out, &s);
    out->run = s.history.last ? s.history.last->run : NULL;
out:
    session_close(&s);
    store_batch_free(w.batch);
    arena_free(&w.arena);
    return err_up(e, code);
}
