/* One node of a run: its key, the look into the store, and for sources and tasks the work itself
 * (maps: map_node.c, chains: chain_node.c). A node is done when its action and refs are in the store. */
#include "engine/run/session.h"

#include "base/buf.h"
#include "base/os.h"
#include "store/collection.h"

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
        struct digest *ids = arena_array(&r->arena, struct digest, in->n_sources);
        size_t m = 0;
        for (size_t k = 0; k < in->n_sources; k++) {
            ids[m] = s->nodes[in->sources[k].node].outputs[in->sources[k].output];
            m += !digest_is_zero(&ids[m]);
        }
        r->inputs[p] = (struct ctx_input){ids, m, input_before(s, i, node->op->inputs[p].role)};
        r->key_inputs[p] = (struct key_input){node->op->inputs[p].role, ids, m};
    }
}

enum err_code node_make_key(struct session *s, uint32_t i, struct err *e)
{
    struct node_run *r = &s->nodes[i];
    struct key_spec spec = {.node = &s->job->nodes[i],
                            .numerics = s->host.numerics,
                            .inputs = r->key_inputs,
                            .n_inputs = op_count_inputs(s->job->nodes[i].op)};
    enum err_code code = key_make(&r->key, &r->arena, &spec, e);
    r->has_key = code == OK;
    return err_up(e, code);
}

char *node_why(struct session *s, uint32_t i, struct arena *a, bool output_missing)
{
    const struct node *node = &s->job->nodes[i];
    const struct node_run *r = &s->nodes[i];
    const Eqloom__RunNode *before = s->history.made[i];
    const Eqloom__RunNode *last = history_node(s->history.last, node->name);
    if (r->distrust)
        return arena_strdup(a, "an output was damaged");
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

static bool is_loss(const struct op_ctx *ctx)
{
    return ctx->loss.input != LOST_NONE;
}

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

bool node_is_lost(struct session *s, uint32_t i)
{
    pthread_mutex_lock(&s->mutex);
    bool lost = s->nodes[i].loss.input != LOST_NONE;
    pthread_mutex_unlock(&s->mutex);
    return lost;
}

enum outcome node_lost(struct session *s, uint32_t i, const struct ctx_loss *loss)
{
    pthread_mutex_lock(&s->mutex);
    if (s->nodes[i].loss.input == LOST_NONE)
        s->nodes[i].loss = *loss;
    pthread_mutex_unlock(&s->mutex);
    return OUT_LOST;
}

enum outcome node_op_failed(struct worker *w, uint32_t i, const struct op_ctx *ctx,
                            const char *where, const struct err *e)
{
    session_drop_batch(w);
    if (is_loss(ctx))
        return node_lost(w->s, i, &ctx->loss);
    if (e->code == ERR_CANCELLED)
        return OUT_DROPPED;
    return node_fail(w, i, where, e);
}

/* The store itself failed: the run ends. */
static enum outcome broken(struct worker *w, const struct err *e)
{
    session_drop_batch(w);
    session_fail(w->s, e);
    return OUT_DROPPED;
}

/* ---- the look into the store ---- */

static bool is_hit(struct action_result *made, bool *missing, struct worker *w, uint32_t i, struct err *e)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    const struct op *op = s->job->nodes[i].op;
    *missing = false;
    enum err_code code = action_read(made, &r->arena, s->store, op, &r->key.digest, e);
    if (code)
        return false;
    e->code = OK;
    if (!action_is_whole(s->store, op, made, &w->arena, false)) {
        *missing = true;
        return false;
    }
    return true;
}

static void adopt(struct session *s, uint32_t i, const struct action_result *made)
{
    struct node_run *r = &s->nodes[i];
    size_t n = op_count_outputs(s->job->nodes[i].op);
    pthread_mutex_lock(&s->mutex);
    for (size_t k = 0; k < n; k++)
        r->outputs[k] = made->outputs[k].n ? made->outputs[k].ids[0] : (struct digest){0};
    pthread_mutex_unlock(&s->mutex);
}

static enum err_code write_ref(struct store_batch *b, struct session *s, const char *name,
                               const struct digest *id, struct err *e)
{
    struct digest old;
    if (digest_is_zero(id) ||
        (store_ref(&old, s->store, name, NULL) == OK && digest_equal(&old, id)))
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
        code = write_ref(b, s, name, &outputs[r], e);
    }
    for (size_t k = 0; !code && k < s->job->n_refs; k++)
        if (s->job->refs[k].target.node == i)
            code =
                write_ref(b, s, s->job->refs[k].name, &outputs[s->job->refs[k].target.output], e);
    arena_free(&a);
    return err_up(e, code);
}

static enum outcome finish_hit(struct worker *w, uint32_t i, const struct action_result *made)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    struct err e = {0};
    adopt(s, i, made);
    r->elements = made->elements;
    /* A node made again because of damage may have run earlier in this run. */
    r->cached = made->elements > r->ran + r->reused ? made->elements - r->ran - r->reused : 0;
    r->state = r->ran ? NODE_RAN : s->job->nodes[i].op->node == OP_SOURCE ? NODE_READ : NODE_CACHED;
    pthread_mutex_lock(&s->mutex);
    if (r->state == NODE_CACHED && !r->why)
        r->why = node_cut_off(s, i);
    pthread_mutex_unlock(&s->mutex);
    if (node_write_refs(w->batch, s, i, r->outputs, &e) ||
        (store_batch_count(w->batch) && committer_append(s->commit, w->batch, &e)))
        return broken(w, &e);
    return OUT_DONE;
}

static void announce(struct session *s, struct worker *w)
{
    struct err e = {0};
    pthread_mutex_lock(&s->mutex);
    bool first = !s->announced;
    s->announced = true;
    enum err_code code = first ? record_running(s, w->batch, &e) : OK;
    pthread_mutex_unlock(&s->mutex);
    if (first && (code || committer_append(s->commit, w->batch, &e)))
        session_fail(s, &e);
}

static enum outcome open_inputs(struct worker *w, uint32_t i)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    struct err e = {0};
    struct ctx_loss loss;
    enum err_code code =
        ctx_node_new(&r->shared, &s->host, &s->job->nodes[i], i, r->inputs, &loss.input, &e);
    if (!code)
        return OUT_OPEN;
    if (loss.input == LOST_NONE)
        return broken(w, &e);
    snprintf(loss.message, sizeof loss.message, "%s", e.message);
    return node_lost(s, i, &loss);
}

enum outcome node_begin(struct worker *w, uint32_t i)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    const struct node *node = &s->job->nodes[i];
    struct err e = {0};
    struct action_result made;
    bool missing = false;
    arena_reset(&w->arena);
    r->loss.input = LOST_NONE;
    if (node->op->node == OP_SOURCE)
        return OUT_OPEN; /* only when its outputs were damaged: else see run.c */
    if (node_make_key(s, i, &e))
        return broken(w, &e);
    if (!r->distrust && !s->options->check) {
        if (is_hit(&made, &missing, w, i, &e))
            return finish_hit(w, i, &made);
        if (e.code && e.code != ERR_NOTFOUND)
            return broken(w, &e);
    }
    char *why = s->options->check ? "checked" : node_why(s, i, &r->arena, missing);
    pthread_mutex_lock(&s->mutex);
    free(r->why);
    free(r->failure);
    r->failure = NULL;
    r->why = strdup(why);
    if (!r->start_ns)
        r->start_ns = os_monotonic_ns();
    pthread_mutex_unlock(&s->mutex);
    enum outcome opened = open_inputs(w, i);
    if (opened != OUT_OPEN)
        return opened;
    if (!s->options->check)
        announce(s, w);
    r->elements = node->op->node == OP_MAP ? ctx_node_elements(r->shared) : 0;
    r->cached = r->failed = 0;
    if (node->op->node != OP_CHAIN) /* which does not know yet how many segments it has */
        progress_node_start(s->progress, i, r->elements, r->why);
    if (node->op->node != OP_MAP)
        return OUT_OPEN;
    map_new(w, i);
    return map_has_work(s, i) ? OUT_OPEN : map_close(w, i);
}

void node_end_attempt(struct session *s, uint32_t i)
{
    struct node_run *r = &s->nodes[i];
    const struct op *op = s->job->nodes[i].op;
    map_free(r->map, op);
    r->map = NULL;
    if (r->op_state && op->release)
        op->release(r->op_state);
    r->op_state = NULL;
    r->prepared = false;
    ctx_node_free(r->shared);
    r->shared = NULL;
    arena_free(&r->work);
}

/* ---- work ---- */

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
        ctx.pool = op->parallel ? s->pool : NULL;
        if (op->prepare && op->prepare(&r->op_state, &ctx, &r->prepare_failure) && is_loss(&ctx))
            node_lost(s, i, &ctx.loss);
        r->prepared = true;
    }
    *e = r->prepare_failure;
    pthread_mutex_unlock(&r->prepare_mutex);
    return err_up(e, e->code);
}

enum err_code check_same(const struct op *op, const struct action_result *before, const struct action_result *now,
                         struct err *e)
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

/* Whether the store has just these outputs for the node. */
static bool is_known(struct session *s, uint32_t i, const struct action_result *made)
{
    const struct op *op = s->job->nodes[i].op;
    struct arena a = {0};
    struct action_result before;
    bool known = !action_read(&before, &a, s->store, op, &s->nodes[i].key.digest, NULL) &&
                 action_is_whole(s->store, op, &before, &a, false) && action_same_outputs(op, &before, made);
    arena_free(&a);
    return known;
}

enum outcome node_commit(struct worker *w, uint32_t i, struct action_result *made)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    struct err e = {0};
    adopt(s, i, made);
    if (s->options->check && is_known(s, i, made)) {
        session_drop_batch(w);
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
    made->cost_ns = os_monotonic_ns() - r->start_ns;
    made->finished_ns = os_wall_ns();
    /* Put together from elements that were all known: nothing ran. */
    enum op_node kind = s->job->nodes[i].op->node;
    r->state = r->ran || kind == OP_TASK ? NODE_RAN : r->reused ? NODE_REUSED : NODE_CACHED;
    if (action_write(w->batch, &w->arena, s->job->nodes[i].op, &r->key, made, &e) ||
        node_write_refs(w->batch, s, i, r->outputs, &e) ||
        committer_append(s->commit, w->batch, &e) || committer_flush(s->commit, &e))
        return broken(w, &e);
    return OUT_DONE;
}

static enum outcome task_run(struct worker *w, uint32_t i)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    const struct node *node = &s->job->nodes[i];
    struct op_ctx ctx;
    struct err e = {0};
    struct action_result made, before;
    enum outcome outcome;
    arena_reset(&w->arena);
    ctx_init(&ctx, r->shared, node, &w->arena, w->batch);
    ctx_collect(&ctx);
    ctx.pool = node->op->parallel ? s->pool : NULL;
    bool check = s->options->check &&
                 !action_read(&before, &w->arena, s->store, node->op, &r->key.digest, NULL) &&
                 action_is_whole(s->store, node->op, &before, &w->arena, false);
    if (node_prepare(w, i, &e)) {
        outcome = node_is_lost(s, i) ? OUT_LOST : node_op_failed(w, i, &ctx, "", &e);
    } else if (node->op->run(&ctx, r->op_state, &e) || is_loss(&ctx) ||
               ctx_check_outputs(&ctx, &e) || ctx_collected(&made, &ctx, &w->arena, &e) ||
               (check && check_same(node->op, &before, &made, &e))) {
        outcome = node_op_failed(w, i, &ctx, "", &e);
    } else if (check) {
        session_drop_batch(w);
        adopt(s, i, &before);
        r->state = NODE_RAN;
        outcome = OUT_DONE;
    } else {
        outcome = node_commit(w, i, &made);
    }
    ctx_finish(&ctx);
    return outcome;
}

static enum outcome source_again(struct worker *w, uint32_t i)
{
    struct session *s = w->s;
    struct action_result made;
    struct err e = {0};
    bool fresh, hit;
    if (source_node(&made, &fresh, &hit, s, i, &w->arena, w->batch, &e)) {
        session_drop_batch(w);
        return e.code == ERR_CANCELLED ? OUT_DROPPED : node_fail(w, i, "", &e);
    }
    adopt(s, i, &made);
    if (node_write_refs(w->batch, s, i, s->nodes[i].outputs, &e) ||
        committer_append(s->commit, w->batch, &e) || committer_flush(s->commit, &e))
        return broken(w, &e);
    return OUT_DONE;
}

enum outcome node_whole(struct worker *w, uint32_t i)
{
    switch (w->s->job->nodes[i].op->node) {
    case OP_SOURCE: return source_again(w, i);
    case OP_TASK: return task_run(w, i);
    case OP_CHAIN: return chain_run(w, i);
    case OP_MAP: break; /* in ranges */
    }
    abort();
}
