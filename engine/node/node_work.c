/* A node from its lookup to the end of an attempt. Sources and tasks run here, maps in map_node.c,
 * chains in chain.c. A node is done when its action and refs are in the store. */
#include "engine/node/node.h"

#include "base/io/file_pattern.h"
#include "base/os.h"
#include "engine/node/chain.h"
#include "engine/node/map_node.h"
#include "engine/remote/remote.h"
#include "engine/session/run_record.h"
#include "report.pb-c.h"
#include "store/collection/collection.h"

#include <stdlib.h>
#include <string.h>

/* Sets *missing if an action is stored, but not all of its outputs. */
static enum err_code look_up(bool *hit, bool *missing, struct action_result *made,
                             struct node_run *r, struct err *e)
{
    *hit = *missing = false;
    if (r->s->options->check)
        return OK;
    for (bool pulled = false;; pulled = true) {
        enum err_code code = action_read(made, &r->arena, r->s->store, r->op, &r->key.digest, e);
        if (code && code != ERR_NOTFOUND)
            return err_up(e, code);
        *hit = !code && action_is_complete(r->s->store, r->op, made);
        *missing = !code && !*hit;
        if (*hit || pulled || !remote_pull(r, &r->key.digest))
            return OK;
    }
}

static enum outcome finish_hit(struct worker *w, struct node_run *r,
                               const struct action_result *made)
{
    struct session *s = r->s;
    struct err e = {0};
    node_adopt(r, made);
    r->elements = made->elements;
    /* It may have run earlier in this run, before the store was repaired. */
    r->cached = made->elements > r->ran + r->reused ? made->elements - r->ran - r->reused : 0;
    if (r->state == NODE_WAITING)
        r->state = NODE_CACHED;
    pthread_mutex_lock(&s->mutex);
    if (r->state == NODE_CACHED && !r->why)
        r->why = node_cut_off(r);
    pthread_mutex_unlock(&s->mutex);
    if (node_write_refs(w->batch, r, &e) ||
        (store_batch_count(w->batch) && committer_append(s->commit, w->batch, &e)))
        return node_store_failed(w, &e);
    return OUT_DONE;
}

static void announce(struct session *s, struct worker *w)
{
    struct err e = {0};
    pthread_mutex_lock(&s->mutex);
    bool first = !s->announced;
    s->announced = true;
    enum err_code code = first ? record_running(s, w->batch, &e) : OK;
    pthread_mutex_unlock(&s->mutex);
    if (first && (code || committer_append(s->commit, w->batch, &e)))
        session_fail(s, &e);
}

/* Returns whether the node runs on the cluster: maps and chains do, unless the job says otherwise.
 */
static bool is_for_cluster(const struct node_run *r)
{
    bool large = r->op->node == OP_MAP || r->op->node == OP_CHAIN;
    bool wanted =
        r->node->executor == EXECUTOR_SLURM || (large && r->node->executor != EXECUTOR_HERE);
    return r->s->offload && !r->from_cluster && wanted && r->op->node != OP_EXEC;
}

enum outcome node_begin(struct worker *w, struct node_run *r)
{
    struct session *s = r->s;
    struct source_files files;
    struct err e = {0};
    struct action_result made;
    bool hit, missing, exec = r->op->node == OP_EXEC;
    uint64_t start = os_monotonic_ns();
    if (r->from_cluster && r->failed) /* failed on the cluster */
        return OUT_FAILED;
    arena_reset(&w->arena);
    size_t n_inputs = op_count_inputs(r->op);
    if (exec && node_add_files(&files, r, n_inputs, w->batch, &e))
        return node_fail(r, "", &e);
    if (node_make_key(r, n_inputs + exec, &e) || look_up(&hit, &missing, &made, r, &e))
        return node_store_failed(w, &e);
    if (hit)
        return finish_hit(w, r, &made);
    char *why = s->options->check ? "checked" : node_reason(r, &r->arena, missing);
    pthread_mutex_lock(&s->mutex);
    r->failure = NULL;
    r->why = why;
    r->reported = false;
    if (!r->start_ns)
        r->start_ns = start;
    pthread_mutex_unlock(&s->mutex);
    if (ctx_node_new(&r->shared, r, &e))
        return node_read_failed(w, r, &e);
    if (!s->options->check && !s->planning)
        announce(s, w);
    r->elements = r->op->node == OP_MAP ? ctx_node_elements(r->shared) : 0;
    r->cached = r->failed = 0;
    bool on_cluster = is_for_cluster(r);
    if (on_cluster || r->op->node == OP_MAP)
        progress_node_start(s->progress, r->index, r->elements, r->why);
    if (on_cluster)
        return OUT_ON_CLUSTER;
    if (r->op->node == OP_MAP && !map_new(w, r))
        return map_close(w, r);
    r->begin_ns = os_monotonic_ns() - start;
    return OUT_OPEN;
}

void node_end_attempt(struct node_run *r)
{
    map_free(r);
    if (r->op_state && r->op->release)
        r->op->release(r->op_state);
    r->op_state = NULL;
    r->prepared = false;
    ctx_node_free(r->shared);
    r->shared = NULL;
    arena_free(&r->work);
}

/* ---- sources that read another node's output files ---- */

static bool is_wanted(const char *name, const char *const *patterns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (file_pattern_fits(patterns[i], name))
            return true;
    return n == 0;
}

/* Appends a NUL, like os_read_file. */
static enum err_code load_bytes(struct op_file *out, struct op_ctx *ctx, const Eqloom__File *file,
                                struct err *e)
{
    struct arena *a = op_arena(ctx), scratch = {0};
    size_t n_chunks = file->chunk_ids.len / DIGEST_SIZE, len = file->data.len;
    struct span *chunks = arena_array(a, struct span, n_chunks + 1);
    enum err_code code = OK;
    chunks[0] = span_of(file->data.data, file->data.len);
    for (size_t i = 0; !code && i < n_chunks; i++) {
        code = op_get_chunk(&chunks[i], ctx, file->chunk_ids.data + i * DIGEST_SIZE, &scratch, e);
        len = (i ? len : 0) + chunks[i].len;
    }
    char *text = code || len > SOURCE_FILE_MAX ? NULL : arena_try_alloc(a, len + 1, 1);
    if (!code && !text)
        code = err_fail(e, ERR_LIMIT, "%.200s is too large", file->name);
    for (size_t i = 0, at = 0; !code && i < (n_chunks ? n_chunks : 1); at += chunks[i++].len)
        if (chunks[i].len)
            memcpy(text + at, chunks[i].data, chunks[i].len);
    if (!code) {
        text[len] = 0;
        struct span bytes = {(const uint8_t *)text, len};
        *out = (struct op_file){{file->name, text, len}, digest_of(&bytes, 1)};
    }
    arena_free(&scratch);
    return err_up(e, code);
}

/* Sets ctx->files to the files of the input JOB_FROM whose names match the parameter "files" (all
 * if it is empty), in the order of the collection. Fails with ERR_INPUT if none matches. */
static enum err_code load_input_files(struct op_ctx *ctx, struct err *e)
{
    const char *const *patterns;
    size_t n_patterns = op_strings(&patterns, ctx, "files"), n = op_count(ctx, JOB_FROM), kept = 0;
    struct op_file *files = arena_array(op_arena(ctx), struct op_file, n);
    for (size_t i = 0; i < n; i++) {
        const Eqloom__File *m;
        enum err_code code = op_get(&m, ctx, JOB_FROM, i, e);
        const Eqloom__File *file = code ? NULL : m;
        if (file && is_wanted(file->name, patterns, n_patterns))
            code = load_bytes(&files[kept++], ctx, file, e);
        if (code)
            return err_up(e, code);
    }
    ctx->files = files;
    ctx->n_files = kept;
    return kept ? OK
                : err_fail(e, ERR_INPUT,
                           n ? "no output file of the node matches '%.200s'"
                             : "the node has no output files",
                           n_patterns ? patterns[0] : "");
}

/* ---- work ---- */

static enum outcome task_run(struct worker *w, struct node_run *r)
{
    struct op_ctx ctx;
    struct err e = {0};
    struct action_result made;
    arena_reset(&w->arena);
    ctx_init(&ctx, r, &w->arena, w->batch);
    progress_node_start(r->s->progress, r->index, 0, r->why);
    bool failed = node_prepare(r, &e) || (node_reads_from(r->node) && load_input_files(&ctx, &e)) ||
                  r->op->run(&ctx, r->op_state, &e) || ctx.lost[0] || ctx_check_outputs(&ctx, &e) ||
                  ctx_collected(&made, &ctx, &w->arena, &e);
    enum outcome outcome = failed ? node_op_failed(w, r, &ctx, "", &e) : node_commit(w, r, &made);
    ctx_finish(&ctx);
    return outcome;
}

enum outcome node_run_whole(struct worker *w, struct node_run *r)
{
    switch (r->op->node) {
    case OP_TASK:
    case OP_EXEC: return task_run(w, r);
    case OP_CHAIN: return chain_run(w, r);
    case OP_SOURCE:     /* source_read */
    case OP_MAP: break; /* maps run in ranges */
    }
    abort();
}

/* ---- sources: looked up before anything else in a run, so that an error in an input file ends the
 * run before it has changed anything ---- */

/* Lists the records that the node's last action made. Most of a file has not changed since, and
 * these records are stored: had one been damaged, the action would have been removed with it. */
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
    r->ran = ctx.parts.ran;
    out->elements = ctx.parts.ran + ctx.parts.reused;
    store_batch_expect(b, NULL);
    digest_map_free(&stored);
    ctx_finish(&ctx);
    ctx_node_free(r->shared);
    r->shared = NULL;
    return err_up(e, code);
}

/* Sets *hit if the files are unchanged and their outputs are stored. */
static enum err_code find_or_read(struct action_result *out, bool *hit, struct node_run *r,
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
    bool replace = true;
    if (cached && node_check_same(&replace, r, "", &before, out, &differs)) {
        node_fail(r, "", &differs); /* downstream nodes are checked with the stored outputs */
        *out = before;
        return OK;
    }
    out->foreign = r->foreign;
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
    enum err_code code = find_or_read(&made, &hit, r, &a, b, e);
    if (!code) {
        bool fresh = !action_is_complete(r->s->store, r->op, &made);
        node_adopt(r, &made);
        r->elements = made.elements;
        r->cached = made.elements - r->ran;
        r->state = r->failure ? NODE_FAILED : fresh || r->state == NODE_RAN ? NODE_RAN : NODE_READ;
        if (!hit && !r->why)
            r->why = node_reason(r, &r->arena, false);
        r->wall_ns = os_monotonic_ns() - start;
        code = node_write_refs(b, r, e);
    }
    arena_free(&a);
    return err_up(e, code);
}
