/* A stand-in for the engine behind which ops train and embed run: parameters from a text, data made
 * up, records and chunks in memory. For one test each: it defines what ops call. */
#pragma once

#include "engine/op.h"
#include "ops/learn/checkpoint/checkpoint.h"
#include "schemas/canonical.h"
#include "tests/ops/learn/toy.h"
#include "tests/unit.h"

extern const struct op op_train, op_embed;

enum { CLUSTERS = 20, MEMBERS = 6 };

struct chunk {
    struct digest id;
    struct span data;
};

/* Cluster i of the batches, or of those to validate on. */
typedef Eqloom__TokenBatch *data_source(const struct op_ctx *ctx, struct arena *a, bool valid,
                                        uint64_t i);

struct op_ctx {
    const struct op *op;
    const char *set; /* "name=value name=value": what is not the default */
    struct arena a;
    uint64_t segment, valid;            /* valid: clusters under that role */
    const ProtobufCMessage *checkpoint; /* previous, or the input of embed */
    ProtobufCMessage *out;
    struct chunk chunks[4096];
    size_t n_chunks;
    char progress[100];
    void *shared;      /* what op train has prepared, since the first segment */
    data_source *data; /* NULL: toy clusters, others to validate on */
    uint64_t edit;     /* of data_edited */
    int seen;          /* calls of op_cancelled */
    int cancel_at;
};

static inline Eqloom__TokenBatch *data_toy(const struct op_ctx *ctx, struct arena *a, bool valid,
                                           uint64_t i)
{
    return toy_batch(a, 1, valid ? CLUSTERS + i : i, MEMBERS, 4, 9);
}

/* ---- what ops call ---- */

static inline const char *text_of(const struct op_ctx *ctx, const char *name)
{
    static char value[64];
    char key[64];
    snprintf(key, sizeof key, " %s=", name);
    const char *at = ctx->set ? strstr(ctx->set, key) : NULL;
    if (at) {
        at += strlen(key);
        snprintf(value, sizeof value, "%.*s", (int)strcspn(at, " "), at);
        return value;
    }
    for (const struct op_param *p = ctx->op->params; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p->initial;
    fail_msg("parameter %s is not in the table", name);
    return NULL;
}

int64_t op_int(const struct op_ctx *ctx, const char *name)
{
    return strtoll(text_of(ctx, name), NULL, 10);
}

double op_real(const struct op_ctx *ctx, const char *name)
{
    return strtod(text_of(ctx, name), NULL);
}

bool op_bool(const struct op_ctx *ctx, const char *name)
{
    return strcmp(text_of(ctx, name), "true") == 0;
}

const char *op_string(const struct op_ctx *ctx, const char *name)
{
    return arena_strdup(&((struct op_ctx *)ctx)->a, text_of(ctx, name));
}

uint64_t op_count(struct op_ctx *ctx, const char *role)
{
    if (strcmp(role, "init") == 0 || strcmp(role, "near_misses") == 0)
        return 0;
    return strcmp(role, "batches") == 0 ? CLUSTERS : strcmp(role, "valid") == 0 ? ctx->valid : 1;
}

uint64_t op_elements(const struct op_ctx *ctx)
{
    return CLUSTERS;
}

enum err_code op_get_in(void *out, struct op_ctx *ctx, const char *role, uint64_t i,
                        struct arena *a, struct err *e)
{
    ProtobufCMessage **to = out;
    if (strcmp(role, "batches") == 0 || strcmp(role, "valid") == 0) {
        data_source *data = ctx->data ? ctx->data : data_toy;
        *to = &data(ctx, a, strcmp(role, "valid") == 0, i)->base;
    } else if (strcmp(role, "checkpoint") == 0) {
        *to = (ProtobufCMessage *)ctx->checkpoint;
    } else {
        Eqloom__Vocabulary *v = arena_new(a, Eqloom__Vocabulary);
        eqloom__vocabulary__init(v);
        v->n_tokens = TOY_VOCABULARY;
        *to = &v->base;
    }
    return OK;
}

enum err_code op_get(void *out, struct op_ctx *ctx, const char *role, uint64_t i, struct err *e)
{
    return op_get_in(out, ctx, role, i, &ctx->a, e);
}

struct digest op_input_id(struct op_ctx *ctx, const char *role, uint64_t i)
{
    struct span s = span_str(role);
    return digest_of(&s, 1);
}

enum err_code op_get_chunk(struct span *out, struct op_ctx *ctx, const uint8_t id[32],
                           struct arena *a, struct err *e)
{
    for (size_t i = 0; i < ctx->n_chunks; i++)
        if (memcmp(ctx->chunks[i].id.bytes, id, DIGEST_SIZE) == 0) {
            *out = ctx->chunks[i].data;
            return OK;
        }
    return err_fail(e, ERR_NOTFOUND, "no such chunk");
}

enum err_code op_previous(void *out, struct op_ctx *ctx, struct err *e)
{
    *(ProtobufCMessage **)out = (ProtobufCMessage *)ctx->checkpoint;
    return OK;
}

struct digest op_previous_id(struct op_ctx *ctx)
{
    struct digest d = {{0}};
    d.bytes[0] = ctx->checkpoint != NULL;
    return d;
}

uint64_t op_segment_index(struct op_ctx *ctx)
{
    return ctx->segment;
}

/* Packed and unpacked again, so that what the op leaves in its own memory is not kept. */
enum err_code op_emit(struct digest *id, struct op_ctx *ctx, const char *role,
                      const ProtobufCMessage *message, struct err *e)
{
    struct span bytes;
    assert_null(ctx->out);
    assert_int_equal(canonical_pack(&bytes, &ctx->a, message, NULL), OK);
    return canonical_unpack(&ctx->out, &ctx->a, message->descriptor, bytes, e);
}

enum err_code op_emit_chunk(struct digest *id, struct op_ctx *ctx, struct span data, struct err *e)
{
    assert_true(ctx->n_chunks < 4096 && data.len <= 4 << 20);
    *id = digest_of(&data, 1);
    ctx->chunks[ctx->n_chunks++] =
        (struct chunk){*id, span_of(arena_memdup(&ctx->a, data.data, data.len), data.len)};
    return OK;
}

struct arena *op_arena(struct op_ctx *ctx)
{
    return &ctx->a;
}

int op_card(const struct op_ctx *ctx)
{
    return -1;
}

struct pool *op_pool(struct op_ctx *ctx)
{
    return NULL;
}

const char *op_numerics(const struct op_ctx *ctx)
{
    return "test";
}

bool op_cancelled(const struct op_ctx *ctx)
{
    return ctx->cancel_at && ++((struct op_ctx *)ctx)->seen >= ctx->cancel_at;
}

void op_progress(struct op_ctx *ctx, uint64_t done, uint64_t total, const char *text)
{
    snprintf(ctx->progress, sizeof ctx->progress, "%d/%d %s", (int)done, (int)total, text);
}

/* ---- chains ---- */

#define SMALL " d_model=16 d_ff=32 heads=2 layers=1 batch=8 max_length=12 log_every=3"

static inline struct op_ctx *context(const struct op *op, const char *set)
{
    struct op_ctx *ctx = calloc(1, sizeof *ctx);
    assert_non_null(ctx);
    ctx->op = op;
    ctx->set = set;
    return ctx;
}

static inline void context_free(struct op_ctx *ctx)
{
    op_train.release(ctx->shared);
    arena_free(&ctx->a);
    free(ctx);
}

static inline void *prepared(struct op_ctx *ctx)
{
    if (!ctx->shared)
        assert_int_equal(op_train.prepare(&ctx->shared, ctx, NULL), OK);
    return ctx->shared;
}

static inline Eqloom__Checkpoint *segment(struct op_ctx *ctx, uint64_t index)
{
    struct err e;
    ctx->segment = index;
    ctx->out = NULL;
    if (op_train.run(ctx, prepared(ctx), &e))
        fail_msg("%s", e.message);
    ctx->checkpoint = ctx->out;
    return (Eqloom__Checkpoint *)ctx->out;
}

static inline bool same_tensors(const Eqloom__Checkpoint *a, const Eqloom__Checkpoint *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(a->tensors[i]->name, b->tensors[i]->name) != 0 ||
            a->tensors[i]->chunk_ids.len != b->tensors[i]->chunk_ids.len ||
            memcmp(a->tensors[i]->chunk_ids.data, b->tensors[i]->chunk_ids.data,
                   a->tensors[i]->chunk_ids.len) != 0)
            return false;
    return true;
}

static inline Eqloom__Checkpoint *train_whole(struct op_ctx *ctx)
{
    uint64_t n;
    assert_int_equal(op_train.segments(&n, ctx, NULL), OK);
    Eqloom__Checkpoint *c = NULL;
    for (uint64_t i = 0; i < n; i++)
        c = segment(ctx, i);
    return c;
}
