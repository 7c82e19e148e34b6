/* Maps: one action per element, except in blocks of the input that are cached as a whole
 * (map_tree.h). Workers take ranges of positions. Results come back in any order and are assembled
 * in element order; at most MAP_WINDOW elements (their output ids) are held. */
#include "engine/node/map_node.h"

#include "base/os.h"
#include "engine/cache/label.h"
#include "engine/node/element_reuse.h"
#include "engine/node/map_tree.h"
#include "engine/node/together.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_BYTES = 1 << 20, CHEAP_NS = 100000000 };

/* Output ids of one element, copied out of its arena. */
struct slot {
    bool full;
    struct id_list *outputs;
    struct span witness; /* heap */
};

struct map_run {
    /* Under the session's mutex. */
    uint64_t next;           /* first element not handed out, and in no found leaf */
    unsigned in_flight;      /* ranges */
    struct map_tree *blocks; /* NULL: every element is looked up */
    /* Under `mutex`. */
    pthread_mutex_t mutex;
    uint64_t floor; /* elements before it are in the builders */
    bool broken;    /* no result will come of it: failed, dropped, or only planned */
    bool failed, dropped;
    struct slot slots[MAP_WINDOW];
    struct store_batch *batch; /* blocks of the collections */
    struct assemble *out;
};

static enum err_code feed(struct worker *w, uint32_t i, struct err *e);

/* With --check no block is taken from the store. */
static void find_blocks(struct worker *w, uint32_t i, struct map_run *m)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    struct err e = {0};
    if (s->options->check)
        return;
    /* A damaged input shows when its elements are asked for. */
    if (map_tree_new(&m->blocks, w, i, &e)) {
        map_tree_free(m->blocks, s->job->nodes[i].op);
        m->blocks = NULL;
    }
    m->next = map_tree_skip(m->blocks, 0);
    r->cached = map_tree_cached(m->blocks);
    r->reused += map_tree_reused(m->blocks);
    map_tree_witnesses(&r->witnesses, m->blocks);
    progress_cached(s->progress, i, r->cached + map_tree_reused(m->blocks));
    if (feed(w, i, &e)) {
        m->broken = m->dropped = true;
        node_cannot_read(w, i, &e);
    }
}

bool map_has_work(const struct session *s, uint32_t i)
{
    const struct map_run *m = s->nodes[i].map;
    return m->next < s->nodes[i].elements && !m->broken;
}

void map_new(struct worker *w, uint32_t i)
{
    const struct op *op = w->s->job->nodes[i].op;
    struct map_run *m = must_calloc(1, sizeof *m);
    pthread_mutex_init(&m->mutex, NULL);
    m->batch = store_batch_new(w->s->store);
    m->out = assemble_new(op, w->s->store, m->batch);
    w->s->nodes[i].map = m;
    find_blocks(w, i, m);
}

static void empty_slot(struct slot *slot, size_t n_outputs)
{
    if (!slot->full)
        return;
    for (size_t r = 0; r < n_outputs; r++)
        free(slot->outputs[r].ids);
    free(slot->outputs);
    free((void *)slot->witness.data);
    *slot = (struct slot){0};
}

void map_free(struct map_run *m, const struct op *op)
{
    if (!m)
        return;
    size_t n = op_count_outputs(op);
    for (size_t k = 0; k < MAP_WINDOW; k++)
        empty_slot(&m->slots[k], n);
    assemble_free(m->out);
    store_batch_free(m->batch);
    map_tree_free(m->blocks, op);
    pthread_mutex_destroy(&m->mutex);
    free(m);
}

/* ---- handing out ---- */

static bool is_stopping(struct session *s, uint32_t i)
{
    struct map_run *m = s->nodes[i].map;
    pthread_mutex_lock(&m->mutex);
    bool stop = m->dropped || (m->failed && !s->options->keep_going);
    pthread_mutex_unlock(&m->mutex);
    return stop;
}

static uint64_t room(struct map_run *m)
{
    pthread_mutex_lock(&m->mutex);
    /* When nothing will be built, nothing is held. */
    uint64_t held = m->broken ? 0 : m->next - m->floor;
    pthread_mutex_unlock(&m->mutex);
    return held < MAP_WINDOW ? MAP_WINDOW - held : 0;
}

bool map_has_more(struct session *s, uint32_t i)
{
    struct node_run *r = &s->nodes[i];
    return r->phase == PHASE_OPEN && r->map->next < r->elements && room(r->map) &&
           !is_stopping(s, i);
}

bool map_take(uint64_t *from, uint64_t *n, struct session *s, uint32_t i)
{
    struct node_run *r = &s->nodes[i];
    struct map_run *m = r->map;
    if (!map_has_more(s, i))
        return false;
    /* Small enough that the workers end together, large enough that the queue does not show. */
    uint64_t left = r->elements - m->next, most = room(m);
    *n = left / (s->threads * 8u) + 1;
    if (*n > MAP_RANGE)
        *n = MAP_RANGE;
    if (*n > most)
        *n = most;
    *n = map_tree_run(m->blocks, m->next, *n);
    *from = m->next;
    m->next = map_tree_skip(m->blocks, m->next + *n);
    m->in_flight++;
    return true;
}

void map_put_back(struct session *s, uint32_t i)
{
    s->nodes[i].map->in_flight--;
}

bool map_is_over(struct session *s, uint32_t i)
{
    struct node_run *r = &s->nodes[i];
    if (r->phase != PHASE_OPEN || r->map->in_flight)
        return false;
    return r->map->next == r->elements || is_stopping(s, i) || session_interrupted(s);
}

/* ---- results in order ---- */

/* Committed in parts, so that many found leaves do not fill the memory. */
static enum err_code commit_some(struct worker *w, struct err *e)
{
    return store_batch_bytes(w->batch) > BLOCKS_BYTES
               ? err_up(e, committer_append(w->s->commit, w->batch, e))
               : OK;
}

/* All that is next in order; actions of leaves that are now whole go into the worker's batch. */
static enum err_code feed(struct worker *w, uint32_t i, struct err *e)
{
    struct session *s = w->s;
    struct map_run *m = s->nodes[i].map;
    size_t n_outputs = op_count_outputs(s->job->nodes[i].op);
    enum err_code code = OK;
    while (!code) {
        uint64_t before = m->floor;
        struct slot *slot = &m->slots[m->floor % MAP_WINDOW];
        if (slot->full) {
            code = map_tree_add(m->blocks, m->out, s, i, m->floor, slot->outputs, slot->witness,
                                w->batch, e);
            empty_slot(slot, n_outputs);
            m->floor++;
        } else {
            code = map_tree_feed(m->blocks, m->out, &m->floor, s, i, w->batch, e);
        }
        if (m->floor == before)
            break;
        if (!code)
            code = commit_some(w, e);
    }
    return err_up(e, code);
}

static void *copy_bytes(const void *data, size_t len)
{
    return data ? memcpy(must_calloc(1, len + 1), data, len) : NULL;
}

/* A `witness` without data: none. */
static void deliver(struct worker *w, uint32_t i, uint64_t position,
                    const struct action_result *made, struct span witness)
{
    struct session *s = w->s;
    struct map_run *m = s->nodes[i].map;
    const struct op *op = s->job->nodes[i].op;
    size_t n = op_count_outputs(op);
    struct err e = {0}, fed = {0};
    pthread_mutex_lock(&m->mutex);
    if (!m->broken) {
        struct slot *slot = &m->slots[position % MAP_WINDOW];
        slot->full = true;
        slot->witness = (struct span){0};
        if (op->merge_witnesses && m->blocks)
            slot->witness = span_of(copy_bytes(witness.data, witness.len), witness.len);
        slot->outputs = copy_bytes(made->outputs, n * sizeof *slot->outputs);
        for (size_t r = 0; r < n; r++)
            slot->outputs[r].ids =
                copy_bytes(made->outputs[r].ids, made->outputs[r].n * sizeof(struct digest));
        if (feed(w, i, &fed))
            m->broken = m->dropped = true;
        if (store_batch_bytes(m->batch) > BLOCKS_BYTES && !s->options->check)
            store_batch_append(w->batch, m->batch);
    }
    pthread_mutex_unlock(&m->mutex);
    if (fed.code)
        node_cannot_read(w, i, &fed);
    if (store_batch_count(w->batch) && committer_append(s->commit, w->batch, &e))
        session_fail(s, &e);
}

static void give_up(struct map_run *m, enum outcome outcome)
{
    pthread_mutex_lock(&m->mutex);
    m->broken = true;
    m->failed |= outcome == OUT_FAILED;
    m->dropped |= outcome == OUT_DROPPED;
    pthread_mutex_unlock(&m->mutex);
}

/* ---- one element ---- */

static enum outcome element_failed(struct worker *w, uint32_t i, uint64_t position,
                                   const struct digest *id, const struct op_ctx *ctx,
                                   const struct err *e)
{
    struct session *s = w->s;
    char hex[DIGEST_HEX];
    char *label = label_of_record(&w->arena, s->store, id);
    char *where = arena_printf(&w->arena, ", element %" PRIu64 " (%.8s, %s)", position,
                               digest_hex(hex, id), label);
    enum outcome outcome = node_op_failed(w, i, ctx, where, e);
    if (outcome == OUT_FAILED) {
        char *text = node_failure_text(&w->arena, &s->job->nodes[i], where, e);
        progress_element(s->progress, i, ELEMENT_FAILED, position, id, text);
    }
    return outcome;
}

static void count_witness(struct session *s, uint32_t i, const struct action_result *made)
{
    pthread_mutex_lock(&s->mutex);
    witness_counts_add(&s->nodes[i].witnesses, witness_reason(made->note), 1);
    pthread_mutex_unlock(&s->mutex);
}

/* The action of an element that ran, and what leads to it. */
static enum err_code write_element(struct worker *w, uint32_t i, const struct digest *id,
                                   const struct key *key, const struct action_result *made,
                                   struct op_ctx *ctx, struct err *e)
{
    const struct op *op = w->s->job->nodes[i].op;
    enum err_code code = action_write(w->batch, &w->arena, op, key, made, e);
    if (!code && op->reuse && ctx->witness.data)
        code = reuse_store_witness(w->batch, w, i, id, &key->digest, ctx->witness, e);
    if (!code)
        code = recall_write(w->batch, ctx, &key->digest, e);
    return code ? err_up(e, code) : err_up(e, committer_append(w->s->commit, w->batch, e));
}

static enum outcome element_run(struct worker *w, uint32_t i, uint64_t position,
                                const struct digest *id, const struct key *key,
                                const struct action_result *before, struct together *t,
                                enum element_state *state)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    const struct node *node = &s->job->nodes[i];
    struct op_ctx ctx;
    struct err e = {0};
    uint64_t start = os_monotonic_ns();
    ctx_init(&ctx, r->shared, node, &w->arena, w->batch);
    ctx.element = id;
    node_place(&ctx, s, i);
    ctx.recall.may = !before && !s->options->check;
    enum outcome outcome = OUT_DONE;
    struct action_result made = {.outputs = ctx.outputs};
    if (together_share(&ctx, t, w, i, position, &e) || node->op->run(&ctx, r->op_state, &e) ||
        ctx.lost[0] || (before && node_check_same(node->op, before, &made, &e))) {
        outcome = element_failed(w, i, position, id, &ctx, &e);
    } else {
        if (ctx.recall.found) {
            made = ctx.recall.made;
            *state = ELEMENT_REUSED;
            count_witness(s, i, &made);
        }
        made.run = s->run;
        made.cost_ns = os_monotonic_ns() - start;
        made.finished_ns = os_wall_ns();
        if (before)
            session_drop_batch(w);
        else if (write_element(w, i, id, key, &made, &ctx, &e)) {
            session_drop_batch(w);
            session_fail(s, &e);
            outcome = OUT_DROPPED;
        }
        if (outcome == OUT_DONE)
            deliver(w, i, position, &made, ctx.witness);
    }
    ctx_finish(&ctx);
    return outcome;
}

static enum outcome prepare_failed(struct worker *w, uint32_t i, const struct err *failure)
{
    if (failure->code == ERR_CANCELLED || atomic_load(&w->s->lost))
        return OUT_DROPPED;
    struct map_run *m = w->s->nodes[i].map;
    pthread_mutex_lock(&m->mutex);
    bool first = !m->failed;
    m->failed = true;
    pthread_mutex_unlock(&m->mutex);
    if (first)
        node_fail(w, i, "", failure);
    return OUT_DROPPED; /* no element can do better */
}

/* An earlier result that stands becomes the result of this action, too. */
static bool element_reuse(struct worker *w, uint32_t i, uint64_t position, const struct digest *id,
                          const struct key *key)
{
    struct session *s = w->s;
    struct action_result made;
    struct reuse_origin origin;
    struct span witness;
    struct err e = {0};
    if (s->options->check || !reuse_element(&made, &origin, &witness, w, i, id))
        return false;
    made.cost_ns = 0;
    made.finished_ns = os_wall_ns();
    if (action_write(w->batch, &w->arena, s->job->nodes[i].op, key, &made, &e) ||
        reuse_follow(w->batch, w, &origin, &key->digest, &e) ||
        committer_append(s->commit, w->batch, &e)) {
        session_drop_batch(w);
        return false;
    }
    count_witness(s, i, &made);
    deliver(w, i, position, &made, witness);
    return true;
}

/* Whether `plan` may run an element: as long as all that run take little time, by the last run. */
static bool is_cheap(const struct session *s, uint32_t i)
{
    const Eqloom__RunNode *last = s->history.made[i];
    if (!last || !last->ran || s->job->nodes[i].op->parallel || s->nodes[i].map->broken)
        return false;
    uint64_t each = (last->work_ns ? last->work_ns : last->wall_ns) / last->ran;
    return (s->nodes[i].ran + 1) * each < CHEAP_NS;
}

static enum outcome element(struct worker *w, uint32_t i, uint64_t position, struct together *t,
                            enum element_state *state)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    const struct op *op = s->job->nodes[i].op;
    struct digest id;
    struct key key;
    struct action_result made;
    struct err e = {0};
    *state = ELEMENT_CACHED;
    arena_reset(&w->arena);
    if (ctx_node_element(&id, r->shared, position, &e))
        return node_cannot_read(w, i, &e);
    if (node_element_key(&key, s, &w->arena, i, &id, &e)) {
        session_fail(s, &e);
        return OUT_DROPPED;
    }
    bool cached = !action_read(&made, &w->arena, s->store, op, &key.digest, NULL) &&
                  action_is_whole(s->store, op, &made);
    if (cached && !s->options->check) {
        struct span witness = {0};
        if (op->merge_witnesses && r->map->blocks)
            witness = reuse_find_witness(w, i, &id, &key.digest);
        deliver(w, i, position, &made, witness);
        return OUT_DONE;
    }
    *state = ELEMENT_RAN;
    bool may_run = !s->planning || is_cheap(s, i);
    if (session_late(s) || (!may_run && !op->reuse)) {
        give_up(r->map, OUT_OPEN);
        return OUT_DONE;
    }
    if (node_prepare(w, i, &e))
        return prepare_failed(w, i, &e);
    if (!cached && op->reuse && element_reuse(w, i, position, &id, &key)) {
        *state = ELEMENT_REUSED;
        return OUT_DONE;
    }
    if (!cached && s->options->check) /* it may have been reused with its block */
        cached = reuse_element(&made, &(struct reuse_origin){0}, &(struct span){0}, w, i, &id);
    if (may_run)
        return element_run(w, i, position, &id, &key, cached ? &made : NULL, t, state);
    give_up(r->map, OUT_OPEN);
    return OUT_DONE;
}

void map_range(struct worker *w, uint32_t i, uint64_t from, uint64_t n)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    uint64_t began = os_thread_ns();
    bool any_ran = false;
    struct together t;
    together_begin(&t, w, i, from, n);
    for (uint64_t k = from; k < from + n; k++) {
        enum element_state state;
        if (session_interrupted(s))
            give_up(r->map, OUT_DROPPED);
        if (is_stopping(s, i))
            break;
        enum outcome outcome = element(w, i, k, &t, &state);
        if (outcome == OUT_DONE) {
            progress_element(s->progress, i, state, k, NULL, NULL);
            pthread_mutex_lock(&s->mutex);
            r->ran += state == ELEMENT_RAN;
            r->reused += state == ELEMENT_REUSED;
            r->cached += state == ELEMENT_CACHED;
            pthread_mutex_unlock(&s->mutex);
            any_ran = any_ran || state == ELEMENT_RAN;
        } else {
            give_up(r->map, outcome);
        }
    }
    together_end(&t);
    if (!any_ran)
        return;
    pthread_mutex_lock(&s->mutex);
    r->work_ns += os_thread_ns() - began;
    pthread_mutex_unlock(&s->mutex);
}

/* ---- the end ---- */

enum outcome map_close(struct worker *w, uint32_t i)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    struct map_run *m = r->map;
    struct err e = {0};
    struct action_result made = {0};
    if (r->failed)
        return OUT_FAILED;
    if (m->broken || m->floor < r->elements)
        return OUT_DROPPED;
    /* Elements of an earlier attempt in this run were found in the store by this one. */
    r->cached = r->elements > r->ran + r->reused ? r->elements - r->ran - r->reused : 0;
    node_explain_reuse(s, i);
    arena_reset(&w->arena);
    if (assemble_finish(&made.outputs, &w->arena, m->out, &e) ||
        map_tree_finish(m->blocks, made.outputs, m->out, s, i, m->batch, &e))
        return node_cannot_read(w, i, &e);
    store_batch_append(w->batch, m->batch);
    return node_commit(w, i, &made);
}
