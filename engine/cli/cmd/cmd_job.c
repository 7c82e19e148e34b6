/* The job and the nodes that a command line names. */
#include "engine/cli/cmd/cmd_job.h"

#include "base/os.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/runs.h"

#include <string.h>

/* A job's name where its file was wanted. */
static void hint_at_file(struct cli *c, struct err *e)
{
    struct os_stat st;
    struct run_list runs;
    struct store *s;
    char *path = place_find_store(c, NULL);
    struct store_options options = {.path = path, .read_only = true, .command = c->line};
    if (!path || !os_stat(&st, c->arguments[0], NULL) || store_open(&s, &options, NULL))
        return;
    if (!runs_load(&runs, c->arena, s, c->arguments[0], NULL) && runs.n)
        err_hint(e, "job '%s' was last run from %s", runs.runs[0].job,
                 place_shown(c->arena, runs.runs[0].job_path));
    store_close(s);
}

enum err_code cmd_load_job(struct job **out, struct cli *c, struct err *e)
{
    struct job_options options = {.allow_outside = cli_flag(c, "allow-outside")};
    options.n_sets = cli_values(&options.sets, c, "set");
    enum err_code code = job_load(out, c->arena, c->arguments[0], &options, e);
    if (code == ERR_INPUT && e && !e->line && !*e->hint)
        hint_at_file(c, e);
    /* A limit that the job file passes is a mistake in the input. */
    return err_up(e, code == ERR_LIMIT ? ERR_INPUT : code);
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
        if (err_up(e, job_find(&found, &n_found, c->arena, job, c->arguments[i], e)))
            return ERR_INPUT;
        for (size_t k = 0; k < n_found; k++)
            if (!taken[found[k]]) {
                taken[found[k]] = true;
                all[(*n)++] = found[k];
            }
    }
    *targets = c->n_arguments > 1 ? all : NULL;
    return OK;
}
