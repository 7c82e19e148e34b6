/* Functions that all kinds of nodes share; see node.h. */
#include "engine/node/node.h"

#include "base/os.h"
#include "engine/cache/key_diff.h"

#include <stdio.h>
#include <string.h>

/* ---- inputs and keys ---- */

void node_bind(struct node_run *r)
{
    struct session *s = r->s;
    size_t n = op_count_inputs(r->op);
    r->inputs = arena_array(&r->arena, struct key_input, n);
    for (size_t p = 0; p < n; p++) {
        const struct node_input *in = &r->node->inputs[p];
        struct id_list to = {arena_array(&r->arena, struct digest, in->n_sources)};
        for (size_t k = 0; !s->worker_inputs && k < in->n_sources; k++) {
            to.ids[to.n] = s->nodes[in->sources[k].node].outputs[in->sources[k].output];
            to.n += !digest_is_zero(&to.ids[to.n]);
        }
        if (s->worker_inputs)
            to = s->worker_inputs[p];
        r->inputs[p] = (struct key_input){r->op->inputs[p].role, to.ids, to.n};
    }
}

enum err_code node_make_key(struct node_run *r, size_t n_inputs, struct err *e)
{
    struct key_spec spec = {
        .node = r->node, .numerics = r->s->numerics, .inputs = r->inputs, .n_inputs = n_inputs};
    enum err_code code = key_make(&r->key, &r->arena, &spec, e);
    r->has_key = code == OK;
    return err_up(e, code);
}

enum err_code node_add_files(struct source_files *files, struct node_run *r, size_t n_inputs,
                             struct store_batch *b, struct err *e)
{
    enum err_code code = source_scan(files, &r->arena, r->node, r->s->store, b, e);
    if (code)
        return err_up(e, code);
    struct key_input *all = arena_array(&r->arena, struct key_input, n_inputs + 1);
    struct digest *ids = arena_array(&r->arena, struct digest, files->n);
    for (size_t k = 0; k < files->n; k++)
        ids[k] = files->files[k].id;
    if (n_inputs)
        memcpy(all, r->inputs, n_inputs * sizeof *all);
    all[n_inputs] = (struct key_input){"files", ids, files->n};
    r->inputs = all;
    return OK;
}

enum err_code node_element_key(struct key *key, struct node_run *r, struct arena *a,
                               const struct digest *id, struct err *e)
{
    size_t n = op_count_inputs(r->op);
    struct key_input *inputs = arena_memdup(a, r->inputs, n * sizeof *inputs);
    inputs[0].ids = id;
    inputs[0].n = 1;
    struct key_spec spec = {
        .node = r->node, .numerics = r->s->numerics, .inputs = inputs, .n_inputs = n};
    return err_up(e, key_make(key, a, &spec, e));
}

char *node_reason(struct node_run *r, struct arena *a, bool output_missing)
{
    const struct history *h = &r->s->history;
    const Eqloom__RunNode *before = h->made[r->index];
    const Eqloom__RunNode *last = history_node(h->last, r->node->name);
    if (output_missing)
        return arena_strdup(a, "output missing");
    if (before) {
        char *why = explain_difference(a, r->s->store, r->node, before->key, r->key.message);
        return *why ? why : arena_strdup(a, "its stored action is gone");
    }
    if (last && strcmp(last->state, "failed") == 0)
        return arena_strdup(a, "failed in the last run");
    return arena_strdup(a, last ? "was not finished in the last run" : "never made");
}

char *node_cut_off(struct node_run *r)
{
    char *text = NULL;
    for (size_t k = 0; k < r->node->n_above; k++) {
        const struct node_run *above = &r->s->nodes[r->node->above[k].node];
        bool anew = above->state == NODE_RAN || above->state == NODE_REUSED ||
                    (above->state == NODE_READ && above->why && *above->why);
        if (anew)
            text = arena_printf(&r->arena, "%s%s%s",
                                text ? text : "its inputs came out the same: ", text ? ", " : "",
                                above->node->name);
    }
    return text;
}

void node_explain_reuse(struct node_run *r)
{
    pthread_mutex_lock(&r->s->mutex);
    if (r->reused)
        r->why =
            witness_counts_text(&r->arena, &r->witnesses, r->why, r->ran, r->elements, r->reused);
    pthread_mutex_unlock(&r->s->mutex);
}

/* ---- failures ---- */

char *node_failure_text(struct arena *a, const struct node *node, const char *where,
                        const struct err *e)
{
    char *text = e->line ? arena_printf(a, "%s%s: %s:%d:%d: %s", node->name, where, e->input_file,
                                        e->line, e->column, e->message)
                         : arena_printf(a, "%s%s: %s", node->name, where, e->message);
    if (e->hint[0])
        text = arena_printf(a, "%s\n    %s", text, e->hint);
    return e->detail[0] ? arena_printf(a, "%s\n%s", text, e->detail) : text;
}

enum outcome node_fail(struct node_run *r, const char *where, const struct err *e)
{
    pthread_mutex_lock(&r->s->mutex);
    r->failed++;
    if (!r->failure)
        r->failure = node_failure_text(&r->arena, r->node, where, e);
    pthread_mutex_unlock(&r->s->mutex);
    return OUT_FAILED;
}

/* Reports a lost record that the node needs; see session.h. */
static enum outcome node_lost(struct node_run *r, const char *message)
{
    struct session *s = r->s;
    pthread_mutex_lock(&s->mutex);
    if (!s->loss[0])
        snprintf(s->loss, sizeof s->loss, "%s: %s", r->node->name, message);
    pthread_mutex_unlock(&s->mutex);
    atomic_store(&s->lost, true);
    return OUT_DROPPED;
}

enum outcome node_read_failed(struct worker *w, struct node_run *r, const struct err *failure)
{
    bool lost = failure->code == ERR_CORRUPT || failure->code == ERR_NOTFOUND;
    return lost ? node_lost(r, failure->message) : node_store_failed(w, failure);
}

enum outcome node_op_failed(struct worker *w, struct node_run *r, const struct op_ctx *ctx,
                            const char *where, const struct err *failure)
{
    session_drop_batch(w);
    if (ctx->lost[0])
        return node_lost(r, ctx->lost);
    bool dropped = failure->code == ERR_CANCELLED || atomic_load(&w->s->lost);
    return dropped ? OUT_DROPPED : node_fail(r, where, failure);
}

enum outcome node_store_failed(struct worker *w, const struct err *e)
{
    session_drop_batch(w);
    session_fail(w->s, e);
    return OUT_DROPPED;
}

/* ---- lookup ---- */

bool node_find_element(struct action_result *made, struct key *key, struct node_run *r,
                       struct arena *a, const struct digest *id)
{
    return !node_element_key(key, r, a, id, NULL) &&
           action_find(made, a, r->s->store, r->op, &key->digest);
}

void node_adopt(struct node_run *r, const struct action_result *made)
{
    pthread_mutex_lock(&r->s->mutex);
    for (size_t k = 0; k < op_count_outputs(r->op); k++)
        r->outputs[k] = made->outputs[k].n ? made->outputs[k].ids[0] : (struct digest){0};
    pthread_mutex_unlock(&r->s->mutex);
}

enum err_code node_set_ref(struct store_batch *b, struct store *s, const char *name,
                           const struct digest *id, struct err *e)
{
    struct digest old;
    if (digest_is_zero(id) || (store_ref(&old, s, name, NULL) == OK && digest_equal(&old, id)))
        return OK;
    return err_up(e, store_batch_ref(b, name, id, e));
}

enum err_code node_write_refs(struct store_batch *b, struct node_run *r, struct err *e)
{
    const struct job *job = r->s->job;
    struct arena a = {0};
    enum err_code code = OK;
    for (size_t k = 0; !code && k < op_count_outputs(r->op); k++) {
        const char *name = arena_printf(&a, "%s/%s%s%s", job->name, r->node->name, k ? "." : "",
                                        k ? r->op->outputs[k].role : "");
        code = node_set_ref(b, r->s->store, name, &r->outputs[k], e);
    }
    for (size_t k = 0; !code && k < job->n_refs; k++)
        if (job->refs[k].target.node == r->index)
            code = node_set_ref(b, r->s->store, job->refs[k].name,
                                &r->outputs[job->refs[k].target.output], e);
    arena_free(&a);
    return err_up(e, code);
}

/* ---- work ---- */

enum err_code node_prepare(struct node_run *r, struct err *e)
{
    pthread_mutex_lock(&r->prepare_mutex);
    if (!r->prepared) {
        struct op_ctx ctx;
        r->prepare_failure = (struct err){0};
        ctx_init(&ctx, r, &r->work, NULL);
        if (r->op->prepare && r->op->prepare(&r->op_state, &ctx, &r->prepare_failure) &&
            ctx.lost[0])
            node_lost(r, ctx.lost);
        r->prepared = true;
    }
    enum err_code code = r->prepare_failure.code;
    if (e)
        *e = r->prepare_failure;
    pthread_mutex_unlock(&r->prepare_mutex);
    return err_up(e, code);
}

/* Returns "clusters was 0123..., now 4567...", or NULL if the outputs are the same. */
static const char *find_difference(struct arena *a, const struct op *op,
                                   const struct action_result *before,
                                   const struct action_result *now)
{
    for (size_t r = 0; r < op_count_outputs(op); r++) {
        size_t n = before->outputs[r].n, m = now->outputs[r].n;
        if (n != m)
            return arena_printf(a, "it returned %zu records for %s, now %zu", n,
                                op->outputs[r].role, m);
        for (size_t k = 0; k < n; k++) {
            char was[DIGEST_HEX], is[DIGEST_HEX];
            if (!digest_equal(&before->outputs[r].ids[k], &now->outputs[r].ids[k]))
                return arena_printf(a, "%s was %.12s, now %.12s", op->outputs[r].role,
                                    digest_hex(was, &before->outputs[r].ids[k]),
                                    digest_hex(is, &now->outputs[r].ids[k]));
        }
    }
    return NULL;
}

enum err_code node_check_same(bool *replace, struct node_run *r, const char *where,
                              const struct action_result *before, const struct action_result *now,
                              struct err *e)
{
    struct arena a = {0};
    enum err_code code = OK;
    const char *differs = find_difference(&a, r->op, before, now);
    *replace = before->foreign;
    if (differs && before->foreign)
        progress_note(r->s->progress,
                      "%s%s: what a pack claimed is wrong, and is replaced: %s", r->node->name,
                      where, differs);
    else if (differs)
        code = err_fail(e, ERR_FAILED,
                        "op %s is not deterministic or its version was not raised: %s", r->op->name,
                        differs);
    arena_free(&a);
    return code;
}

enum outcome node_commit(struct worker *w, struct node_run *r, struct action_result *made)
{
    struct session *s = r->s;
    struct err e = {0};
    struct action_result before;
    node_adopt(r, made);
    bool replace = true;
    if (s->options->check && action_find(&before, &w->arena, s->store, r->op, &r->key.digest)) {
        if (node_check_same(&replace, r, "", &before, made, &e) || !replace)
            session_drop_batch(w);
        if (e.code)
            return node_fail(r, "", &e);
        r->state = NODE_RAN;
        if (!replace)
            return OUT_DONE;
    }
    if (s->options->check) {
        pthread_mutex_lock(&s->mutex);
        s->announced = true; /* the run has changed the store, so a record is written */
        pthread_mutex_unlock(&s->mutex);
    }
    made->elements = r->elements;
    made->foreign = r->foreign;
    made->run = s->run;
    made->cost_ns = r->op->node == OP_MAP ? r->work_ns : os_monotonic_ns() - r->start_ns;
    made->finished_ns = os_wall_ns();
    /* A map whose elements were all cached or reused did not run. */
    r->state = r->ran || r->op->node == OP_TASK || r->op->node == OP_EXEC ? NODE_RAN
               : r->reused                                                ? NODE_REUSED
                                                                          : NODE_CACHED;
    if (action_write(w->batch, &w->arena, r->op, &r->key, made, &e) ||
        node_write_refs(w->batch, r, &e) || committer_append(s->commit, w->batch, &e) ||
        committer_flush(s->commit, &e))
        return node_store_failed(w, &e);
    return OUT_DONE;
}
