/* Predicts what a run would do, by running the same code on a batch that is never committed.
 * Sources are read. Maps are computed if all their elements are cached or can be reused, or if the
 * others are few and ran very fast the last time. Tasks and segments of chains do not run, and
 * nodes that depend on one that would run are undecided. Planning stops looking at elements after
 * LOOKAHEAD_NS. */
#include "engine/run/run_internal.h"

#include "base/os.h"
#include "engine/node/chain.h"
#include "engine/node/map_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t LOOKAHEAD_NS = 1000000000;

/* Ignores failures: the run will report them. */
static bool plan_map(struct worker *w, struct node_run *r)
{
    uint64_t from, n;
    r->phase = PHASE_OPEN;
    while (!session_late(r->s) && map_take(&from, &n, r)) {
        map_range(w, r, from, n);
        map_finish_range(r);
    }
    bool late = session_late(r->s);
    bool done = !late && map_close(w, r) == OUT_DONE;
    if (late && r->op->reuse)
        r->reused = 0; /* not all elements were examined */
    r->ran = done ? r->ran : r->elements - r->cached - r->reused;
    r->failed = 0;
    r->failure = NULL;
    if (!done)
        node_explain_reuse(r);
    return done;
}

/* Returns the first upstream node whose outputs are undecided, or NULL. */
static const struct node *find_undecided(const struct node_run *r, const bool *undecided)
{
    for (size_t k = 0; k < r->node->n_above; k++)
        if (undecided[r->node->above[k].node])
            return &r->s->job->nodes[r->node->above[k].node];
    return NULL;
}

static enum err_code plan_node(struct worker *w, struct node_run *r, bool *undecided, struct err *e)
{
    struct session *s = r->s;
    if (r->op->node == OP_SOURCE) {
        enum err_code code = source_read(r, w->batch, e);
        return err_up(e, code ? code : committer_append(s->commit, w->batch, e));
    }
    const struct node *above = find_undecided(r, undecided);
    if (above) {
        undecided[r->index] = true;
        r->why = arena_printf(&r->arena, "after %s", above->name);
        return OK;
    }
    node_bind(r);
    enum outcome outcome = node_begin(w, r);
    bool done = outcome == OUT_DONE ||
                (outcome == OUT_OPEN && r->op->node == OP_MAP && plan_map(w, r)) ||
                (outcome == OUT_OPEN && r->op->node == OP_CHAIN && chain_plan(r));
    undecided[r->index] = !done;
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
    committer_hold(s.commit);
    w.batch = store_batch_new(store);
    bool *undecided = arena_array(a, bool, job->n_nodes);
    for (uint32_t i = 0; !code && i < job->n_nodes; i++) {
        if (s.nodes[i].phase == PHASE_UNWANTED)
            continue;
        code = plan_node(&w, &s.nodes[i], undecided, e);
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
