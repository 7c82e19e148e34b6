/* eqloom plan, status and why: what would be done, what was, and the reasons. None of them writes;
 * without a store they plan against an empty one in a temporary directory. */
#include "engine/cli/console/cli.h"

#include "action.pb-c.h"
#include "base/os.h"
#include "engine/cli/cmd/cmd_job.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/console/wrap.h"
#include "engine/cli/provenance/why_artifact.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/reflect.h"
#include "engine/cli/records/runs.h"
#include "schemas/canonical.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ---- a store to plan against ---- */

struct planning {
    struct store *store;
    char *temporary; /* to remove; NULL: a real store */
};

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    return remove(path);
}

static void planning_close(struct planning *p)
{
    if (p->store)
        store_close(p->store);
    if (p->temporary)
        nftw(p->temporary, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static enum err_code planning_open(struct planning *p, struct cli *c, const char *job,
                                   struct err *e)
{
    char *path = place_find_store(c, job);
    struct os_stat st;
    *p = (struct planning){0};
    if (path && !os_stat(&st, path, NULL))
        return err_up(e, place_open(&p->store, &path, c, job, PLACE_READ, e));
    const char *tmp = getenv("TMPDIR");
    p->temporary = arena_printf(c->arena, "%s/eqloom-plan-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(p->temporary)) {
        p->temporary = NULL;
        return err_fail(e, ERR_IO, "cannot make a temporary directory");
    }
    struct store_options options = {
        .path = os_join(c->arena, p->temporary, "store"), .create = true, .command = c->line};
    return err_up(e, store_open(&p->store, &options, e));
}

/* ---- plan ---- */

static void print_plan_json(FILE *to, const struct node *n, const struct node_result *r)
{
    reflect_dump(to, json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:s}", "node", n->name, "op",
                               n->op->name, "decision", decision(r->state), "elements",
                               (json_int_t)r->elements, "run", (json_int_t)r->ran, "cached",
                               (json_int_t)r->cached, "why", r->why ? r->why : ""));
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

/* The targets and what they need. */
static const bool *mark_wanted(struct arena *a, const struct job *job,
                               const struct run_options *options)
{
    bool *wanted = arena_array(a, bool, job->n_nodes);
    for (size_t i = 0; i < options->n_targets; i++)
        wanted[options->targets[i]] = true;
    for (size_t i = job->n_nodes; i-- > 0;) { /* inputs come before what reads them */
        const struct node *node = &job->nodes[i];
        for (size_t k = 0; wanted[i] && node->op->inputs && node->op->inputs[k].role; k++)
            for (size_t m = 0; m < node->inputs[k].n_sources; m++)
                wanted[node->inputs[k].sources[m].node] = true;
    }
    return wanted;
}

/* A run that was killed left what it had committed; the plan counts on it. */
static enum err_code say_killed(struct cli *c, struct store *s, const char *job, struct err *e)
{
    struct run_list runs;
    enum err_code code = err_up(e, runs_load(&runs, c->arena, s, job, e));
    if (!code && runs.n && !strcmp(runs.runs[0].state, "killed"))
        fprintf(c->narration,
                "the last run, %s, was killed; what it had finished is not done again\n",
                runs.runs[0].name);
    return code;
}

enum err_code cli_plan(int *status, struct cli *c, struct err *e)
{
    struct job *job;
    struct run_options options = {.keep_going = true};
    struct run_result result = {0};
    struct planning p = {0};
    enum err_code code = err_up(e, cmd_load_job(&job, c, e));
    if (!code)
        code = err_up(e, cmd_targets(&options.targets, &options.n_targets, c, job, e));
    if (!code)
        code = err_up(e, planning_open(&p, c, c->arguments[0], e));
    if (!code)
        code = err_up(e, job_plan(&result, c->arena, job, p.store, &options, e));
    struct table *t = table_new(c->arena, "node|decision|elements|why");
    const bool *wanted = code ? NULL : mark_wanted(c->arena, job, &options);
    for (size_t i = 0; !code && i < job->n_nodes; i++) {
        const struct node *n = &job->nodes[i];
        const struct node_result *r = &result.nodes[i];
        if (options.targets && !wanted[i])
            continue;
        if (c->json)
            print_plan_json(c->out, n, r);
        else
            table_add(t, (const char *const[]){n->name, decision(r->state),
                                               count_planned(c->arena, r), r->why ? r->why : ""});
    }
    if (!code && !c->json)
        table_print(c->out, t);
    if (!code)
        code = say_killed(c, p.store, job->name, e);
    planning_close(&p);
    return code;
}

/* ---- status ---- */

struct last_run {
    struct arena *arena;
    const Eqloom__Run *run;
    const char *name;
};

static enum err_code take_run(void *arg, const char *name, struct span value, struct err *e)
{
    struct last_run *l = arg;
    ProtobufCMessage *m;
    enum err_code code =
        err_up(e, canonical_unpack(&m, l->arena, &eqloom__run__descriptor, value, e));
    if (code)
        return code;
    l->run = (const Eqloom__Run *)m;
    l->name = arena_strdup(l->arena, name);
    return ERR_CANCELLED; /* the newest is enough */
}

static enum err_code find_last_run(struct last_run *out, struct arena *a, struct store *s,
                                   const char *job, struct err *e)
{
    *out = (struct last_run){.arena = a};
    enum err_code code = store_each_run(s, job, take_run, out, e);
    return code == ERR_CANCELLED || code == ERR_NOTFOUND ? OK : err_up(e, code);
}

static const Eqloom__RunNode *run_node(const Eqloom__Run *run, const char *name)
{
    for (size_t i = 0; run && i < run->n_nodes; i++)
        if (!strcmp(run->nodes[i]->name, name))
            return run->nodes[i];
    return NULL;
}

static bool is_current(const struct node_result *r)
{
    return r->state == NODE_CACHED || r->state == NODE_REUSED || (r->state == NODE_READ && !r->ran);
}

static void add_status(struct cli *c, struct table *t, const struct node *n,
                       const struct node_result *now, const Eqloom__RunNode *then)
{
    bool current = is_current(now);
    if (c->json) {
        reflect_dump(c->out, json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:b, s:s}", "node",
                                       n->name, "op", n->op->name, "last", then ? then->state : "",
                                       "elements", (json_int_t)(then ? then->elements : 0), "ran",
                                       (json_int_t)(then ? then->ran : 0), "cached",
                                       (json_int_t)(then ? then->cached : 0), "failed",
                                       (json_int_t)(then ? then->failed : 0), "current", current,
                                       "why", now->why ? now->why : ""));
        return;
    }
    const char *cells[] = {n->name,
                           then ? then->state : "-",
                           then ? count(c->arena, then->elements) : "-",
                           then ? count(c->arena, then->ran) : "-",
                           then ? count(c->arena, then->failed) : "-",
                           current ? "yes" : "no",
                           current || !now->why ? "" : now->why};
    table_add(t, cells);
}

enum err_code cli_status(int *status, struct cli *c, struct err *e)
{
    struct job *job;
    struct run_options options = {.keep_going = true};
    struct run_result result = {0};
    struct planning p = {0};
    struct last_run last = {0};
    enum err_code code = err_up(e, cmd_load_job(&job, c, e));
    if (!code)
        code = err_up(e, planning_open(&p, c, c->arguments[0], e));
    if (!code)
        code = err_up(e, find_last_run(&last, c->arena, p.store, job->name, e));
    if (!code)
        code = err_up(e, job_plan(&result, c->arena, job, p.store, &options, e));
    struct table *t = table_new(c->arena, "node|last|elements|ran|failed|current|");
    for (size_t i = 0; !code && i < job->n_nodes; i++)
        add_status(c, t, &job->nodes[i], &result.nodes[i], run_node(last.run, job->nodes[i].name));
    if (!code && !c->json) {
        if (last.run)
            fprintf(c->out, "%s: %s\n", last.name, last.run->state);
        else
            fprintf(c->out, "%s: never run\n", job->name);
        table_print(c->out, t);
    }
    planning_close(&p);
    return code;
}

/* ---- why ---- */

/* "JOB/NODE": the job file of the job's last run. */
static enum err_code split_node(const char **job_path, const char **node, struct cli *c,
                                struct err *e)
{
    const char *text = c->arguments[0], *slash = strchr(text, '/');
    struct os_stat st;
    *job_path = text;
    *node = c->n_arguments > 1 ? c->arguments[1] : NULL;
    if (*node || !slash || !os_stat(&st, text, NULL))
        return OK;
    struct store *s;
    char *store_path, *job = arena_strndup(c->arena, text, (size_t)(slash - text));
    struct last_run last;
    enum err_code code = err_up(e, place_open(&s, &store_path, c, NULL, PLACE_READ, e));
    if (code)
        return code;
    code = err_up(e, find_last_run(&last, c->arena, s, job, e));
    store_close(s);
    if (code)
        return code;
    if (!last.run)
        return err_fail(e, ERR_INPUT, "there is no file '%.200s', and no job '%.100s' was run",
                        text, job);
    *job_path = last.run->job_path;
    *node = slash + 1;
    return OK;
}

static void print_why(struct cli *c, const char *what, const char *name, const char *why)
{
    enum { LABELS = 12 }; /* columns that the labels of lines take */
    if (c->json) {
        reflect_dump(c->out, json_pack("{s:s, s:s}", what, name, "why", why));
        return;
    }
    while (*why) {
        size_t len = strcspn(why, "\n");
        wrap_print(c->out, arena_strndup(c->arena, why, len), 0, LABELS, wrap_width(c->out));
        why += len + (why[len] == '\n');
    }
}

/* One argument that is no file, and no node of a job that was run: an artifact. */
static bool is_artifact(struct cli *c)
{
    struct os_stat st;
    const char *text = c->arguments[0], *slash = strchr(text, '/');
    if (c->n_arguments > 1 || !os_stat(&st, text, NULL))
        return false;
    struct store *s;
    char *path;
    struct last_run last = {0};
    if (place_open(&s, &path, c, NULL, PLACE_READ, NULL))
        return false;
    bool ref = !slash;
    if (slash && !find_last_run(&last, c->arena, s,
                                arena_strndup(c->arena, text, (size_t)(slash - text)), NULL))
        ref = !last.run;
    store_close(s);
    return ref;
}

static enum err_code why_ref(struct cli *c, struct err *e)
{
    struct store *s;
    char *path, *why;
    enum err_code code = err_up(e, place_open(&s, &path, c, NULL, PLACE_READ, e));
    if (code)
        return code;
    code = err_up(e, why_artifact(&why, c, s, c->arguments[0], e));
    if (!code)
        print_why(c, "ref", c->arguments[0], why);
    store_close(s);
    return code;
}

enum err_code cli_why(int *status, struct cli *c, struct err *e)
{
    const char *path, *name;
    struct job *job;
    struct planning p = {0};
    if (is_artifact(c))
        return err_up(e, why_ref(c, e));
    enum err_code code = err_up(e, split_node(&path, &name, c, e));
    if (code)
        return code;
    c->arguments = (const char *const[]){path};
    uint32_t *nodes = NULL;
    size_t n = 0;
    code = err_up(e, cmd_load_job(&job, c, e));
    if (!code && name)
        code = err_up(e, job_find(&nodes, &n, c->arena, job, name, e));
    if (!code)
        code = err_up(e, planning_open(&p, c, path, e));
    for (size_t i = 0; !code && i < (name ? n : job->n_nodes); i++) {
        uint32_t node = name ? nodes[i] : (uint32_t)i;
        char *why;
        code = err_up(e, job_why(&why, c->arena, job, node, p.store, e));
        if (code)
            break;
        if (i && !c->json)
            fputc('\n', c->out);
        print_why(c, "node", job->nodes[node].name, why);
    }
    planning_close(&p);
    return code;
}
