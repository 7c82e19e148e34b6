/* Nodes that a cluster computes. node_begin leaves them in PHASE_AWAY; one thread cuts them into
 * blocks, submits these, takes in what comes back, and has what died given again (cluster/). Then a
 * node is looked up once more, here: a chain is found whole; a map finds its elements, and those of
 * which nothing came back, because their op failed, run here and say why. So results and messages
 * are those of a run on one machine. */
#include "engine/run/away.h"

#include "base/buf.h"
#include "base/io/out_file.h"
#include "base/map.h"
#include "base/os.h"
#include "engine/cluster/errand.h"
#include "engine/node/node_work.h"
#include "engine/run/sched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct away {
    struct arena arena;
    struct cluster cluster;
    struct errand **errands; /* by node */
    pthread_mutex_t mutex;   /* recursive: held while something is sent, and of what follows */
    const char **ids;
    size_t n_ids, cap_ids;
    bool cancelled;
    unsigned silent;       /* times in a row that squeue did not answer */
    struct name_map ended; /* jobs that have nothing more to do -> since when it is known, ns */
};

/* A slurmctld that was killed comes back with what it had saved, and may take a job for running
 * that is over; it asks the nodes after half an hour. Until then it gives nobody the job's
 * processors. */
enum { TICK_MS = 50, POLLS_TO_END = 15 };

/* What sbatch runs. Results are small and local; what remains of a worker that is killed is
 * removed by the shell that waits for it. */
static const char worker_script[] =
    "#!/bin/sh\n"
    "folder=$1\n"
    "shift\n"
    "EQLOOM_SCRATCH=$(mktemp -d \"${TMPDIR:-/tmp}/eqloom-XXXXXX\") || exit 1\n"
    "export EQLOOM_SCRATCH\n"
    "trap 'rm -rf \"$EQLOOM_SCRATCH\"' EXIT\n"
    "\"$@\" &\n"
    "trap 'kill $!' TERM\n"
    "wait $!\n"
    "status=$?\n"
    "wait\n"
    ": >\"$folder/${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID.end\"\n"
    "exit $status\n";

static void add_id(void *arg, const char *id)
{
    struct away *w = arg;
    pthread_mutex_lock(&w->mutex);
    w->ids = vec_grow(w->ids, &w->cap_ids, w->n_ids + 1, sizeof *w->ids);
    w->ids[w->n_ids++] = arena_strdup(&w->arena, id);
    pthread_mutex_unlock(&w->mutex);
}

static void note_end(void *arg, const char *id)
{
    struct away *w = arg;
    if (!name_map_get(&w->ended, id))
        name_map_put(&w->ended, arena_strdup(&w->arena, id), os_monotonic_ns(), NULL);
}

/* ---- open and close ---- */

static char *program_path(struct arena *a)
{
    char *path = NULL;
    return os_realpath(&path, a, "/proc/self/exe", NULL) ? NULL : path;
}

static enum err_code make_command(struct away *w, const struct session *s, struct err *e)
{
    const struct run_options *o = s->options;
    const struct profile *p = &w->cluster.profile;
    const char **argv = arena_array(&w->arena, const char *, 2 * o->n_sets + 6);
    size_t n = 0;
    argv[n++] = p->program ? p->program : program_path(&w->arena);
    argv[n++] = "work";
    for (size_t i = 0; i < o->n_sets; i++) {
        argv[n++] = "--set";
        argv[n++] = o->sets[i];
    }
    if (o->allow_outside)
        argv[n++] = "--allow-outside";
    argv[n++] = s->job->path;
    w->cluster.command = argv;
    return argv[0] ? OK : err_fail(e, ERR_IO, "cannot find the path of this program");
}

/* The store names folder and jobs: who comes back finds his own, and no others. */
static enum err_code make_folder(struct away *w, const struct session *s, struct err *e)
{
    struct cluster *c = &w->cluster;
    const char *own = s->options->slurm_dir;
    char hex[DIGEST_HEX], *store, *real;
    enum err_code code = os_realpath(&store, &w->arena, os_dirname(&w->arena, own), e);
    if (code)
        return err_up(e, code);
    struct span path = span_of(store, strlen(store));
    struct digest digest = digest_of(&path, 1);
    c->prefix = arena_printf(&w->arena, "eqloom-%.8s-", digest_hex(hex, &digest));
    if (c->profile.spool)
        own = arena_printf(&w->arena, "%s/%sspool",
                           os_join(&w->arena, s->job->dir, c->profile.spool), c->prefix);
    code = os_mkdirs(own, e);
    if (!code)
        code = os_realpath(&real, &w->arena, own, e);
    if (code)
        return err_up(e, code);
    c->dir = real;
    return err_up(e, out_file_write(os_join(&w->arena, real, "worker.sh"), worker_script,
                                    sizeof worker_script - 1, e));
}

enum err_code away_open(struct session *s, struct err *e)
{
    if (!s->options->slurm_dir || s->options->check)
        return OK;
    struct away *w = must_calloc(1, sizeof *w);
    struct cluster *c = &w->cluster;
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&w->mutex, &attr);
    pthread_mutexattr_destroy(&attr);
    w->errands = must_calloc(s->job->n_nodes + 1, sizeof(struct errand *));
    *c = (struct cluster){.session = s, .submitted = add_id, .ended = note_end, .arg = w};
    s->away = w;
    enum err_code code = profile_load(&c->profile, &w->arena, s->job, e);
    if (!code)
        code = make_folder(w, s, e);
    if (!code)
        code = make_command(w, s, e);
    return err_up(e, code);
}

static void close_errands(struct session *s)
{
    struct away *w = s->away;
    for (size_t i = 0; i < s->job->n_nodes; i++) {
        errand_close(w->errands[i]);
        w->errands[i] = NULL;
    }
}

void away_close(struct session *s)
{
    struct away *w = s->away;
    if (!w)
        return;
    close_errands(s);
    pthread_mutex_destroy(&w->mutex);
    name_map_free(&w->ended);
    free(w->errands);
    free(w->ids);
    arena_free(&w->arena);
    free(w);
}

void away_cancel(struct session *s)
{
    struct away *w = s->away;
    struct err e = {0};
    if (!w)
        return;
    pthread_mutex_lock(&w->mutex);
    w->cancelled = true;
    if (w->n_ids && slurm_cancel(w->ids, w->n_ids, &e))
        progress_note(s->progress, "%s", e.message);
    pthread_mutex_unlock(&w->mutex);
}

void away_finish(struct session *s)
{
    struct away *w = s->away;
    struct arena a = {0};
    struct slurm_job *jobs;
    size_t n, n_ids = 0;
    bool failed = false;
    if (!w || session_interrupted(s) || s->done < s->wanted)
        return;
    for (size_t i = 0; i < s->job->n_nodes; i++)
        failed |= s->nodes[i].phase == PHASE_DONE && s->nodes[i].state == NODE_FAILED;
    if (!slurm_list(&jobs, &n, &a, w->cluster.prefix, NULL)) {
        const char **ids = arena_array(&a, const char *, n + 1);
        for (size_t i = 0; i < n; i++)
            if (!jobs[i].over)
                ids[n_ids++] = jobs[i].id;
        if (n_ids)
            slurm_cancel(ids, n_ids, NULL);
    }
    if (!failed) /* else workers' logs may tell more */
        os_remove_tree(w->cluster.dir);
    arena_free(&a);
}

/* ---- the thread ---- */

/* To the scheduler, by whom it is looked up again, or as failed. */
static void hand_back(struct session *s, uint32_t i, const struct err *failure)
{
    struct node_run *r = &s->nodes[i];
    struct away *w = s->away;
    if (!failure)
        errand_clean(w->errands[i]);
    errand_close(w->errands[i]);
    w->errands[i] = NULL;
    node_end_attempt(s, i);
    pthread_mutex_lock(&s->mutex);
    s->n_away--;
    r->back = true;
    r->phase = PHASE_READY;
    if (r->ran && s->job->nodes[i].op->node != OP_MAP)
        r->state = NODE_RAN;
    if (failure) {
        r->failed++;
        if (!r->failure &&
            asprintf(&r->failure, "%s: %s", s->job->nodes[i].name, failure->message) < 0)
            r->failure = NULL;
        sched_settle(s, i, OUT_FAILED);
    }
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->mutex);
}

static bool is_away(struct session *s, uint32_t i)
{
    pthread_mutex_lock(&s->mutex);
    bool away = s->nodes[i].phase == PHASE_AWAY;
    pthread_mutex_unlock(&s->mutex);
    return away;
}

static void step(struct session *s, uint32_t i, const struct slurm_job *jobs, size_t n_jobs)
{
    struct away *w = s->away;
    struct err e = {0};
    enum err_code code = OK;
    if (w->errands[i])
        code = errand_look(w->errands[i], jobs, n_jobs, &e);
    else
        code = errand_open(&w->errands[i], &w->cluster, i, jobs, n_jobs, &e);
    pthread_mutex_lock(&w->mutex);
    if (!code && !w->cancelled)
        code = errand_send(w->errands[i], &e);
    pthread_mutex_unlock(&w->mutex);
    if (code == ERR_FAILED)
        hand_back(s, i, &e);
    else if (code)
        session_fail(s, &e);
    else if (errand_is_over(w->errands[i]))
        hand_back(s, i, NULL);
}

static void cancel_ended(struct session *s, const struct slurm_job *jobs, size_t n, struct arena *a)
{
    struct away *w = s->away;
    uint64_t now = os_monotonic_ns(), *since;
    const char **ids = arena_array(a, const char *, n + 1);
    size_t n_ids = 0;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(jobs[i].state, "RUNNING") && (since = name_map_get(&w->ended, jobs[i].id)) &&
            now - *since > POLLS_TO_END * w->cluster.profile.poll_ms * 1000000) {
            ids[n_ids++] = jobs[i].id;
            *since = now;
        }
    if (n_ids && !slurm_cancel(ids, n_ids, NULL))
        progress_note(s->progress, "job %s%s is over, but not for Slurm: cancelled", ids[0],
                      n_ids > 1 ? ", with others," : "");
}

/* squeue first: what a job that is over wrote can then be seen. */
static void look_around(struct session *s)
{
    struct away *w = s->away;
    struct arena a = {0};
    struct slurm_job *jobs;
    struct err e = {0};
    size_t n;
    if (slurm_list(&jobs, &n, &a, w->cluster.prefix, &e)) {
        if (!w->silent++)
            progress_note(s->progress, "%s", e.message);
        if (e.code == ERR_NOTFOUND)
            session_fail(s, &e);
    } else {
        w->silent = 0;
        for (uint32_t i = 0; i < s->job->n_nodes && !session_interrupted(s); i++)
            if (is_away(s, i))
                step(s, i, jobs, n);
        cancel_ended(s, jobs, n, &a);
    }
    arena_free(&a);
}

static bool has_new(struct session *s)
{
    for (uint32_t i = 0; i < s->job->n_nodes; i++)
        if (!s->away->errands[i] && is_away(s, i))
            return true;
    return false;
}

/* Caller holds no lock. */
static bool others_work(struct session *s)
{
    pthread_mutex_lock(&s->mutex);
    bool others = s->workers > 1 && !session_interrupted(s);
    pthread_mutex_unlock(&s->mutex);
    return others;
}

void away_run(struct session *s)
{
    uint64_t looked_ns = 0;
    while (others_work(s)) {
        uint64_t now = os_monotonic_ns();
        pthread_mutex_lock(&s->mutex);
        bool any = s->n_away > 0;
        pthread_mutex_unlock(&s->mutex);
        bool due = now - looked_ns >= s->away->cluster.profile.poll_ms * 1000000;
        if (any && (due || (has_new(s) && !s->away->silent))) {
            looked_ns = now;
            look_around(s);
        }
        nanosleep(&(struct timespec){.tv_nsec = TICK_MS * 1000000}, NULL);
    }
    close_errands(s);
}
