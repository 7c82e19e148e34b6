/* The statement of an operator in canonical form, as stored in records. */
#include "ops/expr/ball/domain.h"
#include "ops/expr/own/own.h"
#include "ops/expr/syntax/lexical.h"

static void write_domains(struct buf *b, const char *keyword, const struct ball_domain *d, size_t n)
{
    for (size_t k = 0, written = 0; k < n; k++)
        if (d[k].name) {
            buf_printf(b, written++ ? ", " : "\n %s: ", keyword);
            domain_write(b, &d[k]);
        }
}

const char *own_statement(struct arena *a, const char *name, unsigned arity,
                          const struct own_operator *o, const char *latex)
{
    struct buf b = {0};
    buf_printf(&b, "operator %s/%u", name, arity);
    if (o->function)
        buf_printf(&b, " = arb %s", ball_function_name(o->function));
    else if (o->value.n)
        buf_printf(&b, " = %s", expr_infix(a, &o->value));
    for (unsigned k = 0; k < arity; k++)
        if (o->derivative[k].n)
            buf_printf(&b, "\n derivative %s: %s", own_argument(k),
                       expr_infix(a, &o->derivative[k]));
    write_domains(&b, "domain", o->domain, arity);
    write_domains(&b, "values", o->values, o->n_values);
    if (latex)
        buf_printf(&b, "\n latex: %s", latex);
    buf_putc(&b, '\n');
    return buf_text(&b, a);
}

bool own_is_latex(const struct op_info *op)
{
    const char *at = op->latex + (*op->latex == '\\'), *end = at + strlen(at);
    size_t n = identifier_length(at, end);
    if (lang_shape(op) != LANG_FUNCTION)
        return true;
    if (!n || end - op->latex > EXPR_MAX_NAME)
        return false;
    if (at > op->latex && at[n] == '{') {
        const char *inner = at + n + 1;
        for (n = 0; is_letter(inner[n]) || is_digit(inner[n]);)
            n++;
        at = inner;
        end -= end > at + n && n && at[n] == '}';
    }
    return at + n == end;
}
