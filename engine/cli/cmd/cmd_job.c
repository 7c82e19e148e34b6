#include "engine/cli/cmd/cmd_job.h"

#include "base/os.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/runs.h"

#include <stdlib.h>

/* Adds a hint if the argument is the name of a job instead of its file. */
static void hint_at_file(struct cli *c, struct err *e)
{
    struct os_stat st;
    struct run_list runs;
    if (!os_stat(&st, c->arguments[0], NULL) || place_open(c, NULL, CLI_STORE_READ, NULL))
        return;
    if (!runs_load(&runs, c->arena, c->store, c->arguments[0], NULL) && runs.n)
        err_hint(e, "job '%s' was last run from %s", runs.runs[0].job,
                 place_shown(c->arena, runs.runs[0].job_path));
}

static void say_left_out(const struct cli *c, const struct job *job)
{
    const char *said = NULL;
    for (size_t i = 0; i < job->n_nodes; i++) {
        const char *now = job->nodes[i].left_out;
        if (now && (!said || strcmp(said, now))) /* variants of a node say the same */
            fputs(now, c->narration);
        said = now;
    }
}

enum err_code cmd_load_job(struct job **out, struct cli *c, struct err *e)
{
    struct job_options options = {.allow_outside = cli_flag(c, "allow-outside")};
    options.n_sets = cli_values(&options.sets, c, "set");
    enum err_code code = job_load(out, c->arena, c->arguments[0], &options, e);
    if (code == ERR_INPUT && !e->line && !*e->hint)
        hint_at_file(c, e);
    if (code == ERR_LIMIT) /* the job file is too large: a mistake in the input */
        code = ERR_INPUT;
    if (!code && (!strcmp(c->command->name, "run") || !strcmp(c->command->name, "plan")))
        say_left_out(c, *out);
    return err_up(e, code);
}

enum err_code cmd_targets(const uint32_t **targets, size_t *n, struct cli *c, const struct job *job,
                          struct err *e)
{
    uint32_t *all = arena_array(c->arena, uint32_t, job->n_nodes);
    bool *taken = arena_array(c->arena, bool, job->n_nodes);
    *n = 0;
    for (size_t i = 1; i < c->n_arguments; i++) {
        uint32_t *found;
        size_t n_found;
        enum err_code code = job_find(&found, &n_found, c->arena, job, c->arguments[i], e);
        if (code)
            return err_up(e, code);
        for (size_t k = 0; k < n_found; k++)
            if (!taken[found[k]]) {
                taken[found[k]] = true;
                all[(*n)++] = found[k];
            }
    }
    *targets = c->n_arguments > 1 ? all : NULL;
    return OK;
}

bool *cmd_nodes_above(struct arena *a, const struct job *job, uint32_t i)
{
    bool *above = arena_array(a, bool, job->n_nodes);
    above[i] = true;
    for (uint32_t k = i + 1; k-- > 0;) /* inputs come before the nodes that read them */
        for (size_t p = 0; above[k] && p < op_count_inputs(job->nodes[k].op); p++)
            for (size_t m = 0; m < job->nodes[k].inputs[p].n_sources; m++)
                above[job->nodes[k].inputs[p].sources[m].node] = true;
    return above;
}

enum err_code plan_store_open(struct plan_store *p, struct cli *c, const char *job, struct err *e)
{
    char *path = place_find_store(c, job);
    struct os_stat st;
    *p = (struct plan_store){0};
    if (c->store || (path && !os_stat(&st, path, NULL))) {
        enum err_code code = place_open(c, job, CLI_STORE_READ, e);
        p->store = c->store;
        return err_up(e, code);
    }
    enum err_code code = scratch_open(&p->temporary, "plan", e);
    if (code)
        return err_up(e, code);
    struct store_options options = {
        .path = os_join(c->arena, p->temporary.path, "store"), .create = true, .command = c->line};
    return err_up(e, store_open(&p->store, &options, e));
}

void plan_store_close(struct plan_store *p)
{
    if (!p->temporary.path)
        return;
    if (p->store)
        store_close(p->store);
    scratch_close(&p->temporary);
}
