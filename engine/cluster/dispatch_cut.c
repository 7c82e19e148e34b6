/* Cuts the work into blocks and packs their inputs. The missing elements are cut by windows of
 * positions that depend on the input alone, and a window contains whole leaves (map_tree.h): after
 * a crash the same blocks are cut, and results include the actions of leaves. */
#include "engine/cluster/node_dispatch.h"

#include "base/buf.h"
#include "base/os.h"
#include "engine/node/chain.h"
#include "engine/node/element_reuse.h"

enum { BLOCKS = 64, LEAST = 32, MOST = 2048, IDS = 4096 };

static uint64_t window_of(uint64_t elements)
{
    uint64_t n = LEAST;
    while (n < MOST && n * BLOCKS < elements)
        n *= 2;
    return n;
}

enum err_code dispatch_cut_open(struct dispatch *x, struct err *e)
{
    struct node_run *r = x->r;
    if (!r->inputs[0].n)
        return OK;
    uint64_t block = x->c->profile.block;
    x->window = block ? block : window_of(r->elements);
    if (r->op->reuse && node_prepare(r, NULL))
        return OK; /* the local attempt will report the error */
    enum err_code code = collection_open(&x->input, r->s->store, r->inputs[0].ids, e);
    if (!code)
        code = map_tree_new(&x->tree, r, e);
    return err_up(e, code);
}

void dispatch_cut_close(struct dispatch *x)
{
    map_tree_free(x->tree, x->r->op);
    if (x->input)
        collection_close(x->input);
}

/* Adds a block, unless it was adopted from an earlier master. */
static void add_block(struct dispatch *x, const struct digest *key, uint64_t n)
{
    const uint64_t *adopted = digest_map_get(&x->adopted, key);
    struct block b = {.key = *key, .n = n};
    if (adopted) {
        b.id = x->adopted_ids[*adopted];
        b.state = BLOCK_SUBMITTED;
        x->n_submitted++;
    } else {
        x->n_waiting++;
    }
    x->blocks = arena_grow(&x->arena, x->blocks, x->n, &x->cap, sizeof *x->blocks);
    x->blocks[x->n] = b;
    digest_map_put(&x->by_key, key, x->n++, NULL);
}

/* Returns whether an element has to run. */
static bool is_missing(struct dispatch *x, const struct digest *id)
{
    struct arena_mark mark = arena_mark(&x->work);
    struct action_result made;
    struct reuse_origin origin;
    struct span witness;
    struct key key;
    bool there = node_find_element(&made, &key, x->r, &x->work, id) ||
                 reuse_element(&made, &origin, &witness, x->r, &x->work, id);
    arena_release(&x->work, mark);
    return !there;
}

/* Returns the leaf at a position, or a substitute if the input has no blocks. */
static enum err_code leaf_at(struct collection_block *out, struct dispatch *x, uint64_t at,
                             struct err *e)
{
    if (collection_depth(x->input))
        return err_up(e, collection_block(out, x->input, 0, at, e));
    out->first = at - at % x->window;
    uint64_t left = collection_count(x->input) - out->first;
    out->n = left < x->window ? left : x->window;
    return OK;
}

static enum err_code add_missing(struct collection_builder *b, uint64_t *n, struct dispatch *x,
                                 const struct collection_block *leaf, struct err *e)
{
    struct digest *ids = arena_array(&x->work, struct digest, IDS);
    enum err_code code = OK;
    for (uint64_t from = leaf->first, end = from + leaf->n; from < end && !code; from += IDS) {
        uint64_t m = end - from < IDS ? end - from : IDS;
        code = collection_ids(ids, x->input, from, m, e);
        for (uint64_t k = 0; k < m && !code; k++)
            if (is_missing(x, &ids[k])) {
                code = collection_builder_add(b, &ids[k], e);
                ++*n;
            }
    }
    return err_up(e, code);
}

/* Adds the missing elements of the next window that has any. */
static enum err_code add_window(struct collection_builder *b, uint64_t *n, struct dispatch *x,
                                struct err *e)
{
    uint64_t count = collection_count(x->input), window = UINT64_MAX;
    while ((x->at = map_tree_skip(x->tree, x->at)) < count) {
        struct collection_block leaf;
        enum err_code code = leaf_at(&leaf, x, x->at, e);
        if (code)
            return err_up(e, code);
        if (*n && leaf.first / x->window != window)
            return OK;
        window = leaf.first / x->window;
        if ((code = add_missing(b, n, x, &leaf, e)))
            return err_up(e, code);
        x->at = leaf.first + leaf.n;
    }
    x->cut = true;
    return OK;
}

/* ---- packs ---- */

static enum err_code pack_block(struct dispatch *x, const struct digest *elements,
                                const struct digest *key, struct err *e)
{
    char hex[DIGEST_HEX];
    struct pack_result packed;
    struct pack_root root = {arena_printf(&x->work, ERRAND_INPUT, (size_t)0, (size_t)0), *elements};
    struct pack_contents what = {.roots = &root, .n_roots = 1, .fast = true};
    char *path = arena_printf(&x->work, "%s/%s.in", x->folder, digest_hex(hex, key));
    return err_up(e, session_pack(&packed, x->r->s, path, &what, e));
}

enum err_code dispatch_cut_next(struct dispatch *x, struct err *e)
{
    struct session *s = x->r->s;
    struct digest elements;
    struct key key;
    uint64_t n = 0;
    if (!x->input) {
        x->cut = true;
        return OK;
    }
    struct collection_builder *b =
        collection_builder_new(x->batch, collection_element_kind(x->input));
    enum err_code code = add_window(b, &n, x, e);
    if (!code && n)
        code = collection_builder_finish(&elements, b, e);
    collection_builder_free(b);
    if (code || !n)
        return err_up(e, code);
    code = node_element_key(&key, x->r, &x->work, &elements, e);
    if (!code && !digest_map_get(&x->adopted, &key.digest)) {
        /* Packs are made of stored records, so store the collection first. */
        code = committer_append(s->commit, x->batch, e);
        if (!code)
            code = committer_flush(s->commit, e);
        if (!code)
            code = pack_block(x, &elements, &key.digest, e);
    }
    if (!code)
        add_block(x, &key.digest, n);
    return err_up(e, code);
}

/* Adds the finished segments of a chain. */
static enum err_code add_segments(struct pack_contents *what, struct pack_root *roots,
                                  struct dispatch *x, struct err *e)
{
    struct chain chain;
    enum err_code code = chain_open(&chain, x->r, e);
    if (code)
        return err_up(e, code);
    if (chain.reused && !(code = chain_adopt(x->batch, &chain, e)) &&
        !(code = committer_append(x->r->s->commit, x->batch, e)))
        code = committer_flush(x->r->s->commit, e);
    for (size_t k = 0; chain.done && k < op_count_outputs(x->r->op); k++)
        if (!digest_is_zero(&chain.outputs[k]))
            roots[what->n_roots++] = (struct pack_root){NULL, chain.outputs[k]};
    if (chain.done) {
        what->actions =
            arena_memdup(&x->work, &chain.segments[chain.done - 1].key, sizeof(struct digest));
        what->n_actions = 1;
    }
    x->r->elements = chain.n;
    add_block(x, &x->r->key.digest, chain.n - chain.done);
    return err_up(e, code);
}

enum err_code dispatch_pack_inputs(struct dispatch *x, struct err *e)
{
    const struct node_run *r = x->r;
    const struct op *op = r->op;
    struct arena *a = &x->work;
    size_t n = op_count_inputs(op), n_ids = 0;
    for (size_t p = 0; p < n; p++)
        n_ids += r->inputs[p].n;
    struct pack_root *roots = arena_array(a, struct pack_root, n_ids + op_count_outputs(op) + 1);
    struct pack_contents what = {.roots = roots, .fast = true};
    for (size_t p = op->node == OP_MAP; p < n; p++)
        for (size_t k = 0; k < r->inputs[p].n; k++)
            roots[what.n_roots++] =
                (struct pack_root){arena_printf(a, ERRAND_INPUT, p, k), r->inputs[p].ids[k]};
    enum err_code code = OK;
    if (op->node == OP_CHAIN)
        code = add_segments(&what, roots, x, e);
    else if (op->node == OP_TASK)
        add_block(x, &r->key.digest, 1);
    struct pack_result packed;
    if (!code)
        code = session_pack(&packed, r->s, os_join(a, x->folder, "inputs.pack"), &what, e);
    return err_up(e, code);
}
