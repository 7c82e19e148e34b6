/* The ready list and its workers. A node waits for its inputs, is looked up in the store, and is
 * opened if it has to run: a map hands out ranges of elements to as many workers as ask; any other
 * node goes to one worker whole. Highest priority (longest path to the end) first. An op that uses
 * the pool has all threads for itself: it starts when no worker is busy, and no other work starts
 * beside it. The calling thread draws progress and commits what waited long enough.
 *
 * After a signal nothing new starts. An op that does not ask op_cancelled is left behind after
 * LEAVE_MS, if the caller ends the process. */
#include "engine/run/sched.h"

#include "base/os.h"
#include "engine/node/map_node.h"
#include "engine/node/node_work.h"
#include "engine/session/run_record.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TICK_MS = 25, REOPEN_MAX = 3, LEAVE_MS = 800 };

/* ---- the ready list: a scan finds the best, since few nodes are ready at a time ---- */

static bool goes_before(const struct session *s, uint32_t a, uint32_t b)
{
    uint64_t p = s->nodes[a].priority, q = s->nodes[b].priority;
    return p != q ? p > q : a < b;
}

static void push(struct session *s, uint32_t node)
{
    if (!s->nodes[node].queued)
        s->ready[s->n_ready++] = node;
    s->nodes[node].queued = true;
}

static size_t find_best(const struct session *s)
{
    size_t best = 0;
    for (size_t k = 1; k < s->n_ready; k++)
        if (goes_before(s, s->ready[k], s->ready[best]))
            best = k;
    return best;
}

static void remove_at(struct session *s, size_t place)
{
    s->nodes[s->ready[place]].queued = false;
    s->ready[place] = s->ready[--s->n_ready];
}

/* ---- the graph ---- */

static uint32_t count_waiting(struct session *s, uint32_t i)
{
    const struct node *node = &s->job->nodes[i];
    uint32_t n = 0;
    for (size_t p = 0; p < op_count_inputs(node->op); p++)
        for (size_t k = 0; k < node->inputs[p].n_sources; k++)
            n += s->nodes[node->inputs[p].sources[k].node].phase != PHASE_DONE;
    return n;
}

/* One pass counts each node's consumers, a second one fills them in, by node. */
static void find_consumers(struct session *s)
{
    size_t n = s->job->n_nodes;
    uint32_t *begin = s->consumer_begin = arena_array(s->arena, uint32_t, n + 2);
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t i = 0; i < n; i++) {
            const struct node *node = &s->job->nodes[i];
            for (size_t p = 0; p < op_count_inputs(node->op); p++)
                for (size_t k = 0; k < node->inputs[p].n_sources; k++) {
                    uint32_t source = node->inputs[p].sources[k].node;
                    if (fill)
                        s->consumers[begin[source + 1]++] = i;
                    else
                        begin[source + 2]++;
                }
        }
        for (size_t i = 1; !fill && i <= n + 1; i++)
            begin[i] += begin[i - 1];
        if (!fill)
            s->consumers = arena_array(s->arena, uint32_t, begin[n + 1]);
    }
}

void sched_init(struct session *s, const bool *wanted)
{
    size_t n = s->job->n_nodes;
    s->nodes = arena_array(s->arena, struct node_run, n);
    s->ready = arena_array(s->arena, uint32_t, n);
    find_consumers(s);
    for (size_t i = n; i-- > 0;) {
        struct node_run *r = &s->nodes[i];
        pthread_mutex_init(&r->prepare_mutex, NULL);
        r->outputs = arena_array(s->arena, struct digest, op_count_outputs(s->job->nodes[i].op));
        r->phase = wanted[i] ? PHASE_WAITING : PHASE_UNWANTED;
        s->wanted += wanted[i];
        for (uint32_t k = s->consumer_begin[i]; k < s->consumer_begin[i + 1]; k++) {
            uint64_t below = s->nodes[s->consumers[k]].priority;
            r->priority = below > r->priority ? below : r->priority;
        }
        const Eqloom__RunNode *before = s->history.made[i];
        r->priority += before && before->ran ? before->wall_ns + 1 : 1000000000;
    }
}

static void make_ready(struct session *s, uint32_t i)
{
    s->nodes[i].phase = PHASE_READY;
    push(s, i);
}

/* ---- ends of nodes; all under the mutex ---- */

static void report(struct session *s, uint32_t i)
{
    struct node_run *r = &s->nodes[i];
    struct node_result view = {.state = r->state,
                               .elements = r->elements,
                               .ran = r->ran,
                               .cached = r->cached,
                               .reused = r->reused,
                               .failed = r->failed,
                               .wall_ns = r->wall_ns,
                               .why = r->why,
                               .failure = r->failure};
    progress_node_done(s->progress, i, &view);
}

static void mark_done(struct session *s, uint32_t i, enum node_state state)
{
    struct node_run *r = &s->nodes[i];
    r->state = state;
    r->phase = PHASE_DONE;
    r->damaged = false;
    s->done++;
    if (r->start_ns)
        r->wall_ns = os_monotonic_ns() - r->start_ns;
    report(s, i);
}

static void skip_below(struct session *s, uint32_t i)
{
    for (uint32_t k = s->consumer_begin[i]; k < s->consumer_begin[i + 1]; k++) {
        uint32_t c = s->consumers[k];
        struct node_run *r = &s->nodes[c];
        if (r->phase != PHASE_WAITING && r->phase != PHASE_READY)
            continue;
        free(r->why);
        if (asprintf(&r->why, "%s failed", s->job->nodes[i].name) < 0)
            r->why = NULL;
        mark_done(s, c, NODE_SKIPPED);
        skip_below(s, c);
    }
}

static void release_below(struct session *s, uint32_t i)
{
    for (uint32_t k = s->consumer_begin[i]; k < s->consumer_begin[i + 1]; k++) {
        struct node_run *c = &s->nodes[s->consumers[k]];
        if (c->phase == PHASE_WAITING && --c->waiting == 0)
            make_ready(s, s->consumers[k]);
    }
}

/* Makes a finished node be looked at again, its outputs not trusted. False: tried too often. */
static bool reopen(struct session *s, uint32_t i)
{
    struct node_run *r = &s->nodes[i];
    if (r->phase != PHASE_DONE)
        return true; /* somebody asked already */
    if (r->state == NODE_FAILED || r->state == NODE_SKIPPED || r->reopened++ >= REOPEN_MAX)
        return false;
    r->damaged = true;
    r->phase = PHASE_WAITING;
    r->waiting = count_waiting(s, i);
    s->done--;
    for (uint32_t k = s->consumer_begin[i]; k < s->consumer_begin[i + 1]; k++) {
        struct node_run *c = &s->nodes[s->consumers[k]];
        if (c->phase == PHASE_READY)
            c->phase = PHASE_WAITING; /* its place in the queue is ignored */
        if (c->phase == PHASE_WAITING)
            c->waiting++;
    }
    if (r->waiting == 0)
        make_ready(s, i);
    return true;
}

static bool reopen_input(struct session *s, const struct node *node, size_t p)
{
    bool can = true;
    for (size_t k = 0; k < node->inputs[p].n_sources; k++) {
        uint32_t source = node->inputs[p].sources[k].node;
        can = reopen(s, source) && can;
        progress_note(s->progress, "making %s again, which %s reads", s->job->nodes[source].name,
                      node->name);
    }
    return can;
}

/* A record that an input claims to have cannot be read: those who made it do so again. */
static void heal(struct session *s, uint32_t i)
{
    struct node_run *r = &s->nodes[i];
    const struct node *node = &s->job->nodes[i];
    bool can = true;
    progress_note(s->progress, "%s: %s", node->name, r->loss.message);
    int input = r->loss.input;
    r->loss.input = LOST_NONE;
    if (input >= 0)
        can = reopen_input(s, node, (size_t)input);
    for (size_t p = 0; input == LOST_ANY && p < op_count_inputs(node->op); p++)
        can = reopen_input(s, node, p) && can;
    if (input == LOST_SELF || (input == LOST_ANY && node->op->node == OP_CHAIN)) {
        r->damaged = true;
        can = r->reopened++ < REOPEN_MAX && can;
        progress_note(s->progress, "making %s again from where it is whole", node->name);
    }
    if (!can) {
        free(r->failure);
        if (asprintf(&r->failure, "%s: %s, and making it again did not help", node->name,
                     r->loss.message) < 0)
            r->failure = NULL;
        r->failed++;
        mark_done(s, i, NODE_FAILED);
        skip_below(s, i);
        return;
    }
    r->phase = PHASE_WAITING;
    r->waiting = count_waiting(s, i);
    if (r->waiting == 0)
        make_ready(s, i);
}

static void settle(struct session *s, uint32_t i, enum outcome outcome)
{
    struct node_run *r = &s->nodes[i];
    if (outcome == OUT_OPEN) {
        r->phase = PHASE_OPEN;
        push(s, i);
        return;
    }
    switch (outcome) {
    case OUT_DONE:
        mark_done(s, i, r->state);
        release_below(s, i);
        break;
    case OUT_FAILED:
        mark_done(s, i, NODE_FAILED);
        skip_below(s, i);
        break;
    case OUT_LOST: heal(s, i); break;
    case OUT_DROPPED: mark_done(s, i, NODE_SKIPPED); break;
    case OUT_OPEN: break;
    }
}

/* ---- workers ---- */

struct task {
    uint32_t node;
    enum { TASK_BEGIN, TASK_WHOLE, TASK_RANGE } kind;
    uint64_t from, n;
    bool exclusive;
};

/* Time in the queue is not the node's. */
static void start_work(struct node_run *r)
{
    if (!r->working)
        r->start_ns = os_monotonic_ns() - r->begin_ns;
    r->working = true;
}

/* The best that may start now; caller holds the mutex. */
static bool take(struct task *t, struct session *s)
{
    while (s->n_ready && !s->exclusive && !session_interrupted(s)) {
        size_t place = find_best(s);
        uint32_t i = s->ready[place];
        struct node_run *r = &s->nodes[i];
        const struct op *op = s->job->nodes[i].op;
        if (r->phase != PHASE_READY && r->phase != PHASE_OPEN) {
            remove_at(s, place);
            continue;
        }
        *t = (struct task){.node = i, .kind = TASK_BEGIN};
        if (r->phase == PHASE_READY) {
            remove_at(s, place);
            node_bind(s, i);
            r->phase = PHASE_BUSY;
            return true;
        }
        if (op->parallel && s->active)
            return false; /* wait until it can have all threads */
        t->exclusive = op->parallel;
        remove_at(s, place);
        start_work(r);
        if (op->node != OP_MAP) {
            t->kind = TASK_WHOLE;
            r->phase = PHASE_BUSY;
            return true;
        }
        t->kind = TASK_RANGE;
        if (!map_take(&t->from, &t->n, s, i))
            continue;
        if (map_has_more(s, i))
            push(s, i);
        return true;
    }
    return false;
}

static bool is_over(const struct session *s)
{
    if (s->active)
        return false;
    return s->done == s->wanted || session_interrupted(s) || (!s->n_ready && !s->exclusive);
}

static void do_range(struct worker *w, const struct task *t)
{
    struct session *s = w->s;
    map_range(w, t->node, t->from, t->n);
    pthread_mutex_lock(&s->mutex);
    map_put_back(s, t->node);
    bool close = map_is_over(s, t->node);
    if (close)
        s->nodes[t->node].phase = PHASE_BUSY;
    else if (map_has_more(s, t->node))
        push(s, t->node);
    pthread_mutex_unlock(&s->mutex);
    if (!close)
        return;
    enum outcome outcome = map_close(w, t->node);
    node_end_attempt(s, t->node);
    pthread_mutex_lock(&s->mutex);
    settle(s, t->node, outcome);
    pthread_mutex_unlock(&s->mutex);
}

static void do_node(struct worker *w, const struct task *t)
{
    struct session *s = w->s;
    enum outcome outcome = t->kind == TASK_BEGIN ? node_begin(w, t->node) : node_whole(w, t->node);
    if (outcome != OUT_OPEN)
        node_end_attempt(s, t->node);
    pthread_mutex_lock(&s->mutex);
    settle(s, t->node, outcome);
    pthread_mutex_unlock(&s->mutex);
}

/* While one node had all threads, open maps waited: that time is not theirs. Caller holds the
 * mutex. */
static void skip_exclusive_time(struct session *s, uint32_t exclusive, uint64_t ns)
{
    for (uint32_t i = 0; i < s->job->n_nodes; i++)
        if (i != exclusive && s->nodes[i].working && s->nodes[i].phase != PHASE_DONE)
            s->nodes[i].start_ns += ns;
}

static void work(void *arg)
{
    struct session *s = arg;
    struct worker w = {.s = s, .batch = store_batch_new(s->store)};
    struct task t;
    pthread_mutex_lock(&s->mutex);
    while (!is_over(s)) {
        if (!take(&t, s)) {
            if (is_over(s))
                break;
            pthread_cond_wait(&s->work, &s->mutex);
            continue;
        }
        s->active++;
        s->exclusive = t.exclusive;
        pthread_mutex_unlock(&s->mutex);
        uint64_t begin_ns = os_monotonic_ns();
        if (t.kind == TASK_RANGE)
            do_range(&w, &t);
        else
            do_node(&w, &t);
        pthread_mutex_lock(&s->mutex);
        s->active--;
        if (t.exclusive) {
            s->exclusive = false;
            skip_exclusive_time(s, t.node, os_monotonic_ns() - begin_ns);
        }
        pthread_cond_broadcast(&s->work);
    }
    pthread_mutex_unlock(&s->mutex);
    store_batch_free(w.batch);
    arena_free(&w.arena);
}

static void start_nodes(struct session *s)
{
    for (uint32_t i = 0; i < s->job->n_nodes; i++) {
        if (s->nodes[i].phase != PHASE_WAITING)
            continue;
        s->nodes[i].waiting = count_waiting(s, i);
        if (s->nodes[i].waiting == 0)
            make_ready(s, i);
    }
}

/* Called with the mutex held. */
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

/* Until the workers are gone, or left behind; called with the mutex held. */
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
        pthread_cond_timedwait(&s->over, &s->mutex, &until);
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
    void (*fn)(void *arg);
    void *arg;
    pthread_t id;
};

static void *run_thread(void *arg)
{
    struct thread *t = arg;
    struct session *s = t->session;
    t->fn(t->arg);
    pthread_mutex_lock(&s->mutex);
    s->workers--;
    pthread_cond_broadcast(&s->work);
    pthread_cond_signal(&s->over);
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

enum err_code sched_watch(struct session *s, unsigned n, void (*fn)(void *arg), void *arg,
                          struct err *e)
{
    struct thread *threads = arena_array(s->arena, struct thread, n);
    unsigned started = 0;
    pthread_mutex_lock(&s->mutex);
    for (; started < n; started++, s->workers++) {
        threads[started] = (struct thread){.session = s, .fn = fn, .arg = arg};
        if (pthread_create(&threads[started].id, NULL, run_thread, &threads[started]))
            break;
    }
    watch(s);
    if (s->left) /* with the mutex, at which the threads stop */
        return OK;
    pthread_mutex_unlock(&s->mutex);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i].id, NULL);
    return started ? OK : err_fail(e, ERR_IO, "cannot start a thread");
}

enum err_code sched_run(struct session *s, struct err *e)
{
    start_nodes(s);
    return err_up(e, sched_watch(s, s->threads, work, s, e));
}
