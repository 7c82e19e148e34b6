/* See summary.h. */
#include "engine/summary.h"

#include "schemas/canonical.h"
#include "store/collection.h"

#include <stdlib.h>

struct summaries {
    struct store *store;
    struct digest id;
    struct collection *reader;
    struct arena arena;            /* of the block that is loaded */
    struct collection_block block; /* n == 0: none */
    struct span *items;
};

enum err_code summaries_open(struct summaries **out, struct store *s,
                             const struct digest *collection, struct err *e)
{
    struct collection *reader;
    enum err_code code = collection_open(&reader, s, collection, e);
    if (code)
        return err_up(e, code);
    struct summaries *x = calloc(1, sizeof *x);
    if (!x)
        abort(); /* as small allocations do */
    x->store = s;
    x->id = *collection;
    x->reader = reader;
    *out = x;
    return OK;
}

void summaries_close(struct summaries *s)
{
    if (!s)
        return;
    collection_close(s->reader);
    arena_free(&s->arena);
    free(s);
}

/* The leaf that holds an element; a collection without leaves is one. */
static enum err_code find_block(struct collection_block *out, struct summaries *s, uint64_t i,
                                struct err *e)
{
    if (collection_depth(s->reader))
        return err_up(e, collection_block(out, s->reader, 0, i, e));
    *out = (struct collection_block){s->id, 0, collection_count(s->reader)};
    return OK;
}

static enum err_code make_key(struct key *key, struct summaries *s, const struct op_ctx *ctx,
                              struct err *e)
{
    struct key_input in = {"@summary", &s->block.id, 1};
    struct key_spec spec = {
        .node = ctx->node, .numerics = op_numerics(ctx), .inputs = &in, .n_inputs = 1};
    return err_up(e, key_make(key, &s->arena, &spec, e));
}

static bool read_known(struct summaries *s, const struct key *key)
{
    struct span bytes;
    ProtobufCMessage *m;
    if (store_action(&bytes, s->store, &key->digest, &s->arena, NULL) ||
        canonical_unpack(&m, &s->arena, &eqloom__action__descriptor, bytes, NULL))
        return false;
    const Eqloom__Action *action = (const Eqloom__Action *)m;
    if (action->n_summaries != s->block.n)
        return false;
    for (size_t k = 0; k < action->n_summaries; k++)
        s->items[k] = span_of(action->summaries[k].data, action->summaries[k].len);
    return true;
}

static enum err_code write_known(struct summaries *s, struct op_ctx *ctx, const struct key *key,
                                 struct err *e)
{
    Eqloom__ActionOutput output = EQLOOM__ACTION_OUTPUT__INIT, *outputs[] = {&output};
    Eqloom__Action m = EQLOOM__ACTION__INIT;
    struct span bytes;
    output.role = (char *)"@summary";
    output.output_ids = (ProtobufCBinaryData){DIGEST_SIZE, s->block.id.bytes};
    m.key = key->message;
    m.outputs = outputs;
    m.n_outputs = 1;
    m.n_summaries = s->block.n;
    m.summaries = arena_array(&s->arena, ProtobufCBinaryData, s->block.n);
    for (size_t k = 0; k < s->block.n; k++)
        m.summaries[k] = (ProtobufCBinaryData){s->items[k].len, (uint8_t *)s->items[k].data};
    enum err_code code = canonical_pack(&bytes, &s->arena, &m.base, e);
    if (!code)
        code = store_batch_action(ctx->batch, &key->digest, bytes, e);
    return err_up(e, code);
}

static enum err_code summarize(struct summaries *s, struct op_ctx *ctx, size_t port, struct err *e)
{
    struct arena work = {0};
    enum err_code code = OK;
    for (uint64_t k = 0; k < s->block.n && !code; k++) {
        ProtobufCMessage *m;
        code = ctx_get_element(&m, ctx, port, s->block.first + k, &work, e);
        if (!code)
            code = ctx->node->op->summarize(&s->items[k], &s->arena, ctx, m, e);
        arena_reset(&work);
    }
    arena_free(&work);
    return err_up(e, code);
}

static enum err_code load(struct summaries *s, struct op_ctx *ctx, size_t port, bool fresh,
                          struct err *e)
{
    struct key key;
    s->items = arena_array(&s->arena, struct span, s->block.n);
    enum err_code code = make_key(&key, s, ctx, e);
    if (code || (!fresh && read_known(s, &key)))
        return err_up(e, code);
    code = summarize(s, ctx, port, e);
    if (!code)
        code = write_known(s, ctx, &key, e);
    return err_up(e, code);
}

enum err_code summaries_at(struct span *out, struct summaries *s, struct op_ctx *ctx, size_t port,
                           uint64_t i, bool fresh, struct err *e)
{
    enum err_code code = OK;
    if (i < s->block.first || i >= s->block.first + s->block.n) {
        arena_reset(&s->arena);
        s->block.n = 0;
        struct collection_block block;
        code = find_block(&block, s, i, e);
        if (!code) {
            s->block = block;
            code = load(s, ctx, port, fresh, e);
        }
        if (code)
            s->block.n = 0;
    }
    if (!code)
        *out = s->items[i - s->block.first];
    return err_up(e, code);
}
