/* eqloom log: runs, and the nodes of one. */
#include "engine/cli/console/cli.h"

#include "base/os.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/reflect.h"
#include "engine/cli/records/runs.h"
#include "engine/job/job.h"

#include <inttypes.h>
#include <string.h>

static const char *number(struct arena *a, uint64_t n)
{
    return n ? arena_printf(a, "%" PRIu64, n) : "-";
}

static const char *part(struct arena *a, uint64_t n, uint64_t of)
{
    return of ? arena_printf(a, "%" PRIu64 " of %" PRIu64, n, of) : "-";
}

static const char *seconds(struct arena *a, double s)
{
    return s >= 1 ? arena_printf(a, "%.1f s", s) : arena_printf(a, "%.0f ms", s * 1e3);
}

/* ---- runs ---- */

static void dump_run(struct cli *c, const struct run_summary *r)
{
    reflect_dump(c->out,
                 json_pack("{s:s, s:s, s:s, s:s, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
                           "run", r->name, "job", r->job, "job_path", r->job_path, "state",
                           r->state, "started_ns", (json_int_t)r->started_ns, "wall_s", r->wall_s,
                           "nodes", (json_int_t)r->nodes, "nodes_ran", (json_int_t)r->nodes_ran,
                           "elements", (json_int_t)r->elements, "elements_ran", (json_int_t)r->ran,
                           "elements_cached", (json_int_t)r->cached, "elements_reused",
                           (json_int_t)r->reused, "failed", (json_int_t)r->failed));
}

static void print_runs(struct cli *c, const struct run_list *list, size_t limit)
{
    struct arena *a = c->arena;
    struct table *t = table_new(a, "run|started|state|nodes ran|elements ran|reused|failed|time");
    for (size_t i = 0; i < list->n && i < limit; i++) {
        const struct run_summary *r = &list->runs[i];
        if (c->json) {
            dump_run(c, r);
            continue;
        }
        bool unknown = !strcmp(r->state, "killed");
        table_add(t, (const char *const[]){r->name, run_time(a, r->started_ns), r->state,
                                           part(a, r->nodes_ran, r->nodes),
                                           part(a, r->ran, r->elements), number(a, r->reused),
                                           number(a, r->failed),
                                           unknown ? "-" : seconds(a, r->wall_s)});
    }
    if (c->json)
        return;
    if (list->n)
        table_print(c->out, t);
    else
        fputs("nothing was run in this store\n", c->narration);
    if (list->n > limit)
        fprintf(c->narration, "... and %zu more (--limit)\n", list->n - limit);
}

/* ---- the nodes of a run ---- */

static void print_nodes(struct cli *c, const char *name, const char *state, const Eqloom__Run *run)
{
    bool killed = !strcmp(state, "killed");
    struct arena *a = c->arena;
    struct table *t = table_new(a, "node|state|elements|ran|reused|cached|failed|time|why");
    for (size_t i = 0; i < run->n_nodes; i++) {
        const Eqloom__RunNode *n = run->nodes[i];
        double wall = (double)n->wall_ns / 1e9;
        const char *how = killed && !strcmp(n->state, "running") ? "unfinished" : n->state;
        if (c->json)
            reflect_dump(c->out,
                         json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:s}", "run",
                                   name, "node", n->name, "op", n->op, "state", how, "elements",
                                   (json_int_t)n->elements, "ran", (json_int_t)n->ran, "cached",
                                   (json_int_t)n->cached, "reused", (json_int_t)n->reused, "failed",
                                   (json_int_t)n->failed, "wall_s", wall, "why", n->why));
        else
            table_add(t, (const char *const[]){n->name, how, number(a, n->elements),
                                               number(a, n->ran), number(a, n->reused),
                                               number(a, n->cached), number(a, n->failed),
                                               n->wall_ns ? seconds(a, wall) : "-", n->why});
    }
    if (c->json)
        return;
    fprintf(c->out, "%s: %s, %s, started %s\n", name, run->job_path, state,
            run_time(a, run->started_ns));
    table_print(c->out, t);
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

static enum err_code log_runs(struct cli *c, struct store *s, const char *name, uint64_t limit,
                              struct err *e)
{
    struct run_list list;
    const Eqloom__Run *run;
    const char *run_name;
    bool one = name && run_is_name(c->arena, s, name);
    enum err_code code = err_up(e, runs_load(&list, c->arena, s, one ? NULL : name, e));
    if (code)
        return code;
    if (name && (one || !list.n)) { /* ... and says so if there is none */
        if ((code = err_up(e, run_find(&run, &run_name, c, s, name, e))))
            return code;
        const char *state = run->state;
        for (size_t i = 0; i < list.n; i++)
            if (!strcmp(list.runs[i].name, run_name))
                state = list.runs[i].state;
        print_nodes(c, run_name, state, run);
        return OK;
    }
    print_runs(c, &list, limit);
    return OK;
}

enum err_code cli_log(int *status, struct cli *c, struct err *e)
{
    struct store *s;
    uint64_t limit;
    char *path;
    const char *name = NULL;
    enum err_code code = err_up(e, cli_number(&limit, c, "limit", 20, 1, 1 << 30, e));
    if (!code && c->n_arguments)
        code = err_up(e, job_name(&name, c, e));
    if (!code)
        code = err_up(
            e, place_open(&s, &path, c, c->n_arguments ? c->arguments[0] : NULL, PLACE_READ, e));
    if (code)
        return code;
    code = err_up(e, log_runs(c, s, name, limit, e));
    store_close(s);
    return code;
}
