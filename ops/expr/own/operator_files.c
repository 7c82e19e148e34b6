#include "ops/expr/own/operator_files.h"

#include "ops/expr/own/own.h"

#include <string.h>

static bool is_operators(const char *name)
{
    static const char suffix[] = ".operators";
    size_t n = strlen(name), end = strlen(suffix);
    return n >= end && strcmp(name + n - end, suffix) == 0;
}

enum err_code operator_files(const struct language **lang, const struct op_file **files, size_t *n,
                             struct op_ctx *ctx, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct op_file *others = arena_array(a, struct op_file, *n);
    size_t kept = 0;
    enum err_code code = OK;
    for (size_t i = 0; i < *n && !code; i++)
        if (is_operators((*files)[i].text.name))
            code = own_parse(lang, a, &(*files)[i].text, true, e);
        else
            others[kept++] = (*files)[i];
    *files = others;
    *n = kept;
    return err_up(e, code);
}
