/* Submits blocks and imports their results; see node_dispatch.h. */
#include "engine/cluster/node_dispatch.h"

#include "base/buf.h"
#include "base/io/in_file.h"
#include "base/io/out_file.h"
#include "base/os.h"
#include "store/pack/pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The result of a block that Slurm lists as complete, or no longer lists, may appear late on a
 * shared file system. */
enum { GRACE_S = 30, ARRAY = 256, LOG_BYTES = 1 << 20, LIST_BYTES = 1 << 20, ARGUMENTS = 64 };

static char *path_of(struct dispatch *x, const struct digest *key, const char *ending)
{
    char hex[DIGEST_HEX];
    return arena_printf(&x->work, "%s/%s%s", x->folder, digest_hex(hex, key), ending);
}

static bool parse_key(struct digest *key, const char *hex)
{
    for (size_t i = 0; i < DIGEST_SIZE; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
            return false;
        key->bytes[i] = (uint8_t)byte;
    }
    return true;
}

enum err_code dispatch_task_key(struct digest *out, struct arena *a, const char *folder,
                                const char *batch, uint64_t task, struct err *e)
{
    struct span list;
    char *path = arena_printf(a, "%s/%s.list", folder, batch);
    enum err_code code = os_read_file(&list, a, path, LIST_BYTES, e);
    uint64_t at = task * (2 * DIGEST_SIZE + 1);
    if (code)
        return err_up(e, code);
    if (at + 2 * DIGEST_SIZE > list.len || !parse_key(out, (const char *)list.data + at))
        return err_fail(e, ERR_INPUT, "%s has no key for task %llu", path,
                        (unsigned long long)task);
    return OK;
}

/* ---- importing results ---- */

static void note_end(struct cluster *c, const char *id)
{
    if (!name_map_get(&c->ended, id))
        name_map_put(&c->ended, arena_strdup(&c->arena, id), os_monotonic_ns(), NULL);
}

static void set_done(struct dispatch *x, const struct digest *key)
{
    struct session *s = x->r->s;
    const uint64_t *found = digest_map_get(&x->by_key, key);
    struct block *b = found ? &x->blocks[*found] : NULL;
    if (!b || b->state == BLOCK_DONE)
        return;
    x->n_submitted -= b->state == BLOCK_SUBMITTED;
    x->n_waiting -= b->state == BLOCK_WAITING;
    b->state = BLOCK_DONE;
    if (b->id)
        note_end(x->c, b->id);
    pthread_mutex_lock(&s->mutex);
    x->r->ran += b->n;
    pthread_mutex_unlock(&s->mutex);
    progress_cached(s->progress, x->r->index, b->n);
}

/* Removes a bad pack, so that its block is treated as dead. */
static enum err_code import_pack(struct dispatch *x, const struct digest *key, struct err *e)
{
    struct session *s = x->r->s;
    struct pack_result r;
    struct err bad = {0};
    char *path = path_of(x, key, ".pack");
    FILE *f;
    enum err_code code = in_file_open(&f, AT_FDCWD, path, path, &bad);
    if (code && code != ERR_INPUT)
        return OK; /* retried at the next poll */
    if (!code) {
        code = store_unpack(&r, s->store, f, path, PACK_OWN, &bad);
        fclose(f);
    }
    if (code && code != ERR_CORRUPT && code != ERR_INPUT && code != ERR_UNSUPPORTED) {
        if (e)
            *e = bad;
        return err_up(e, code);
    }
    const uint64_t *found = digest_map_get(&x->by_key, key);
    if (code && found)
        x->blocks[*found].damaged = true;
    if (code)
        progress_note(s->progress, "%s: %s", x->r->node->name, bad.message);
    else {
        unlink(path_of(x, key, ".in"));
        set_done(x, key);
    }
    unlink(path);
    return OK;
}

static enum err_code op_failed(struct dispatch *x, const struct digest *key, struct err *e)
{
    struct span text;
    enum err_code code = os_read_file(&text, &x->work, path_of(x, key, ".failed"), LOG_BYTES, e);
    unlink(path_of(x, key, ".failed"));
    return code ? err_up(e, code) : err_fail(e, ERR_FAILED, "%s", (const char *)text.data);
}

/* Imports every result in the folder. */
static enum err_code import_results(struct dispatch *x, struct err *e)
{
    DIR *dir = opendir(x->folder);
    struct dirent *entry;
    enum err_code code =
        dir ? OK : err_fail(e, ERR_IO, "cannot read %s: %s", x->folder, strerror(errno));
    while (!code && (entry = readdir(dir)) && !session_interrupted(x->r->s)) {
        struct digest key;
        size_t n = strlen(entry->d_name);
        if (n > 4 && !strcmp(entry->d_name + n - 4, ".end"))
            note_end(x->c, arena_strndup(&x->work, entry->d_name, n - 4));
        if (n < 2 * DIGEST_SIZE || !parse_key(&key, entry->d_name))
            continue;
        const char *ending = entry->d_name + 2 * DIGEST_SIZE;
        if (!strcmp(ending, ".pack"))
            code = import_pack(x, &key, e);
        else if (!strcmp(ending, ".failed"))
            code = op_failed(x, &key, e);
        arena_reset(&x->work);
    }
    if (dir)
        closedir(dir);
    return err_up(e, code);
}

/* ---- dead blocks ---- */

/* Returns the last line of the worker's log. */
static const char *last_log_line(struct dispatch *x, const struct block *b)
{
    struct span text;
    char *path = arena_printf(&x->work, "%s/%s.log", x->folder, b->id);
    if (os_read_file(&text, &x->work, path, LOG_BYTES, NULL))
        return "nothing";
    char *line = (char *)text.data;
    size_t n = text.len;
    while (n && line[n - 1] == '\n')
        line[--n] = 0;
    char *last = strrchr(line, '\n');
    return n ? last ? last + 1 : line : "nothing";
}

/* Queues the block for submission again, or fails after too many attempts. */
static enum err_code block_died(struct dispatch *x, struct block *b, const struct slurm_job *job,
                                struct err *e)
{
    struct session *s = x->r->s;
    const char *state = job ? job->state : "unknown to squeue", *reason = job ? job->reason : "";
    const char *how = !*reason || !strcmp(reason, "None")
                          ? state
                          : arena_printf(&x->work, "%s (%s)", state, reason);
    b->attempts -= b->attempts && !strcmp(state, "PREEMPTED");
    if (b->attempts >= x->c->profile.attempts)
        return err_fail(
            e, ERR_FAILED,
            "a block was submitted to Slurm %u times, last as job %s, which ended as %s; "
            "its log ends with: %.300s",
            b->attempts, b->id, how, last_log_line(x, b));
    progress_note(s->progress, "%s: job %s ended as %s, submitted again; its log ends with: %.200s",
                  x->r->node->name, b->id, how, last_log_line(x, b));
    b->state = BLOCK_WAITING;
    b->gone_ns = 0;
    b->damaged = false;
    x->n_submitted--;
    x->n_waiting++;
    return OK;
}

static enum err_code find_dead(struct dispatch *x, const struct slurm_job *jobs, size_t n_jobs,
                               struct err *e)
{
    struct name_map by_id = {0};
    enum err_code code = OK;
    uint64_t now = os_monotonic_ns();
    for (size_t i = 0; i < n_jobs; i++)
        name_map_put(&by_id, jobs[i].id, i, NULL);
    for (size_t k = 0; k < x->n && !code; k++) {
        struct block *b = &x->blocks[k];
        if (b->state != BLOCK_SUBMITTED)
            continue;
        const uint64_t *found = name_map_get(&by_id, b->id);
        const struct slurm_job *job = found ? &jobs[*found] : NULL;
        if (job && !job->over) {
            b->gone_ns = 0;
            continue;
        }
        if (!b->gone_ns)
            b->gone_ns = now;
        bool late = !job || !strcmp(job->state, "COMPLETED");
        if (!late || b->damaged || now - b->gone_ns > GRACE_S * 1000000000ull)
            code = block_died(x, b, job, e);
    }
    name_map_free(&by_id);
    return err_up(e, code);
}

enum err_code dispatch_poll(struct dispatch *x, const struct slurm_job *jobs, size_t n_jobs,
                            struct err *e)
{
    enum err_code code = import_results(x, e);
    if (!code)
        code = find_dead(x, jobs, n_jobs, e);
    arena_reset(&x->work);
    return err_up(e, code);
}

bool dispatch_is_over(const struct dispatch *x)
{
    return x->cut && !x->n_waiting && !x->n_submitted;
}

/* ---- submission ---- */

static void add_words(const char **argv, size_t *n, const char *const *words)
{
    while (words && *words && *n < ARGUMENTS - 1)
        argv[(*n)++] = *words++;
}

static void add_option(const char **argv, size_t *n, const char *option, const char *value)
{
    if (value)
        add_words(argv, n, (const char *const[]){option, value, NULL});
}

/* Submits the blocks `which` as one batch. */
static enum err_code submit(struct dispatch *x, const size_t *which, size_t n, struct err *e)
{
    struct cluster *c = x->c;
    const struct profile *p = &c->profile;
    const struct node_resources *own = &x->r->node->resources;
    struct arena *a = &x->work;
    const char *argv[ARGUMENTS] = {"sbatch", "--parsable", "--no-requeue"};
    size_t m = 3;
    struct buf list = {0};
    char hex[DIGEST_HEX], *id, *batch = arena_printf(a, "%u", x->batches);
    for (size_t k = 0; k < n; k++)
        buf_printf(&list, "%s\n", digest_hex(hex, &x->blocks[which[k]].key));
    enum err_code code =
        out_file_write(arena_printf(a, "%s/%s.list", x->folder, batch), list.data, list.len, e);
    buf_free(&list);
    if (code)
        return err_up(e, code);
    const char *partition = own->gpus && p->gpu_partition ? p->gpu_partition : p->partition;
    add_option(argv, &m, "--job-name",
               arena_printf(a, "%s%.16s-%s", c->prefix, digest_hex(hex, &x->r->key.digest), batch));
    add_option(argv, &m, "--output", arena_printf(a, "%s/%%A_%%a.log", x->folder));
    add_option(argv, &m, "--array", arena_printf(a, "0-%zu", n - 1));
    add_option(argv, &m, "--partition", partition);
    add_option(argv, &m, "--cpus-per-task", own->cpus ? own->cpus : p->resources.cpus);
    add_option(argv, &m, "--mem", own->memory ? own->memory : p->resources.memory);
    add_option(argv, &m, "--time", own->time ? own->time : p->resources.time);
    if (own->gpus)
        add_option(argv, &m, "--gres", arena_printf(a, "gpu:%s", own->gpus));
    add_words(argv, &m, p->options);
    argv[m++] = arena_printf(a, "%s/worker.sh", c->dir);
    argv[m++] = x->folder;
    add_words(argv, &m, c->command);
    add_words(
        argv, &m,
        (const char *const[]){x->r->node->name, "--folder", x->folder, "--batch", batch, NULL});
    x->batches++; /* even on failure: Slurm may have accepted the batch */
    code = slurm_submit(&id, a, argv, e);
    if (code)
        return err_up(e, code);
    c->submitted = true;
    for (size_t k = 0; k < n; k++) {
        struct block *b = &x->blocks[which[k]];
        b->id = arena_printf(&x->arena, "%s_%zu", id, k);
        b->state = BLOCK_SUBMITTED;
        b->attempts++;
    }
    x->n_waiting -= n;
    x->n_submitted += n;
    return OK;
}

static enum err_code submit_waiting(struct dispatch *x, struct err *e)
{
    size_t which[ARRAY], n = 0;
    for (size_t k = 0; k < x->n && n < ARRAY; k++)
        if (x->blocks[k].state == BLOCK_WAITING)
            which[n++] = k;
    if (!n)
        return OK;
    struct err refused = {0};
    if (!submit(x, which, n, &refused)) {
        x->refused = 0;
        return OK;
    }
    if (++x->refused < x->c->profile.attempts) {
        progress_note(x->r->s->progress, "%s: %s", x->r->node->name, refused.message);
        return OK; /* slurmctld may be down for a while */
    }
    return err_fail(e, ERR_FAILED, "%s", refused.message);
}

enum err_code dispatch_submit(struct dispatch *x, struct err *e)
{
    char text[60];
    enum err_code code = OK;
    while (!x->cut && x->n_waiting < ARRAY && x->n_submitted + x->n_waiting < x->c->profile.most &&
           !code && !session_interrupted(x->r->s)) {
        code = dispatch_cut_next(x, e);
        arena_reset(&x->work);
    }
    if (!code && !session_interrupted(x->r->s))
        code = submit_waiting(x, e);
    arena_reset(&x->work);
    snprintf(text, sizeof text, "Slurm has %zu of %zu block%s", x->n_submitted, x->n,
             x->n == 1 ? "" : "s");
    progress_op(x->r->s->progress, x->r->index, 0, 0, text);
    return err_up(e, code);
}

/* ---- opening and closing ---- */

/* Adopts the tasks that an earlier master submitted. */
static void adopt_all(struct dispatch *x, const struct slurm_job *jobs, size_t n_jobs)
{
    struct digest key;
    char hex[DIGEST_HEX];
    char *prefix =
        arena_printf(&x->arena, "%s%.16s-", x->c->prefix, digest_hex(hex, &x->r->key.digest));
    x->adopted_ids = arena_array(&x->arena, const char *, n_jobs + 1);
    for (const struct slurm_job *job = jobs; job < jobs + n_jobs; job++) {
        const char *task = strchr(job->id, '_'), *batch = job->name + strlen(prefix);
        if (job->over || strncmp(job->name, prefix, strlen(prefix)) ||
            dispatch_task_key(&key, &x->work, x->folder, batch,
                              task ? strtoul(task + 1, NULL, 10) : 0, NULL))
            continue;
        x->adopted_ids[x->n_adopted] = arena_strdup(&x->arena, job->id);
        digest_map_put(&x->adopted, &key, x->n_adopted++, NULL);
        x->c->submitted = true;
    }
    struct os_stat st;
    while (!os_stat(&st, arena_printf(&x->work, "%s/%u.list", x->folder, x->batches), NULL))
        x->batches++;
}

enum err_code dispatch_open(struct node_run *r, struct cluster *c, const struct slurm_job *jobs,
                            size_t n_jobs, struct err *e)
{
    struct dispatch *x = r->dispatch = must_calloc(1, sizeof *x);
    struct action_result made;
    char hex[DIGEST_HEX];
    x->c = c;
    x->r = r;
    x->batch = store_batch_new(r->s->store);
    x->folder = arena_printf(&x->arena, "%s/%s", c->dir, digest_hex(hex, &r->key.digest));
    enum err_code code = os_mkdirs(x->folder, e);
    if (!code)
        code = import_results(x, e);
    /* Imported results may already complete the node. */
    x->cut = !code && action_find(&made, &x->work, r->s->store, r->op, &r->key.digest);
    if (!code && !x->cut) {
        adopt_all(x, jobs, n_jobs);
        code = dispatch_pack_inputs(x, e);
        x->cut = r->op->node != OP_MAP;
        if (!code && !x->cut)
            code = dispatch_cut_open(x, e);
    }
    arena_reset(&x->work);
    return err_up(e, code);
}

void dispatch_close(struct node_run *r, bool done)
{
    struct dispatch *x = r->dispatch;
    if (!x)
        return;
    if (done)
        os_remove_tree(x->folder);
    dispatch_cut_close(x);
    store_batch_free(x->batch);
    arena_free(&x->work);
    digest_map_free(&x->by_key);
    digest_map_free(&x->adopted);
    arena_free(&x->arena);
    free(x);
    r->dispatch = NULL;
}
