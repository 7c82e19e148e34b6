/* Chains: a fold in segments. Each segment is an action whose key holds the key of the segment
 * before it and, in place of the parameters, the text that the op says the segment depends on. So a
 * chain with more steps continues from what is stored, and a crash costs at most one segment. gc
 * may remove the records in between: a chain continues from the last one that is there. */
#include "engine/node/chain_node.h"

#include "base/os.h"
#include "engine/node/chain_resume.h"

#include <inttypes.h>

/* While a chain is not finished, a ref keeps its newest record from gc. */
static char *head_ref(struct arena *a, const struct session *s, uint32_t i)
{
    return arena_printf(a, "%s/%s" JOB_CHAIN_HEAD, s->job->name, s->job->nodes[i].name);
}

static enum outcome segment_run(struct worker *w, uint32_t i, struct chain *chain,
                                const struct op_segment *segment, const struct key *key,
                                const struct action_result *before)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    const struct node *node = &s->job->nodes[i];
    struct op_ctx ctx;
    struct err e = {0};
    uint64_t start = os_monotonic_ns();
    char *where = arena_printf(&w->arena, ", segment %" PRIu64 " (%s)", segment->index,
                               segment->label ? segment->label : "");
    ctx_init(&ctx, r->shared, node, &w->arena, w->batch);
    node_place(&ctx, s, i);
    ctx.segment = segment->index;
    ctx.previous = chain->has_previous ? &chain->previous : NULL;
    struct action_result made = {.outputs = ctx.outputs, .run = s->run};
    enum outcome outcome = OUT_DONE;
    if (node_prepare(w, i, &e)) {
        outcome = node_op_failed(w, i, &ctx, "", &e);
    } else if (node->op->run(&ctx, r->op_state, &e) || ctx.lost[0] || ctx_check_outputs(&ctx, &e) ||
               (before && node_check_same(node->op, before, &made, &e))) {
        outcome = node_op_failed(w, i, &ctx, where, &e);
    } else if (before) {
        session_drop_batch(w);
    } else {
        made.cost_ns = os_monotonic_ns() - start;
        made.finished_ns = os_wall_ns();
        /* The next segment reads this one's record. */
        if (chain_write(w->batch, chain, segment->index, key, &made, &w->arena, &e) ||
            (!s->options->check && node_set_ref(w->batch, s->store, head_ref(&w->arena, s, i),
                                                &made.outputs[0].ids[0], &e)) ||
            committer_append(s->commit, w->batch, &e) || committer_flush(s->commit, &e))
            outcome = node_store_failed(w, &e);
    }
    if (outcome == OUT_DONE)
        chain_step(chain, &made);
    if (outcome == OUT_FAILED)
        progress_element(s->progress, i, ELEMENT_FAILED, segment->index, NULL,
                         node_failure_text(&w->arena, node, where, &e));
    ctx_finish(&ctx);
    return outcome;
}

static enum outcome segment_do(struct worker *w, uint32_t i, struct chain *chain, uint64_t index)
{
    struct session *s = w->s;
    struct op_segment segment;
    struct key key;
    struct action_result before;
    struct err e = {0};
    if (chain_key(&key, &segment, chain, &w->arena, index, &e))
        return node_fail(w, i, "", &e);
    bool check = s->options->check &&
                 action_find(&before, &w->arena, s->store, s->job->nodes[i].op, &key.digest) &&
                 before.outputs[0].n == 1;
    enum outcome outcome = segment_run(w, i, chain, &segment, &key, check ? &before : NULL);
    if (outcome != OUT_DONE)
        return outcome;
    pthread_mutex_lock(&s->mutex);
    s->nodes[i].ran++;
    pthread_mutex_unlock(&s->mutex);
    progress_element(s->progress, i, ELEMENT_RAN, index, NULL, NULL);
    return OUT_DONE;
}

static void count_witness(struct node_run *r, const struct chain *chain)
{
    r->witnesses.noun = "segments";
    if (chain->reused)
        witness_counts_add(&r->witnesses, chain->segments[chain->done - 1].reason, chain->reused);
}

/* Counts the segments that are done, and writes the action of a reused one. */
static enum outcome take_over(struct worker *w, uint32_t i, struct chain *chain)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    struct err e = {0};
    pthread_mutex_lock(&s->mutex);
    r->cached += chain->done - chain->reused;
    r->reused += chain->reused;
    count_witness(r, chain);
    pthread_mutex_unlock(&s->mutex);
    progress_cached(s->progress, i, chain->done);
    if (chain->reused &&
        (chain_adopt(w->batch, chain, &e) || committer_append(s->commit, w->batch, &e)))
        return node_store_failed(w, &e);
    return OUT_DONE;
}

static enum outcome run_segments(struct worker *w, uint32_t i, struct chain *chain)
{
    struct session *s = w->s;
    if (s->options->check) { /* each again, from the first */
        chain->done = 0;
        chain->has_previous = false;
    }
    enum outcome outcome = take_over(w, i, chain);
    for (uint64_t k = chain->done; k < chain->n && outcome == OUT_DONE; k++) {
        if (session_interrupted(s))
            return OUT_DROPPED;
        arena_reset(&w->arena);
        outcome = segment_do(w, i, chain, k);
    }
    return outcome;
}

static enum outcome finish(struct worker *w, uint32_t i, struct chain *chain)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    size_t n = op_count_outputs(s->job->nodes[i].op);
    struct err e = {0};
    node_explain_reuse(s, i);
    r->cached = r->elements > r->ran + r->reused ? r->elements - r->ran - r->reused : 0;
    struct action_result made = {.outputs = arena_array(&r->work, struct id_list, n)};
    for (size_t k = 0; k < n; k++)
        made.outputs[k] = (struct id_list){&chain->outputs[k], !digest_is_zero(&chain->outputs[k])};
    if (!s->options->check && store_batch_ref_delete(w->batch, head_ref(&r->work, s, i), &e))
        return node_store_failed(w, &e);
    return node_commit(w, i, &made);
}

enum outcome chain_run(struct worker *w, uint32_t i)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    const struct op *op = s->job->nodes[i].op;
    struct err e = {0};
    struct chain chain;
    arena_reset(&w->arena);
    if (chain_open(&chain, w, i, arena_array(&r->work, struct digest, op_count_outputs(op)), &e))
        return node_fail(w, i, "", &e);
    if (chain.n == 0) {
        err_fail(&e, ERR_FAILED, "op %s has no segments to run", op->name);
        chain_close(&chain);
        return node_fail(w, i, "", &e);
    }
    pthread_mutex_lock(&s->mutex);
    r->elements = chain.n;
    pthread_mutex_unlock(&s->mutex);
    progress_node_start(s->progress, i, chain.n, r->why);
    enum outcome outcome = run_segments(w, i, &chain);
    if (outcome == OUT_DONE)
        outcome = finish(w, i, &chain);
    chain_close(&chain);
    return outcome;
}

enum err_code chain_plan(struct digest *outputs, struct worker *w, uint32_t i, struct err *e)
{
    struct node_run *r = &w->s->nodes[i];
    struct chain chain;
    enum err_code code = chain_open(&chain, w, i, outputs, e);
    if (code)
        return err_up(e, code);
    r->elements = chain.n;
    r->reused = chain.reused;
    r->cached = chain.done - chain.reused;
    r->ran = chain.n - chain.done;
    count_witness(r, &chain);
    chain_close(&chain);
    return OK;
}
