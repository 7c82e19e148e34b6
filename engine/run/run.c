/* A run: the sources first, then everything else by the scheduler, then the record of the run. */
#include "engine/run/session.h"

#include "base/os.h"
#include "engine/run/ticker.h"
#include "store/maintain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what ops feel ---- */

static bool is_cancelled(void *arg)
{
    return session_cancelled(arg);
}

static void on_progress(void *arg, uint32_t node, uint64_t done, uint64_t total, const char *text)
{
    progress_op(((struct session *)arg)->progress, node, done, total, text);
}

static void on_spill(void *arg, struct store_batch *b)
{
    struct session *s = arg;
    struct err e = {0};
    if (committer_append(s->commit, b, &e))
        session_fail(s, &e);
}

/* ---- which nodes ---- */

bool *session_wanted(struct arena *a, const struct job *job, const struct run_options *options)
{
    bool *wanted = arena_array(a, bool, job->n_nodes);
    for (size_t i = 0; i < job->n_nodes; i++)
        wanted[i] = options->targets == NULL;
    for (size_t i = 0; options->targets && i < options->n_targets; i++)
        wanted[options->targets[i]] = true;
    for (size_t i = job->n_nodes; i-- > 0;) {
        if (!wanted[i])
            continue;
        for (size_t p = 0; p < op_count_inputs(job->nodes[i].op); p++)
            for (size_t k = 0; k < job->nodes[i].inputs[p].n_sources; k++)
                wanted[job->nodes[i].inputs[p].sources[k].node] = true;
    }
    return wanted;
}

/* ---- sources ---- */

static enum err_code read_source(struct session *s, uint32_t i, struct store_batch *b,
                                 struct err *e)
{
    struct node_run *r = &s->nodes[i];
    const struct op *op = s->job->nodes[i].op;
    struct arena a = {0};
    struct action_result made;
    bool fresh, hit;
    uint64_t start = os_monotonic_ns();
    r->start_ns = start;
    enum err_code code = source_node(&made, &fresh, &hit, s, i, &a, b, e);
    if (!code) {
        for (size_t k = 0; k < op_count_outputs(op); k++)
            r->outputs[k] = made.outputs[k].n ? made.outputs[k].ids[0] : (struct digest){0};
        r->state = r->failure ? NODE_FAILED : fresh ? NODE_RAN : NODE_READ;
        if (!hit)
            r->why = strdup(node_why(s, i, &a, false));
        code = node_write_refs(b, s, i, r->outputs, e);
        r->wall_ns = os_monotonic_ns() - start;
        r->phase = PHASE_DONE;
        s->done++;
    }
    arena_free(&a);
    return err_up(e, code);
}

/* What was read of sources before the user asked to stop has not been committed. */
static void forget_sources(struct session *s)
{
    for (uint32_t i = 0; i < s->job->n_nodes; i++)
        if (s->nodes[i].phase == PHASE_DONE) {
            s->nodes[i].phase = PHASE_WAITING;
            s->done--;
        }
}

/* All or nothing: one mistake in one file, and the store stays as it is. */
static enum err_code store_sources(struct session *s, struct store_batch *b, struct err *e)
{
    if (store_batch_count(b) == 0 || s->options->check)
        return OK;
    for (uint32_t i = 0; i < s->job->n_nodes; i++)
        if (s->nodes[i].phase == PHASE_DONE && s->nodes[i].state == NODE_RAN)
            progress_source(s->progress, i, 0, 0, "being stored");
    enum err_code code = committer_append(s->commit, b, e);
    return err_up(e, code ? code : committer_flush(s->commit, e));
}

static enum err_code read_sources(struct session *s, struct err *e)
{
    struct store_batch *b = store_batch_new(s->store);
    struct ticker *ticker =
        ticker_new(s->progress); /* workers, beside whom sched.c ticks, come later */
    enum err_code code = OK;
    for (uint32_t i = 0; !code && i < s->job->n_nodes; i++)
        if (s->nodes[i].phase == PHASE_WAITING && s->job->nodes[i].op->node == OP_SOURCE)
            code = read_source(s, i, b, e);
    if (!code)
        code = err_up(e, store_sources(s, b, e));
    ticker_free(ticker);
    store_batch_free(b);
    if (code == ERR_CANCELLED && session_interrupted(s)) {
        forget_sources(s);
        err_clear(e);
        return OK;
    }
    for (uint32_t i = 0; !code && i < s->job->n_nodes; i++) {
        const struct node_run *r = &s->nodes[i];
        if (r->phase != PHASE_DONE)
            continue;
        struct node_result view = {.state = r->state,
                                   .wall_ns = r->wall_ns,
                                   .why = r->why,
                                   .failed = r->failed,
                                   .failure = r->failure};
        progress_node_done(s->progress, i, &view);
    }
    return err_up(e, code);
}

/* ---- begin and end ---- */

static void expect(uint64_t *ns, const struct session *s)
{
    for (size_t i = 0; i < s->job->n_nodes; i++) {
        const Eqloom__RunNode *before = s->history.made[i];
        ns[i] = before && before->ran ? before->wall_ns : 0;
    }
}

enum err_code session_open(struct session *s, struct arena *a, const struct job *job,
                           struct store *store, const struct run_options *options, struct err *e)
{
    memset(s, 0, sizeof *s);
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC); /* it waits for a time; clocks are set */
    pthread_cond_init(&s->over, &attr);
    pthread_condattr_destroy(&attr);
    s->job = job;
    s->store = store;
    s->options = options;
    s->arena = a;
    s->start_ns = os_monotonic_ns();
    s->started_ns = os_wall_ns();
    s->threads = options->threads ? options->threads : os_cpus();
    s->host = (struct ctx_host){.store = store,
                                .numerics = key_numerics(),
                                .cancelled = is_cancelled,
                                .progress = on_progress,
                                .spill = options->check ? NULL : on_spill,
                                .distrust = options->check,
                                .arg = s};
    bool *wanted = session_wanted(a, job, options);
    enum err_code code = history_load(&s->history, a, store, job, e);
    if (code)
        return err_up(e, code);
    uint64_t *expected = arena_array(a, uint64_t, job->n_nodes);
    expect(expected, s);
    s->run = history_next_run(a, &s->history, job);
    s->progress = progress_new(job, options, wanted, expected);
    s->commit = committer_new(store, options->memory);
    sched_init(s, wanted);
    return s->progress && s->commit ? OK : err_fail(e, ERR_NOMEM, "no memory for a run");
}

void session_close(struct session *s)
{
    for (uint32_t i = 0; s->nodes && i < s->job->n_nodes; i++) {
        struct node_run *r = &s->nodes[i];
        node_end_attempt(s, i);
        arena_free(&r->arena);
        pthread_mutex_destroy(&r->prepare_mutex);
        free(r->why);
        witness_counts_clear(&r->witnesses);
        free(r->failure);
    }
    pool_free(s->pool);
    committer_free(s->commit);
    progress_free(s->progress);
    pthread_mutex_destroy(&s->mutex);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->over);
}

void session_fill_result(struct run_result *out, struct session *s)
{
    const struct job *job = s->job;
    for (uint32_t i = 0; i < job->n_nodes; i++) {
        struct node_run *r = &s->nodes[i];
        struct node_result *n = &out->nodes[i];
        if (r->phase == PHASE_UNWANTED)
            continue;
        bool done = r->phase == PHASE_DONE;
        n->state = done ? r->state : NODE_SKIPPED;
        n->key = r->has_key ? r->key.digest : (struct digest){0};
        n->outputs = r->outputs;
        n->elements = r->elements;
        n->ran = r->ran;
        n->cached = r->cached;
        n->reused = r->reused;
        n->failed = r->failed;
        n->wall_ns = r->wall_ns;
        n->why = r->why ? arena_strdup(s->arena, r->why) : "";
        n->failure = r->failure ? arena_strdup(s->arena, r->failure) : NULL;
        out->nodes_ran += n->state == NODE_RAN;
        out->elements += n->elements;
        out->elements_ran += n->ran;
        out->elements_cached += n->cached;
        out->elements_reused += n->reused;
        out->failed += n->failed;
        out->interrupted |= !done || (n->state == NODE_SKIPPED && session_interrupted(s));
    }
    out->run = s->run;
    out->wall_ns = os_monotonic_ns() - s->start_ns;
}

static void start_pool(struct session *s)
{
    bool parallel = false;
    for (size_t i = 0; i < s->job->n_nodes; i++)
        parallel |= s->nodes[i].phase != PHASE_UNWANTED && s->job->nodes[i].op->parallel;
    s->pool = parallel && s->threads > 1 ? pool_new(s->threads) : NULL;
}

enum err_code job_run(struct run_result *out, struct arena *a, const struct job *job,
                      struct store *store, const struct run_options *options, struct err *e)
{
    struct session *s = arena_new(a, struct session); /* workers may be left behind with it */
    struct fsck_result healed;
    bool checked;
    memset(out, 0, sizeof *out);
    out->nodes = arena_array(a, struct node_result, job->n_nodes);
    enum err_code code = store_heal(&checked, &healed, store, e);
    if (code)
        return err_up(e, code);
    code = session_open(s, a, job, store, options, e);
    if (code)
        goto out;
    start_pool(s);
    progress_run_start(s->progress, s->run);
    if (checked)
        progress_note(s->progress,
                      "the store was found damaged: checked %" PRIu64 " records, set %" PRIu64
                      " aside",
                      healed.records, healed.quarantined);
    code = read_sources(s, e);
    if (code)
        goto out;
    code = sched_run(s, e);
    out->left = s->left;
    if (!code && s->fatal.code) {
        code = s->fatal.code;
        if (e)
            *e = s->fatal;
    }
    if (!code)
        code = record_final(s, e);
    if (!code)
        code = committer_flush(s->commit, e);
    if (code) {
        record_broken(s);
        goto out;
    }
    session_fill_result(out, s);
    progress_summary(s->progress, out);
out:
    if (!out->left)
        session_close(s);
    return err_up(e, code);
}
