/* The syntaxes by name, and expressions as strings. */
#include "ops/expr/expr.h"

#include <string.h>

static const char *const names[] = {"infix", "prefix", "sexpr"};
static expr_parser *const parsers[] = {expr_parse_infix, expr_parse_prefix, expr_parse_sexpr};
enum { SYNTAXES = sizeof names / sizeof *names };

enum err_code expr_parser_find(expr_parser **out, const char *name, struct err *e)
{
    enum err_code code;
    for (int i = 0; i < SYNTAXES; i++)
        if (!name || strcmp(name, names[i]) == 0) {
            *out = parsers[i];
            return OK;
        }
    code = err_fail(e, ERR_INPUT, "unknown syntax '%.40s': infix, prefix or sexpr", name);
    const char *near = err_nearest(name, names, SYNTAXES);
    if (near)
        err_hint(e, "did you mean '%s'?", near);
    return code;
}

static char *text_of(struct arena *a, const struct expr *x,
                     void (*write)(struct buf *out, const struct expr *x))
{
    struct buf b = {0};
    write(&b, x);
    char *text = arena_strndup(a, b.data, b.len);
    buf_free(&b);
    return text;
}

char *expr_prefix(struct arena *a, const struct expr *x)
{
    return text_of(a, x, expr_write_prefix);
}

char *expr_infix(struct arena *a, const struct expr *x)
{
    return text_of(a, x, expr_write_infix);
}

char *expr_infix_of(struct arena *a, const struct language *lang, const char *prefix)
{
    struct expr x;
    bool read = lang && expr_from_prefix(&x, a, lang, prefix, NULL) == OK;
    return read ? expr_infix(a, &x) : arena_strdup(a, prefix);
}
