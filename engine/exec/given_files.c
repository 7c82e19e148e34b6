#include "engine/exec/given_files.h"

#include "engine/cache/source_files.h"
#include "report.pb-c.h"

#include <fnmatch.h>
#include <string.h>

static bool is_wanted(const char *name, const char *const *patterns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fnmatch(patterns[i], name, FNM_PATHNAME | FNM_PERIOD) == 0)
            return true;
    return n == 0;
}

/* Followed by a NUL, as os_read_file does. */
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

enum err_code given_files_load(struct op_ctx *ctx, struct err *e)
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
                           n ? "no file that the node gave is called '%.200s'"
                             : "the node gave no file",
                           n_patterns ? patterns[0] : "");
}
