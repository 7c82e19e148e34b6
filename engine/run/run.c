/* A run: sources first, then all other nodes by the scheduler, then the record of the run. */
#include "engine/run/run_internal.h"

#include "base/os.h"
#include "engine/cache/action.h"
#include "engine/remote/remote.h"
#include "engine/run/node_pack.h"
#include "engine/session/run_record.h"
#include "store/maintain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HEALS_MAX = 3 };

/* ---- a session; see run_internal.h ---- */

static bool *find_wanted(struct arena *a, const struct job *job, const struct run_options *options)
{
    bool *wanted = arena_array(a, bool, job->n_nodes);
    for (size_t i = 0; i < job->n_nodes; i++)
        wanted[i] = options->targets == NULL;
    for (size_t i = 0; options->targets && i < options->n_targets; i++)
        wanted[options->targets[i]] = true;
    for (size_t i = job->n_nodes; i-- > 0;)
        for (size_t k = 0; wanted[i] && k < job->nodes[i].n_above; k++)
            wanted[job->nodes[i].above[k].node] = true;
    return wanted;
}

enum err_code session_open(struct session *s, struct arena *a, const struct job *job,
                           struct store *store, const struct run_options *options, struct err *e)
{
    memset(s, 0, sizeof *s);
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_cond_init(&s->over, NULL);
    s->job = job;
    s->store = store;
    s->options = options;
    s->arena = a;
    s->deadline_ns = UINT64_MAX;
    s->start_ns = os_monotonic_ns();
    s->started_ns = os_wall_ns();
    s->threads = options->threads ? options->threads : os_cpus();
    s->numerics = key_numerics();
    bool *wanted = find_wanted(a, job, options);
    enum err_code code = options->remote ? remote_open(s, options->remote, e) : OK;
    if (!code)
        code = history_load(&s->history, a, store, job, e);
    if (code)
        return err_up(e, code);
    uint64_t *estimates = arena_array(a, uint64_t, job->n_nodes);
    for (size_t i = 0; i < job->n_nodes; i++) {
        const Eqloom__RunNode *before = s->history.made[i];
        estimates[i] = before && before->ran ? before->wall_ns : 0;
    }
    s->run = history_next_run(a, &s->history, job);
    s->progress = progress_new(job, options, wanted, estimates);
    s->commit = committer_new(store);
    sched_init(s, wanted);
    return err_up(e, offload_open(s, e));
}

void session_close(struct session *s)
{
    offload_close(s);
    for (uint32_t i = 0; s->nodes && i < s->job->n_nodes; i++) {
        struct node_run *r = &s->nodes[i];
        node_end_attempt(r);
        arena_free(&r->arena);
        pthread_mutex_destroy(&r->prepare_mutex);
    }
    remote_close(s->remote);
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
        *n = session_view(r);
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

/* ---- sources ---- */

/* Returns whether the node is a wanted source. */
static bool is_source(const struct node_run *r)
{
    return r->op->node == OP_SOURCE && r->phase == PHASE_WAITING;
}

/* Commits all sources or none: an error in one file leaves the store unchanged. */
static enum err_code store_sources(struct session *s, struct store_batch *b, struct err *e)
{
    bool fresh = false;
    for (struct node_run *r = s->nodes; r < s->nodes + s->job->n_nodes; r++)
        if (is_source(r) && r->state == NODE_RAN) {
            progress_source(s->progress, r->index, "being stored");
            fresh = true;
        }
    if (store_batch_count(b) == 0 || (s->options->check && !fresh))
        return OK;
    enum err_code code = committer_append(s->commit, b, e);
    return err_up(e, code ? code : committer_flush(s->commit, e));
}

static void read_all(struct session *s)
{
    struct store_batch *b = store_batch_new(s->store);
    struct err e = {0};
    enum err_code code = OK;
    struct node_run *end = s->nodes + s->job->n_nodes;
    for (struct node_run *r = s->nodes; r < end && !code && !session_interrupted(s); r++)
        if (is_source(r))
            code = source_read(r, b, &e);
    bool interrupted = session_interrupted(s);
    if (!code && !interrupted)
        code = store_sources(s, b, &e);
    if (code && (code != ERR_CANCELLED || !interrupted))
        session_fail(s, &e);
    pthread_mutex_lock(&s->mutex);
    for (struct node_run *r = s->nodes; r < end && !code && !interrupted; r++)
        if (is_source(r)) {
            r->phase = PHASE_DONE;
            s->done++;
            sched_report(r);
        }
    pthread_mutex_unlock(&s->mutex);
    store_batch_free(b);
}

static void note_healed(struct session *s, const struct fsck_result *r)
{
    progress_note(s->progress,
                  "the store was found damaged: checked %" PRIu64 " records, set %" PRIu64 " aside",
                  r->records, r->quarantined);
}

/* After a lost record: checks the store and removes damaged records with all actions that refer to
 * them. */
static enum err_code repair(struct session *s, struct err *e)
{
    struct fsck_result r;
    if (s->repairs++ == HEALS_MAX)
        return err_fail(e, ERR_CORRUPT, "%s, and recomputing it did not help", s->loss);
    progress_note(s->progress, "%s", s->loss);
    enum err_code code = committer_flush(s->commit, e);
    if (!code)
        code = store_fsck(&r, s->store, true, NULL, NULL, e);
    if (code)
        return err_up(e, code);
    note_healed(s, &r);
    sched_restart(s);
    return OK;
}

/* ---- end of a run ---- */

/* Pushes the results of a finished node to the shared cache, unless it has them. */
static void push(struct node_run *r)
{
    struct node_pack p;
    struct digest name;
    struct pack_contents what;
    struct err e = {0};
    node_pack_open(&p, r);
    enum err_code code = node_pack_name(&name, &p, &e);
    if (!code && !remote_has(r, &name)) {
        code = node_pack_fill(&what, &p, true, &e);
        if (!code)
            remote_push(r, &name, &what);
    }
    if (code)
        remote_note(r, "cannot be put into", &e);
    node_pack_close(&p);
}

static void push_all(struct session *s)
{
    if (!s->remote || s->options->check)
        return;
    for (struct node_run *r = s->nodes; r < s->nodes + s->job->n_nodes; r++) {
        bool made = r->phase == PHASE_DONE && r->state != NODE_FAILED && r->state != NODE_SKIPPED;
        if (made && r->has_key && !r->failed && remote_works(s->remote) && !session_interrupted(s))
            push(r);
    }
    if (s->pulled + s->pushed)
        progress_note(
            s->progress,
            "shared cache: %" PRIu64 " results pulled (%.1f MB), %" PRIu64 " pushed (%.1f MB)",
            s->pulled, (double)s->pulled_bytes / 1e6, s->pushed, (double)s->pushed_bytes / 1e6);
}

/* What was not computed again, such as the actions of blocks, is forgotten. */
static enum err_code forget_claims(struct session *s, struct err *e)
{
    enum err_code code = OK;
    bool checked = s->options->check && !session_interrupted(s);
    for (struct node_run *r = s->nodes; checked && !code && r < s->nodes + s->job->n_nodes; r++)
        if (r->phase == PHASE_DONE && r->state != NODE_FAILED && r->state != NODE_SKIPPED)
            code = action_forget_claims(s->store, r->op, e);
    return err_up(e, code);
}

enum err_code job_run(struct run_result *out, struct arena *a, const struct job *job,
                      struct store *store, const struct run_options *options, struct err *e)
{
    struct session *s = arena_new(a, struct session); /* in the arena, since workers that are left
                                                       * behind still use it */
    struct fsck_result repaired;
    bool checked;
    memset(out, 0, sizeof *out);
    out->nodes = arena_array(a, struct node_result, job->n_nodes);
    enum err_code code = store_heal(&checked, &repaired, store, e);
    if (code)
        return err_up(e, code);
    code = session_open(s, a, job, store, options, e);
    if (code)
        goto out;
    sched_start_pool(s);
    progress_run_start(s->progress, s->run);
    if (checked)
        note_healed(s, &repaired);
    do {
        code = atomic_load(&s->lost) ? repair(s, e) : OK;
        if (!code)
            code = sched_watch(s, 1, read_all, e);
        if (!code && !s->left && !s->fatal.code)
            code = sched_run(s, e);
        if (session_signals(s) || s->fatal.code)
            offload_cancel(s);
        if (code)
            goto out;
    } while (atomic_load(&s->lost) && !s->left && !s->fatal.code && !session_signals(s));
    out->left = s->left;
    if (s->fatal.code) {
        code = s->fatal.code;
        if (e)
            *e = s->fatal;
    }
    if (!code)
        code = record_final(s, e);
    if (!code)
        code = committer_flush(s->commit, e);
    if (!code)
        code = forget_claims(s, e);
    if (code) {
        record_broken(s);
        goto out;
    }
    offload_finish(s);
    push_all(s);
    session_fill_result(out, s);
    progress_summary(s->progress, out);
out:
    if (!out->left)
        session_close(s);
    return err_up(e, code);
}
