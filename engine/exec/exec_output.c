/* See exec_output.h. No process of the program is left, so the folder no longer changes. */
#include "engine/exec/exec_output.h"

#include "base/os.h"
#include "base/text/utf8.h"
#include "engine/ctx/ctx_internal.h"
#include "report.pb-c.h"

#include <string.h>
#include <sys/stat.h>

const char *exec_shown(struct arena *a, const char *text)
{
    char *shown = arena_strdup(a, text);
    for (char *c = shown; *c;) {
        size_t length = utf8_character((const uint8_t *)c, strlen(c));
        bool valid =
            length && length != UTF8_CUT && (*c == '\n' || *c == '\t' || (uint8_t)*c >= 32);
        if (!valid)
            *c = '?';
        c += valid ? length : 1;
    }
    return shown;
}

static const char *media_type(const char *name)
{
    static const char *const types[][2] = {
        {".html", "text/html"},
        {".txt", "text/plain"},
        {".tsv", "text/tab-separated-values"},
        {".csv", "text/csv"},
        {".json", "application/json"},
        {".jsonl", "application/jsonl"},
        {".png", "image/png"},
        {".svg", "image/svg+xml"},
        {".pdf", "application/pdf"},
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (!strcmp(dot, types[i][0]))
            return types[i][1];
    return "application/octet-stream";
}

/* Accepts files, and links to files that are below out/ as well. */
static enum err_code check_kind(struct arena *a, const char *path, const char *out,
                                const char *name, struct err *e)
{
    struct stat st;
    char *target = (char *)path;
    size_t n = strlen(out);
    const char *shown = exec_shown(a, name);
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
        if (os_realpath(&target, a, path, NULL))
            return err_fail(e, ERR_FAILED, "out/%.200s is a link that leads nowhere", shown);
        if (strncmp(target, out, n) || target[n] != '/')
            return err_fail(e, ERR_FAILED, "out/%.200s is a link that leads out of out/", shown);
    }
    return lstat(target, &st) == 0 && S_ISREG(st.st_mode)
               ? OK
               : err_fail(e, ERR_FAILED, "out/%.200s is no file: the program may write only files",
                          shown);
}

static enum err_code take_file(struct op_ctx *ctx, const char *path, const char *out, struct err *e)
{
    struct arena a = {0};
    struct span bytes;
    const char *main_file = op_string(ctx, "main"), *name = path + strlen(out) + 1;
    enum err_code code =
        utf8_prefix((const uint8_t *)name, strlen(name)) == strlen(name)
            ? check_kind(&a, path, out, name, e)
            : err_fail(e, ERR_FAILED,
                       "the program wrote a file whose name is not UTF-8: out/%.200s",
                       exec_shown(&a, name));
    if (!code)
        code = os_read_file(&bytes, &a, path, EXEC_FILE_MOST, e);
    if (!code)
        code = ctx_emit_named_file(ctx, "files", name, bytes, media_type(name), e);
    if (!code && !strcmp(name, main_file))
        code = ctx_emit_named_file(ctx, "file", name, bytes, media_type(name), e);
    arena_free(&a);
    return err_up(e, code);
}

/* Takes the name of the directory, which is new each time, out of a message. */
static void name_relative(struct err *e, const char *dir)
{
    size_t n = strlen(dir) + 1;
    char *at = e ? strstr(e->message, dir) : NULL;
    if (at && at[n - 1] == '/')
        memmove(at, at + n, strlen(at + n) + 1);
}

enum err_code exec_take_output(struct op_ctx *ctx, const char *dir, struct err *e)
{
    struct arena *a = op_arena(ctx);
    char *out = os_join(a, dir, "out"), **paths;
    const char *main_file = op_string(ctx, "main");
    size_t n;
    enum err_code code = os_list_tree(&paths, &n, a, out, e);
    if (!code && n > EXEC_FILES_MOST)
        code =
            err_fail(e, ERR_LIMIT, "the program wrote %zu files, more than %d", n, EXEC_FILES_MOST);
    for (size_t i = 0; !code && i < n; i++)
        code = take_file(ctx, paths[i], out, e);
    if (!code && *main_file && !ctx->outputs[1].n)
        code = err_fail(e, ERR_FAILED, "the program did not write out/%.200s", main_file);
    if (code)
        name_relative(e, dir);
    return err_up(e, code);
}
