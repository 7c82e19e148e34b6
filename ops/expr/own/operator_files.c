#include "ops/expr/own/operator_files.h"

#include "base/io/text_file.h"
#include "base/io/unpack.h"
#include "ops/expr/ball/domain.h"
#include "ops/expr/own/own.h"

#include <string.h>

static bool is_operators(const char *name)
{
    static const char suffix[] = ".operators";
    size_t n = unpack_name(name), end = strlen(suffix);
    return n >= end && strncmp(name + n - end, suffix, end) == 0;
}

enum err_code operator_files(const struct language **lang, const struct op_file **files, size_t *n,
                             struct arena *a, struct err *e)
{
    struct op_file *others = arena_array(a, struct op_file, *n);
    size_t kept = 0;
    enum err_code code = OK;
    for (size_t i = 0; i < *n && !code; i++)
        if (is_operators((*files)[i].text.name)) {
            struct source_text *source = arena_new(a, struct source_text);
            code = text_file_decode(source, a, &(*files)[i].text, OWN_MAX_FILE, e);
            if (!code)
                code = own_parse(lang, a, source, true, e);
        } else {
            others[kept++] = (*files)[i];
        }
    *files = others;
    *n = kept;
    return err_up(e, code);
}

/* The variables of --domain may have several letters. */
static void declare_domains(const struct language **lang, const struct tool_args *args)
{
    struct ball_domain d;
    for (size_t i = 0; i < args->n_values; i++)
        if (strcmp(args->values[i].option, "domain") == 0 &&
            !domain_parse(&d, args->arena, args->values[i].value, NULL) && *d.name != '?')
            lang_declare_name(lang, args->arena, *lang, d.name);
}

enum err_code operator_options(const struct language **lang, const struct tool_args *args,
                               struct err *e)
{
    enum err_code code = OK;
    declare_domains(lang, args);
    for (size_t i = 0; i < args->n_values && !code; i++) {
        if (strcmp(args->values[i].option, "operators") != 0)
            continue;
        struct source_text *source = arena_new(args->arena, struct source_text);
        code = text_file_read(source, args->arena, args->values[i].value, OWN_MAX_FILE, e);
        if (!code)
            code = own_parse(lang, args->arena, source, true, e);
    }
    return err_up(e, code);
}
