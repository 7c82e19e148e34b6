/* eqloom init: a small job to begin with, from the files of jobs/start, and the schema that editors
 * complete and check it with. */
#include "engine/cli/cmd/cmd.h"

#include "base/io/out_file.h"
#include "base/os.h"
#include "engine/op.h"

#include <stdlib.h>
#include <string.h>

#define START OP_BUILTIN "start/"
static const char schema_name[] = "eqloom.schema.json";

/* The file's path below the directory; NULL: it is no part of the job. */
static const char *inner_path(const struct source_text *f)
{
    if (strncmp(f->name, START, strlen(START)) == 0)
        return f->name + strlen(START);
    return strcmp(f->name, OP_BUILTIN "templates.schema.json") ? NULL
                                                               : f->name + strlen(OP_BUILTIN);
}

static enum err_code refuse_existing(const char *path, struct err *e)
{
    struct os_stat st;
    if (os_stat(&st, path, NULL))
        return OK;
    enum err_code code = err_fail(e, ERR_INPUT, "%s is there already", path);
    err_hint(e, "name a directory for the job: eqloom init DIR");
    return code;
}

static enum err_code write_new(struct cli *c, const char *path, const char *text, size_t n,
                               struct err *e)
{
    const char *slash = strrchr(path, '/');
    enum err_code code = OK;
    if (slash)
        code = os_mkdirs(arena_strndup(c->arena, path, (size_t)(slash - path)), e);
    if (!code)
        code = out_file_write(path, text, n, e);
    if (!code)
        fprintf(c->out, "%s\n", path);
    return err_up(e, code);
}

enum err_code cli_init(int *status, struct cli *c, struct err *e)
{
    const char *dir = c->n_arguments ? c->arguments[0] : ".";
    enum err_code code = refuse_existing(os_join(c->arena, dir, schema_name), e);
    for (const struct source_text *f = op_builtins; !code && f->name; f++)
        if (inner_path(f))
            code = refuse_existing(os_join(c->arena, dir, inner_path(f)), e);
    if (code)
        return err_up(e, code);
    for (const struct source_text *f = op_builtins; !code && f->name; f++)
        if (inner_path(f))
            code = write_new(c, os_join(c->arena, dir, inner_path(f)), f->text, f->len, e);
    if (code)
        return err_up(e, code);
    char *schema = schema_text();
    code = write_new(c, os_join(c->arena, dir, schema_name), schema, strlen(schema), e);
    free(schema);
    if (!code)
        fprintf(c->narration, "'eqloom run %s' runs it\n", os_join(c->arena, dir, "job.yaml"));
    *status = 0;
    return err_up(e, code);
}
