/* Inputs and environment of ops; see ctx.h and op.h.
 *
 * Side inputs are decoded once per node and shared by its elements: single records always, elements
 * of collections until the decoded ones reach SHARED_BYTES; beyond that each call decodes into its
 * own arena. A record that cannot be read from the store is noted in ctx->lost, so that the engine
 * has it recomputed instead of blaming the op. */
#include "engine/ctx/ctx_internal.h"

#include "base/span.h"
#include "engine/cache/source_files.h"

#include "schemas/checkpoint.pb-c.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_BYTES = 64 << 20 };

void ctx_init(struct op_ctx *ctx, struct node_run *r, struct arena *a, struct store_batch *batch)
{
    size_t n = op_count_outputs(r->op);
    *ctx = (struct op_ctx){.node = r->node,
                           .arena = a,
                           .shared = r->shared,
                           .pool = r->op->parallel && r->card < 0 ? r->s->pool : NULL,
                           .card = r->card,
                           .batch = batch,
                           .outputs = arena_array(a, struct id_list, n),
                           .output_caps = arena_array(a, size_t, n)};
}

struct op_ctx *op_ctx_for_params(struct arena *a, const struct node *node)
{
    struct op_ctx *ctx = arena_new(a, struct op_ctx);
    *ctx = (struct op_ctx){.node = node, .arena = a, .card = -1};
    return ctx;
}

/* ---- inputs ---- */

size_t ctx_port_of(const struct op_ctx *ctx, const char *role)
{
    const struct op_port *port = op_find_port(ctx->node->op->inputs, role);
    if (port)
        return (size_t)(port - ctx->node->op->inputs);
    fprintf(stderr, "eqloom: op %s reads the undeclared input %s\n", ctx->node->op->name, role);
    abort();
}

static bool is_element(const struct op_ctx *ctx, size_t port)
{
    return port == 0 && ctx->node->op->node == OP_MAP;
}

enum err_code ctx_keep_loss(struct op_ctx *ctx, enum err_code code, const struct err *e)
{
    if (code != ERR_NOTFOUND && code != ERR_CORRUPT)
        return code;
    pthread_mutex_lock(&ctx->shared->mutex);
    if (!ctx->lost[0])
        snprintf(ctx->lost, sizeof ctx->lost, "%s", e ? e->message : err_code_name(code));
    pthread_mutex_unlock(&ctx->shared->mutex);
    return code;
}

uint64_t op_count(struct op_ctx *ctx, const char *role)
{
    size_t p = ctx_port_of(ctx, role);
    if (is_element(ctx, p))
        return ctx->element ? 1 : 0;
    if (ctx->node->op->inputs[p].cardinality != OP_COLLECTION)
        return ctx->shared->r->inputs[p].n;
    return ctx->shared->ports[p].reader ? collection_count(ctx->shared->ports[p].reader) : 0;
}

uint64_t op_elements(const struct op_ctx *ctx)
{
    const struct collection *c = ctx->shared ? ctx->shared->ports[0].reader : NULL;
    return c ? collection_count(c) : 0;
}

enum err_code ctx_port_id(struct digest *id, struct ctx_port *port, uint64_t i, struct err *e)
{
    pthread_mutex_lock(&port->mutex);
    enum err_code code = collection_ids(id, port->reader, i, 1, e);
    pthread_mutex_unlock(&port->mutex);
    return err_up(e, code);
}

enum err_code ctx_input_id(struct digest *id, struct op_ctx *ctx, size_t p, uint64_t i,
                           struct err *e)
{
    assert(i < op_count(ctx, ctx->node->op->inputs[p].role));
    if (is_element(ctx, p)) {
        *id = *ctx->element;
        return OK;
    }
    if (ctx->node->op->inputs[p].cardinality != OP_COLLECTION) {
        *id = ctx->shared->r->inputs[p].ids[i];
        return OK;
    }
    return err_up(e, ctx_port_id(id, &ctx->shared->ports[p], i, e));
}

struct digest op_input_id(struct op_ctx *ctx, const char *role, uint64_t i)
{
    struct digest id = {0};
    struct err e = {0};
    size_t p = ctx_port_of(ctx, role);
    /* This function cannot fail: the engine checks ctx->lost and discards the op's result. */
    ctx_keep_loss(ctx, ctx_input_id(&id, ctx, p, i, &e), &e);
    return id;
}

static enum err_code get_record(void *out, struct op_ctx *ctx, size_t p, uint64_t i,
                                struct arena *a, struct err *e)
{
    struct digest id;
    enum err_code code = ctx_input_id(&id, ctx, p, i, e);
    if (!code)
        code = store_get_message(out, ctx_store(ctx), &id, ctx->node->op->inputs[p].kind, a, e);
    return err_up(e, code);
}

/* Returns whether the decoded input is shared: side inputs of ops that run many times, and single
 * records. */
static bool is_shared(const struct op_ctx *ctx, size_t p)
{
    const struct op *op = ctx->node->op;
    if (is_element(ctx, p))
        return false;
    return op->inputs[p].cardinality == OP_ONE || op->node == OP_MAP || op->node == OP_CHAIN;
}

/* Caller holds the mutex. */
static enum err_code get_shared(void *out, struct op_ctx *ctx, size_t p, uint64_t i, struct err *e)
{
    struct ctx_node *n = ctx->shared;
    struct ctx_port *port = &n->ports[p];
    if (!port->decoded)
        port->decoded = arena_array(&n->arena, const ProtobufCMessage *,
                                    op_count(ctx, ctx->node->op->inputs[p].role));
    const ProtobufCMessage *m = port->decoded[i];
    if (!m) {
        bool keep = n->arena.used < SHARED_BYTES || ctx->node->op->inputs[p].cardinality == OP_ONE;
        enum err_code code = get_record(&m, ctx, p, i, keep ? &n->arena : ctx->arena, e);
        if (code)
            return err_up(e, code);
        if (keep)
            port->decoded[i] = m;
    }
    memcpy(out, &m, sizeof m);
    return OK;
}

enum err_code op_get(void *out, struct op_ctx *ctx, const char *role, uint64_t i, struct err *e)
{
    size_t p = ctx_port_of(ctx, role);
    if (!is_shared(ctx, p))
        return err_up(e, ctx_get_element(out, ctx, p, i, ctx->arena, e));
    pthread_mutex_lock(&ctx->shared->mutex);
    enum err_code code = get_shared(out, ctx, p, i, e);
    pthread_mutex_unlock(&ctx->shared->mutex);
    return err_up(e, ctx_keep_loss(ctx, code, e));
}

enum err_code op_get_in(void *out, struct op_ctx *ctx, const char *role, uint64_t i,
                        struct arena *a, struct err *e)
{
    return err_up(e, ctx_get_element(out, ctx, ctx_port_of(ctx, role), i, a, e));
}

enum err_code ctx_get_element(void *out, struct op_ctx *ctx, size_t port, uint64_t i,
                              struct arena *a, struct err *e)
{
    return err_up(e, ctx_keep_loss(ctx, get_record(out, ctx, port, i, a, e), e));
}

enum err_code op_get_chunk(struct span *out, struct op_ctx *ctx, const uint8_t id[32],
                           struct arena *a, struct err *e)
{
    struct digest d;
    const Eqloom__Chunk *chunk;
    memcpy(d.bytes, id, sizeof d.bytes);
    enum err_code code = store_get_message(&chunk, ctx_store(ctx), &d, KIND_CHUNK, a, e);
    if (code)
        return err_up(e, ctx_keep_loss(ctx, code, e));
    *out = span_of(chunk->data.data, chunk->data.len);
    return OK;
}

size_t op_files(const struct op_file **out, struct op_ctx *ctx)
{
    *out = ctx->files;
    return ctx->n_files;
}

enum err_code op_file_text(struct span *out, struct op_ctx *ctx, size_t i, struct arena *a,
                           struct err *e)
{
    return err_up(e, source_text(out, &ctx->files[i], a, e));
}

enum err_code op_previous(void *out, struct op_ctx *ctx, struct err *e)
{
    static const ProtobufCMessage *const none;
    memcpy(out, &none, sizeof none);
    if (!ctx->previous)
        return OK;
    enum err_code code = store_get_message(out, ctx_store(ctx), ctx->previous,
                                           ctx->node->op->outputs[0].kind, ctx->arena, e);
    return err_up(e, ctx_keep_loss(ctx, code, e));
}

struct digest op_previous_id(struct op_ctx *ctx)
{
    return ctx->previous ? *ctx->previous : (struct digest){0};
}

uint64_t op_segment_index(struct op_ctx *ctx)
{
    return ctx->segment;
}

void op_set_witness(struct op_ctx *ctx, struct span witness)
{
    ctx->witness = span_of(arena_memdup(ctx->arena, witness.data, witness.len), witness.len);
}

/* ---- environment ---- */

void *op_share(const struct op_ctx *ctx)
{
    return ctx->share;
}

struct arena *op_arena(struct op_ctx *ctx)
{
    return ctx->arena;
}

static struct rng rng_from(const struct op_ctx *ctx, const struct digest *d)
{
    const struct op *op = ctx->node->op;
    uint64_t seed = 0;
    for (size_t i = 0; op->params && op->params[i].name; i++)
        if (strcmp(op->params[i].name, "seed") == 0)
            seed = (uint64_t)op_int(ctx, "seed");
    return rng_new(seed, get_le(d->bytes, 8));
}

struct rng op_rng(struct op_ctx *ctx)
{
    struct hasher *h = hasher_new();
    for (size_t p = 0; ctx->shared && p < ctx->shared->n_ports; p++) {
        const struct key_input *in = &ctx->shared->r->inputs[p];
        if (is_element(ctx, p) && ctx->element)
            hasher_add(h, ctx->element->bytes, DIGEST_SIZE);
        else
            hasher_add(h, in->ids, in->n * DIGEST_SIZE);
    }
    for (size_t i = 0; i < ctx->n_files; i++)
        hasher_add(h, ctx->files[i].id.bytes, DIGEST_SIZE);
    if (ctx->node->op->node == OP_CHAIN) {
        uint8_t index[8];
        put_le(index, ctx->segment, 8);
        hasher_add(h, index, sizeof index);
        if (ctx->previous)
            hasher_add(h, ctx->previous->bytes, DIGEST_SIZE);
    }
    struct digest d = hasher_finish(h);
    hasher_free(h);
    return rng_from(ctx, &d);
}

struct rng op_rng_of(struct op_ctx *ctx, struct span bytes)
{
    struct digest d = digest_of(&bytes, 1);
    return rng_from(ctx, &d);
}

struct pool *op_pool(struct op_ctx *ctx)
{
    return ctx->pool;
}

int op_card(const struct op_ctx *ctx)
{
    return ctx->card;
}

const char *op_numerics(const struct op_ctx *ctx)
{
    return ctx->shared ? ctx->shared->r->s->numerics : key_numerics();
}

bool op_cancelled(const struct op_ctx *ctx)
{
    return ctx->shared && session_cancelled(ctx->shared->r->s);
}

void op_progress(struct op_ctx *ctx, uint64_t done, uint64_t total, const char *text)
{
    const struct node_run *r = ctx->shared ? ctx->shared->r : NULL;
    if (r)
        progress_op(r->s->progress, r->index, done, total, text);
}

void op_note(struct op_ctx *ctx, const char *text)
{
    const struct node_run *r = ctx->shared ? ctx->shared->r : NULL;
    if (r)
        progress_note(r->s->progress, "%s: %s", r->node->name, text);
}

/* ---- parameters: they were checked against the table when the job was loaded, so a text that does
 * not parse, or an undeclared name, is a bug in eqloom ---- */

static size_t param_of(const struct op_ctx *ctx, const char *name)
{
    const struct op_param *declared = ctx->node->op->params;
    for (size_t i = 0; declared && declared[i].name; i++)
        if (strcmp(declared[i].name, name) == 0)
            return i;
    fprintf(stderr, "eqloom: op %s reads the undeclared parameter %s\n", ctx->node->op->name, name);
    abort();
}

static const char *value_of(const struct op_ctx *ctx, const char *name)
{
    return ctx->node->params[param_of(ctx, name)].value;
}

int64_t op_int(const struct op_ctx *ctx, const char *name)
{
    return strtoll(value_of(ctx, name), NULL, 10);
}

double op_real(const struct op_ctx *ctx, const char *name)
{
    return strtod(value_of(ctx, name), NULL);
}

bool op_bool(const struct op_ctx *ctx, const char *name)
{
    return strcmp(value_of(ctx, name), "true") == 0;
}

const char *op_string(const struct op_ctx *ctx, const char *name)
{
    return value_of(ctx, name);
}

/* Undoes the escapes of op_param.any_text. */
static void unescape(char *text)
{
    char *to = text;
    for (; *text; text++)
        if (*text != '\\')
            *to++ = *text;
        else if (*++text != 'e')
            *to++ = *text == 'n' ? '\n' : *text;
    *to = 0;
}

size_t op_strings(const char *const **out, const struct op_ctx *ctx, const char *name)
{
    const char *text = value_of(ctx, name);
    bool escaped = ctx->node->op->params[param_of(ctx, name)].any_text;
    size_t n = *text ? 1 : 0;
    for (const char *p = text; *p; p++)
        n += *p == '\n';
    const char **list = arena_array(ctx->arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++) {
        size_t len = strcspn(text, "\n");
        char *item = arena_strndup(ctx->arena, text, len);
        if (escaped)
            unescape(item);
        list[i] = item;
        text += len + 1;
    }
    *out = list;
    return n;
}
