/* Maps: one action per element, except in blocks of the input that are cached as a whole
 * (map_tree.h). Workers take ranges of positions. Results arrive in any order and are assembled in
 * element order; at most MAP_WINDOW elements (their output ids) are buffered. */
#include "engine/node/map_node.h"

#include "base/os.h"
#include "engine/cache/label.h"
#include "engine/node/element_reuse.h"
#include "engine/node/map_tree.h"
#include "engine/node/together.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_WINDOW = 4096, MAP_RANGE = 64, BLOCKS_BYTES = 1 << 20, CHEAP_NS = 100000000 };

/* Output ids of one element, copied out of its arena. */
struct slot {
    bool full;
    struct id_list *outputs;
    struct span witness; /* heap */
};

struct map_run {
    /* Guarded by the session's mutex. */
    uint64_t next;           /* first element not handed out and not in a found leaf */
    unsigned in_flight;      /* number of ranges */
    struct map_tree *blocks; /* NULL: every element is looked up */
    /* Guarded by `mutex`. */
    pthread_mutex_t mutex;
    uint64_t floor; /* all earlier elements are in the builders */
    bool broken;    /* no outputs will be built: failed, dropped, or only planned */
    bool failed, dropped;
    struct slot slots[MAP_WINDOW];
    struct store_batch *batch; /* blocks of the collections */
    struct assemble *out;
};

static enum err_code feed(struct worker *w, struct node_run *r, struct err *e);

/* With --check, no block is looked up. */
static void find_blocks(struct worker *w, struct node_run *r)
{
    struct map_run *m = r->map;
    struct err e = {0};
    if (r->s->options->check)
        return;
    /* Damage of the input is reported when its elements are read. */
    if (map_tree_new(&m->blocks, r, &e)) {
        map_tree_free(m->blocks, r->op);
        m->blocks = NULL;
    }
    m->next = map_tree_skip(m->blocks, 0);
    uint64_t before = r->cached + r->reused;
    map_tree_count(r, m->blocks);
    progress_cached(r->s->progress, r->index, r->cached + r->reused - before);
    if (feed(w, r, &e)) {
        m->broken = m->dropped = true;
        node_read_failed(w, r, &e);
    }
}

bool map_new(struct worker *w, struct node_run *r)
{
    struct map_run *m = r->map = must_calloc(1, sizeof *m);
    pthread_mutex_init(&m->mutex, NULL);
    m->batch = store_batch_new(w->s->store);
    m->out = assemble_new(r->op, w->s->store, m->batch);
    find_blocks(w, r);
    return m->next < r->elements && !m->broken;
}

static void empty_slot(struct slot *slot, size_t n_outputs)
{
    if (!slot->full)
        return;
    for (size_t k = 0; k < n_outputs; k++)
        free(slot->outputs[k].ids);
    free(slot->outputs);
    free((void *)slot->witness.data);
    *slot = (struct slot){0};
}

void map_free(struct node_run *r)
{
    struct map_run *m = r->map;
    if (!m)
        return;
    for (size_t k = 0; k < MAP_WINDOW; k++)
        empty_slot(&m->slots[k], op_count_outputs(r->op));
    assemble_free(m->out);
    store_batch_free(m->batch);
    map_tree_free(m->blocks, r->op);
    pthread_mutex_destroy(&m->mutex);
    free(m);
    r->map = NULL;
}

/* ---- handing out ---- */

static bool is_stopping(const struct node_run *r)
{
    struct map_run *m = r->map;
    pthread_mutex_lock(&m->mutex);
    bool stop = m->dropped || (m->failed && !r->s->options->keep_going);
    pthread_mutex_unlock(&m->mutex);
    return stop;
}

static uint64_t room(struct map_run *m)
{
    pthread_mutex_lock(&m->mutex);
    /* If nothing will be built, nothing is buffered. */
    uint64_t held = m->broken ? 0 : m->next - m->floor;
    pthread_mutex_unlock(&m->mutex);
    return held < MAP_WINDOW ? MAP_WINDOW - held : 0;
}

bool map_has_more(const struct node_run *r)
{
    return r->phase == PHASE_OPEN && r->map->next < r->elements && room(r->map) && !is_stopping(r);
}

bool map_take(uint64_t *from, uint64_t *n, struct node_run *r)
{
    struct map_run *m = r->map;
    if (!map_has_more(r))
        return false;
    /* Small enough that workers end at about the same time, large enough to hide the cost of
     * locking. */
    uint64_t left = r->elements - m->next, most = room(m);
    *n = left / (r->s->threads * 8u) + 1;
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

bool map_finish_range(struct node_run *r)
{
    struct map_run *m = r->map;
    m->in_flight--;
    return r->phase == PHASE_OPEN && !m->in_flight &&
           (m->next == r->elements || is_stopping(r) || session_interrupted(r->s));
}

/* ---- results in order ---- */

/* Feeds all results that are next in order, and adds the actions of completed leaves to the
 * worker's batch. Commits the batch in parts, so that many found leaves do not fill the memory. */
static enum err_code feed(struct worker *w, struct node_run *r, struct err *e)
{
    struct map_run *m = r->map;
    enum err_code code = OK;
    for (uint64_t before = UINT64_MAX; !code && m->floor != before;) {
        before = m->floor;
        struct slot *slot = &m->slots[m->floor % MAP_WINDOW];
        if (slot->full) {
            code = map_tree_add(m->blocks, m->out, r, m->floor, slot->outputs, slot->witness,
                                w->batch, e);
            empty_slot(slot, op_count_outputs(r->op));
            m->floor++;
        } else {
            code = map_tree_feed(m->blocks, m->out, &m->floor, r, w->batch, e);
        }
        if (!code && store_batch_bytes(w->batch) > BLOCKS_BYTES)
            code = committer_append(w->s->commit, w->batch, e);
    }
    return err_up(e, code);
}

static void *copy_bytes(const void *data, size_t len)
{
    return data ? memcpy(must_calloc(1, len + 1), data, len) : NULL;
}

/* `witness` has no data if the result has none. */
static void deliver(struct worker *w, struct node_run *r, uint64_t position,
                    const struct action_result *made, struct span witness)
{
    struct session *s = r->s;
    struct map_run *m = r->map;
    size_t n = op_count_outputs(r->op);
    struct err e = {0}, fed = {0};
    pthread_mutex_lock(&m->mutex);
    r->foreign = r->foreign || made->foreign;
    if (!m->broken) {
        struct slot *slot = &m->slots[position % MAP_WINDOW];
        slot->full = true;
        slot->witness = (struct span){0};
        if (r->op->merge_witnesses && m->blocks)
            slot->witness = span_of(copy_bytes(witness.data, witness.len), witness.len);
        slot->outputs = copy_bytes(made->outputs, n * sizeof *slot->outputs);
        for (size_t k = 0; k < n; k++)
            slot->outputs[k].ids =
                copy_bytes(made->outputs[k].ids, made->outputs[k].n * sizeof(struct digest));
        if (feed(w, r, &fed))
            m->broken = m->dropped = true;
        if (store_batch_bytes(m->batch) > BLOCKS_BYTES && !s->options->check)
            store_batch_append(w->batch, m->batch);
    }
    pthread_mutex_unlock(&m->mutex);
    if (fed.code)
        node_read_failed(w, r, &fed);
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

static char *where_of(struct worker *w, uint64_t position, const struct op_ctx *ctx)
{
    char hex[DIGEST_HEX];
    return arena_printf(&w->arena, ", element %" PRIu64 " (%.8s, %s)", position,
                        digest_hex(hex, ctx->element),
                        label_of_record(&w->arena, w->s->store, ctx->element));
}

static enum outcome element_failed(struct worker *w, struct node_run *r, uint64_t position,
                                   const struct op_ctx *ctx, const struct err *e)
{
    char *where = where_of(w, position, ctx);
    enum outcome outcome = node_op_failed(w, r, ctx, where, e);
    if (outcome == OUT_FAILED) {
        char *text = node_failure_text(&w->arena, r->node, where, e);
        progress_element(w->s->progress, r->index, ELEMENT_FAILED, position, ctx->element, text);
    }
    return outcome;
}

static void count_witness(struct node_run *r, const struct action_result *made)
{
    pthread_mutex_lock(&r->s->mutex);
    witness_counts_add(&r->witnesses, &r->arena, witness_reason(made->note), 1);
    pthread_mutex_unlock(&r->s->mutex);
}

/* Writes the action of an element that ran, with its traces. */
static enum err_code write_element(struct worker *w, struct node_run *r, const struct key *key,
                                   const struct action_result *made, struct op_ctx *ctx,
                                   struct err *e)
{
    enum err_code code = action_write(w->batch, &w->arena, r->op, key, made, e);
    if (!code && r->op->reuse && ctx->witness.data)
        code = reuse_store_witness(w->batch, r, &w->arena, ctx->element, &key->digest, ctx->witness,
                                   e);
    if (!code)
        code = recall_write(w->batch, ctx, &key->digest, e);
    return err_up(e, code ? code : committer_append(w->s->commit, w->batch, e));
}

static bool emitted(const struct op_ctx *ctx)
{
    for (size_t i = 0; ctx->node->op->outputs[i].role; i++)
        if (ctx->outputs[i].n)
            return true;
    return false;
}

static enum outcome element_run(struct worker *w, struct node_run *r, uint64_t position,
                                const struct digest *id, const struct key *key,
                                const struct action_result *before, struct together *t,
                                enum element_state *state)
{
    struct session *s = r->s;
    struct op_ctx ctx;
    struct err e = {0};
    uint64_t start = os_monotonic_ns();
    ctx_init(&ctx, r, &w->arena, w->batch);
    ctx.element = id;
    ctx.recall.allowed = !before && !s->options->check;
    enum outcome outcome = OUT_DONE;
    bool replace = true;
    struct action_result made = {.outputs = ctx.outputs};
    if (together_share(&ctx, t, r, position, &e) || r->op->run(&ctx, r->op_state, &e) ||
        ctx.lost[0] ||
        (before && node_check_same(&replace, r, where_of(w, position, &ctx), before, &made, &e))) {
        outcome = element_failed(w, r, position, &ctx, &e);
    } else {
        if (ctx.recall.found) {
            if (!emitted(&ctx))
                made = ctx.recall.made;
            made.note = ctx.recall.made.note;
            *state = ELEMENT_REUSED;
            count_witness(r, &made);
        }
        made.run = s->run;
        made.cost_ns = os_monotonic_ns() - start;
        made.finished_ns = os_wall_ns();
        if (!replace)
            session_drop_batch(w);
        else if (write_element(w, r, key, &made, &ctx, &e))
            outcome = node_store_failed(w, &e);
        if (outcome == OUT_DONE)
            deliver(w, r, position, &made, ctx.witness);
    }
    ctx_finish(&ctx);
    return outcome;
}

static enum outcome prepare_failed(struct node_run *r, const struct err *failure)
{
    if (failure->code == ERR_CANCELLED || atomic_load(&r->s->lost))
        return OUT_DROPPED;
    struct map_run *m = r->map;
    pthread_mutex_lock(&m->mutex);
    bool first = !m->failed;
    m->failed = true;
    pthread_mutex_unlock(&m->mutex);
    if (first)
        node_fail(r, "", failure);
    return OUT_DROPPED; /* the other elements would fail in the same way */
}

/* Reuses an earlier result, if the op permits it, as the result of this action. */
static bool element_reuse(struct worker *w, struct node_run *r, uint64_t position,
                          const struct digest *id, const struct key *key)
{
    struct action_result made;
    struct reuse_origin origin;
    struct span witness;
    if (!reuse_element(&made, &origin, &witness, r, &w->arena, id))
        return false;
    made.cost_ns = 0;
    made.finished_ns = os_wall_ns();
    if (action_write(w->batch, &w->arena, r->op, key, &made, NULL) ||
        reuse_follow(w->batch, &w->arena, &origin, &key->digest, NULL) ||
        committer_append(w->s->commit, w->batch, NULL)) {
        session_drop_batch(w);
        return false;
    }
    count_witness(r, &made);
    deliver(w, r, position, &made, witness);
    return true;
}

/* Returns whether `plan` may run elements: if the last run suggests that all of them take little
 * time. */
static bool is_cheap(const struct node_run *r)
{
    const Eqloom__RunNode *last = r->s->history.made[r->index];
    if (!last || !last->ran || r->op->parallel || r->map->broken)
        return false;
    uint64_t each = (last->work_ns ? last->work_ns : last->wall_ns) / last->ran;
    return (r->ran + 1) * each < CHEAP_NS;
}

static enum outcome element(struct worker *w, struct node_run *r, uint64_t position,
                            struct together *t, enum element_state *state)
{
    struct session *s = r->s;
    struct digest id;
    struct key key;
    struct action_result made;
    struct err e = {0};
    *state = ELEMENT_CACHED;
    arena_reset(&w->arena);
    if (ctx_node_element(&id, r->shared, position, &e))
        return node_read_failed(w, r, &e);
    bool cached = node_find_element(&made, &key, r, &w->arena, &id);
    if (cached && !s->options->check) {
        struct span witness = {0};
        if (r->op->merge_witnesses && r->map->blocks)
            witness = reuse_find_witness(r, &w->arena, &id, &key.digest);
        deliver(w, r, position, &made, witness);
        return OUT_DONE;
    }
    *state = ELEMENT_RAN;
    bool may_run = !s->planning || is_cheap(r);
    if (session_late(s) || (!may_run && !r->op->reuse)) {
        give_up(r->map, OUT_OPEN);
        return OUT_DONE;
    }
    if (node_prepare(r, &e))
        return prepare_failed(r, &e);
    if (s->options->check && !cached) /* it may have been reused as a part of its block */
        cached =
            reuse_element(&made, &(struct reuse_origin){0}, &(struct span){0}, r, &w->arena, &id);
    else if (!cached && element_reuse(w, r, position, &id, &key)) {
        *state = ELEMENT_REUSED;
        return OUT_DONE;
    }
    if (may_run)
        return element_run(w, r, position, &id, &key, cached ? &made : NULL, t, state);
    give_up(r->map, OUT_OPEN);
    return OUT_DONE;
}

void map_range(struct worker *w, struct node_run *r, uint64_t from, uint64_t n)
{
    struct session *s = r->s;
    uint64_t began = os_thread_ns();
    bool any_ran = false;
    struct together t;
    together_begin(&t, r, from, n);
    for (uint64_t k = from; k < from + n; k++) {
        enum element_state state;
        if (session_interrupted(s))
            give_up(r->map, OUT_DROPPED);
        if (is_stopping(r))
            break;
        enum outcome outcome = element(w, r, k, &t, &state);
        if (outcome == OUT_DONE) {
            progress_element(s->progress, r->index, state, k, NULL, NULL);
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

/* ---- closing ---- */

enum outcome map_close(struct worker *w, struct node_run *r)
{
    struct map_run *m = r->map;
    struct err e = {0};
    struct action_result made = {0};
    if (r->failed)
        return OUT_FAILED;
    if (m->broken || m->floor < r->elements)
        return OUT_DROPPED;
    /* Elements that an earlier attempt in this run computed were found in the store by this one. */
    r->cached = r->elements > r->ran + r->reused ? r->elements - r->ran - r->reused : 0;
    node_explain_reuse(r);
    arena_reset(&w->arena);
    if (assemble_finish(&made.outputs, &w->arena, m->out, &e) ||
        map_tree_finish(m->blocks, made.outputs, m->out, r, m->batch, &e))
        return node_read_failed(w, r, &e);
    store_batch_append(w->batch, m->batch);
    return node_commit(w, r, &made);
}
