/* Source nodes: looked up before anything else of a run, so that a mistake in an input file ends
 * the run before it has changed anything. */
#include "engine/node/source_node.h"

#include "base/os.h"
#include "engine/remote/remote.h"
#include "store/collection/collection.h"

#include <string.h>

/* Most of a file is as it was when the node was made last. What it gave then is stored: where
 * damage took a record, the action went with it. */
static void find_stored(struct digest_map *stored, struct node_run *r)
{
    const Eqloom__RunNode *before = r->s->history.made[r->index];
    struct store *s = r->s->store;
    struct arena a = {0};
    struct action_result made;
    struct digest key;
    if (!before || before->action_key.len != DIGEST_SIZE || r->s->options->check)
        return;
    memcpy(key.bytes, before->action_key.data, DIGEST_SIZE);
    size_t n = action_find(&made, &a, s, r->op, &key) ? op_count_outputs(r->op) : 0;
    for (size_t p = 0; p < n; p++) {
        struct collection_head all;
        if (r->op->outputs[p].cardinality != OP_COLLECTION || !made.outputs[p].n ||
            collection_read(&all, s, made.outputs[p].ids, UINT64_MAX, &a, NULL))
            continue;
        for (size_t k = 0; k < all.n; k++)
            digest_map_put(stored, &all.ids[k], 0, NULL);
    }
    arena_free(&a);
}

static enum err_code run_op(struct action_result *out, struct node_run *r,
                            struct source_files *files, struct arena *a, struct store_batch *b,
                            struct err *e)
{
    struct op_ctx ctx;
    struct digest_map stored = {0};
    enum err_code code = r->op->reads_files ? OK : source_load(files, a, e);
    if (!code)
        code = ctx_node_new(&r->shared, r, e);
    if (code)
        return err_up(e, code);
    ctx_init(&ctx, r, a, b);
    ctx.files = files->files;
    ctx.n_files = files->n;
    find_stored(&stored, r);
    store_batch_expect(b, &stored);
    code = r->op->run(&ctx, NULL, e);
    if (!code)
        code = ctx_check_outputs(&ctx, e);
    if (!code)
        code = ctx_collected(out, &ctx, a, e);
    r->ran = ctx.parts.made;
    out->elements = ctx.parts.made + ctx.parts.again;
    store_batch_expect(b, NULL);
    digest_map_free(&stored);
    ctx_finish(&ctx);
    ctx_node_free(r->shared);
    r->shared = NULL;
    return err_up(e, code);
}

/* *hit: the files are as they were, and what they gave is stored. */
static enum err_code look_up(struct action_result *out, bool *hit, struct node_run *r,
                             struct arena *a, struct store_batch *b, struct err *e)
{
    struct session *s = r->s;
    struct source_files files;
    struct action_result before;
    struct err differs = {0};
    uint64_t start = os_monotonic_ns();
    enum err_code code = node_add_files(&files, r, 0, b, e);
    if (!code)
        code = node_make_key(r, 1, e);
    if (code)
        return err_up(e, code);
    bool cached = action_find(&before, a, s->store, r->op, &r->key.digest) ||
                  (remote_pull(r, &r->key.digest) &&
                   action_find(&before, a, s->store, r->op, &r->key.digest));
    *hit = cached && !s->options->check;
    if (*hit) {
        *out = before;
        return OK;
    }
    code = run_op(out, r, &files, a, b, e);
    if (code)
        return err_up(e, code);
    if (cached && node_check_same(r->op, &before, out, &differs)) {
        node_fail(r, "", &differs); /* those below are checked with what is stored */
        *out = before;
        return OK;
    }
    out->run = s->run;
    out->cost_ns = os_monotonic_ns() - start;
    out->finished_ns = os_wall_ns();
    return err_up(e, action_write(b, a, r->op, &r->key, out, e));
}

enum err_code source_read(struct node_run *r, struct store_batch *b, struct err *e)
{
    struct arena a = {0};
    struct action_result made;
    bool hit;
    uint64_t start = os_monotonic_ns();
    progress_source(r->s->progress, r->index, "being read");
    enum err_code code = look_up(&made, &hit, r, &a, b, e);
    if (!code) {
        bool fresh = !action_is_whole(r->s->store, r->op, &made);
        node_adopt(r, &made);
        r->elements = made.elements;
        r->cached = made.elements - r->ran;
        r->state = r->failure ? NODE_FAILED : fresh || r->state == NODE_RAN ? NODE_RAN : NODE_READ;
        if (!hit && !r->why)
            r->why = strdup(node_reason(r, &a, false));
        r->wall_ns = os_monotonic_ns() - start;
        code = node_write_refs(b, r, e);
    }
    arena_free(&a);
    return err_up(e, code);
}
