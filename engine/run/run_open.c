/* A session's begin and end; see run_open.h. */
#include "engine/run/run_open.h"

#include "base/os.h"
#include "engine/node/node_work.h"
#include "engine/remote/remote.h"
#include "engine/run/away.h"
#include "engine/run/sched.h"

#include <stdlib.h>
#include <string.h>

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
    return err_up(e, away_open(s, e));
}

void session_close(struct session *s)
{
    away_close(s);
    for (uint32_t i = 0; s->nodes && i < s->job->n_nodes; i++) {
        struct node_run *r = &s->nodes[i];
        node_end_attempt(r);
        arena_free(&r->arena);
        pthread_mutex_destroy(&r->prepare_mutex);
        free(r->why);
        witness_counts_clear(&r->witnesses);
        free(r->failure);
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
