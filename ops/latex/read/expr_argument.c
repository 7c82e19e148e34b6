#include "ops/latex/read/expr_argument.h"

#include <string.h>

static bool says_latex(const struct tool_args *args)
{
    const char *syntax = tool_value(args, "syntax");
    return syntax && !strcmp(syntax, "latex");
}

enum err_code expr_argument_check(const struct tool_args *args, struct err *e)
{
    expr_parser *ignored;
    return says_latex(args) ? OK
                            : err_up(e, expr_parser_find(&ignored, tool_value(args, "syntax"), e));
}

void expr_argument_say(const struct tool_args *args, const char *name, const struct buf *notes)
{
    for (const char *s = notes->len ? notes->data : ""; *s; s += strcspn(s, "\n") + 1)
        fprintf(args->narration, "eqloom: %s: %.*s\n", name, (int)strcspn(s, "\n"), s);
}

enum err_code expr_argument_part(struct expr *out, struct latex_reader **latex,
                                 const struct tool_args *args, struct arena *a,
                                 const struct language *lang, const struct source_text *source,
                                 size_t at, size_t len, struct buf *notes, struct err *e)
{
    const char *syntax = tool_value(args, "syntax");
    bool latex_given = (!syntax || says_latex(args)) && latex_bare(source->text, &at, &len);
    if (latex_given || says_latex(args) || (!syntax && latex_is(source->text + at, len)))
        return err_up(e, latex_parse(out, latex, a, lang, source, at, len, false, notes, e));
    expr_parser *read;
    enum err_code code = expr_parser_find(&read, syntax, e);
    if (!code)
        code = read == expr_parse_infix ? expr_read_infix(out, a, lang, source, at, len, notes, e)
                                        : read(out, a, lang, source, at, len, false, e);
    return err_up(e, code);
}

enum err_code expr_argument(struct expr *out, struct latex_reader **latex,
                            const struct tool_args *args, struct arena *a,
                            const struct language *lang, const char *name, const char *text,
                            struct err *e)
{
    size_t len = strlen(text);
    struct source_text *source = arena_new(a, struct source_text);
    struct buf notes = {0};
    *source = (struct source_text){name, arena_strdup(a, text), len};
    enum err_code code = expr_argument_part(out, latex, args, a, lang, source, 0, len, &notes, e);
    if (!code)
        expr_argument_say(args, name, &notes);
    buf_free(&notes);
    return err_up(e, code);
}

expr_printer *expr_shown(const struct tool_args *args)
{
    return tool_value(args, "latex") ? expr_latex : expr_infix;
}

enum err_code domain_options_read(struct domain_options *out, const struct tool_args *args,
                                  struct err *e)
{
    struct ball_domain *domains = arena_array(args->arena, struct ball_domain, args->n_values + 1);
    *out = (struct domain_options){.domains = domains, .real_values = tool_value(args, "real")};
    for (size_t i = 0; i < args->n_values; i++) {
        bool real = strcmp(args->values[i].option, "real") == 0;
        const char *text = real ? "real values" : args->values[i].value;
        if (!real && strcmp(args->values[i].option, "domain") != 0)
            continue;
        struct ball_domain d;
        enum err_code code = real ? OK : domain_parse(&d, args->arena, text, e);
        if (code || (!real && (code = domain_add(domains, &out->n, &d, e))))
            return err_up(e, code);
        out->assumed =
            out->assumed ? arena_printf(args->arena, "%s, %s", out->assumed, text) : text;
    }
    return OK;
}
