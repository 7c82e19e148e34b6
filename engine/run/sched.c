/* The scheduler and its workers. A node waits for its inputs, is looked up in the store, and is
 * opened if it has to run. A map hands out ranges of elements to any number of workers; any other
 * node runs in one worker. The node with the highest priority (longest path to the end) comes
 * first. An op that uses the pool has all threads: it starts when no worker is busy, and no other
 * work starts meanwhile, except nodes with a card each. The calling thread draws progress and
 * commits pending results.
 *
 * After a signal nothing new starts. If an op does not poll op_cancelled, its thread is left behind
 * after LEAVE_MS, provided that the caller exits the process. */
#include "engine/run/run_internal.h"

#include "base/os.h"
#include "engine/node/map_node.h"
#include "engine/session/run_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TICK_MS = 25, LEAVE_MS = 800 };

/* ---- picking a node: a linear scan, since nodes are few ---- */

/* Caller holds the mutex. */
static bool has_work(const struct node_run *r)
{
    if (r->phase == PHASE_OPEN && r->node->cards)
        return r->node->cards & ~r->s->cards;
    if (r->s->exclusive)
        return false;
    return r->phase == PHASE_READY ||
           (r->phase == PHASE_OPEN && (r->op->node != OP_MAP || map_has_more(r)));
}

/* Returns NULL if no node has work. */
static struct node_run *find_best(struct session *s)
{
    struct node_run *best = NULL;
    for (struct node_run *r = s->nodes; r < s->nodes + s->job->n_nodes; r++)
        if ((!best || r->priority > best->priority) && has_work(r))
            best = r;
    return best;
}

/* ---- the graph: nodes are in topological order ---- */

void sched_init(struct session *s, const bool *wanted)
{
    size_t n = s->job->n_nodes;
    s->nodes = arena_array(s->arena, struct node_run, n);
    for (uint32_t i = (uint32_t)n; i-- > 0;) {
        const struct node *node = &s->job->nodes[i];
        const Eqloom__RunNode *before = s->history.made[i];
        struct node_run *r = &s->nodes[i];
        r->s = s;
        r->node = node;
        r->op = node->op;
        r->index = i;
        pthread_mutex_init(&r->prepare_mutex, NULL);
        r->card = -1;
        r->outputs = arena_array(s->arena, struct digest, op_count_outputs(r->op));
        r->phase = wanted[i] ? PHASE_WAITING : PHASE_UNWANTED;
        s->wanted += wanted[i];
        r->priority += before && before->ran ? before->wall_ns + 1 : 1000000000;
        for (size_t k = 0; k < node->n_above; k++) {
            struct node_run *above = &s->nodes[node->above[k].node];
            if (above->priority < r->priority)
                above->priority = r->priority;
        }
    }
}

/* Makes the nodes ready whose inputs are all done. */
static void release(struct session *s)
{
    for (struct node_run *r = s->nodes; r < s->nodes + s->job->n_nodes; r++) {
        bool ready = r->phase == PHASE_WAITING;
        for (size_t k = 0; ready && k < r->node->n_above; k++)
            ready = s->nodes[r->node->above[k].node].phase == PHASE_DONE;
        if (ready)
            r->phase = PHASE_READY;
    }
}

/* ---- finishing nodes; caller holds the mutex ---- */

void sched_report(struct node_run *r)
{
    struct node_result view = session_view(r);
    if (!r->reported)
        progress_node_done(r->s->progress, r->index, &view);
}

static void mark_done(struct node_run *r, enum node_state state)
{
    r->state = state;
    r->phase = PHASE_DONE;
    r->s->done++;
    if (r->start_ns)
        r->wall_ns = os_monotonic_ns() - r->start_ns;
    sched_report(r);
}

static void skip_below(struct node_run *failed)
{
    struct session *s = failed->s;
    for (struct node_run *r = failed + 1; r < s->nodes + s->job->n_nodes; r++) {
        if (r->phase != PHASE_WAITING || !node_reads(r->node, failed->index))
            continue;
        r->why = arena_printf(&r->arena, "%s failed", failed->node->name);
        mark_done(r, NODE_SKIPPED);
        skip_below(r);
    }
}

/* Excludes the time in the queue from the node's time. */
static void start_work(struct node_run *r)
{
    if (!r->working)
        r->start_ns = os_monotonic_ns() - r->begin_ns;
    r->working = true;
}

/* ---- workers ---- */

struct task {
    struct node_run *r;
    enum { TASK_BEGIN, TASK_WHOLE, TASK_RANGE } kind;
    uint64_t from, n;
    bool exclusive;
    int card; /* -1: none */
};

/* Picks the best node that may start now. Caller holds the mutex. */
static bool take(struct task *t, struct session *s)
{
    struct node_run *r = session_interrupted(s) ? NULL : find_best(s);
    if (!r)
        return false;
    uint32_t cards = r->node->cards & ~s->cards;
    *t = (struct task){.r = r, .kind = TASK_BEGIN, .card = -1};
    if (r->phase == PHASE_READY) {
        node_bind(r);
        r->phase = PHASE_BUSY;
        return true;
    }
    if (cards)
        t->card = __builtin_ctz(cards);
    else if (r->op->parallel && s->active > (unsigned)__builtin_popcount(s->cards))
        return false; /* wait until all threads are free */
    t->exclusive = r->op->parallel && !cards;
    if (t->card >= 0) /* otherwise other ranges of the map may be reading r->card */
        r->card = t->card;
    start_work(r);
    if (r->op->node == OP_MAP) {
        t->kind = TASK_RANGE;
        return map_take(&t->from, &t->n, r);
    }
    t->kind = TASK_WHOLE;
    r->phase = PHASE_BUSY;
    return true;
}

static void end_attempt(struct node_run *r, enum outcome outcome)
{
    struct session *s = r->s;
    if (outcome != OUT_OPEN && outcome != OUT_ON_CLUSTER)
        node_end_attempt(r);
    pthread_mutex_lock(&s->mutex);
    switch (outcome) {
    case OUT_DONE:
        mark_done(r, r->state);
        release(s);
        break;
    case OUT_FAILED:
        mark_done(r, NODE_FAILED);
        skip_below(r);
        break;
    case OUT_DROPPED:
        if (!atomic_load(&s->lost)) /* else see sched_restart */
            mark_done(r, NODE_SKIPPED);
        break;
    case OUT_OPEN: r->phase = PHASE_OPEN; break;
    case OUT_ON_CLUSTER:
        start_work(r);
        r->phase = PHASE_ON_CLUSTER;
        s->n_on_cluster++;
        break;
    }
    pthread_mutex_unlock(&s->mutex);
}

static void do_range(struct worker *w, const struct task *t)
{
    struct node_run *r = t->r;
    map_range(w, r, t->from, t->n);
    pthread_mutex_lock(&w->s->mutex);
    bool over = map_finish_range(r);
    if (over)
        r->phase = PHASE_BUSY;
    pthread_mutex_unlock(&w->s->mutex);
    if (over)
        end_attempt(r, map_close(w, r));
}

/* Excludes from open maps the time in which another node had all threads. Caller holds the mutex.
 */
static void skip_exclusive_time(struct node_run *exclusive, uint64_t ns)
{
    struct session *s = exclusive->s;
    for (struct node_run *r = s->nodes; r < s->nodes + s->job->n_nodes; r++)
        if (r != exclusive && r->working && r->phase != PHASE_DONE && r->card < 0)
            r->start_ns += ns;
}

static void work(struct session *s)
{
    struct worker w = {.s = s, .batch = store_batch_new(s->store)};
    struct task t;
    pthread_mutex_lock(&s->mutex);
    for (;;) {
        if (!take(&t, s)) {
            if (!s->active && (!s->n_on_cluster || session_interrupted(s)))
                break;
            pthread_cond_wait(&s->work, &s->mutex);
            continue;
        }
        uint32_t card = t.card >= 0 ? 1u << t.card : 0;
        s->active++;
        s->exclusive |= t.exclusive;
        s->cards |= card;
        pthread_mutex_unlock(&s->mutex);
        uint64_t begin_ns = os_monotonic_ns();
        switch (t.kind) {
        case TASK_BEGIN: end_attempt(t.r, node_begin(&w, t.r)); break;
        case TASK_WHOLE: end_attempt(t.r, node_run_whole(&w, t.r)); break;
        case TASK_RANGE: do_range(&w, &t); break;
        }
        pthread_mutex_lock(&s->mutex);
        s->active--;
        if (t.exclusive) {
            s->exclusive = false;
            skip_exclusive_time(t.r, os_monotonic_ns() - begin_ns);
        }
        s->cards &= ~card;
        if (card)
            t.r->card = -1;
        pthread_cond_broadcast(&s->work);
    }
    pthread_mutex_unlock(&s->mutex);
    store_batch_free(w.batch);
    arena_free(&w.arena);
}

/* Caller holds the mutex. */
static void watch_signals(struct session *s)
{
    if (!session_signals(s))
        return;
    if (!atomic_load(&s->signal_ns)) {
        atomic_store(&s->signal_ns, os_monotonic_ns());
        progress_note(s->progress, "interrupted: ending");
    }
    s->left =
        s->options->leave && (session_signals(s) >= 2 || session_ms_since_signal(s) > LEAVE_MS);
}

/* Runs until the workers have ended or are left behind. Caller holds the mutex. */
static void watch(struct session *s)
{
    struct store_batch *b = store_batch_new(s->store);
    while (s->workers && !s->left) {
        struct timespec until;
        struct err e = {0};
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TICK_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_clockwait(&s->over, &s->mutex, CLOCK_MONOTONIC, &until);
        pthread_mutex_unlock(&s->mutex);
        progress_tick(s->progress);
        record_progress(s, b);
        if (committer_tick(s->commit, &e))
            session_fail(s, &e);
        pthread_mutex_lock(&s->mutex);
        watch_signals(s);
        if (session_interrupted(s))
            pthread_cond_broadcast(&s->work);
    }
    store_batch_free(b);
}

struct thread {
    struct session *session;
    void (*fn)(struct session *s);
    pthread_t id;
};

static void *run_thread(void *arg)
{
    struct thread *t = arg;
    struct session *s = t->session;
    t->fn(s);
    pthread_mutex_lock(&s->mutex);
    s->workers--;
    pthread_cond_broadcast(&s->work);
    pthread_cond_signal(&s->over);
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

enum err_code sched_watch(struct session *s, unsigned n, void (*fn)(struct session *s),
                          struct err *e)
{
    struct thread *threads = arena_array(s->arena, struct thread, n);
    unsigned started = 0;
    pthread_mutex_lock(&s->mutex);
    for (; started < n; started++, s->workers++) {
        threads[started] = (struct thread){s, fn};
        if (pthread_create(&threads[started].id, NULL, run_thread, &threads[started]))
            break;
    }
    watch(s);
    if (s->left) /* the mutex stays locked, which blocks these threads */
        return OK;
    pthread_mutex_unlock(&s->mutex);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i].id, NULL);
    return started ? OK : err_fail(e, ERR_IO, "cannot start a thread");
}

void sched_restart(struct session *s)
{
    for (struct node_run *r = s->nodes; r < s->nodes + s->job->n_nodes; r++) {
        bool done = r->phase == PHASE_DONE;
        node_end_attempt(r);
        if (r->phase == PHASE_UNWANTED ||
            (done && (r->state == NODE_FAILED || r->state == NODE_SKIPPED)))
            continue;
        r->reported = done;
        r->from_cluster = false;
        r->phase = PHASE_WAITING;
        r->start_ns = 0;
        s->done -= done;
    }
    s->n_on_cluster = 0;
    s->loss[0] = 0;
    atomic_store(&s->lost, false);
}

void sched_start_pool(struct session *s)
{
    bool parallel = false;
    for (size_t i = 0; i < s->job->n_nodes; i++)
        parallel |= s->nodes[i].phase != PHASE_UNWANTED && s->nodes[i].op->parallel;
    s->pool = parallel && s->threads > 1 ? pool_new(s->threads) : NULL;
}

/* The first thread handles the nodes that are on a cluster, the others work. */
static void work_or_poll(struct session *s)
{
    pthread_mutex_lock(&s->mutex);
    bool look = s->offload && !s->has_poller;
    s->has_poller = true;
    pthread_mutex_unlock(&s->mutex);
    if (look)
        offload_run(s);
    else
        work(s);
}

enum err_code sched_run(struct session *s, struct err *e)
{
    release(s);
    s->has_poller = false;
    return err_up(e, sched_watch(s, s->threads + (s->offload != NULL), work_or_poll, e));
}
