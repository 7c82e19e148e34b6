/* Ways of writing an expression, by name. */
#include "ops/expr/expr.h"

#include <string.h>

static const char *const names[] = {"infix", "prefix", "sexpr"};
static expr_parser *const parsers[] = {expr_parse_infix, expr_parse_prefix, expr_parse_sexpr};
enum { SYNTAXES = sizeof names / sizeof *names };

enum err_code expr_parser_find(expr_parser **out, const char *name, struct err *e)
{
    for (int i = 0; i < SYNTAXES; i++)
        if (!name || strcmp(name, names[i]) == 0) {
            *out = parsers[i];
            return OK;
        }
    err_fail(e, ERR_INPUT, "unknown syntax '%.40s': infix, prefix or sexpr", name);
    const char *near = err_nearest(name, names, SYNTAXES);
    if (near)
        err_hint(e, "did you mean '%s'?", near);
    return ERR_INPUT;
}
