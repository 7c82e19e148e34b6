#include "ops/expr/own/operator_files.h"

#include "base/io/text_file.h"
#include "base/io/unpack.h"
#include "ops/expr/ball/domain.h"
#include "ops/expr/own/own.h"
#include "ops/expr/syntax/lexical.h"

#include <string.h>

static bool is_operators(const char *name)
{
    static const char suffix[] = ".operators";
    size_t n = unpack_name(name), end = strlen(suffix);
    return n >= end && strncmp(name + n - end, suffix, end) == 0;
}

static const struct source_text *shipped(void)
{
    const struct source_text *f = op_builtins;
    while (f->name && !is_operators(f->name))
        f++;
    return f;
}

/* Blanks the statement of an operator, at a line "operator NAME...", with its indented lines. */
static void blank_statement(char *at)
{
    do
        for (; *at != '\n'; at++)
            *at = ' ';
    while (*++at == ' ');
}

enum err_code operators_shipped(const struct language **lang, struct arena *a, struct err *e)
{
    static const char keyword[] = "operator ", shared[] = "polygamma";
    const struct source_text *file = shipped();
    if (!lang_is(*lang, &lang_calculus))
        return OK;
    char *text = arena_strndup(a, file->text, file->len), *at = text;
    for (; *at; at += strcspn(at, "\n") + 1) {
        const char *name = at + strlen(keyword);
        size_t n = strcspn(name, "(");
        int op = strncmp(at, keyword, strlen(keyword)) == 0 ? lang_find(*lang, name, n) : -1;
        if (op < 0 || !lexical_is(name, n, (*lang)->ops[op].name))
            continue;
        const struct own_operator *own = (*lang)->ops[op].own;
        if (lexical_is(name, n, shared) &&
            !(own && own->function && own->function == ball_function_find(shared, 2)))
            return err_fail(e, ERR_INPUT,
                            "the derivatives of Gamma, factorial and binomial need eqloom's own "
                            "operator '%s'; give yours another name",
                            shared);
        blank_statement(at);
    }
    const struct source_text source = {file->name, text, file->len};
    const unsigned before = (*lang)->n_ops;
    enum err_code code = err_up(e, own_parse(lang, a, &source, false, e));
    struct op_info *ops = (struct op_info *)(*lang)->ops; /* in the arena since it was extended */
    for (unsigned op = before; op < (*lang)->n_ops; op++)
        ops[op].shipped = true;
    return code;
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
    return err_up(e, code ? code : operators_shipped(lang, a, e));
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
    return err_up(e, code ? code : operators_shipped(lang, args->arena, e));
}
