/* What all kinds of nodes share; see node.h. */
#include "engine/node/node.h"

#include "base/buf.h"
#include "base/os.h"
#include "engine/cache/key_diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- inputs and keys ---- */

static const struct digest *input_before(const struct session *s, uint32_t i, const char *role)
{
    const Eqloom__RunNode *made = s->history.made[i];
    for (size_t k = 0; made && k < made->key->n_inputs; k++) {
        const Eqloom__KeyInput *in = made->key->inputs[k];
        if (in->input_ids.len == DIGEST_SIZE && strcmp(in->role, role) == 0)
            return (const struct digest *)in->input_ids.data;
    }
    return NULL;
}

void node_bind(struct session *s, uint32_t i)
{
    const struct node *node = &s->job->nodes[i];
    struct node_run *r = &s->nodes[i];
    size_t n = op_count_inputs(node->op);
    r->inputs = arena_array(&r->arena, struct ctx_input, n);
    r->key_inputs = arena_array(&r->arena, struct key_input, n);
    for (size_t p = 0; p < n; p++) {
        const struct node_input *in = &node->inputs[p];
        size_t n_sources = s->given ? 0 : in->n_sources, m = 0;
        struct digest *ids = arena_array(&r->arena, struct digest, n_sources);
        if (s->given) {
            ids = s->given[p].ids;
            m = s->given[p].n;
        }
        for (size_t k = 0; k < n_sources; k++) {
            ids[m] = s->nodes[in->sources[k].node].outputs[in->sources[k].output];
            m += !digest_is_zero(&ids[m]);
        }
        r->inputs[p] = (struct ctx_input){ids, m, input_before(s, i, node->op->inputs[p].role)};
        r->key_inputs[p] = (struct key_input){node->op->inputs[p].role, ids, m};
    }
}

enum err_code node_make_key(struct session *s, uint32_t i, size_t n_inputs, struct err *e)
{
    struct node_run *r = &s->nodes[i];
    struct key_spec spec = {.node = &s->job->nodes[i],
                            .numerics = s->host.numerics,
                            .inputs = r->key_inputs,
                            .n_inputs = n_inputs};
    enum err_code code = key_make(&r->key, &r->arena, &spec, e);
    r->has_key = code == OK;
    return err_up(e, code);
}

enum err_code node_element_key(struct key *key, struct session *s, struct arena *a, uint32_t i,
                               const struct digest *id, struct err *e)
{
    size_t n = op_count_inputs(s->job->nodes[i].op);
    struct key_input *inputs = arena_array(a, struct key_input, n);
    memcpy(inputs, s->nodes[i].key_inputs, n * sizeof *inputs);
    inputs[0].ids = id;
    inputs[0].n = 1;
    struct key_spec spec = {
        .node = &s->job->nodes[i], .numerics = s->host.numerics, .inputs = inputs, .n_inputs = n};
    return err_up(e, key_make(key, a, &spec, e));
}

char *node_reason(struct session *s, uint32_t i, struct arena *a, bool output_missing)
{
    const struct node *node = &s->job->nodes[i];
    const struct node_run *r = &s->nodes[i];
    const Eqloom__RunNode *before = s->history.made[i];
    const Eqloom__RunNode *last = history_node(s->history.last, node->name);
    if (output_missing)
        return arena_strdup(a, "output missing");
    if (before) {
        char *why = explain_difference(a, s->store, node, before->key, r->key.message);
        return *why ? why : arena_strdup(a, "what the store knew of it is gone");
    }
    if (last && strcmp(last->state, "failed") == 0)
        return arena_strdup(a, "failed in the last run");
    if (last)
        return arena_strdup(a, "was not finished in the last run");
    return arena_strdup(a, "never made");
}

char *node_cut_off(const struct session *s, uint32_t i)
{
    const struct node *node = &s->job->nodes[i];
    struct buf b = {0};
    for (size_t p = 0; p < op_count_inputs(node->op); p++)
        for (size_t k = 0; k < node->inputs[p].n_sources; k++) {
            uint32_t from = node->inputs[p].sources[k].node;
            const struct node_run *above = &s->nodes[from];
            bool anew = above->state == NODE_RAN || above->state == NODE_REUSED ||
                        (above->state == NODE_READ && above->why && *above->why);
            if (anew)
                buf_printf(&b, "%s%s", b.len ? ", " : "what it reads came out the same: ",
                           s->job->nodes[from].name);
        }
    char *text = b.len ? strdup(b.data) : NULL;
    buf_free(&b);
    return text;
}

void node_explain_reuse(struct session *s, uint32_t i)
{
    struct node_run *r = &s->nodes[i];
    char *why = NULL;
    if (r->reused)
        why = witness_counts_text(&r->witnesses, r->why, r->ran, r->elements, r->reused);
    if (!why)
        return;
    pthread_mutex_lock(&s->mutex);
    free(r->why);
    r->why = why;
    pthread_mutex_unlock(&s->mutex);
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

enum outcome node_fail(struct worker *w, uint32_t i, const char *where, const struct err *e)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    char *text = node_failure_text(&w->arena, &s->job->nodes[i], where, e);
    pthread_mutex_lock(&s->mutex);
    r->failed++;
    if (!r->failure)
        r->failure = strdup(text);
    pthread_mutex_unlock(&s->mutex);
    return OUT_FAILED;
}

/* A record that the node needs cannot be read, as the message says: see session.h. */
static enum outcome node_lost(struct session *s, uint32_t i, const char *message)
{
    pthread_mutex_lock(&s->mutex);
    if (!s->loss[0])
        snprintf(s->loss, sizeof s->loss, "%s: %s", s->job->nodes[i].name, message);
    pthread_mutex_unlock(&s->mutex);
    atomic_store(&s->lost, true);
    return OUT_DROPPED;
}

enum outcome node_cannot_read(struct worker *w, uint32_t i, const struct err *failure)
{
    bool lost = failure->code == ERR_CORRUPT || failure->code == ERR_NOTFOUND;
    return lost ? node_lost(w->s, i, failure->message) : node_store_failed(w, failure);
}

enum outcome node_op_failed(struct worker *w, uint32_t i, const struct op_ctx *ctx,
                            const char *where, const struct err *failure)
{
    session_drop_batch(w);
    if (ctx->lost[0])
        return node_lost(w->s, i, ctx->lost);
    bool dropped = failure->code == ERR_CANCELLED || atomic_load(&w->s->lost);
    return dropped ? OUT_DROPPED : node_fail(w, i, where, failure);
}

/* The store itself failed: the run ends. */
enum outcome node_store_failed(struct worker *w, const struct err *e)
{
    session_drop_batch(w);
    session_fail(w->s, e);
    return OUT_DROPPED;
}

/* ---- the look into the store ---- */

void node_adopt(struct session *s, uint32_t i, const struct action_result *made)
{
    struct node_run *r = &s->nodes[i];
    size_t n = op_count_outputs(s->job->nodes[i].op);
    pthread_mutex_lock(&s->mutex);
    for (size_t k = 0; k < n; k++)
        r->outputs[k] = made->outputs[k].n ? made->outputs[k].ids[0] : (struct digest){0};
    pthread_mutex_unlock(&s->mutex);
}

enum err_code node_set_ref(struct store_batch *b, struct store *s, const char *name,
                           const struct digest *id, struct err *e)
{
    struct digest old;
    if (digest_is_zero(id) || (store_ref(&old, s, name, NULL) == OK && digest_equal(&old, id)))
        return OK;
    return err_up(e, store_batch_ref(b, name, id, e));
}

enum err_code node_write_refs(struct store_batch *b, struct session *s, uint32_t i,
                              const struct digest *outputs, struct err *e)
{
    const struct node *node = &s->job->nodes[i];
    struct arena a = {0};
    enum err_code code = OK;
    for (size_t r = 0; !code && r < op_count_outputs(node->op); r++) {
        const char *name =
            r ? arena_printf(&a, "%s/%s.%s", s->job->name, node->name, node->op->outputs[r].role)
              : arena_printf(&a, "%s/%s", s->job->name, node->name);
        code = node_set_ref(b, s->store, name, &outputs[r], e);
    }
    for (size_t k = 0; !code && k < s->job->n_refs; k++)
        if (s->job->refs[k].target.node == i)
            code = node_set_ref(b, s->store, s->job->refs[k].name,
                                &outputs[s->job->refs[k].target.output], e);
    arena_free(&a);
    return err_up(e, code);
}

/* ---- work ---- */

void node_place(struct op_ctx *ctx, const struct session *s, uint32_t i)
{
    ctx->card = s->nodes[i].card;
    ctx->pool = s->job->nodes[i].op->parallel && ctx->card < 0 ? s->pool : NULL;
}

enum err_code node_prepare(struct worker *w, uint32_t i, struct err *e)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    const struct op *op = s->job->nodes[i].op;
    pthread_mutex_lock(&r->prepare_mutex);
    if (!r->prepared) {
        struct op_ctx ctx;
        r->prepare_failure = (struct err){0};
        ctx_init(&ctx, r->shared, &s->job->nodes[i], &r->work, NULL);
        node_place(&ctx, s, i);
        if (op->prepare && op->prepare(&r->op_state, &ctx, &r->prepare_failure) && ctx.lost[0])
            node_lost(s, i, ctx.lost);
        r->prepared = true;
    }
    enum err_code code = r->prepare_failure.code;
    if (e)
        *e = r->prepare_failure;
    pthread_mutex_unlock(&r->prepare_mutex);
    return err_up(e, code);
}

enum err_code node_check_same(const struct op *op, const struct action_result *before,
                              const struct action_result *now, struct err *e)
{
    for (size_t r = 0; r < op_count_outputs(op); r++) {
        size_t n = before->outputs[r].n, m = now->outputs[r].n;
        if (n != m)
            return err_fail(e, ERR_FAILED,
                            "op %s is not deterministic or its version was not raised: it gave "
                            "%zu records for %s, now %zu",
                            op->name, n, op->outputs[r].role, m);
        for (size_t k = 0; k < n; k++) {
            char was[DIGEST_HEX], is[DIGEST_HEX];
            if (digest_equal(&before->outputs[r].ids[k], &now->outputs[r].ids[k]))
                continue;
            return err_fail(e, ERR_FAILED,
                            "op %s is not deterministic or its version was not raised: %s was "
                            "%.12s, now %.12s",
                            op->name, op->outputs[r].role,
                            digest_hex(was, &before->outputs[r].ids[k]),
                            digest_hex(is, &now->outputs[r].ids[k]));
        }
    }
    return OK;
}

enum outcome node_commit(struct worker *w, uint32_t i, struct action_result *made)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    struct err e = {0};
    const struct op *op = s->job->nodes[i].op;
    struct action_result before;
    node_adopt(s, i, made);
    if (s->options->check && action_find(&before, &w->arena, s->store, op, &r->key.digest)) {
        session_drop_batch(w);
        if (node_check_same(op, &before, made, &e))
            return node_fail(w, i, "", &e);
        r->state = NODE_RAN;
        return OUT_DONE;
    }
    if (s->options->check) {
        pthread_mutex_lock(&s->mutex);
        s->announced = true; /* something new after all */
        pthread_mutex_unlock(&s->mutex);
    }
    made->elements = r->elements;
    made->run = s->run;
    made->cost_ns = op->node == OP_MAP ? r->work_ns : os_monotonic_ns() - r->start_ns;
    made->finished_ns = os_wall_ns();
    /* A map whose elements were all cached or reused did not run. */
    r->state = r->ran || op->node == OP_TASK || op->node == OP_EXEC ? NODE_RAN
               : r->reused                                          ? NODE_REUSED
                                                                    : NODE_CACHED;
    if (action_write(w->batch, &w->arena, op, &r->key, made, &e) ||
        node_write_refs(w->batch, s, i, r->outputs, &e) ||
        committer_append(s->commit, w->batch, &e) || committer_flush(s->commit, &e))
        return node_store_failed(w, &e);
    return OUT_DONE;
}
