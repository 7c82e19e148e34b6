/* Chains: a fold in segments, each an action whose key holds the id of the record before it and,
 * instead of the parameters, the text that the op says the segment depends on. So more steps go on
 * from what is there, and a crash costs at most one segment. */
#include "engine/session.h"

#include "base/os.h"

#include <inttypes.h>
#include <string.h>

struct chain {
    uint64_t n;
    bool has_previous;
    struct digest previous;
    struct digest *outputs; /* of the last segment done, by op->outputs */
};

static enum err_code segment_key(struct key *key, struct op_segment *segment, struct session *s,
                                 struct arena *a, uint32_t i, uint64_t index,
                                 const struct chain *chain, struct err *e)
{
    const struct node *node = &s->job->nodes[i];
    struct op_ctx ctx;
    ctx_init(&ctx, s->nodes[i].shared, node, a, NULL);
    memset(segment, 0, sizeof *segment);
    segment->index = index;
    enum err_code code = node->op->segment(segment, &ctx, index, e);
    if (code)
        return err_up(e, code);
    struct key_spec spec = {.node = node,
                            .numerics = s->host.numerics,
                            .inputs = s->nodes[i].key_inputs,
                            .n_inputs = op_count_inputs(node->op),
                            .segment = segment->key,
                            .previous = chain->has_previous ? &chain->previous : NULL};
    return err_up(e, key_make(key, a, &spec, e));
}

static void step(struct chain *chain, const struct op *op, const struct made *made)
{
    for (size_t r = 0; r < op_count_outputs(op); r++)
        chain->outputs[r] = made->outputs[r].n ? made->outputs[r].ids[0] : (struct digest){0};
    chain->previous = chain->outputs[0];
    chain->has_previous = true;
}

static enum outcome segment_run(struct worker *w, uint32_t i, struct chain *chain,
                                const struct op_segment *segment, const struct key *key,
                                const struct made *before)
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
    ctx.pool = node->op->parallel ? s->pool : NULL;
    ctx.segment = segment->index;
    ctx.previous = chain->has_previous ? &chain->previous : NULL;
    struct made made = {.outputs = ctx.outputs, .run = s->run};
    enum outcome outcome = OUT_DONE;
    if (node_prepare(w, i, &e)) {
        outcome = node_is_lost(s, i) ? OUT_LOST : node_op_failed(w, i, &ctx, "", &e);
    } else if (node->op->run(&ctx, r->op_state, &e) || ctx.loss.input != LOST_NONE ||
               ctx_check_outputs(&ctx, &e) || (before && check_same(node->op, before, &made, &e))) {
        outcome = node_op_failed(w, i, &ctx, where, &e);
    } else if (before) {
        session_drop_batch(w);
    } else {
        made.cost_ns = os_monotonic_ns() - start;
        made.finished_ns = os_wall_ns();
        /* The next segment reads this one's record. */
        if (made_write(w->batch, &w->arena, node->op, key, &made, &e) ||
            committer_append(s->commit, w->batch, &e) || committer_flush(s->commit, &e)) {
            session_drop_batch(w);
            session_fail(s, &e);
            outcome = OUT_DROPPED;
        }
    }
    if (outcome == OUT_DONE)
        step(chain, node->op, &made);
    if (outcome == OUT_FAILED)
        progress_element(s->progress, i, ELEMENT_FAILED, segment->index, NULL,
                         node_failure_text(&w->arena, node, where, &e));
    ctx_finish(&ctx);
    return outcome;
}

static enum outcome segment_do(struct worker *w, uint32_t i, struct chain *chain, uint64_t index)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    const struct op *op = s->job->nodes[i].op;
    struct op_segment segment;
    struct key key;
    struct made made;
    struct err e = {0};
    if (segment_key(&key, &segment, s, &w->arena, i, index, chain, &e))
        return node_fail(w, i, "", &e);
    bool known = !made_read(&made, &w->arena, s->store, op, &key.digest, NULL) &&
                 made.outputs[0].n == 1 &&
                 made_is_whole(s->store, op, &made, &w->arena, r->distrust);
    bool run = !known || s->options->check;
    if (!run) {
        step(chain, op, &made);
    } else {
        enum outcome outcome = segment_run(w, i, chain, &segment, &key, known ? &made : NULL);
        if (outcome != OUT_DONE)
            return outcome;
    }
    pthread_mutex_lock(&s->mutex);
    r->ran += run;
    r->cached += !run;
    pthread_mutex_unlock(&s->mutex);
    progress_element(s->progress, i, run ? ELEMENT_RAN : ELEMENT_CACHED, index, NULL, NULL);
    return OUT_DONE;
}

enum outcome chain_run(struct worker *w, uint32_t i)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    const struct op *op = s->job->nodes[i].op;
    struct op_ctx ctx;
    struct err e = {0};
    size_t n = op_count_outputs(op);
    struct chain chain = {.outputs = arena_array(&r->work, struct digest, n)};
    arena_reset(&w->arena);
    ctx_init(&ctx, r->shared, &s->job->nodes[i], &w->arena, NULL);
    if (op->segments(&chain.n, &ctx, &e))
        return node_op_failed(w, i, &ctx, "", &e);
    if (chain.n == 0) {
        err_fail(&e, ERR_FAILED, "op %s has no segments to run", op->name);
        return node_fail(w, i, "", &e);
    }
    pthread_mutex_lock(&s->mutex);
    r->elements = chain.n;
    pthread_mutex_unlock(&s->mutex);
    progress_node_start(s->progress, i, chain.n, r->why);
    for (uint64_t k = 0; k < chain.n; k++) {
        if (session_interrupted(s))
            return OUT_DROPPED;
        arena_reset(&w->arena);
        enum outcome outcome = segment_do(w, i, &chain, k);
        if (outcome != OUT_DONE)
            return outcome;
    }
    r->cached = r->elements > r->ran ? r->elements - r->ran : 0;
    struct made made = {.outputs = arena_array(&r->work, struct id_list, n)};
    for (size_t k = 0; k < n; k++)
        made.outputs[k] = (struct id_list){&chain.outputs[k], !digest_is_zero(&chain.outputs[k])};
    return node_commit(w, i, &made);
}

enum err_code chain_count(uint64_t *n, uint64_t *cached, struct digest *outputs, struct session *s,
                          uint32_t i, struct err *e)
{
    const struct node *node = &s->job->nodes[i];
    struct arena a = {0};
    struct op_ctx ctx;
    struct op_segment segment;
    struct key key;
    struct made made;
    struct chain chain = {.outputs = outputs};
    ctx_init(&ctx, s->nodes[i].shared, node, &a, NULL);
    enum err_code code = node->op->segments(n, &ctx, e);
    for (*cached = 0; !code && *cached < *n; ++*cached) {
        code = segment_key(&key, &segment, s, &a, i, *cached, &chain, e);
        if (code || made_read(&made, &a, s->store, node->op, &key.digest, NULL) ||
            made.outputs[0].n != 1 || !made_is_whole(s->store, node->op, &made, &a, false))
            break;
        step(&chain, node->op, &made);
    }
    arena_free(&a);
    return err_up(e, code);
}
