/* A run: the sources first, then everything else by the scheduler, then the record of the run. */
#include "engine/run/run_open.h"

#include "base/os.h"
#include "engine/node/source_node.h"
#include "engine/run/sched.h"
#include "engine/session/run_record.h"
#include "store/maintain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- sources ---- */

static enum err_code read_source(struct session *s, uint32_t i, struct store_batch *b,
                                 struct err *e)
{
    struct node_run *r = &s->nodes[i];
    const struct op *op = s->job->nodes[i].op;
    struct arena a = {0};
    struct action_result made;
    bool fresh, hit;
    uint64_t start = os_monotonic_ns();
    r->start_ns = start;
    enum err_code code = source_node(&made, &fresh, &hit, s, i, &a, b, e);
    if (!code) {
        for (size_t k = 0; k < op_count_outputs(op); k++)
            r->outputs[k] = made.outputs[k].n ? made.outputs[k].ids[0] : (struct digest){0};
        r->state = r->failure ? NODE_FAILED : fresh ? NODE_RAN : NODE_READ;
        if (!hit)
            r->why = strdup(node_why(s, i, &a, false));
        code = node_write_refs(b, s, i, r->outputs, e);
        r->wall_ns = os_monotonic_ns() - start;
        r->phase = PHASE_DONE;
        s->done++;
    }
    arena_free(&a);
    return err_up(e, code);
}

/* What was read of sources before the user asked to stop has not been committed. */
static void forget_sources(struct session *s)
{
    for (uint32_t i = 0; i < s->job->n_nodes; i++)
        if (s->nodes[i].phase == PHASE_DONE) {
            s->nodes[i].phase = PHASE_WAITING;
            s->done--;
        }
}

/* All or nothing: one mistake in one file, and the store stays as it is. */
static enum err_code store_sources(struct session *s, struct store_batch *b, struct err *e)
{
    if (store_batch_count(b) == 0 || s->options->check)
        return OK;
    for (uint32_t i = 0; i < s->job->n_nodes; i++)
        if (s->nodes[i].phase == PHASE_DONE && s->nodes[i].state == NODE_RAN)
            progress_source(s->progress, i, 0, 0, "being stored");
    enum err_code code = committer_append(s->commit, b, e);
    return err_up(e, code ? code : committer_flush(s->commit, e));
}

static void report_source(struct session *s, uint32_t i)
{
    const struct node_run *r = &s->nodes[i];
    struct node_result view = {.state = r->state,
                               .wall_ns = r->wall_ns,
                               .why = r->why,
                               .failed = r->failed,
                               .failure = r->failure};
    progress_node_done(s->progress, i, &view);
}

struct reading {
    struct session *session;
    enum err_code code;
    struct err err;
};

static void read_all(void *arg)
{
    struct reading *x = arg;
    struct session *s = x->session;
    struct store_batch *b = store_batch_new(s->store);
    for (uint32_t i = 0; !x->code && i < s->job->n_nodes; i++)
        if (s->nodes[i].phase == PHASE_WAITING && s->job->nodes[i].op->node == OP_SOURCE)
            x->code = read_source(s, i, b, &x->err);
    if (!x->code)
        x->code = store_sources(s, b, &x->err);
    store_batch_free(b);
}

static enum err_code read_sources(struct session *s, struct err *e)
{
    struct reading *x = arena_new(s->arena, struct reading); /* the thread may be left behind */
    x->session = s;
    enum err_code code = sched_watch(s, 1, read_all, x, e);
    if (code || s->left)
        return err_up(e, code);
    if (x->code == ERR_CANCELLED && session_interrupted(s)) {
        forget_sources(s);
        return OK;
    }
    if (x->code && e)
        *e = x->err;
    for (uint32_t i = 0; !x->code && i < s->job->n_nodes; i++)
        if (s->nodes[i].phase == PHASE_DONE)
            report_source(s, i);
    return err_up(e, x->code);
}

static void start_pool(struct session *s)
{
    bool parallel = false;
    for (size_t i = 0; i < s->job->n_nodes; i++)
        parallel |= s->nodes[i].phase != PHASE_UNWANTED && s->job->nodes[i].op->parallel;
    s->pool = parallel && s->threads > 1 ? pool_new(s->threads) : NULL;
}

enum err_code job_run(struct run_result *out, struct arena *a, const struct job *job,
                      struct store *store, const struct run_options *options, struct err *e)
{
    struct session *s = arena_new(a, struct session); /* workers may be left behind with it */
    struct fsck_result healed;
    bool checked;
    memset(out, 0, sizeof *out);
    out->nodes = arena_array(a, struct node_result, job->n_nodes);
    enum err_code code = store_heal(&checked, &healed, store, e);
    if (code)
        return err_up(e, code);
    code = session_open(s, a, job, store, options, e);
    if (code)
        goto out;
    start_pool(s);
    progress_run_start(s->progress, s->run);
    if (checked)
        progress_note(s->progress,
                      "the store was found damaged: checked %" PRIu64 " records, set %" PRIu64
                      " aside",
                      healed.records, healed.quarantined);
    code = read_sources(s, e);
    if (!code && !s->left)
        code = sched_run(s, e);
    if (code)
        goto out;
    out->left = s->left;
    if (s->fatal.code) {
        code = s->fatal.code;
        if (e)
            *e = s->fatal;
    }
    if (!code)
        code = record_final(s, e);
    if (!code)
        code = committer_flush(s->commit, e);
    if (code) {
        record_broken(s);
        goto out;
    }
    session_fill_result(out, s);
    progress_summary(s->progress, out);
out:
    if (!out->left)
        session_close(s);
    return err_up(e, code);
}
