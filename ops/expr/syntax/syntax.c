/* The syntaxes by name, and expressions as strings. */
#include "ops/expr/expr.h"

#include <string.h>

enum err_code expr_parser_find(expr_parser **out, const char *name, struct err *e)
{
    enum { PARSERS = 3, NAMES };
    static const char *const names[NAMES] = {"infix", "prefix", "words", "latex"};
    static expr_parser *const parsers[PARSERS] = {expr_parse_infix, expr_parse_prefix,
                                                  expr_parse_words}; /* latex: expr_argument.h */
    *out = expr_parse_infix;
    for (int i = 0; i < PARSERS; i++)
        if (!name || strcmp(name, names[i]) == 0) {
            *out = parsers[i];
            return OK;
        }
    enum err_code code =
        err_fail(e, ERR_INPUT, "unknown syntax '%.40s': infix, prefix, words or latex", name);
    return err_suggest(code, name, names, NAMES, e);
}

static char *text_of(struct arena *a, const struct expr *x,
                     void (*write)(struct buf *out, const struct expr *x))
{
    struct buf b = {0};
    write(&b, x);
    return buf_text(&b, a);
}

char *expr_prefix(struct arena *a, const struct expr *x)
{
    return text_of(a, x, expr_write_prefix);
}

char *expr_infix(struct arena *a, const struct expr *x)
{
    return text_of(a, x, expr_write_infix);
}

char *expr_latex(struct arena *a, const struct expr *x)
{
    return text_of(a, x, expr_write_latex);
}

char *expr_infix_of(struct arena *a, const struct language *lang, const char *prefix)
{
    struct expr x;
    bool read = lang && expr_from_prefix(&x, a, lang, prefix, NULL) == OK;
    return read ? expr_infix(a, &x) : arena_strdup(a, prefix);
}
