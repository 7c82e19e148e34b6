/* Inputs, outputs and surroundings of ops; see ctx.h and op.h.
 *
 * Side inputs are decoded once per node and shared by its elements: single records always,
 * elements of collections as long as the decoded ones stay under SHARED_BYTES in all; beyond that
 * each call decodes into its own arena. Whatever cannot be read from the store is noted in
 * ctx->loss, so that the engine can have it made again instead of blaming the op. */
#include "engine/ctx.h"

#include "base/buf.h"
#include "engine/elements.h"
#include "engine/summary.h"
#include "schemas/checkpoint.pb-c.h"
#include "schemas/report.pb-c.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_BYTES = 64 << 20, SPILL_BYTES = 32 << 20 };

struct ctx_port {
    struct elements *elements;        /* collections */
    const ProtobufCMessage **decoded; /* side inputs, by position; NULL until one is read */
    struct summaries *summaries;      /* NULL until one is asked for */
};

/* What a collection among the inputs has and an earlier one had not. */
struct ctx_difference {
    size_t port;
    struct digest before;
    enum err_code code; /* why it could not be found */
    uint64_t *positions;
    size_t n, cap;
    struct ctx_difference *next;
};

struct ctx_node {
    struct ctx_host host;
    const struct node *node;
    uint32_t index;
    const struct ctx_input *inputs;
    struct ctx_port *ports;
    size_t n_ports;
    pthread_mutex_t mutex; /* guards what follows, and `decoded` */
    struct arena arena;
    struct ctx_difference *differences;
};

void ctx_node_free(struct ctx_node *n)
{
    if (!n)
        return;
    for (size_t p = 0; p < n->n_ports; p++) {
        elements_close(n->ports[p].elements);
        summaries_close(n->ports[p].summaries);
    }
    for (struct ctx_difference *d = n->differences; d; d = d->next)
        free(d->positions);
    arena_free(&n->arena);
    pthread_mutex_destroy(&n->mutex);
    free(n->ports);
    free(n);
}

enum err_code ctx_node_new(struct ctx_node **out, const struct ctx_host *host,
                           const struct node *node, uint32_t index, const struct ctx_input *inputs,
                           int *lost_input, struct err *e)
{
    *lost_input = LOST_NONE;
    struct ctx_node *n = calloc(1, sizeof *n);
    size_t n_ports = op_count_inputs(node->op);
    if (n)
        n->ports = calloc(n_ports + 1, sizeof *n->ports);
    if (!n || !n->ports) {
        free(n);
        return err_fail(e, ERR_NOMEM, "no memory to run node %s", node->name);
    }
    n->host = *host;
    n->node = node;
    n->index = index;
    n->inputs = inputs;
    n->n_ports = n_ports;
    pthread_mutex_init(&n->mutex, NULL);
    for (size_t p = 0; p < n_ports; p++) {
        if (node->op->inputs[p].cardinality != OP_COLLECTION || inputs[p].n == 0)
            continue;
        enum err_code code =
            elements_open(&n->ports[p].elements, host->store, &inputs[p].ids[0], e);
        if (code) {
            if (code == ERR_NOTFOUND || code == ERR_CORRUPT)
                *lost_input = (int)p;
            ctx_node_free(n);
            return err_up(e, code);
        }
    }
    *out = n;
    return OK;
}

uint64_t ctx_node_elements(const struct ctx_node *n)
{
    return n->ports[0].elements ? elements_count(n->ports[0].elements) : 0;
}

enum err_code ctx_node_element(struct digest *id, struct ctx_node *n, uint64_t i, struct err *e)
{
    return err_up(e, elements_at(id, n->ports[0].elements, i, e));
}

void ctx_init(struct op_ctx *ctx, struct ctx_node *shared, const struct node *node, struct arena *a,
              struct store_batch *batch)
{
    memset(ctx, 0, sizeof *ctx);
    ctx->shared = shared;
    ctx->node = node;
    ctx->arena = a;
    ctx->batch = batch;
    ctx->loss.input = LOST_NONE;
    size_t n = op_count_outputs(node->op);
    ctx->outputs = arena_array(a, struct id_list, n);
    ctx->output_caps = arena_array(a, size_t, n);
}

void ctx_finish(struct op_ctx *ctx)
{
    size_t n = op_count_outputs(ctx->node->op);
    for (size_t r = 0; r < n; r++) {
        free(ctx->outputs[r].ids);
        ctx->outputs[r] = (struct id_list){0};
        ctx->output_caps[r] = 0;
    }
}

/* ---- inputs ---- */

static size_t port_of(const struct op_ctx *ctx, const char *role)
{
    const struct op_port *inputs = ctx->node->op->inputs;
    for (size_t p = 0; inputs && inputs[p].role; p++)
        if (strcmp(inputs[p].role, role) == 0)
            return p;
    fprintf(stderr, "eqloom: op %s reads the undeclared input %s\n", ctx->node->op->name, role);
    abort();
}

static bool is_element(const struct op_ctx *ctx, size_t port)
{
    return port == 0 && ctx->node->op->node == OP_MAP;
}

/* Notes a record that the store should have had. The first one is enough. */
static enum err_code note_loss(struct op_ctx *ctx, int input, enum err_code code,
                               const struct err *e)
{
    if ((code == ERR_NOTFOUND || code == ERR_CORRUPT) && ctx->loss.input == LOST_NONE) {
        ctx->loss.input = input;
        snprintf(ctx->loss.message, sizeof ctx->loss.message, "%s",
                 e ? e->message : err_code_name(code));
    }
    return code;
}

uint64_t op_count(struct op_ctx *ctx, const char *role)
{
    size_t p = port_of(ctx, role);
    if (is_element(ctx, p))
        return ctx->element ? 1 : 0;
    if (ctx->node->op->inputs[p].cardinality != OP_COLLECTION)
        return ctx->shared->inputs[p].n;
    return ctx->shared->ports[p].elements ? elements_count(ctx->shared->ports[p].elements) : 0;
}

static enum err_code input_id(struct digest *id, struct op_ctx *ctx, size_t p, uint64_t i,
                              struct err *e)
{
    assert(i < op_count(ctx, ctx->node->op->inputs[p].role));
    if (is_element(ctx, p)) {
        *id = *ctx->element;
        return OK;
    }
    if (ctx->node->op->inputs[p].cardinality != OP_COLLECTION) {
        *id = ctx->shared->inputs[p].ids[i];
        return OK;
    }
    return err_up(e, elements_at(id, ctx->shared->ports[p].elements, i, e));
}

struct digest op_input_id(struct op_ctx *ctx, const char *role, uint64_t i)
{
    struct digest id = {0};
    struct err e = {0};
    size_t p = port_of(ctx, role);
    /* No error to return: the engine sees the loss and discards what the op makes of the zero. */
    note_loss(ctx, (int)p, input_id(&id, ctx, p, i, &e), &e);
    return id;
}

static enum err_code get_record(ProtobufCMessage **out, struct op_ctx *ctx, size_t p, uint64_t i,
                                struct arena *a, struct ctx_loss *loss, struct err *e)
{
    struct digest id;
    struct err mine = {0};
    struct err *to = e ? e : &mine;
    enum err_code code = input_id(&id, ctx, p, i, to);
    if (!code)
        code = store_get_message(out, ctx->shared->host.store, &id, ctx->node->op->inputs[p].kind,
                                 a, to);
    if ((code == ERR_NOTFOUND || code == ERR_CORRUPT) && loss->input == LOST_NONE) {
        loss->input = (int)p;
        snprintf(loss->message, sizeof loss->message, "%s", to->message);
    }
    return err_up(e, code);
}

/* Side inputs of ops that run many times, and single records. */
static bool is_shared(const struct op_ctx *ctx, size_t p)
{
    const struct op *op = ctx->node->op;
    if (is_element(ctx, p))
        return false;
    return op->inputs[p].cardinality == OP_ONE || op->node == OP_MAP || op->node == OP_CHAIN;
}

/* Caller holds the mutex. */
static enum err_code get_shared(ProtobufCMessage **out, struct op_ctx *ctx, size_t p, uint64_t i,
                                struct err *e)
{
    struct ctx_node *n = ctx->shared;
    struct ctx_port *port = &n->ports[p];
    if (!port->decoded)
        port->decoded = arena_array(&n->arena, const ProtobufCMessage *,
                                    op_count(ctx, ctx->node->op->inputs[p].role));
    if (!port->decoded[i]) {
        bool keep = n->arena.used < SHARED_BYTES || ctx->node->op->inputs[p].cardinality == OP_ONE;
        ProtobufCMessage *m = NULL;
        enum err_code code =
            get_record(&m, ctx, p, i, keep ? &n->arena : ctx->arena, &ctx->loss, e);
        if (code)
            return err_up(e, code);
        *out = m;
        if (keep)
            port->decoded[i] = m;
        return OK;
    }
    *out = (ProtobufCMessage *)port->decoded[i];
    return OK;
}

enum err_code op_get(ProtobufCMessage **out, struct op_ctx *ctx, const char *role, uint64_t i,
                     struct err *e)
{
    size_t p = port_of(ctx, role);
    if (!is_shared(ctx, p))
        return err_up(e, get_record(out, ctx, p, i, ctx->arena, &ctx->loss, e));
    pthread_mutex_lock(&ctx->shared->mutex);
    enum err_code code = get_shared(out, ctx, p, i, e);
    pthread_mutex_unlock(&ctx->shared->mutex);
    return err_up(e, code);
}

enum err_code op_get_in(ProtobufCMessage **out, struct op_ctx *ctx, const char *role, uint64_t i,
                        struct arena *a, struct err *e)
{
    struct ctx_loss loss = {.input = LOST_NONE};
    enum err_code code = get_record(out, ctx, port_of(ctx, role), i, a, &loss, e);
    if (loss.input != LOST_NONE) {
        pthread_mutex_lock(&ctx->shared->mutex);
        if (ctx->loss.input == LOST_NONE)
            ctx->loss = loss;
        pthread_mutex_unlock(&ctx->shared->mutex);
    }
    return err_up(e, code);
}

enum err_code ctx_get_element(ProtobufCMessage **out, struct op_ctx *ctx, size_t port, uint64_t i,
                              struct arena *a, struct err *e)
{
    return err_up(e, get_record(out, ctx, port, i, a, &ctx->loss, e));
}

enum err_code op_summary(struct span *out, struct op_ctx *ctx, const char *role, uint64_t i,
                         struct err *e)
{
    size_t p = port_of(ctx, role);
    struct ctx_port *port = &ctx->shared->ports[p];
    assert(ctx->node->op->summarize && i < op_count(ctx, role));
    enum err_code code = OK;
    if (!port->summaries)
        code = summaries_open(&port->summaries, ctx->shared->host.store, ctx->shared->inputs[p].ids,
                              ctx->shared->inputs[p].before, e);
    if (!code)
        code = summaries_at(out, port->summaries, ctx, p, i, ctx->shared->host.distrust, e);
    return err_up(e, note_loss(ctx, (int)p, code, e));
}

enum err_code op_get_chunk(struct span *out, struct op_ctx *ctx, const uint8_t id[32],
                           struct arena *a, struct err *e)
{
    struct digest d;
    struct err mine = {0};
    struct err *to = e ? e : &mine;
    ProtobufCMessage *m;
    memcpy(d.bytes, id, sizeof d.bytes);
    enum err_code code = store_get_message(&m, ctx->shared->host.store, &d, KIND_CHUNK, a, to);
    if (code) {
        pthread_mutex_lock(&ctx->shared->mutex);
        note_loss(ctx, LOST_ANY, code, to);
        pthread_mutex_unlock(&ctx->shared->mutex);
        return err_up(e, code);
    }
    const Eqloom__Chunk *chunk = (const Eqloom__Chunk *)m;
    *out = span_of(chunk->data.data, chunk->data.len);
    return OK;
}

size_t op_files(const struct op_file **out, struct op_ctx *ctx)
{
    *out = ctx->files;
    return ctx->n_files;
}

enum err_code op_previous(ProtobufCMessage **out, struct op_ctx *ctx, struct err *e)
{
    *out = NULL;
    if (!ctx->previous)
        return OK;
    struct err mine = {0};
    struct err *to = e ? e : &mine;
    enum err_code code = store_get_message(out, ctx->shared->host.store, ctx->previous,
                                           ctx->node->op->outputs[0].kind, ctx->arena, to);
    return err_up(e, note_loss(ctx, LOST_SELF, code, to));
}

struct digest op_previous_id(struct op_ctx *ctx)
{
    return ctx->previous ? *ctx->previous : (struct digest){0};
}

uint64_t op_segment_index(struct op_ctx *ctx)
{
    return ctx->segment;
}

/* ---- outputs ---- */

/* Outputs of an action and the action share a commit. Only when one action makes very much at once
 * (a large checkpoint, a corpus in one task) are records written before it: never after. */
static void spill_if_large(struct op_ctx *ctx)
{
    const struct ctx_host *host = &ctx->shared->host;
    if (host->spill && store_batch_bytes(ctx->batch) > SPILL_BYTES)
        host->spill(host->arg, ctx->batch);
}

static void add_output(struct op_ctx *ctx, size_t output, const struct digest *id)
{
    struct id_list *list = &ctx->outputs[output];
    list->ids = vec_grow(list->ids, &ctx->output_caps[output], list->n + 1, sizeof *list->ids);
    list->ids[list->n++] = *id;
}

static size_t output_of(const struct op *op, const char *role)
{
    size_t r = 0;
    while (op->outputs[r].role && strcmp(op->outputs[r].role, role) != 0)
        r++;
    return r;
}

enum err_code op_emit(struct digest *id, struct op_ctx *ctx, const char *role,
                      const ProtobufCMessage *message, struct err *e)
{
    const struct op *op = ctx->node->op;
    size_t r = output_of(op, role);
    if (!op->outputs[r].role || !ctx->batch ||
        message->descriptor != kind_info(op->outputs[r].kind)->descriptor) {
        fprintf(stderr, "eqloom: op %s emits what it does not declare: %s\n", op->name, role);
        abort();
    }
    struct digest made;
    enum err_code code =
        store_batch_put_message(&made, ctx->batch, op->outputs[r].kind, message, e);
    if (code)
        return err_up(e, code);
    add_output(ctx, r, &made);
    if (id)
        *id = made;
    spill_if_large(ctx);
    return OK;
}

enum err_code op_pass(struct op_ctx *ctx, const char *role, const char *input, uint64_t i,
                      struct err *e)
{
    const struct op *op = ctx->node->op;
    size_t r = output_of(op, role), p = port_of(ctx, input);
    struct digest id;
    if (!op->outputs[r].role || !ctx->batch || op->outputs[r].kind != op->inputs[p].kind) {
        fprintf(stderr, "eqloom: op %s passes on what it does not declare: %s\n", op->name, role);
        abort();
    }
    enum err_code code = input_id(&id, ctx, p, i, e);
    if (!code)
        add_output(ctx, r, &id);
    return err_up(e, note_loss(ctx, (int)p, code, e));
}

enum err_code op_emit_chunk(struct digest *id, struct op_ctx *ctx, struct span data, struct err *e)
{
    assert(ctx->batch);
    Eqloom__Chunk chunk = EQLOOM__CHUNK__INIT;
    chunk.data.data = (uint8_t *)data.data;
    chunk.data.len = data.len;
    enum err_code code = store_batch_put_message(id, ctx->batch, KIND_CHUNK, &chunk.base, e);
    if (!code)
        spill_if_large(ctx);
    return err_up(e, code);
}

enum err_code op_emit_file(struct op_ctx *ctx, const char *role, struct span data,
                           const char *media_type, struct err *e)
{
    enum { CHUNK_SIZE = 4 << 20 };
    Eqloom__File file = EQLOOM__FILE__INIT;
    size_t n = data.len <= CHUNK_SIZE ? 0 : (data.len + CHUNK_SIZE - 1) / CHUNK_SIZE;
    file.media_type = (char *)media_type;
    if (n == 0)
        file.data = (ProtobufCBinaryData){data.len, (uint8_t *)data.data};
    file.chunk_ids =
        (ProtobufCBinaryData){n * DIGEST_SIZE, arena_alloc(op_arena(ctx), n * DIGEST_SIZE + 1)};
    for (size_t i = 0; i < n; i++) {
        struct digest id;
        size_t at = i * CHUNK_SIZE, len = data.len - at < CHUNK_SIZE ? data.len - at : CHUNK_SIZE;
        enum err_code code =
            err_up(e, op_emit_chunk(&id, ctx, span_of((const uint8_t *)data.data + at, len), e));
        if (code)
            return code;
        memcpy(file.chunk_ids.data + i * DIGEST_SIZE, id.bytes, DIGEST_SIZE);
    }
    return err_up(e, op_emit(NULL, ctx, role, &file.base, e));
}

enum err_code ctx_check_outputs(const struct op_ctx *ctx, struct err *e)
{
    const struct op *op = ctx->node->op;
    if (op->node == OP_MAP)
        return OK;
    for (size_t r = 0; op->outputs[r].role; r++) {
        if (op->outputs[r].cardinality == OP_COLLECTION || ctx->outputs[r].n == 1)
            continue;
        if (ctx->outputs[r].n == 0 && op->outputs[r].optional)
            continue;
        return err_fail(e, ERR_FAILED, "op %s gave %zu records for its output %s, which is one",
                        op->name, ctx->outputs[r].n, op->outputs[r].role);
    }
    return OK;
}

/* ---- reuse ---- */

void op_trace(struct op_ctx *ctx, struct span trace)
{
    ctx->trace = span_of(arena_memdup(ctx->arena, trace.data, trace.len), trace.len);
}

enum err_code ctx_get_record(ProtobufCMessage **out, struct op_ctx *ctx, const struct digest *id,
                             enum record_kind kind, struct err *e)
{
    return err_up(e, store_get_message(out, ctx->shared->host.store, id, kind, ctx->arena, e));
}

static enum err_code note_added(void *arg, uint64_t position, const struct digest *id,
                                struct err *e)
{
    struct ctx_difference *d = arg;
    d->positions = vec_grow(d->positions, &d->cap, d->n + 1, sizeof *d->positions);
    d->positions[d->n++] = position;
    return OK;
}

enum err_code ctx_added(const uint64_t **positions, size_t *n, struct op_ctx *ctx, const char *role,
                        const struct digest *before, struct err *e)
{
    struct ctx_node *node = ctx->shared;
    size_t p = port_of(ctx, role);
    pthread_mutex_lock(&node->mutex);
    struct ctx_difference *d = node->differences;
    while (d && (d->port != p || !digest_equal(&d->before, before)))
        d = d->next;
    if (!d) {
        d = arena_new(&node->arena, struct ctx_difference);
        *d = (struct ctx_difference){.port = p, .before = *before, .next = node->differences};
        node->differences = d;
        d->code = collection_diff(node->host.store, before, node->inputs[p].ids, note_added, NULL,
                                  d, NULL);
    }
    pthread_mutex_unlock(&node->mutex);
    *positions = d->positions;
    *n = d->n;
    return d->code ? err_fail(e, d->code, "what %s was cannot be read", role) : OK;
}

/* ---- surroundings ---- */

struct arena *op_arena(struct op_ctx *ctx)
{
    return ctx->arena;
}

static void hash_segment(struct hasher *h, const struct op_ctx *ctx)
{
    uint8_t index[8];
    for (int i = 0; i < 8; i++)
        index[i] = (uint8_t)(ctx->segment >> (8 * i));
    hasher_add(h, index, sizeof index);
    if (ctx->previous)
        hasher_add(h, ctx->previous->bytes, DIGEST_SIZE);
}

struct rng op_rng(struct op_ctx *ctx)
{
    const struct op *op = ctx->node->op;
    uint64_t seed = 0, stream = 0;
    for (size_t i = 0; op->params && op->params[i].name; i++)
        if (strcmp(op->params[i].name, "seed") == 0)
            seed = (uint64_t)op_int(ctx, "seed");
    struct hasher *h = hasher_new();
    for (size_t p = 0; ctx->shared && p < ctx->shared->n_ports; p++) {
        const struct ctx_input *in = &ctx->shared->inputs[p];
        if (is_element(ctx, p) && ctx->element)
            hasher_add(h, ctx->element->bytes, DIGEST_SIZE);
        else
            hasher_add(h, in->ids, in->n * DIGEST_SIZE);
    }
    for (size_t i = 0; i < ctx->n_files; i++)
        hasher_add(h, ctx->files[i].id.bytes, DIGEST_SIZE);
    if (op->node == OP_CHAIN)
        hash_segment(h, ctx);
    struct digest d = hasher_finish(h);
    hasher_free(h);
    for (int i = 0; i < 8; i++)
        stream |= (uint64_t)d.bytes[i] << (8 * i);
    return rng_new(seed, stream);
}

struct pool *op_pool(struct op_ctx *ctx)
{
    return ctx->pool;
}

const char *op_numerics(const struct op_ctx *ctx)
{
    return ctx->shared ? ctx->shared->host.numerics : key_numerics();
}

bool op_cancelled(const struct op_ctx *ctx)
{
    const struct ctx_host *host = ctx->shared ? &ctx->shared->host : NULL;
    return host && host->cancelled && host->cancelled(host->arg);
}

void op_progress(struct op_ctx *ctx, uint64_t done, uint64_t total, const char *text)
{
    const struct ctx_host *host = ctx->shared ? &ctx->shared->host : NULL;
    if (host && host->progress)
        host->progress(host->arg, ctx->shared->index, done, total, text);
}
