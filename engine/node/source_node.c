/* Source nodes: looked up before anything else of a run, in the calling thread, so that a mistake
 * in an input file ends the run before it has changed anything. */
#include "engine/node/source_node.h"

#include "base/os.h"
#include "engine/cache/source_files.h"
#include "engine/cache/text_chunks.h"
#include "engine/node/assemble.h"

#include <stdlib.h>
#include <string.h>

/* One run of the op over the files, as a whole or chunk by chunk. */
struct reading {
    struct session *s;
    uint32_t node;
    const struct source_files *files;
    struct store_batch *batch;
    struct ctx_node *shared;
    void *state;
};

static uint64_t count_bytes(const struct source_files *files)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < files->n; i++)
        bytes += files->files[i].text.len;
    return bytes;
}

static enum err_code run_whole(struct action_result *out, struct reading *r, struct arena *a,
                               struct err *e)
{
    const struct node *node = &r->s->job->nodes[r->node];
    struct op_ctx ctx;
    ctx_init(&ctx, r->shared, node, a, r->batch);
    ctx_collect(&ctx);
    ctx.files = r->files->files;
    ctx.n_files = r->files->n;
    enum err_code code = node->op->run(&ctx, r->state, e);
    if (!code)
        code = ctx_check_outputs(&ctx, e);
    if (!code)
        code = ctx_collected(out, &ctx, a, e);
    ctx_finish(&ctx);
    return err_up(e, code);
}

/* ---- by chunks ---- */

/* What the last version's chunks gave, if that is to be believed. */
static struct chunk_cache *find_before(const struct reading *r)
{
    const Eqloom__RunNode *made = r->s->history.made[r->node];
    const struct node *node = &r->s->job->nodes[r->node];
    if (r->s->nodes[r->node].damaged || r->s->options->check || !made || made->key->n_inputs != 1)
        return NULL;
    const ProtobufCBinaryData *ids = &made->key->inputs[0]->input_ids;
    return chunk_cache_new(r->s->store, node, r->s->host.numerics, (const struct digest *)ids->data,
                           ids->len / DIGEST_SIZE);
}

/* Lines of the file before the chunk: where errors are is counted from its beginning. */
static int lines_before(const struct source_text *text, const struct text_chunk *chunk)
{
    int lines = 0;
    for (size_t k = 0; k < chunk->from; k++)
        lines += text->text[k] == '\n';
    return lines;
}

static enum err_code run_chunk(struct assemble *to, struct text_chunk *chunk, struct reading *r,
                               struct arena *a, struct err *e)
{
    const struct node *node = &r->s->job->nodes[r->node];
    const struct source_text *text = &r->files->files[chunk->file].text;
    struct op_file file = {{text->name, text->text + chunk->from, chunk->len}, chunk->id};
    struct op_ctx ctx;
    if (session_interrupted(r->s))
        return err_fail(e, ERR_CANCELLED, "interrupted");
    ctx_init(&ctx, r->shared, node, a, r->batch);
    ctx.files = &file;
    ctx.n_files = 1;
    enum err_code code = node->op->run(&ctx, r->state, e);
    if (code && e && e->line)
        e->line += lines_before(text, chunk);
    if (!code)
        code = assemble_add(to, ctx.outputs, e);
    chunk->n = ctx.outputs[0].n;
    ctx_finish(&ctx);
    return err_up(e, code);
}

/* What the last version's chunks gave is taken over unread. */
static enum err_code run_each(struct assemble *to, struct text_chunks *chunks, struct reading *r,
                              struct err *e)
{
    struct chunk_cache *before = find_before(r);
    struct arena a = {0};
    enum err_code code = OK;
    uint64_t all = count_bytes(r->files), bytes = 0;
    for (size_t k = 0; k < chunks->n && !code; k++) {
        struct text_chunk *chunk = &chunks->items[k];
        struct slice slice;
        progress_source(r->s->progress, r->node, bytes, all, "read");
        bytes += chunk->len;
        if (chunk_cache_find(&slice, before, &chunk->id)) {
            chunk->n = slice.n;
            code = assemble_add_slices(to, &slice, e);
            continue;
        }
        code = run_chunk(to, chunk, r, &a, e);
        arena_reset(&a);
    }
    arena_free(&a);
    chunk_cache_free(before);
    return err_up(e, code);
}

static enum err_code run_chunks(struct action_result *out, struct text_chunks *chunks,
                                struct reading *r, struct arena *a, struct err *e)
{
    const struct node *node = &r->s->job->nodes[r->node];
    struct assemble *to = assemble_new(node->op, r->s->store, r->batch);
    *out = (struct action_result){0};
    enum err_code code = run_each(to, chunks, r, e);
    if (!code)
        code = assemble_finish(&out->outputs, a, to, e);
    if (!code)
        code = chunk_cache_write(r->batch, a, node, r->s->host.numerics, r->files, chunks,
                                 out->outputs[0].ids, e);
    assemble_free(to);
    return err_up(e, code);
}

/* Where nothing is believed, the files are read as a whole: --check compares the two ways. */
static bool in_chunks(struct text_chunks *out, struct reading *r, struct arena *a)
{
    struct op_ctx ctx;
    ctx_init(&ctx, r->shared, &r->s->job->nodes[r->node], a, NULL);
    return !r->s->nodes[r->node].damaged && !r->s->options->check &&
           text_chunks_cut(out, a, &ctx, r->files);
}

/* Where what the last version's chunks gave cannot be read, all is read again. */
static enum err_code run_files(struct action_result *out, struct reading *r, struct arena *a,
                               struct err *e)
{
    struct session *s = r->s;
    struct text_chunks chunks;
    struct err problem = {0};
    if (!in_chunks(&chunks, r, a))
        return err_up(e, run_whole(out, r, a, e));
    enum err_code code = run_chunks(out, &chunks, r, a, &problem);
    if (code == ERR_CORRUPT || code == ERR_NOTFOUND) {
        progress_note(s->progress, "%s: %s", s->job->nodes[r->node].name, problem.message);
        s->nodes[r->node].damaged = true;
        return err_up(e, run_whole(out, r, a, e));
    }
    if (code && e)
        *e = problem;
    return err_up(e, code);
}

static enum err_code run_op(struct action_result *out, struct session *s, uint32_t i,
                            struct source_files *files, struct arena *a, struct store_batch *b,
                            struct err *e)
{
    const struct node *node = &s->job->nodes[i];
    struct reading r = {.s = s, .node = i, .files = files, .batch = b};
    struct op_ctx ctx;
    int lost;
    enum err_code code = source_load(files, a, e);
    if (!code)
        code = ctx_node_new(&r.shared, &s->host, node, i, NULL, &lost, e);
    if (code)
        return err_up(e, code);
    ctx_init(&ctx, r.shared, node, a, NULL);
    code = node->op->prepare ? node->op->prepare(&r.state, &ctx, e) : OK;
    if (!code)
        code = run_files(out, &r, a, e);
    if (r.state && node->op->release)
        node->op->release(r.state);
    ctx_node_free(r.shared);
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

static bool all_stored(struct session *s, const struct op *op, const struct action_result *made)
{
    return action_is_whole(s->store, op, made, NULL, false);
}

enum err_code source_node(struct action_result *out, bool *fresh, bool *hit, struct session *s,
                          uint32_t i, struct arena *a, struct store_batch *b, struct err *e)
{
    struct node_run *r = &s->nodes[i];
    const struct node *node = &s->job->nodes[i];
    struct source_files files;
    struct action_result before;
    struct err differs = {0};
    uint64_t start = os_monotonic_ns();
    *fresh = *hit = false;
    progress_source(s->progress, i, 0, 0, "being read");
    enum err_code code = source_scan(&files, a, node, s->store, b, e);
    if (!code)
        code = make_key(s, i, &files, e);
    if (code)
        return err_up(e, code);
    bool cached = !action_read(&before, a, s->store, node->op, &r->key.digest, NULL) &&
                  all_stored(s, node->op, &before);
    if (cached && !r->damaged && !s->options->check) {
        *out = before;
        *hit = true;
        return OK;
    }
    code = run_op(out, s, i, &files, a, b, e);
    if (code)
        return err_up(e, code);
    if (cached && s->options->check && node_check_same(node->op, &before, out, &differs)) {
        /* The node fails; those below are checked with what is stored. */
        r->failure = strdup(node_failure_text(a, node, "", &differs));
        r->failed = 1;
        *out = before;
        return OK;
    }
    *fresh = !all_stored(s, node->op, out);
    out->run = s->run;
    out->cost_ns = os_monotonic_ns() - start;
    out->finished_ns = os_wall_ns();
    return err_up(e, action_write(b, a, node->op, &r->key, out, e));
}
