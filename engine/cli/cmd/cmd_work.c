/* eqloom work: the worker that is started by the jobs that `run --on slurm` submits. */
#include "engine/cli/cmd/cmd_job.h"

#include "base/os.h"
#include "engine/cli/records/place.h"
#include "engine/cluster/node_dispatch.h"
#include "engine/run/work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A chain's store stays in the folder: a worker that gets the chain again continues from the last
 * segment. */
static char *store_path(struct cli *c, const struct job *job, const struct work_order *o)
{
    char hex[DIGEST_HEX];
    const char *scratch = getenv("EQLOOM_SCRATCH");
    if (job->nodes[o->node].op->node == OP_CHAIN)
        return arena_printf(c->arena, "%s/%s.store", o->folder, digest_hex(hex, &o->key));
    return scratch && *scratch ? os_join(c->arena, scratch, "store") : NULL;
}

static enum err_code read_order(struct work_order *o, struct cli *c, const struct job *job,
                                struct err *e)
{
    const char *batch = cli_value(c, "batch"), *task = getenv("SLURM_ARRAY_TASK_ID");
    uint32_t *nodes;
    size_t n;
    *o = (struct work_order){.folder = cli_value(c, "folder")};
    if (!o->folder || !batch)
        return err_fail(e, ERR_INPUT,
                        "'work' needs --folder and --batch: it is for the jobs that "
                        "'run --on slurm' submits");
    enum err_code code = job_find(&nodes, &n, c->arena, job, c->arguments[1], e);
    if (code)
        return err_up(e, code);
    o->node = nodes[0];
    for (size_t i = 0; i < n; i++)
        if (!strcmp(job->nodes[nodes[i]].name, c->arguments[1]))
            o->node = nodes[i];
    return err_up(e, dispatch_task_key(&o->key, c->arena, o->folder, batch,
                                     task ? strtoull(task, NULL, 10) : 0, e));
}

enum err_code cli_work(int *status, struct cli *c, struct err *e)
{
    struct job *job;
    struct work_order order;
    struct run_result result = {0};
    struct run_options options;
    const char *cpus = getenv("SLURM_CPUS_PER_TASK");
    enum err_code code = cmd_run_options(&options, c, e);
    if (!code)
        code = cmd_load_job(&job, c, e);
    if (!code)
        code = read_order(&order, c, job, e);
    if (code)
        return err_up(e, code);
    if (!options.threads)
        options.threads = cpus && atoi(cpus) > 0 ? (unsigned)atoi(cpus) : 1;
    c->store_named = store_path(c, job, &order); /* not the master's */
    if (!c->store_named)
        return err_fail(e, ERR_INPUT, "EQLOOM_SCRATCH does not name a folder");
    if ((code = place_open(c, NULL, CLI_STORE_CREATE, e)))
        return err_up(e, code);
    cmd_catch_signals();
    code = job_work(&result, c->arena, job, c->store, &options, &order, e);
    if (result.left) {
        fflush(c->narration);
        _exit(CLI_INTERRUPTED);
    }
    place_close(c);
    if (!code)
        code = work_publish(c->arena, &order, e);
    if (!code)
        fprintf(c->narration, "%s: %" PRIu64 " of %" PRIu64 " ran, %" PRIu64 " failed, %.3f s\n",
                job->nodes[order.node].name, result.elements_ran, result.elements, result.failed,
                (double)result.wall_ns * 1e-9);
    *status = CLI_DONE;
    return err_up(e, code);
}
