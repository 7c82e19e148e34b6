/* eqloom plan and status: what a run would do, and what the last one did. */
#include "engine/cli/cmd/cmd_job.h"

#include "engine/cli/console/text_table.h"
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

/* "412", or "1 of 412" where only some of them would run. */
static const char *count_planned(struct arena *a, const struct node_result *r)
{
    if (r->state != NODE_RAN || !r->ran || r->ran == r->elements)
        return count(a, r->elements);
    return arena_printf(a, "%" PRIu64 " of %" PRIu64, r->ran, r->elements);
}

/* The names of the nodes whose outputs a node reads, each once. */
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

/* `status` prints the plan with what the last run did. */
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
