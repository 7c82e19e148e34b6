/* eqloom ls and log: refs, records of a kind, runs. */
#include "engine/cli/cli.h"

#include "action.pb-c.h"
#include "base/os.h"
#include "collection.pb-c.h"
#include "engine/cli/place.h"
#include "engine/cli/reflect.h"
#include "engine/cli/resolve.h"
#include "engine/cli/table.h"
#include "engine/graph.h"
#include "schemas/canonical.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

struct listing {
    struct cli *c;
    struct store *store;
    struct table *table;
    const char *prefix;
    enum record_kind kind;
    uint64_t left; /* runs still to list */
};

/* ---- refs ---- */

/* Elements of a collection; 1 for any other record. */
static uint64_t count_elements(struct arena *a, const struct record *r)
{
    ProtobufCMessage *m;
    if (r->kind != KIND_COLLECTION ||
        canonical_unpack(&m, a, &eqloom__collection__descriptor, r->payload, NULL))
        return 1;
    return ((Eqloom__Collection *)m)->count;
}

static const char *element_kind(struct arena *a, const struct record *r)
{
    ProtobufCMessage *m;
    const struct kind_info *kind = kind_info(r->kind);
    if (r->kind != KIND_COLLECTION ||
        canonical_unpack(&m, a, &eqloom__collection__descriptor, r->payload, NULL))
        return kind ? kind->name : "?";
    return arena_printf(a, "collection of %s", ((Eqloom__Collection *)m)->element_kind);
}

static enum err_code list_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    struct listing *l = arg;
    struct cli *c = l->c;
    struct arena a = {0};
    struct record r = {0};
    char hex[DIGEST_HEX];
    bool there = !store_get(&r, l->store, id, &a, NULL);
    const char *kind = there ? element_kind(&a, &r) : "missing";
    uint64_t n = there ? count_elements(&a, &r) : 0;
    digest_hex(hex, id);
    if (c->json)
        reflect_dump(c->out,
                     json_pack("{s:s, s:s, s:s, s:I, s:I}", "ref", name, "id", hex, "kind", kind,
                               "count", (json_int_t)n, "bytes", (json_int_t)r.payload.len));
    else
        table_add(l->table, (const char *const[]){name, kind, arena_printf(&a, "%.12s", hex),
                                                  arena_printf(&a, "%" PRIu64, n),
                                                  arena_printf(&a, "%zu", r.payload.len)});
    arena_free(&a);
    return OK;
}

/* ---- records ---- */

static enum err_code list_record(void *arg, const struct digest *id, enum record_kind kind,
                                 uint64_t stored, struct err *e)
{
    struct listing *l = arg;
    struct cli *c = l->c;
    char hex[DIGEST_HEX];
    digest_hex(hex, id);
    if (kind != l->kind || strncmp(hex, l->prefix, strlen(l->prefix)))
        return OK;
    struct arena a = {0};
    const char *label = resolve_label(&a, l->store, id);
    if (c->json)
        reflect_dump(c->out,
                     json_pack("{s:s, s:s, s:I, s:s}", "id", hex, "kind", kind_info(kind)->name,
                               "stored_bytes", (json_int_t)stored, "label", label));
    else
        fprintf(c->out, "%.12s  %8" PRIu64 "%s%s\n", hex, stored, *label ? "  " : "", label);
    arena_free(&a);
    return OK;
}

static enum err_code find_kind(enum record_kind *out, const char *name, struct err *e)
{
    const char *names[KIND_END];
    size_t n = 0;
    const struct kind_info *info = kind_by_name(name);
    for (int k = KIND_NONE + 1; k < KIND_END; k++)
        if (kind_info(k))
            names[n++] = kind_info(k)->name;
    if (info) {
        *out = info->kind;
        return OK;
    }
    err_fail(e, ERR_INPUT, "there is no kind '%.60s'", name);
    const char *near = err_nearest(name, names, n);
    if (near)
        err_hint(e, "did you mean '%s'?", near);
    return ERR_INPUT;
}

enum err_code cli_ls(int *status, struct cli *c, struct err *e)
{
    struct listing l = {.c = c, .prefix = c->n_arguments ? c->arguments[0] : ""};
    const char *kind = cli_value(c, "kind");
    char *path;
    enum err_code code = kind ? err_up(e, find_kind(&l.kind, kind, e)) : OK;
    if (!code)
        code = err_up(e, place_open(&l.store, &path, c, NULL, PLACE_READ, e));
    if (code)
        return code;
    l.table = table_new(c->arena, "name|kind|id|count|bytes");
    code = kind ? err_up(e, store_each_record(l.store, list_record, &l, e))
                : err_up(e, store_each_ref(l.store, l.prefix, list_ref, &l, e));
    if (!code && !kind && !c->json)
        table_print(c->out, l.table);
    store_close(l.store);
    return code;
}

/* ---- runs ---- */

static const char *format_time(struct arena *a, int64_t ns)
{
    time_t t = (time_t)(ns / 1000000000);
    struct tm tm;
    char text[32];
    localtime_r(&t, &tm);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    return arena_strdup(a, text);
}

static enum err_code list_run(void *arg, const char *name, struct span value, struct err *e)
{
    struct listing *l = arg;
    struct cli *c = l->c;
    struct arena a = {0};
    ProtobufCMessage *m;
    enum err_code code = err_up(e, canonical_unpack(&m, &a, &eqloom__run__descriptor, value, e));
    if (code)
        goto out;
    const Eqloom__Run *run = (const Eqloom__Run *)m;
    uint64_t ran = 0, failed = 0;
    for (size_t i = 0; i < run->n_nodes; i++) {
        ran += run->nodes[i]->ran;
        failed += run->nodes[i]->failed;
    }
    double wall = run->finished_ns ? (double)(run->finished_ns - run->started_ns) / 1e9 : 0;
    if (c->json)
        reflect_dump(c->out,
                     json_pack("{s:s, s:s, s:s, s:s, s:I, s:f, s:I, s:I}", "run", name, "job",
                               run->job, "job_path", run->job_path, "state", run->state,
                               "started_ns", (json_int_t)run->started_ns, "wall_s", wall,
                               "elements_ran", (json_int_t)ran, "failed", (json_int_t)failed));
    else
        table_add(l->table, (const char *const[]){name, format_time(&a, run->started_ns),
                                                  run->state, arena_printf(&a, "%" PRIu64, ran),
                                                  arena_printf(&a, "%" PRIu64, failed),
                                                  arena_printf(&a, "%.1f s", wall)});
    if (!--l->left)
        code = ERR_CANCELLED; /* enough */
out:
    arena_free(&a);
    return code;
}

/* Jobs that have refs "JOB/NODE" were run. */
static enum err_code collect_job(void *arg, const char *name, const struct digest *id,
                                 struct err *e)
{
    const char *slash = strchr(name, '/');
    struct table *jobs = arg;
    if (!slash)
        return OK;
    const char *job = arena_strndup(jobs->arena, name, (size_t)(slash - name));
    if (strcmp(jobs->cells[jobs->n_rows - 1], job)) /* in name order: the same stand together */
        table_add(jobs, &job);
    return OK;
}

static enum err_code log_jobs(struct listing *l, const char *const *jobs, size_t n, struct err *e)
{
    for (size_t i = 0; i < n && l->left; i++) {
        enum err_code code = store_each_run(l->store, jobs[i], list_run, l, e);
        if (code && code != ERR_CANCELLED)
            return err_up(e, code);
    }
    return OK;
}

/* A job's name, also when its file was given. */
static enum err_code job_name(const char **out, struct cli *c, struct err *e)
{
    struct os_stat st;
    struct job *job;
    *out = c->arguments[0];
    if (os_stat(&st, *out, NULL) || st.is_dir)
        return OK;
    enum err_code code = err_up(e, job_load(&job, c->arena, *out, NULL, e));
    if (!code)
        *out = job->name;
    return code;
}

enum err_code cli_log(int *status, struct cli *c, struct err *e)
{
    struct listing l = {.c = c};
    char *path;
    const char *name = NULL;
    enum err_code code = err_up(e, cli_number(&l.left, c, "limit", 20, 1, 1 << 30, e));
    if (!code && c->n_arguments)
        code = err_up(e, job_name(&name, c, e));
    if (!code)
        code = err_up(e, place_open(&l.store, &path, c, c->n_arguments ? c->arguments[0] : NULL,
                                    PLACE_READ, e));
    if (code)
        return code;
    l.table = table_new(c->arena, "run|started|state|ran|failed|time");
    struct table *jobs = table_new(c->arena, "");
    if (name)
        table_add(jobs, &name);
    else
        code = err_up(e, store_each_ref(l.store, "", collect_job, jobs, e));
    if (!code)
        code = err_up(e, log_jobs(&l, jobs->cells + 1, jobs->n_rows - 1, e));
    if (!code && !c->json)
        table_print(c->out, l.table);
    store_close(l.store);
    return code;
}
