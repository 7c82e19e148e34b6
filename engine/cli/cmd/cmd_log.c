/* eqloom log: runs, and the nodes of one. */
#include "engine/cli/cmd/cmd.h"

#include "base/os.h"
#include "engine/cache/label.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/runs.h"
#include "engine/export/reflect.h"
#include "engine/job/job.h"

#include <inttypes.h>
#include <string.h>

static const char *number(struct arena *a, uint64_t n)
{
    return n ? arena_printf(a, "%" PRIu64, n) : "-";
}

static const char *share(struct arena *a, uint64_t n, uint64_t of)
{
    return of ? arena_printf(a, "%" PRIu64 " of %" PRIu64, n, of) : "-";
}

static const char *seconds(struct arena *a, double s)
{
    return s >= 1 ? arena_printf(a, "%.1f s", s) : arena_printf(a, "%.0f ms", s * 1e3);
}

static void print_runs(struct cli *c, const struct run_list *list, size_t limit)
{
    struct arena *a = c->arena;
    struct table *t = table_new(a, "run|started|state|nodes ran|elements ran|reused|failed|time");
    for (size_t i = 0; i < list->n && i < limit; i++) {
        const struct run_summary *r = &list->runs[i];
        bool unknown = !strcmp(r->state, "killed");
        if (c->json)
            reflect_line(c->out,
                         "run:s job:s job_path:s state:s started_ns:u wall_s:f nodes:u nodes_ran:u "
                         "elements:u elements_ran:u elements_cached:u elements_reused:u failed:u",
                         r->name, r->job, r->job_path, r->state, r->started_ns, r->wall_s, r->nodes,
                         r->nodes_ran, r->elements, r->ran, r->cached, r->reused, r->failed);
        table_add(t, (const char *const[]){r->name, label_time(a, r->started_ns), r->state,
                                           share(a, r->nodes_ran, r->nodes),
                                           share(a, r->ran, r->elements), number(a, r->reused),
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

/* {"model": id}, for outputs that were made. */
static json_t *outputs_json(const Eqloom__RunNode *n)
{
    json_t *outputs = json_object();
    for (size_t i = 0; i < n->n_outputs; i++) {
        const ProtobufCBinaryData *id = &n->outputs[i]->output_ids;
        char hex[DIGEST_HEX];
        if (id->len == DIGEST_SIZE)
            json_object_set_new(outputs, n->outputs[i]->role,
                                json_string(digest_hex(hex, (const struct digest *)id->data)));
    }
    return outputs;
}

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
            reflect_line(c->out,
                         "run:s node:s op:s state:s elements:u ran:u cached:u reused:u failed:u "
                         "wall_s:f why:s outputs:o",
                         name, n->name, n->op, how, n->elements, n->ran, n->cached, n->reused,
                         n->failed, wall, n->why, outputs_json(n));
        table_add(t, (const char *const[]){n->name, how, number(a, n->elements), number(a, n->ran),
                                           number(a, n->reused), number(a, n->cached),
                                           number(a, n->failed),
                                           n->wall_ns ? seconds(a, wall) : "-", n->why});
    }
    if (c->json)
        return;
    fprintf(c->out, "%s: %s, %s, started %s\n", name, run->job_path, state,
            label_time(a, run->started_ns));
    table_print(c->out, t);
}

/* A job's name, also where its file was given. */
static enum err_code job_name(const char **out, struct cli *c, struct err *e)
{
    struct os_stat st;
    struct job *job;
    *out = c->n_arguments ? c->arguments[0] : NULL;
    if (!*out || os_stat(&st, *out, NULL) || st.is_dir)
        return OK;
    enum err_code code = job_load(&job, c->arena, *out, NULL, e);
    if (!code)
        *out = job->name;
    return err_up(e, code);
}

enum err_code cli_log(int *status, struct cli *c, struct err *e)
{
    uint64_t limit;
    struct run_list list;
    const Eqloom__Run *run;
    const char *name = NULL, *run_name;
    enum err_code code = cli_number(&limit, c, "limit", 20, 1, 1 << 30, e);
    if (!code)
        code = job_name(&name, c, e);
    if (!code)
        code = place_open(c, c->n_arguments ? c->arguments[0] : NULL, CLI_STORE_READ, e);
    bool one = !code && name && run_is_name(c, name);
    if (!code)
        code = runs_load(&list, c->arena, c->store, one ? NULL : name, e);
    if (!code && (!name || (!one && list.n)))
        print_runs(c, &list, limit);
    else if (!code && !(code = run_find(&run, &run_name, c, name, e))) {
        const char *state = run->state;
        for (size_t i = 0; i < list.n; i++)
            if (!strcmp(list.runs[i].name, run_name))
                state = list.runs[i].state; /* or "killed", which is not stored */
        print_nodes(c, run_name, state, run);
    }
    return err_up(e, code);
}
