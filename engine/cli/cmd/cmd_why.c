/* eqloom why: of nodes of a job, and of records. */
#include "engine/cli/cmd/cmd_job.h"

#include "base/os.h"
#include "engine/cli/console/wrap.h"
#include "engine/cli/provenance/why_artifact.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/reflect.h"
#include "engine/cli/records/runs.h"

#include <string.h>

enum { LABELS = 12 }; /* columns that the labels of lines take */

static void print_why(struct cli *c, const char *what, const char *name, const char *why)
{
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

/* What one argument that is no file means: "JOB/NODE" of a job that was run (*path is then the job
 * file of its last run), else a record (*path NULL). */
static enum err_code find_job(const char **path, const char **node, struct cli *c, struct err *e)
{
    const char *text = c->arguments[0], *slash = strchr(text, '/'), *name;
    const Eqloom__Run *last = NULL;
    enum err_code code = place_open(c, NULL, CLI_STORE_READ, e);
    if (!code && slash)
        code = run_last(&last, &name, c->arena, c->store,
                        arena_strndup(c->arena, text, (size_t)(slash - text)), e);
    *path = last ? last->job_path : NULL;
    *node = last ? slash + 1 : NULL;
    return err_up(e, code);
}

static enum err_code why_nodes(struct cli *c, const char *path, const char *name, struct err *e)
{
    struct job *job;
    struct plan_store p = {0};
    uint32_t *nodes = NULL;
    size_t n = 0;
    c->arguments = &path;
    enum err_code code = cmd_load_job(&job, c, e);
    if (!code && name)
        code = job_find(&nodes, &n, c->arena, job, name, e);
    if (!code)
        code = plan_store_open(&p, c, path, e);
    for (size_t i = 0; !code && i < (name ? n : job->n_nodes); i++) {
        uint32_t node = name ? nodes[i] : (uint32_t)i;
        char *why;
        code = job_why(&why, c->arena, job, node, p.store, e);
        if (!code && i && !c->json)
            fputc('\n', c->out);
        if (!code)
            print_why(c, "node", job->nodes[node].name, why);
    }
    plan_store_close(&p);
    return err_up(e, code);
}

enum err_code cli_why(int *status, struct cli *c, struct err *e)
{
    struct os_stat st;
    const char *ref = c->arguments[0], *path = ref, *node = NULL;
    char *why;
    enum err_code code = OK;
    if (c->n_arguments > 1)
        node = c->arguments[1];
    else if (os_stat(&st, ref, NULL))
        code = find_job(&path, &node, c, e);
    if (!code && path)
        return err_up(e, why_nodes(c, path, node, e));
    if (!code)
        code = why_artifact(&why, c, ref, e);
    if (!code)
        print_why(c, "ref", ref, why);
    return err_up(e, code);
}
