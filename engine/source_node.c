/* Source nodes: looked up before anything else of a run, in the calling thread, so that a mistake
 * in an input file ends the run before it has changed anything. */
#include "engine/session.h"

#include "base/os.h"
#include "engine/expected.h"

#include <stdlib.h>
#include <string.h>

/* What the node gave last, if that is to be believed. */
static struct expected *expect(struct session *s, uint32_t i)
{
    const Eqloom__RunNode *made = s->history.made[i];
    struct digest id;
    if (s->nodes[i].distrust || s->options->check || !made || !made->n_outputs ||
        made->outputs[0]->output_ids.len != DIGEST_SIZE)
        return NULL;
    memcpy(id.bytes, made->outputs[0]->output_ids.data, DIGEST_SIZE);
    return expected_new(s->store, &id);
}

static enum err_code run_op(struct made *out, struct session *s, uint32_t i,
                            struct source_files *files, struct arena *a, struct store_batch *b,
                            struct err *e)
{
    const struct node *node = &s->job->nodes[i];
    struct ctx_node *shared;
    struct op_ctx ctx;
    int lost;
    enum err_code code = source_load(files, a, e);
    if (!code)
        code = ctx_node_new(&shared, &s->host, node, i, NULL, &lost, e);
    if (code)
        return err_up(e, code);
    ctx_init(&ctx, shared, node, a, b);
    ctx_collect(&ctx);
    ctx.files = files->files;
    ctx.n_files = files->n;
    struct expected *expected = expect(s, i);
    if (expected)
        store_batch_trust(b, expected_has, expected);
    void *state = NULL;
    code = node->op->prepare ? node->op->prepare(&state, &ctx, e) : OK;
    if (!code)
        code = node->op->run(&ctx, state, e);
    if (!code)
        code = ctx_check_outputs(&ctx, e);
    store_batch_trust(b, NULL, NULL);
    expected_free(expected);
    if (!code)
        code = ctx_collected(out, &ctx, a, e);
    if (state && node->op->release)
        node->op->release(state);
    ctx_finish(&ctx);
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
    struct key_spec spec = {.node = &s->job->nodes[i],
                            .numerics = s->host.numerics,
                            .inputs = r->key_inputs,
                            .n_inputs = 1};
    enum err_code code = key_make(&r->key, &r->arena, &spec, e);
    r->has_key = code == OK;
    return err_up(e, code);
}

static bool all_known(struct session *s, const struct op *op, const struct made *made)
{
    return made_is_whole(s->store, op, made, NULL, false);
}

enum err_code source_node(struct made *out, bool *fresh, bool *hit, struct session *s, uint32_t i,
                          struct arena *a, struct store_batch *b, struct err *e)
{
    struct node_run *r = &s->nodes[i];
    const struct node *node = &s->job->nodes[i];
    struct source_files files;
    struct made before;
    struct err differs = {0};
    uint64_t start = os_monotonic_ns();
    *fresh = *hit = false;
    enum err_code code = source_scan(&files, a, node, s->store, b, e);
    if (!code)
        code = make_key(s, i, &files, e);
    if (code)
        return err_up(e, code);
    bool known = !made_read(&before, a, s->store, node->op, &r->key.digest, NULL) &&
                 all_known(s, node->op, &before);
    if (known && !r->distrust && !s->options->check) {
        *out = before;
        *hit = true;
        return OK;
    }
    code = run_op(out, s, i, &files, a, b, e);
    if (code)
        return err_up(e, code);
    if (known && s->options->check && check_same(node->op, &before, out, &differs)) {
        /* The node fails; those below are checked with what is stored. */
        r->failure = strdup(node_failure_text(a, node, "", &differs));
        r->failed = 1;
        *out = before;
        return OK;
    }
    *fresh = !all_known(s, node->op, out);
    out->run = s->run;
    out->cost_ns = os_monotonic_ns() - start;
    out->finished_ns = os_wall_ns();
    return err_up(e, made_write(b, a, node->op, &r->key, out, e));
}
