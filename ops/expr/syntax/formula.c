/* See formula.h. */
#include "ops/expr/syntax/formula.h"

#include "base/text/html.h"

#include <string.h>

void formula_write(struct buf *out, struct arena *a, const char *infix)
{
    static const struct language *const languages[] = {&lang_calculus, &lang_boolean};
    const struct source_text source = {"formula", infix, strlen(infix)};
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        struct expr x;
        if (!expr_parse_infix(&x, a, languages[i], &source, 0, source.len, false, NULL)) {
            expr_write_mathml(out, &x);
            return;
        }
    }
    buf_puts(out, "<code>");
    html_text(out, infix);
    buf_puts(out, "</code>");
}

void formula_write_cell(struct buf *out, struct arena *a, const char *infix)
{
    buf_puts(out, "<td>");
    formula_write(out, a, infix);
    buf_puts(out, "</td>");
}
