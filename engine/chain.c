/* Chains: a fold in segments, each an action whose key holds the id of the record before it and,
 * instead of the parameters, the text that the op says the segment depends on. So more steps go on
 * from what is there, and a crash costs at most one segment. Of the records in between, gc leaves
 * what the node's `keep` asks for (trail.h); a chain goes on from the last one that is there. */
#include "engine/session.h"

#include "base/os.h"
#include "engine/trail.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct chain {
    uint64_t n;
    bool has_previous;
    struct digest previous;
    struct digest *outputs; /* of the last segment done, by op->outputs */
    struct digest *made;    /* by segment: its first output; heap */
    struct trail trail;
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
        trail_add(&chain->trail, &key->digest, &made.outputs[0].ids[0]);
        if (made_write(w->batch, &w->arena, node->op, key, &made, &e) ||
            trail_write(w->batch, &chain->trail, &key->digest, &e) ||
            (!s->options->check &&
             trail_keep_head(w->batch, s, i, segment->index, &made.outputs[0].ids[0], &e)) ||
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

/* ---- what is known ---- */

static bool read_segment(struct made *made, struct arena *a, struct session *s, uint32_t i,
                         const struct digest *key)
{
    return !made_read(made, a, s->store, s->job->nodes[i].op, key, NULL) && made->outputs[0].n == 1;
}

/* Follows the keys as far as it is known what segments gave, whether or not that is still there.
 * *n: so many; keys are theirs (heap). */
static enum err_code follow(struct digest **keys, uint64_t *n, struct chain *c, struct session *s,
                            uint32_t i, struct err *e)
{
    struct arena a = {0};
    struct op_segment segment;
    struct key key;
    struct made made;
    enum err_code code = OK;
    *n = 0;
    *keys = calloc(c->n + 1, sizeof **keys);
    c->made = calloc(c->n + 1, sizeof *c->made);
    if (!*keys || !c->made)
        abort(); /* as small allocations do */
    for (; *n < c->n; ++*n) {
        arena_reset(&a);
        code = segment_key(&key, &segment, s, &a, i, *n, c, e);
        if (code)
            break;
        (*keys)[*n] = key.digest;
        if (*n == 0)
            trail_load(&c->trail, s->store, &key.digest);
        const struct digest *left = trail_find(&c->trail, &key.digest);
        if (read_segment(&made, &a, s, i, &key.digest))
            c->made[*n] = made.outputs[0].ids[0];
        else if (left)
            c->made[*n] = *left;
        else
            break;
        trail_add(&c->trail, &key.digest, &c->made[*n]);
        c->previous = c->made[*n];
        c->has_previous = true;
    }
    arena_free(&a);
    return err_up(e, code);
}

/* Goes to the end of the last segment of which all that it made is there. *n: segments done. */
static enum err_code find_end(uint64_t *n, struct chain *c, struct session *s, uint32_t i,
                              bool distrust, struct err *e)
{
    const struct op *op = s->job->nodes[i].op;
    struct arena a = {0};
    struct digest *keys;
    struct made made;
    enum err_code code = follow(&keys, n, c, s, i, e);
    c->has_previous = false;
    for (; !code && *n; --*n) {
        arena_reset(&a);
        if (!read_segment(&made, &a, s, i, &keys[*n - 1]) ||
            !made_is_whole(s->store, op, &made, &a, distrust))
            continue;
        step(c, op, &made);
        break;
    }
    free(keys);
    arena_free(&a);
    return err_up(e, code);
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
    chain->made[index] = chain->outputs[0];
    pthread_mutex_lock(&s->mutex);
    r->ran += run;
    r->cached += !run;
    pthread_mutex_unlock(&s->mutex);
    progress_element(s->progress, i, run ? ELEMENT_RAN : ELEMENT_CACHED, index, NULL, NULL);
    return OUT_DONE;
}

static enum outcome run_segments(struct worker *w, uint32_t i, struct chain *chain)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    struct err e = {0};
    uint64_t done = 0;
    if (find_end(&done, chain, s, i, r->distrust, &e))
        return node_fail(w, i, "", &e);
    if (s->options->check) { /* each again, from the first */
        done = 0;
        chain->has_previous = false;
    }
    pthread_mutex_lock(&s->mutex);
    r->cached += done;
    pthread_mutex_unlock(&s->mutex);
    progress_cached(s->progress, i, done);
    for (uint64_t k = done; k < chain->n; k++) {
        if (session_interrupted(s))
            return OUT_DROPPED;
        arena_reset(&w->arena);
        enum outcome outcome = segment_do(w, i, chain, k);
        if (outcome != OUT_DONE)
            return outcome;
    }
    return OUT_DONE;
}

static enum outcome finish(struct worker *w, uint32_t i, struct chain *chain)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    size_t n = op_count_outputs(s->job->nodes[i].op);
    struct err e = {0};
    r->cached = r->elements > r->ran ? r->elements - r->ran : 0;
    struct made made = {.outputs = arena_array(&r->work, struct id_list, n)};
    for (size_t k = 0; k < n; k++)
        made.outputs[k] = (struct id_list){&chain->outputs[k], !digest_is_zero(&chain->outputs[k])};
    if (!s->options->check && trail_keep(w->batch, s, i, chain->made, chain->n, &e)) {
        session_fail(s, &e);
        return OUT_DROPPED;
    }
    return node_commit(w, i, &made);
}

enum outcome chain_run(struct worker *w, uint32_t i)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    const struct op *op = s->job->nodes[i].op;
    struct op_ctx ctx;
    struct err e = {0};
    struct chain chain = {.outputs = arena_array(&r->work, struct digest, op_count_outputs(op))};
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
    enum outcome outcome = run_segments(w, i, &chain);
    if (outcome == OUT_DONE)
        outcome = finish(w, i, &chain);
    trail_free(&chain.trail);
    free(chain.made);
    return outcome;
}

enum err_code chain_count(uint64_t *n, uint64_t *cached, struct digest *outputs, struct session *s,
                          uint32_t i, struct err *e)
{
    const struct node *node = &s->job->nodes[i];
    struct arena a = {0};
    struct op_ctx ctx;
    struct chain chain = {.outputs = outputs};
    ctx_init(&ctx, s->nodes[i].shared, node, &a, NULL);
    enum err_code code = node->op->segments(n, &ctx, e);
    chain.n = *n;
    *cached = 0;
    if (!code)
        code = find_end(cached, &chain, s, i, false, e);
    trail_free(&chain.trail);
    free(chain.made);
    arena_free(&a);
    return err_up(e, code);
}
