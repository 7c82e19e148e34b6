/* Reads run records; see history.h. */
#include "engine/session/history.h"

#include "schemas/canonical.h"

#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 64 }; /* number of runs searched for a node */

struct load {
    struct history *h;
    struct arena *a;
    const struct job *job;
    size_t missing, runs;
};

const Eqloom__RunNode *history_node(const Eqloom__Run *run, const char *name)
{
    for (size_t i = 0; run && i < run->n_nodes; i++)
        if (strcmp(run->nodes[i]->name, name) == 0)
            return run->nodes[i];
    return NULL;
}

static enum err_code visit(void *arg, const char *name, struct span value, struct err *e)
{
    struct load *l = arg;
    const Eqloom__Run *run;
    if (canonical_unpack(&run, l->a, &eqloom__run__descriptor, value, NULL))
        return OK; /* damaged: treat the record as absent */
    if (!l->h->last)
        l->h->last = run;
    for (size_t i = 0; i < l->job->n_nodes; i++) {
        const Eqloom__RunNode *n = l->h->made[i] ? NULL : history_node(run, l->job->nodes[i].name);
        if (!n || !n->key || !n->n_outputs)
            continue;
        l->h->made[i] = n;
        l->missing--;
    }
    return l->missing && ++l->runs < RUNS_MAX ? OK : err_fail(e, ERR_CANCELLED, "enough runs");
}

enum err_code history_load(struct history *out, struct arena *a, struct store *s,
                           const struct job *job, struct err *e)
{
    memset(out, 0, sizeof *out);
    out->made = arena_array(a, const Eqloom__RunNode *, job->n_nodes);
    struct load l = {out, a, job, job->n_nodes, 0};
    enum err_code code = store_each_run(s, job->name, visit, &l, e);
    if (code != ERR_CANCELLED && code != ERR_NOTFOUND && code != ERR_CORRUPT)
        return err_up(e, code);
    err_clear(e);
    return OK;
}

char *history_next_run(struct arena *a, const struct history *h, const struct job *job)
{
    const char *slash = h->last ? strrchr(h->last->run, '/') : NULL;
    unsigned long number = slash ? strtoul(slash + 1, NULL, 10) : 0;
    return arena_printf(a, "%s/%06lu", job->name, number + 1);
}

const char *node_unit(const struct op *op)
{
    return op->node == OP_CHAIN ? "segment" : "element";
}

const char *node_state_name(enum node_state state)
{
    switch (state) {
    case NODE_WAITING: return "waiting";
    case NODE_READ: return "read";
    case NODE_CACHED: return "cached";
    case NODE_RAN: return "ran";
    case NODE_REUSED: return "reused";
    case NODE_FAILED: return "failed";
    case NODE_SKIPPED: return "skipped";
    }
    return "?";
}
