/* Source nodes: looked up before anything else of a run, so that a mistake in an input file ends
 * the run before it has changed anything. */
#include "engine/node/source_node.h"

#include "base/os.h"
#include "engine/cache/source_files.h"
#include "engine/remote/node_pull.h"

#include <string.h>

/* Most of a file is as it was when the node was made last. What it gave then is stored: where
 * damage took a record, the action went with it. */
static void find_stored(struct digest_map *stored, struct session *s, uint32_t i)
{
    const Eqloom__RunNode *before = s->history.made[i];
    const struct op *op = s->job->nodes[i].op;
    struct arena a = {0};
    struct action_result made;
    struct digest key;
    if (!before || before->action_key.len != DIGEST_SIZE || s->options->check)
        return;
    memcpy(key.bytes, before->action_key.data, DIGEST_SIZE);
    size_t n = action_find(&made, &a, s->store, op, &key) ? op_count_outputs(op) : 0;
    for (size_t r = 0; r < n; r++) {
        struct collection_head all;
        if (op->outputs[r].cardinality != OP_COLLECTION || !made.outputs[r].n ||
            collection_read(&all, s->store, made.outputs[r].ids, UINT64_MAX, &a, NULL))
            continue;
        for (size_t k = 0; k < all.n; k++)
            digest_map_put(stored, &all.ids[k], 0, NULL);
    }
    arena_free(&a);
}

static enum err_code run_op(struct action_result *out, struct session *s, uint32_t i,
                            struct source_files *files, struct arena *a, struct store_batch *b,
                            struct err *e)
{
    const struct node *node = &s->job->nodes[i];
    struct ctx_node *shared = NULL;
    struct op_ctx ctx;
    struct digest_map stored = {0};
    void *state = NULL;
    enum err_code code = node->op->reads_files ? OK : source_load(files, a, e);
    if (!code)
        code = ctx_node_new(&shared, &s->host, node, i, NULL, e);
    if (code)
        return err_up(e, code);
    ctx_init(&ctx, shared, node, a, b);
    ctx.files = files->files;
    ctx.n_files = files->n;
    find_stored(&stored, s, i);
    store_batch_expect(b, &stored);
    code = node->op->prepare ? node->op->prepare(&state, &ctx, e) : OK;
    if (!code)
        code = node->op->run(&ctx, state, e);
    if (!code)
        code = ctx_check_outputs(&ctx, e);
    if (!code)
        code = ctx_collected(out, &ctx, a, e);
    s->nodes[i].ran = ctx.parts.made;
    out->elements = ctx.parts.made + ctx.parts.again;
    store_batch_expect(b, NULL);
    digest_map_free(&stored);
    ctx_finish(&ctx);
    if (state && node->op->release)
        node->op->release(state);
    ctx_node_free(shared);
    return err_up(e, code);
}

static enum err_code make_key(struct session *s, uint32_t i, const struct source_files *files,
                              struct err *e)
{
    struct node_run *r = &s->nodes[i];
    struct digest *ids = arena_array(&r->arena, struct digest, files->n);
    for (size_t k = 0; k < files->n; k++)
        ids[k] = files->files[k].id;
    r->key_inputs = arena_new(&r->arena, struct key_input);
    *r->key_inputs = (struct key_input){"files", ids, files->n};
    return err_up(e, node_make_key(s, i, 1, e));
}

/* *hit: the files are as they were, and what they gave is stored. */
static enum err_code look_up(struct action_result *out, bool *hit, struct session *s, uint32_t i,
                             struct arena *a, struct store_batch *b, struct err *e)
{
    struct node_run *r = &s->nodes[i];
    const struct node *node = &s->job->nodes[i];
    struct source_files files;
    struct action_result before;
    struct err differs = {0};
    uint64_t start = os_monotonic_ns();
    enum err_code code = source_scan(&files, a, node, s->store, b, e);
    if (!code)
        code = make_key(s, i, &files, e);
    if (code)
        return err_up(e, code);
    bool cached = action_find(&before, a, s->store, node->op, &r->key.digest) ||
                  (node_pull(s, i, &r->key.digest) &&
                   action_find(&before, a, s->store, node->op, &r->key.digest));
    *hit = cached && !s->options->check;
    if (*hit) {
        *out = before;
        return OK;
    }
    code = run_op(out, s, i, &files, a, b, e);
    if (code)
        return err_up(e, code);
    if (cached && node_check_same(node->op, &before, out, &differs)) {
        /* The node fails; those below are checked with what is stored. */
        r->failure = strdup(node_failure_text(a, node, "", &differs));
        r->failed = 1;
        *out = before;
        return OK;
    }
    out->run = s->run;
    out->cost_ns = os_monotonic_ns() - start;
    out->finished_ns = os_wall_ns();
    return err_up(e, action_write(b, a, node->op, &r->key, out, e));
}

enum err_code source_read(struct session *s, uint32_t i, struct store_batch *b, struct err *e)
{
    struct node_run *r = &s->nodes[i];
    struct arena a = {0};
    struct action_result made;
    bool hit;
    uint64_t start = os_monotonic_ns();
    progress_source(s->progress, i, "being read");
    enum err_code code = look_up(&made, &hit, s, i, &a, b, e);
    if (!code) {
        bool fresh = !action_is_whole(s->store, s->job->nodes[i].op, &made);
        node_adopt(s, i, &made);
        r->elements = made.elements;
        r->cached = made.elements - r->ran;
        r->state = r->failure ? NODE_FAILED : fresh || r->state == NODE_RAN ? NODE_RAN : NODE_READ;
        if (!hit && !r->why)
            r->why = strdup(node_reason(s, i, &a, false));
        r->wall_ns = os_monotonic_ns() - start;
        code = node_write_refs(b, s, i, r->outputs, e);
    }
    arena_free(&a);
    return err_up(e, code);
}
