/* Writes run records; see run_record.h. */
#include "engine/session/run_record.h"

#include "base/os.h"
#include "base/text/utf8.h"
#include "schemas/canonical.h"

#include <string.h>

/* Returns whether the node's counts are written with the session's mutex held. */
static bool is_counted(const struct node_run *r)
{
    return r->phase == PHASE_DONE || (r->phase == PHASE_OPEN && r->op->node == OP_MAP);
}

static Eqloom__RunNode *pack_node(const struct node_run *r, struct arena *a)
{
    const struct node *node = r->node;
    Eqloom__RunNode *n = arena_new(a, Eqloom__RunNode);
    eqloom__run_node__init(n);
    n->name = (char *)node->name;
    n->op = (char *)node->op->name;
    bool done = r->phase == PHASE_DONE;
    bool at_work = r->phase == PHASE_OPEN || r->phase == PHASE_BUSY || r->phase == PHASE_ON_CLUSTER;
    n->state = (char *)(at_work ? "running" : node_state_name(done ? r->state : NODE_WAITING));
    if (is_counted(r)) {
        n->elements = r->elements;
        n->ran = r->ran;
        n->reused = r->reused;
        n->why = arena_strdup(a, r->why ? r->why : "");
    }
    if (!done)
        return n; /* a worker may be writing the other fields */
    n->cached = r->cached;
    n->failed = r->failed;
    n->wall_ns = r->wall_ns;
    n->work_ns = r->work_ns;
    if (r->has_key) {
        n->action_key.data = (uint8_t *)r->key.digest.bytes;
        n->action_key.len = DIGEST_SIZE;
        n->key = r->key.message;
    }
    if (r->state == NODE_FAILED || r->state == NODE_SKIPPED)
        return n;
    size_t n_outputs = op_count_outputs(node->op);
    n->outputs = arena_array(a, Eqloom__ActionOutput *, n_outputs);
    for (size_t k = 0; k < n_outputs; k++) {
        Eqloom__ActionOutput *o = n->outputs[n->n_outputs++] = arena_new(a, Eqloom__ActionOutput);
        eqloom__action_output__init(o);
        o->role = (char *)node->op->outputs[k].role;
        if (!digest_is_zero(&r->outputs[k])) {
            o->output_ids.data = r->outputs[k].bytes;
            o->output_ids.len = DIGEST_SIZE;
        }
    }
    return n;
}

static enum err_code write_run(struct store_batch *b, struct session *s, const char *state,
                               struct err *e)
{
    struct arena a = {0};
    Eqloom__Run run = EQLOOM__RUN__INIT;
    run.run = s->run;
    run.job = (char *)s->job->name;
    const char *path = s->job->path ? s->job->path : "";
    if (utf8_prefix((const uint8_t *)path, strlen(path)) == strlen(path))
        run.job_path = (char *)path;
    run.started_ns = s->started_ns;
    run.finished_ns = strcmp(state, "running") == 0 ? 0 : os_wall_ns();
    run.state = (char *)state;
    run.nodes = arena_array(&a, Eqloom__RunNode *, s->job->n_nodes);
    for (uint32_t i = 0; i < s->job->n_nodes; i++)
        if (s->nodes[i].phase != PHASE_UNWANTED)
            run.nodes[run.n_nodes++] = pack_node(&s->nodes[i], &a);
    struct span bytes;
    enum err_code code = canonical_pack(&bytes, &a, &run.base, e);
    if (!code)
        code = store_batch_run(b, s->run, bytes, e);
    arena_free(&a);
    return err_up(e, code);
}

enum err_code record_running(struct session *s, struct store_batch *b, struct err *e)
{
    s->recorded_ns = os_monotonic_ns();
    return err_up(e, write_run(b, s, "running", e));
}

/* Measures progress by the phases of nodes and by elements of nodes that is_counted. */
static uint64_t count_done(const struct session *s)
{
    uint64_t n = 0;
    for (const struct node_run *r = s->nodes; r < s->nodes + s->job->n_nodes; r++)
        n += r->phase + (is_counted(r) ? r->ran + r->reused : 0);
    return n;
}

/* Counted results are already in the committer, so the record never claims more than is stored. */
void record_progress(struct session *s, struct store_batch *b)
{
    enum { EVERY_NS = 1000000000 };
    struct err e = {0};
    enum err_code code = OK;
    pthread_mutex_lock(&s->mutex);
    uint64_t now = os_monotonic_ns();
    bool due = s->announced && now - s->recorded_ns >= EVERY_NS && count_done(s) != s->recorded;
    if (due) {
        s->recorded_ns = now;
        s->recorded = count_done(s);
        code = write_run(b, s, "running", &e);
    }
    pthread_mutex_unlock(&s->mutex);
    if (due && (code || committer_append(s->commit, b, &e)))
        session_fail(s, &e);
}

void record_broken(struct session *s)
{
    if (!s->announced)
        return;
    /* Bypasses the committer, which may have failed. An error here cannot be handled either. */
    struct store_batch *b = store_batch_new(s->store);
    if (!write_run(b, s, "failed", NULL))
        store_batch_commit(b, NULL);
    store_batch_free(b);
}

static bool has_node(const struct job *job, const char *name)
{
    for (size_t i = 0; i < job->n_nodes; i++)
        if (strcmp(job->nodes[i].name, name) == 0)
            return true;
    return false;
}

/* Returns whether nothing ran and the set of nodes and their keys are those of the last run. */
static bool is_nothing_new(const struct session *s)
{
    if (!s->history.last || strcmp(s->history.last->state, "done") != 0)
        return false;
    for (size_t i = 0; i < s->history.last->n_nodes; i++)
        if (!has_node(s->job, s->history.last->nodes[i]->name))
            return false;
    for (uint32_t i = 0; i < s->job->n_nodes; i++) {
        const struct node_run *r = &s->nodes[i];
        const Eqloom__RunNode *before = s->history.made[i];
        if (r->phase == PHASE_UNWANTED)
            continue;
        if (r->phase != PHASE_DONE || r->ran || r->reused ||
            (r->state != NODE_CACHED && r->state != NODE_READ) || !before || !r->has_key ||
            before->action_key.len != DIGEST_SIZE ||
            memcmp(before->action_key.data, r->key.digest.bytes, DIGEST_SIZE))
            return false;
    }
    return true;
}

static bool has_ref(const struct job *job, const char *name)
{
    for (size_t i = 0; i < job->n_refs; i++)
        if (strcmp(job->refs[i].name, name) == 0)
            return true;
    return false;
}

/* Refs of nodes that the job no longer has (renamed, removed) are deleted, or their records would
 * be kept forever. The runs since the last completed one may have left some; that one deleted older
 * ones. */
struct old_refs {
    struct session *session;
    struct store_batch *batch;
    struct arena arena;
};

static enum err_code drop_refs_of(struct old_refs *o, const Eqloom__RunNode *n, struct err *e)
{
    const struct job *job = o->session->job;
    enum err_code code = OK;
    for (size_t k = 0; !code && k < n->n_outputs; k++) {
        const char *name =
            k ? arena_printf(&o->arena, "%s/%s.%s", job->name, n->name, n->outputs[k]->role)
              : arena_printf(&o->arena, "%s/%s", job->name, n->name);
        if (!has_ref(job, name)) /* unless the job now declares it as a ref */
            code = store_batch_ref_delete(o->batch, name, e);
    }
    return err_up(e, code);
}

static enum err_code drop_refs_of_run(void *arg, const char *name, struct span value, struct err *e)
{
    struct old_refs *o = arg;
    const Eqloom__Run *run;
    if (canonical_unpack(&run, &o->arena, &eqloom__run__descriptor, value, NULL))
        return OK; /* damaged: its old refs are kept */
    enum err_code code = OK;
    for (size_t i = 0; i < run->n_nodes && !code; i++)
        if (!has_node(o->session->job, run->nodes[i]->name))
            code = drop_refs_of(o, run->nodes[i], e);
    if (code || strcmp(run->state, "done") != 0)
        return err_up(e, code);
    return err_fail(e, ERR_CANCELLED, "enough runs");
}

static enum err_code drop_old_refs(struct store_batch *b, struct session *s, struct err *e)
{
    struct old_refs o = {.session = s, .batch = b};
    enum err_code code = store_each_run(s->store, s->job->name, drop_refs_of_run, &o, e);
    arena_free(&o.arena);
    if (code != ERR_CANCELLED)
        return err_up(e, code);
    err_clear(e);
    return OK;
}

/* The head of a training that was killed protects its newest record, until the node is done, maybe
 * with a result from the cache, or is no longer there. */
static enum err_code drop_head(void *arg, const char *name, const struct digest *id, struct err *e)
{
    struct old_refs *o = arg;
    const struct job *job = o->session->job;
    if (!text_ends_in(name, JOB_CHAIN_HEAD) || has_ref(job, name))
        return OK;
    const char *node = name + strlen(job->name) + 1;
    node = arena_strndup(&o->arena, node, strlen(node) - strlen(JOB_CHAIN_HEAD));
    for (uint32_t i = 0; i < job->n_nodes; i++) {
        const struct node_run *r = &o->session->nodes[i];
        if (strcmp(job->nodes[i].name, node) == 0 &&
            (r->phase != PHASE_DONE || r->state == NODE_FAILED || r->state == NODE_SKIPPED))
            return OK;
    }
    return err_up(e, store_batch_ref_delete(o->batch, name, e));
}

static enum err_code drop_heads(struct session *s, struct err *e)
{
    struct old_refs o = {.session = s, .batch = store_batch_new(s->store)};
    const char *prefix = arena_printf(&o.arena, "%s/", s->job->name);
    enum err_code code = store_each_ref(s->store, prefix, drop_head, &o, e);
    if (!code && store_batch_count(o.batch))
        code = committer_append(s->commit, o.batch, e);
    store_batch_free(o.batch);
    arena_free(&o.arena);
    return err_up(e, code);
}

enum err_code record_final(struct session *s, struct err *e)
{
    if (s->options->check && !s->announced)
        return OK;
    enum err_code dropped = drop_heads(s, e);
    if (dropped)
        return err_up(e, dropped);
    if (!s->announced && is_nothing_new(s)) {
        s->run = s->history.last->run;
        return OK;
    }
    const char *state = "done";
    for (uint32_t i = 0; i < s->job->n_nodes; i++) {
        const struct node_run *r = &s->nodes[i];
        if (r->phase == PHASE_DONE && r->state == NODE_FAILED)
            state = "failed";
        else if (r->phase != PHASE_UNWANTED && r->phase != PHASE_DONE && strcmp(state, "done") == 0)
            state = "interrupted";
        else if (r->phase == PHASE_DONE && r->state == NODE_SKIPPED && session_interrupted(s))
            state = "interrupted";
    }
    struct store_batch *b = store_batch_new(s->store);
    enum err_code code = write_run(b, s, state, e);
    if (!code && strcmp(state, "done") == 0)
        code = drop_old_refs(b, s, e);
    if (!code)
        code = committer_append(s->commit, b, e);
    store_batch_free(b);
    return err_up(e, code);
}
