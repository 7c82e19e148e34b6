/* Summaries of the elements of a large collection (op.summarize), stored by leaf of the
 * collection's tree: one action holds those of some 128 elements; its key has the op, its version
 * and parameters, and the leaf's id. So a task over a collection reads few records if little has
 * changed. Elements of a new leaf that the collection had before are looked up in its former
 * leaves. The actions name the leaf as their output, so that gc drops both together. */
#include "engine/ctx/ctx_internal.h"

#include "base/buf.h"
#include "base/map.h"
#include "schemas/canonical.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A collection's leaves; a collection that fits into one record is its own leaf. */
struct leaves {
    struct digest id;
    struct collection *reader;
};

/* The summaries of one collection. Not thread-safe. */
struct summaries {
    struct leaves now;
    struct arena arena;            /* of the loaded leaf */
    struct collection_block block; /* n == 0: none */
    struct span *items;
    bool looked_back; /* the fields below are filled in */
    /* Elements in leaves that the collection no longer has. */
    struct arena old_arena;
    struct digest_map old; /* id -> position in old_items */
    struct span *old_items;
    size_t n_old, cap_old;
};

static enum err_code leaves_open(struct leaves *out, struct store *s, const struct digest *id,
                                 struct err *e)
{
    out->id = *id;
    return err_up(e, collection_open(&out->reader, s, id, e));
}

static enum err_code leaf_at(struct collection_block *out, const struct leaves *l, uint64_t i,
                             struct err *e)
{
    if (collection_depth(l->reader))
        return err_up(e, collection_block(out, l->reader, 0, i, e));
    *out = (struct collection_block){l->id, 0, collection_count(l->reader)};
    return OK;
}

void summaries_free(struct summaries *s)
{
    if (!s)
        return;
    collection_close(s->now.reader);
    arena_free(&s->arena);
    arena_free(&s->old_arena);
    digest_map_free(&s->old);
    free(s->old_items);
    free(s);
}

static enum err_code make_key(struct key *key, struct arena *a, const struct digest *leaf,
                              const struct op_ctx *ctx, struct err *e)
{
    return err_up(e, key_of_input(key, a, ctx->node, op_numerics(ctx), "@summary", leaf, e));
}

/* Returns an action with one summary per element of the leaf, or NULL. */
static const Eqloom__Action *read_stored(struct store *s, struct arena *a, const struct digest *key,
                                         uint64_t n)
{
    struct span bytes;
    const Eqloom__Action *action;
    if (store_action(&bytes, s, key, a, NULL) ||
        canonical_unpack(&action, a, &eqloom__action__descriptor, bytes, NULL))
        return NULL;
    return action->n_summaries == n ? action : NULL;
}

static struct span summary_of(const Eqloom__Action *action, size_t k)
{
    return span_of(action->summaries[k].data, action->summaries[k].len);
}

/* ---- earlier summaries ---- */

static void add_old_leaf(struct summaries *s, const struct leaves *l,
                         const struct collection_block *leaf, const struct op_ctx *ctx)
{
    struct key key;
    struct digest *ids = arena_array(&s->old_arena, struct digest, leaf->n);
    enum err_code code = make_key(&key, &s->old_arena, &leaf->id, ctx, NULL);
    const Eqloom__Action *action =
        code ? NULL : read_stored(ctx_store(ctx), &s->old_arena, &key.digest, leaf->n);
    if (!action || collection_ids(ids, l->reader, leaf->first, leaf->n, NULL))
        return; /* its elements are summarized again */
    for (uint64_t k = 0; k < leaf->n; k++) {
        s->old_items = vec_grow(s->old_items, &s->cap_old, s->n_old + 1, sizeof *s->old_items);
        s->old_items[s->n_old] = summary_of(action, k);
        digest_map_put(&s->old, &ids[k], s->n_old++, NULL);
    }
}

/* Reads the leaf at a position and advances the position past it. Returns false at the end and if
 * the leaf cannot be read. */
static bool next_leaf(struct collection_block *leaf, const struct leaves *l, uint64_t *at)
{
    if (*at >= collection_count(l->reader) || leaf_at(leaf, l, *at, NULL))
        return false;
    *at = leaf->first + leaf->n;
    return true;
}

/* Returns the id that the input had in the node's last run, or NULL if unknown. */
static const struct digest *input_before(const struct op_ctx *ctx, size_t port)
{
    const struct node_run *r = ctx->shared->r;
    const Eqloom__RunNode *made = r->s->history.made[r->index];
    for (size_t k = 0; made && k < made->key->n_inputs; k++) {
        const Eqloom__KeyInput *in = made->key->inputs[k];
        if (in->input_ids.len == DIGEST_SIZE && strcmp(in->role, r->op->inputs[port].role) == 0)
            return (const struct digest *)in->input_ids.data;
    }
    return NULL;
}

static void look_back(struct summaries *s, const struct op_ctx *ctx, size_t port)
{
    const struct digest *id = input_before(ctx, port);
    struct digest_map now = {0};
    struct leaves before;
    struct collection_block leaf;
    s->looked_back = true;
    if (!id || digest_equal(id, &s->now.id) || leaves_open(&before, ctx_store(ctx), id, NULL))
        return;
    for (uint64_t at = 0; next_leaf(&leaf, &s->now, &at);)
        digest_map_put(&now, &leaf.id, 0, NULL);
    for (uint64_t at = 0; next_leaf(&leaf, &before, &at);)
        if (!digest_map_get(&now, &leaf.id))
            add_old_leaf(s, &before, &leaf, ctx);
    collection_close(before.reader);
    digest_map_free(&now);
}

/* ---- a leaf ---- */

static enum err_code write_summaries(struct summaries *s, struct op_ctx *ctx, const struct key *key,
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
    struct digest *ids = arena_array(&s->arena, struct digest, s->block.n);
    enum err_code code = collection_ids(ids, s->now.reader, s->block.first, s->block.n, e);
    for (uint64_t k = 0; k < s->block.n && !code; k++, arena_reset(&work)) {
        const uint64_t *old = digest_map_get(&s->old, &ids[k]);
        ProtobufCMessage *m;
        if (old) {
            s->items[k] = s->old_items[*old];
            continue;
        }
        code = ctx_get_element(&m, ctx, port, s->block.first + k, &work, e);
        if (!code)
            code = ctx->node->op->summarize(&s->items[k], &s->arena, ctx, m, e);
    }
    arena_free(&work);
    return err_up(e, code);
}

static enum err_code load(struct summaries *s, struct op_ctx *ctx, size_t port, struct err *e)
{
    struct key key;
    const Eqloom__Action *stored;
    bool fresh = ctx->shared->r->s->options->check;
    s->items = arena_array(&s->arena, struct span, s->block.n);
    enum err_code code = make_key(&key, &s->arena, &s->block.id, ctx, e);
    if (code)
        return err_up(e, code);
    if (!fresh && (stored = read_stored(ctx_store(ctx), &s->arena, &key.digest, s->block.n))) {
        for (size_t k = 0; k < s->block.n; k++)
            s->items[k] = summary_of(stored, k);
        return OK;
    }
    if (!s->looked_back && !fresh)
        look_back(s, ctx, port);
    code = summarize(s, ctx, port, e);
    if (!code)
        code = write_summaries(s, ctx, &key, e);
    return err_up(e, code);
}

enum err_code op_summary(struct span *out, struct op_ctx *ctx, const char *role, uint64_t i,
                         struct err *e)
{
    size_t p = ctx_port_of(ctx, role);
    struct ctx_port *port = &ctx->shared->ports[p];
    enum err_code code = OK;
    assert(ctx->node->op->summarize && i < op_count(ctx, role));
    if (!port->summaries) {
        port->summaries = must_calloc(1, sizeof *port->summaries);
        code = leaves_open(&port->summaries->now, ctx_store(ctx), ctx->shared->r->inputs[p].ids, e);
    }
    struct summaries *s = port->summaries;
    if (!code && (i < s->block.first || i >= s->block.first + s->block.n)) {
        arena_reset(&s->arena);
        code = leaf_at(&s->block, &s->now, i, e);
        if (!code)
            code = load(s, ctx, p, e);
        if (code)
            s->block.n = 0;
    }
    if (!code)
        *out = s->items[i - s->block.first];
    return err_up(e, ctx_keep_loss(ctx, code, e));
}
