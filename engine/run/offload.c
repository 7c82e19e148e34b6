/* Nodes that a cluster computes. node_begin leaves them in PHASE_ON_CLUSTER; one thread cuts them
 * into blocks, submits these, imports the results and resubmits dead blocks (cluster/). Then each
 * node is looked up again locally: a chain is found complete; a map finds its elements, and
 * elements without a result, because their op failed, run here to report the error. So results and
 * messages equal those of a run on one machine. */
#include "engine/run/run_internal.h"

#include "base/io/out_file.h"
#include "base/os.h"
#include "engine/cluster/node_dispatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct offload {
    struct cluster cluster;
    pthread_mutex_t mutex; /* guards the fields below; held during submission */
    bool cancelled;
    unsigned squeue_failures; /* consecutive */
};

/* A slurmctld that was killed restarts from its saved state and may list an ended job as running;
 * it queries the nodes only after half an hour and keeps the job's processors allocated until then.
 * Jobs that have ended for this many polls are therefore cancelled. */
enum { TICK_MS = 50, POLLS_TO_END = 15 };

/* The script that sbatch runs. Results are small and local; the shell waits for the worker and
 * removes the files of a killed one. */
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

/* ---- open and close ---- */

static enum err_code make_command(struct cluster *c, const struct session *s, struct err *e)
{
    const struct run_options *o = s->options;
    const char **argv = arena_array(&c->arena, const char *, 2 * o->n_sets + 6);
    size_t n = 0;
    char *own;
    if (!c->profile.program && os_realpath(&own, &c->arena, "/proc/self/exe", NULL))
        return err_fail(e, ERR_IO, "cannot find the path of this program");
    argv[n++] = c->profile.program ? c->profile.program : own;
    argv[n++] = "work";
    for (size_t i = 0; i < o->n_sets; i++) {
        argv[n++] = "--set";
        argv[n++] = o->sets[i];
    }
    if (o->allow_outside)
        argv[n++] = "--allow-outside";
    argv[n++] = s->job->path;
    c->command = argv;
    return OK;
}

/* Makes the folder or takes one of ours: what others can write, Slurm would run in our name. */
static enum err_code own_folder(const char *path, struct err *e)
{
    struct arena a = {0};
    struct stat st;
    enum err_code code = os_mkdirs(os_dirname(&a, path), e);
    arena_free(&a);
    if (code)
        return err_up(e, code);
    if ((mkdir(path, 0700) && errno != EEXIST) || lstat(path, &st))
        return err_fail(e, ERR_IO, "cannot make the folder %s: %s", path, strerror(errno));
    const char *wrong = !S_ISDIR(st.st_mode)               ? "is not a folder"
                        : st.st_uid != geteuid()           ? "belongs to another user"
                        : st.st_mode & (S_IWGRP | S_IWOTH) ? "can be written by others"
                                                           : NULL;
    if (!wrong)
        return OK;
    code = err_fail(e, ERR_INPUT, "%s, the folder for files of Slurm's jobs, %s", path, wrong);
    err_hint(e, "remove it, or name another place as 'spool' in slurm.yaml");
    return code;
}

/* Folder and job names are derived from the store's path, so that a restarted master finds its own
 * jobs and no others. */
static enum err_code make_folder(struct cluster *c, const struct session *s, struct err *e)
{
    const char *own = s->options->slurm_dir;
    char hex[DIGEST_HEX], *store, *real;
    enum err_code code = os_realpath(&store, &c->arena, os_dirname(&c->arena, own), e);
    if (code)
        return err_up(e, code);
    struct span path = span_of(store, strlen(store));
    struct digest digest = digest_of(&path, 1);
    c->prefix = arena_printf(&c->arena, "eqloom-%.8s-", digest_hex(hex, &digest));
    if (c->profile.spool)
        own = arena_printf(&c->arena, "%s/%sspool",
                           os_join(&c->arena, s->job->dir, c->profile.spool), c->prefix);
    code = own_folder(own, e);
    if (!code)
        code = os_realpath(&real, &c->arena, own, e);
    if (code)
        return err_up(e, code);
    c->dir = real;
    return err_up(e, out_file_write(os_join(&c->arena, real, "worker.sh"), worker_script,
                                    sizeof worker_script - 1, e));
}

enum err_code offload_open(struct session *s, struct err *e)
{
    if (!s->options->slurm_dir || s->options->check)
        return OK;
    struct offload *w = must_calloc(1, sizeof *w);
    struct cluster *c = &w->cluster;
    pthread_mutex_init(&w->mutex, NULL);
    s->offload = w;
    enum err_code code = profile_load(&c->profile, &c->arena, s->job, e);
    if (!code)
        code = make_folder(c, s, e);
    if (!code)
        code = make_command(c, s, e);
    return err_up(e, code);
}

static void close_dispatches(struct session *s)
{
    for (size_t i = 0; s->nodes && i < s->job->n_nodes; i++)
        dispatch_close(&s->nodes[i], false);
}

void offload_close(struct session *s)
{
    struct offload *w = s->offload;
    if (!w)
        return;
    close_dispatches(s);
    pthread_mutex_destroy(&w->mutex);
    name_map_free(&w->cluster.ended);
    arena_free(&w->cluster.arena);
    free(w);
}

/* Cancels all jobs of this store. */
static enum err_code cancel_all(struct offload *w, struct err *e)
{
    struct arena a = {0};
    struct slurm_job *jobs;
    size_t n, n_ids = 0;
    enum err_code code = slurm_list(&jobs, &n, &a, w->cluster.prefix, e);
    const char **ids = arena_array(&a, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        if (!jobs[i].over)
            ids[n_ids++] = jobs[i].id;
    if (n_ids)
        code = slurm_cancel(ids, n_ids, e);
    arena_free(&a);
    return err_up(e, code);
}

void offload_cancel(struct session *s)
{
    struct offload *w = s->offload;
    struct err e = {0};
    if (!w)
        return;
    pthread_mutex_lock(&w->mutex);
    w->cancelled = true;
    if (w->cluster.submitted && cancel_all(w, &e))
        progress_note(s->progress, "%s", e.message);
    pthread_mutex_unlock(&w->mutex);
}

void offload_finish(struct session *s)
{
    struct offload *w = s->offload;
    bool failed = false;
    if (!w || session_interrupted(s) || s->done < s->wanted)
        return;
    for (size_t i = 0; i < s->job->n_nodes; i++)
        failed |= s->nodes[i].phase == PHASE_DONE && s->nodes[i].state == NODE_FAILED;
    cancel_all(w, NULL);
    if (!failed) /* otherwise keep the workers' logs */
        os_remove_tree(w->cluster.dir);
}

/* ---- the thread ---- */

/* Returns a node to the scheduler, which looks it up again or finds that it has failed. */
static void return_node(struct node_run *r, const struct err *failure)
{
    struct session *s = r->s;
    dispatch_close(r, !failure);
    node_end_attempt(r);
    if (failure)
        node_fail(r, "", failure);
    pthread_mutex_lock(&s->mutex);
    s->n_on_cluster--;
    r->from_cluster = true;
    r->phase = PHASE_READY;
    if (r->ran && r->op->node != OP_MAP)
        r->state = NODE_RAN;
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->mutex);
}

static void step(struct node_run *r, const struct slurm_job *jobs, size_t n_jobs)
{
    struct offload *w = r->s->offload;
    struct err e = {0};
    enum err_code code = r->dispatch ? dispatch_poll(r->dispatch, jobs, n_jobs, &e)
                                     : dispatch_open(r, &w->cluster, jobs, n_jobs, &e);
    pthread_mutex_lock(&w->mutex);
    if (!code && !w->cancelled)
        code = dispatch_submit(r->dispatch, &e);
    pthread_mutex_unlock(&w->mutex);
    if (code == ERR_FAILED)
        return_node(r, &e);
    else if (code)
        session_fail(r->s, &e);
    else if (dispatch_is_over(r->dispatch))
        return_node(r, NULL);
}

static void cancel_ended(struct session *s, const struct slurm_job *jobs, size_t n, struct arena *a)
{
    struct cluster *c = &s->offload->cluster;
    uint64_t now = os_monotonic_ns(), *since;
    const char **ids = arena_array(a, const char *, n + 1);
    size_t n_ids = 0;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(jobs[i].state, "RUNNING") && (since = name_map_get(&c->ended, jobs[i].id)) &&
            now - *since > POLLS_TO_END * c->profile.poll_ms * 1000000) {
            ids[n_ids++] = jobs[i].id;
            *since = now;
        }
    if (n_ids && !slurm_cancel(ids, n_ids, NULL))
        progress_note(s->progress, "job %s%s has ended, but Slurm lists it as running: cancelled",
                      ids[0], n_ids > 1 ? ", with others," : "");
}

static bool is_on_cluster(struct node_run *r)
{
    pthread_mutex_lock(&r->s->mutex);
    bool on_cluster = r->phase == PHASE_ON_CLUSTER;
    pthread_mutex_unlock(&r->s->mutex);
    return on_cluster;
}

/* Calls squeue first, so that the files of jobs that it lists as ended are visible. */
static void poll_cluster(struct session *s)
{
    struct offload *w = s->offload;
    struct arena a = {0};
    struct slurm_job *jobs;
    struct err e = {0};
    size_t n;
    if (slurm_list(&jobs, &n, &a, w->cluster.prefix, &e)) {
        if (!w->squeue_failures++)
            progress_note(s->progress, "%s", e.message);
        if (e.code == ERR_NOTFOUND)
            session_fail(s, &e);
    } else {
        w->squeue_failures = 0;
        for (size_t i = 0; i < s->job->n_nodes && !session_interrupted(s); i++)
            if (is_on_cluster(&s->nodes[i]))
                step(&s->nodes[i], jobs, n);
        cancel_ended(s, jobs, n, &a);
    }
    arena_free(&a);
}

void offload_run(struct session *s)
{
    uint64_t looked_ns = 0;
    for (;;) {
        bool any = false, new = false;
        pthread_mutex_lock(&s->mutex);
        bool others_work = s->workers > 1 && !session_interrupted(s);
        for (size_t i = 0; i < s->job->n_nodes; i++) {
            bool on_cluster = s->nodes[i].phase == PHASE_ON_CLUSTER;
            any = any || on_cluster;
            new = new || (on_cluster && !s->nodes[i].dispatch);
        }
        pthread_mutex_unlock(&s->mutex);
        if (!others_work)
            break;
        uint64_t now = os_monotonic_ns();
        bool due = now - looked_ns >= s->offload->cluster.profile.poll_ms * 1000000;
        if (any && (due || (new && !s->offload->squeue_failures))) {
            looked_ns = now;
            poll_cluster(s);
        }
        nanosleep(&(struct timespec){.tv_nsec = TICK_MS * 1000000}, NULL);
    }
    close_dispatches(s);
}
