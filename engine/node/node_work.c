/* A node from the look into the store to the end of an attempt; sources and tasks are run here,
 * maps in map_node.c, chains in chain_node.c. A node is done when its action and refs are in the
 * store. */
#include "engine/node/node_work.h"

#include "base/os.h"
#include "engine/exec/exec_key.h"
#include "engine/exec/given_files.h"
#include "engine/node/chain_node.h"
#include "engine/node/map_node.h"
#include "engine/remote/node_pull.h"
#include "engine/session/run_record.h"

#include <stdlib.h>
#include <string.h>

/* *missing: an action is stored, but not all of its outputs. */
static enum err_code look_up(bool *hit, bool *missing, struct action_result *made, struct worker *w,
                             uint32_t i, struct err *e)
{
    struct node_run *r = &w->s->nodes[i];
    const struct op *op = w->s->job->nodes[i].op;
    *hit = *missing = false;
    if (w->s->options->check)
        return OK;
    for (bool pulled = false;; pulled = true) {
        enum err_code code = action_read(made, &r->arena, w->s->store, op, &r->key.digest, e);
        if (code && code != ERR_NOTFOUND)
            return err_up(e, code);
        *hit = !code && action_is_whole(w->s->store, op, made);
        *missing = !code && !*hit;
        if (*hit || pulled || !node_pull(w->s, i, &r->key.digest))
            return OK;
    }
}

static enum outcome finish_hit(struct worker *w, uint32_t i, const struct action_result *made)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    struct err e = {0};
    node_adopt(s, i, made);
    r->elements = made->elements;
    /* It may have run earlier in this run, before the store was healed. */
    r->cached = made->elements > r->ran + r->reused ? made->elements - r->ran - r->reused : 0;
    if (r->state == NODE_WAITING)
        r->state = NODE_CACHED;
    pthread_mutex_lock(&s->mutex);
    if (r->state == NODE_CACHED && !r->why)
        r->why = node_cut_off(s, i);
    pthread_mutex_unlock(&s->mutex);
    if (node_write_refs(w->batch, s, i, r->outputs, &e) ||
        (store_batch_count(w->batch) && committer_append(s->commit, w->batch, &e)))
        return node_store_failed(w, &e);
    return OUT_DONE;
}

static void announce(struct session *s, struct worker *w)
{
    struct err e = {0};
    pthread_mutex_lock(&s->mutex);
    bool first = !s->announced;
    s->announced = true;
    enum err_code code = first ? record_running(s, w->batch, &e) : OK;
    pthread_mutex_unlock(&s->mutex);
    if (first && (code || committer_append(s->commit, w->batch, &e)))
        session_fail(s, &e);
}

static enum outcome open_inputs(struct worker *w, uint32_t i)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    struct err e = {0};
    return ctx_node_new(&r->shared, &s->host, &s->job->nodes[i], i, r->inputs, &e)
               ? node_cannot_read(w, i, &e)
               : OUT_OPEN;
}

/* Whether its work is for the cluster: that of maps and chains, if they do not say otherwise. */
static bool is_for_cluster(const struct session *s, uint32_t i)
{
    const struct node *node = &s->job->nodes[i];
    bool large = node->op->node == OP_MAP || node->op->node == OP_CHAIN;
    bool wanted = node->executor == EXECUTOR_SLURM || (large && node->executor != EXECUTOR_HERE);
    return s->away && !s->nodes[i].back && wanted && node->op->node != OP_EXEC;
}

enum outcome node_begin(struct worker *w, uint32_t i)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    const struct node *node = &s->job->nodes[i];
    struct err e = {0};
    struct action_result made;
    bool hit, missing;
    uint64_t start = os_monotonic_ns();
    arena_reset(&w->arena);
    size_t n_inputs = op_count_inputs(node->op);
    if (node->op->node == OP_EXEC && exec_bind(w, i, &e))
        return node_fail(w, i, "", &e);
    n_inputs += node->op->node == OP_EXEC;
    if (node_make_key(s, i, n_inputs, &e) || look_up(&hit, &missing, &made, w, i, &e))
        return node_store_failed(w, &e);
    if (hit)
        return finish_hit(w, i, &made);
    char *why = s->options->check ? "checked" : node_reason(s, i, &r->arena, missing);
    pthread_mutex_lock(&s->mutex);
    free(r->why);
    free(r->failure);
    r->failure = NULL;
    r->why = strdup(why);
    r->again = false;
    if (!r->start_ns)
        r->start_ns = start;
    pthread_mutex_unlock(&s->mutex);
    enum outcome opened = open_inputs(w, i);
    if (opened != OUT_OPEN)
        return opened;
    if (!s->options->check && !s->planning)
        announce(s, w);
    r->elements = node->op->node == OP_MAP ? ctx_node_elements(r->shared) : 0;
    r->cached = r->failed = 0;
    bool away = is_for_cluster(s, i);
    if (away || node->op->node == OP_MAP)
        progress_node_start(s->progress, i, r->elements, r->why);
    if (away)
        return OUT_AWAY;
    if (node->op->node == OP_MAP) {
        map_new(w, i);
        if (!map_has_work(s, i))
            return map_close(w, i);
    }
    r->begin_ns = os_monotonic_ns() - start;
    return OUT_OPEN;
}

void node_end_attempt(struct session *s, uint32_t i)
{
    struct node_run *r = &s->nodes[i];
    const struct op *op = s->job->nodes[i].op;
    map_free(r->map, op);
    r->map = NULL;
    if (r->op_state && op->release)
        op->release(r->op_state);
    r->op_state = NULL;
    r->prepared = false;
    ctx_node_free(r->shared);
    r->shared = NULL;
    arena_free(&r->work);
}

static enum outcome task_run(struct worker *w, uint32_t i)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    const struct node *node = &s->job->nodes[i];
    struct op_ctx ctx;
    struct err e = {0};
    struct action_result made, before;
    enum outcome outcome;
    arena_reset(&w->arena);
    ctx_init(&ctx, r->shared, node, &w->arena, w->batch);
    node_place(&ctx, s, i);
    bool check =
        s->options->check && action_find(&before, &w->arena, s->store, node->op, &r->key.digest);
    progress_node_start(s->progress, i, 0, r->why);
    if (node_prepare(w, i, &e)) {
        outcome = node_op_failed(w, i, &ctx, "", &e);
    } else if ((node_reads_from(node) && given_files_load(&ctx, &e)) ||
               node->op->run(&ctx, r->op_state, &e) || ctx.lost[0] || ctx_check_outputs(&ctx, &e) ||
               ctx_collected(&made, &ctx, &w->arena, &e) ||
               (check && node_check_same(node->op, &before, &made, &e))) {
        outcome = node_op_failed(w, i, &ctx, "", &e);
    } else if (check) {
        session_drop_batch(w);
        node_adopt(s, i, &before);
        r->state = NODE_RAN;
        outcome = OUT_DONE;
    } else {
        outcome = node_commit(w, i, &made);
    }
    ctx_finish(&ctx);
    return outcome;
}

enum outcome node_whole(struct worker *w, uint32_t i)
{
    switch (w->s->job->nodes[i].op->node) {
    case OP_TASK:
    case OP_EXEC: return task_run(w, i);
    case OP_CHAIN: return chain_run(w, i);
    case OP_SOURCE:     /* see run.c */
    case OP_MAP: break; /* in ranges */
    }
    abort();
}
