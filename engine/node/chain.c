/* Chains: a fold in segments. Each segment is an action whose key holds the key of the previous
 * segment and, instead of the parameters, the text on which the op says that the segment depends.
 * So a chain with more steps continues from the stored segments, and a crash costs at most one
 * segment. gc may remove the records in between: a chain continues from the last one that is
 * stored. */
#include "engine/node/chain.h"

#include "base/os.h"
#include "engine/remote/remote.h"

#include <inttypes.h>
#include <string.h>

static void chain_step(struct chain *c, const struct action_result *made)
{
    for (size_t r = 0; r < op_count_outputs(c->r->op); r++)
        c->outputs[r] = made->outputs[r].n ? made->outputs[r].ids[0] : (struct digest){0};
    c->previous = &c->outputs[0];
    c->r->foreign = c->r->foreign || made->foreign;
}

/* ---- keys ---- */

static enum err_code key_of(struct key *key, const struct chain *c, const struct key_input *inputs,
                            size_t n_inputs, const struct op_segment *segment,
                            const struct digest *after, struct arena *a, struct err *e)
{
    struct key_spec spec = {.node = c->r->node,
                            .numerics = c->r->s->numerics,
                            .inputs = inputs,
                            .n_inputs = n_inputs,
                            .segment = segment->key,
                            .after = after};
    return err_up(e, key_make(key, a, &spec, e));
}

static enum err_code chain_key(struct key *key, struct op_segment *segment, struct chain *c,
                               struct arena *a, uint64_t index, struct err *e)
{
    struct op_ctx ctx;
    struct chain_segment *x = &c->segments[index];
    ctx_init(&ctx, c->r, a, NULL);
    *segment = (struct op_segment){.index = index};
    enum err_code code = c->r->op->segment(segment, &ctx, index, e);
    if (!code)
        code = key_of(key, c, c->r->inputs, op_count_inputs(c->r->op), segment,
                      index ? &x[-1].key : NULL, a, e);
    if (!code)
        x->key = key->digest;
    return err_up(e, code);
}

/* Makes the keys in which op.reads replaces the inputs. Returns false if the op cannot tell what it
 * reads. */
static bool find_reads(struct chain *c, uint64_t index, struct arena *a)
{
    const struct op *op = c->r->op;
    struct chain_segment *x = &c->segments[index];
    struct op_segment segment = {.index = index};
    struct digest reads;
    struct key_input input = {"@reads", &reads, 1};
    struct op_ctx ctx;
    struct key key;
    struct err e = {0};
    ctx_init(&ctx, c->r, a, NULL);
    ctx.segment = index;
    bool told = !op->segment(&segment, &ctx, index, &e) &&
                !op->reads(&reads, &x->reason, &ctx, c->r->op_state, &e) && !ctx.lost[0] &&
                !key_of(&key, c, &input, 1, &segment, index ? &x[-1].reads : NULL, a, &e);
    ctx_finish(&ctx);
    if (!told)
        return false;
    x->reads = key.digest;
    x->reason = arena_strdup(&c->r->work, x->reason);
    return true;
}

/* ---- lookup ---- */

/* Reads the outputs of a segment. Returns false unless all of them are stored. */
static bool read_segment(struct action_result *made, const struct chain *c, struct arena *a,
                         uint64_t index, bool by_reads)
{
    const struct chain_segment *x = &c->segments[index];
    const struct op *op = c->r->op;
    struct store *s = c->r->s->store;
    if (by_reads && digest_is_zero(&x->reads))
        return false;
    bool there = by_reads ? trace_follow(made, a, s, op, &x->reads)
                          : !action_read(made, a, s, op, &x->key, NULL);
    return there && made->outputs[0].n == 1 && action_is_complete(s, op, made);
}

/* Searches for the last stored segment behind those found so far. */
static void find_end(struct chain *c, bool by_reads)
{
    struct arena a = {0};
    struct action_result made;
    for (uint64_t k = c->n; k-- > c->done; arena_reset(&a)) {
        if (!read_segment(&made, c, &a, k, by_reads) &&
            (by_reads || !remote_pull(c->r, &c->segments[k].key) ||
             !read_segment(&made, c, &a, k, false)))
            continue;
        chain_step(c, &made);
        c->reused = by_reads ? k + 1 - c->done : 0;
        c->done = k + 1;
        break;
    }
    arena_free(&a);
}

enum err_code chain_open(struct chain *c, struct node_run *r, struct err *e)
{
    struct session *s = r->s;
    struct arena a = {0};
    struct op_segment segment;
    struct op_ctx ctx;
    struct key key;
    *c = (struct chain){.r = r,
                        .outputs = arena_array(&r->work, struct digest, op_count_outputs(r->op))};
    ctx_init(&ctx, r, &a, NULL);
    enum err_code code = r->op->segments(&c->n, &ctx, e);
    c->segments = arena_array(&r->work, struct chain_segment, c->n);
    for (uint64_t k = 0; k < c->n && !code; k++, arena_reset(&a))
        code = chain_key(&key, &segment, c, &a, k, e);
    if (!code)
        find_end(c, false);
    /* A plan without an earlier run to look up need not prepare the op. */
    bool looks_back = !code && c->done < c->n && r->op->reads &&
                      (!s->planning || s->history.made[r->index]) && !node_prepare(r, NULL);
    for (uint64_t k = 0; looks_back && k < c->n && find_reads(c, k, &a); k++)
        arena_reset(&a);
    if (looks_back && !s->options->check)
        find_end(c, true);
    arena_free(&a);
    return err_up(e, code);
}

/* ---- writing ---- */

static enum err_code chain_write(struct store_batch *b, struct chain *c, uint64_t index,
                                 const struct key *key, const struct action_result *made,
                                 struct arena *a, struct err *e)
{
    struct trace trace = {.action = key->digest};
    enum err_code code = action_write(b, a, c->r->op, key, made, e);
    if (!code && !digest_is_zero(&c->segments[index].reads))
        code = trace_write(b, a, &c->segments[index].reads, &trace, e);
    return err_up(e, code);
}

enum err_code chain_adopt(struct store_batch *b, struct chain *c, struct err *e)
{
    struct arena a = {0};
    struct op_segment segment;
    struct action_result made;
    struct key key;
    uint64_t k = c->done - 1;
    enum err_code code = chain_key(&key, &segment, c, &a, k, e);
    if (!code && read_segment(&made, c, &a, k, true)) {
        made.run = c->r->s->run;
        made.note = arena_printf(&a, WITNESS_NOTE "%s", c->segments[k].reason);
        code = chain_write(b, c, k, &key, &made, &a, e);
    }
    arena_free(&a);
    return err_up(e, code);
}

/* ---- running segments ---- */

/* Until the chain is finished, this ref protects its newest record from gc. */
static char *head_ref(struct arena *a, const struct node_run *r)
{
    return arena_printf(a, "%s/%s" JOB_CHAIN_HEAD, r->s->job->name, r->node->name);
}

static enum outcome segment_run(struct worker *w, struct chain *chain, uint64_t index)
{
    struct node_run *r = chain->r;
    struct session *s = r->s;
    struct op_segment segment;
    struct key key;
    struct op_ctx ctx;
    struct action_result before;
    struct err e = {0};
    uint64_t start = os_monotonic_ns();
    if (chain_key(&key, &segment, chain, &w->arena, index, &e))
        return node_fail(r, "", &e);
    bool compare = s->options->check &&
                   action_find(&before, &w->arena, s->store, r->op, &key.digest) &&
                   before.outputs[0].n == 1;
    char *where = arena_printf(&w->arena, ", segment %" PRIu64 " (%s)", index,
                               segment.label ? segment.label : "");
    ctx_init(&ctx, r, &w->arena, w->batch);
    ctx.segment = index;
    ctx.previous = chain->previous;
    struct action_result made = {
        .outputs = ctx.outputs, .run = s->run, .foreign = r->foreign}; /* of the segment before */
    enum outcome outcome = OUT_DONE;
    bool replace = false;
    if (node_prepare(r, &e)) {
        outcome = node_op_failed(w, r, &ctx, "", &e);
    } else if (r->op->run(&ctx, r->op_state, &e) || ctx.lost[0] || ctx_check_outputs(&ctx, &e) ||
               (compare && node_check_same(&replace, r, where, &before, &made, &e))) {
        outcome = node_op_failed(w, r, &ctx, where, &e);
    } else if (compare && !replace) {
        session_drop_batch(w);
    } else {
        made.cost_ns = os_monotonic_ns() - start;
        made.finished_ns = os_wall_ns();
        /* The next segment reads this one's record. */
        if (chain_write(w->batch, chain, index, &key, &made, &w->arena, &e) ||
            (!s->options->check && node_set_ref(w->batch, s->store, head_ref(&w->arena, r),
                                                &made.outputs[0].ids[0], &e)) ||
            committer_append(s->commit, w->batch, &e) || committer_flush(s->commit, &e))
            outcome = node_store_failed(w, &e);
    }
    if (outcome == OUT_DONE) {
        chain_step(chain, &made);
        pthread_mutex_lock(&s->mutex);
        r->ran++;
        pthread_mutex_unlock(&s->mutex);
        progress_element(s->progress, r->index, ELEMENT_RAN, index, NULL, NULL);
    } else if (outcome == OUT_FAILED) {
        progress_element(s->progress, r->index, ELEMENT_FAILED, index, NULL,
                         node_failure_text(&w->arena, r->node, where, &e));
    }
    ctx_finish(&ctx);
    return outcome;
}

/* Adds the found segments to the node's counts. Caller holds the mutex. */
static void count(struct node_run *r, const struct chain *chain)
{
    r->elements = chain->n;
    r->cached = chain->done - chain->reused;
    r->reused += chain->reused;
    r->witnesses.noun = "segments";
    if (chain->reused)
        witness_counts_add(&r->witnesses, &r->arena, chain->segments[chain->done - 1].reason,
                           chain->reused);
}

static enum outcome run_segments(struct worker *w, struct chain *chain)
{
    struct node_run *r = chain->r;
    struct session *s = r->s;
    struct err e = {0};
    enum outcome outcome = OUT_DONE;
    if (s->options->check) { /* recompute every segment */
        chain->done = 0;
        chain->previous = NULL;
        r->foreign = false;
    }
    pthread_mutex_lock(&s->mutex);
    count(r, chain);
    pthread_mutex_unlock(&s->mutex);
    progress_node_start(s->progress, r->index, chain->n, r->why);
    progress_cached(s->progress, r->index, chain->done);
    if (chain->reused &&
        (chain_adopt(w->batch, chain, &e) || committer_append(s->commit, w->batch, &e)))
        return node_store_failed(w, &e);
    for (uint64_t k = chain->done; k < chain->n && outcome == OUT_DONE; k++) {
        arena_reset(&w->arena);
        outcome = session_interrupted(s) ? OUT_DROPPED : segment_run(w, chain, k);
    }
    return outcome;
}

static enum outcome finish(struct worker *w, struct chain *chain)
{
    struct node_run *r = chain->r;
    size_t n = op_count_outputs(r->op);
    struct err e = {0};
    node_explain_reuse(r);
    r->cached = r->elements > r->ran + r->reused ? r->elements - r->ran - r->reused : 0;
    struct action_result made = {.outputs = arena_array(&r->work, struct id_list, n)};
    for (size_t k = 0; k < n; k++)
        made.outputs[k] = (struct id_list){&chain->outputs[k], !digest_is_zero(&chain->outputs[k])};
    if (!r->s->options->check && store_batch_ref_delete(w->batch, head_ref(&r->work, r), &e))
        return node_store_failed(w, &e);
    return node_commit(w, r, &made);
}

enum outcome chain_run(struct worker *w, struct node_run *r)
{
    struct err e = {0};
    struct chain chain;
    arena_reset(&w->arena);
    if (chain_open(&chain, r, &e))
        return node_fail(r, "", &e);
    if (chain.n == 0) {
        err_fail(&e, ERR_FAILED, "op %s has no segments to run", r->op->name);
        return node_fail(r, "", &e);
    }
    enum outcome outcome = run_segments(w, &chain);
    return outcome == OUT_DONE ? finish(w, &chain) : outcome;
}

bool chain_plan(struct node_run *r)
{
    struct chain chain;
    if (chain_open(&chain, r, NULL))
        return false;
    count(r, &chain);
    r->ran = chain.n - chain.done;
    bool whole = r->ran == 0 && chain.n;
    if (whole)
        memcpy(r->outputs, chain.outputs, op_count_outputs(r->op) * sizeof *r->outputs);
    r->state = r->reused ? NODE_REUSED : NODE_CACHED;
    node_explain_reuse(r);
    return whole;
}
