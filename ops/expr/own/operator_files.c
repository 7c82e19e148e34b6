#include "ops/expr/own/operator_files.h"

#include "base/os.h"
#include "ops/expr/own/own.h"

#include <string.h>

static bool is_operators(const char *name)
{
    static const char suffix[] = ".operators";
    size_t n = strlen(name), end = strlen(suffix);
    return n >= end && strcmp(name + n - end, suffix) == 0;
}

enum err_code operator_files(const struct language **lang, const struct op_file **files, size_t *n,
                             struct arena *a, struct err *e)
{
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

enum err_code operator_options(const struct language **lang, const struct tool_args *args,
                               struct err *e)
{
    enum err_code code = OK;
    for (size_t i = 0; i < args->n_values && !code; i++) {
        struct span text;
        const char *name = args->values[i].value;
        if (strcmp(args->values[i].option, "operators") != 0)
            continue;
        if ((code = os_read_file(&text, args->arena, name, OWN_MAX_FILE, e)))
            break;
        struct source_text *source = arena_new(args->arena, struct source_text);
        *source = (struct source_text){name, (const char *)text.data, text.len};
        code = own_parse(lang, args->arena, source, true, e);
    }
    return err_up(e, code);
}
