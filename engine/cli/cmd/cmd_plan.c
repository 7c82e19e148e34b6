/* eqloom plan, status and log: what a run would do, what the last run did, and the list of runs. */
#include "engine/cli/cmd/cmd_job.h"

#include "base/os.h"
#include "engine/cache/label.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/runs.h"
#include "engine/export/reflect.h"

#include <inttypes.h>
#include <string.h>

static const char *decision(enum node_state state)
{
    switch (state) {
    case NODE_WAITING: return "may run";
    case NODE_READ: return "read";
    case NODE_CACHED: return "cached";
    case NODE_RAN: return "run";
    case NODE_REUSED: return "reuse";
    case NODE_FAILED: return "fails";
    case NODE_SKIPPED: return "skip";
    }
    return "?";
}

static const char *count(struct arena *a, uint64_t n)
{
    return n ? arena_printf(a, "%" PRIu64, n) : "-";
}

static const char *share(struct arena *a, uint64_t n, uint64_t of)
{
    return of ? arena_printf(a, "%" PRIu64 " of %" PRIu64, n, of) : "-";
}

/* Returns "412", or "1 of 412" if only some elements would run. */
static const char *count_planned(struct arena *a, const struct node_result *r)
{
    bool some = r->state == NODE_RAN && r->ran && r->ran != r->elements;
    return some ? share(a, r->ran, r->elements) : count(a, r->elements);
}

/* Returns the names of the nodes whose outputs a node reads, without duplicates. */
static json_t *inputs_json(const struct job *job, const struct node *n)
{
    json_t *names = json_array();
    for (size_t i = 0; i < op_count_inputs(n->op); i++)
        for (size_t k = 0; k < n->inputs[i].n_sources; k++) {
            const char *name = job->nodes[n->inputs[i].sources[k].node].name;
            bool known = false;
            for (size_t m = 0; m < json_array_size(names); m++)
                known = known || !strcmp(json_string_value(json_array_get(names, m)), name);
            if (!known)
                json_array_append_new(names, json_string(name));
        }
    return names;
}

static void print_plan(struct cli *c, const struct job *job, const struct node_result *results)
{
    struct table *t = table_new(c->arena, "node|decision|elements|why");
    for (size_t i = 0; i < job->n_nodes; i++) {
        const struct node *n = &job->nodes[i];
        const struct node_result *r = &results[i];
        const char *why = r->why ? r->why : "";
        if (!r->outputs)
            continue; /* no target needs it */
        if (c->json)
            reflect_line(c->out, "node:s op:s inputs:o decision:s elements:u run:u cached:u why:s",
                         n->name, n->op->name, inputs_json(job, n), decision(r->state), r->elements,
                         r->ran, r->cached, why);
        table_add(
            t, (const char *const[]){n->name, decision(r->state), count_planned(c->arena, r), why});
    }
    if (!c->json)
        table_print(c->out, t);
}

static void print_status(struct cli *c, const struct job *job, const struct node_result *results,
                         const char *run, const Eqloom__Run *last)
{
    if (!c->json)
        fprintf(c->out, "%s: %s\n", run ? run : job->name, last ? last->state : "never run");
    struct table *t = table_new(c->arena, "node|last|elements|ran|failed|current|");
    static const Eqloom__RunNode none = EQLOOM__RUN_NODE__INIT;
    for (size_t i = 0; i < job->n_nodes; i++) {
        const struct node *n = &job->nodes[i];
        const struct node_result *now = &results[i];
        const Eqloom__RunNode *then = last ? history_node(last, n->name) : NULL;
        then = then ? then : &none;
        bool current = now->state == NODE_CACHED || now->state == NODE_REUSED ||
                       (now->state == NODE_READ && !now->ran);
        const char *why = now->why ? now->why : "";
        if (c->json)
            reflect_line(
                c->out,
                "node:s op:s inputs:o last:s elements:u ran:u cached:u failed:u current:b why:s",
                n->name, n->op->name, inputs_json(job, n), then->state, then->elements, then->ran,
                then->cached, then->failed, current, why);
        table_add(t, (const char *const[]){
                         n->name, *then->state ? then->state : "-", count(c->arena, then->elements),
                         count(c->arena, then->ran), count(c->arena, then->failed),
                         current ? "yes" : "no", current ? "" : why});
    }
    if (!c->json)
        table_print(c->out, t);
}

/* Also runs `status`, which prints the plan together with what the last run did. */
enum err_code cli_plan(int *status, struct cli *c, struct err *e)
{
    bool with_last = !strcmp(c->command->name, "status");
    struct job *job;
    struct run_list runs = {0};
    struct run_options options = {.keep_going = true};
    struct run_result result = {0};
    struct plan_store p = {0};
    const Eqloom__Run *last = NULL;
    const char *name;
    enum err_code code = cmd_load_job(&job, c, e);
    if (!code)
        code = cmd_targets(&options.targets, &options.n_targets, c, job, e);
    if (!code)
        code = plan_store_open(&p, c, c->arguments[0], e);
    if (!code && with_last)
        code = run_last(&last, &name, c->arena, p.store, job->name, e);
    if (!code)
        code = job_plan(&result, c->arena, job, p.store, &options, e);
    if (!code && with_last)
        print_status(c, job, result.nodes, last ? name : NULL, last);
    else if (!code)
        print_plan(c, job, result.nodes);
    if (!code && !with_last)
        code = runs_load(&runs, c->arena, p.store, job->name, e);
    if (!code && runs.n && !strcmp(runs.runs[0].state, "killed"))
        fprintf(c->narration, "the last run, %s, was killed; its finished results are kept\n",
                runs.runs[0].name);
    plan_store_close(&p);
    return err_up(e, code);
}

/* ---- log: runs, and the nodes of one ---- */

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
                                           share(a, r->ran, r->elements), count(a, r->reused),
                                           count(a, r->failed),
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

/* Returns {"model": id} for the outputs that were made. */
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
        table_add(t, (const char *const[]){n->name, how, count(a, n->elements), count(a, n->ran),
                                           count(a, n->reused), count(a, n->cached),
                                           count(a, n->failed), n->wall_ns ? seconds(a, wall) : "-",
                                           n->why});
    }
    if (c->json)
        return;
    fprintf(c->out, "%s: %s, %s, started %s\n", name, run->job_path, state,
            label_time(a, run->started_ns));
    table_print(c->out, t);
}

/* Returns the name of a job that is given by its name or its file. */
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
