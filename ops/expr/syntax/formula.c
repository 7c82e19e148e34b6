#include "ops/expr/syntax/formula.h"

#include "base/text/html.h"
#include "ops/expr/syntax/lexical.h"

#include <string.h>

/* The number of arguments in the bracket that opens here. */
static unsigned arguments_at(const char *open)
{
    unsigned n = 1, depth = 0;
    for (const char *s = open; *s && (depth || s == open); s++) {
        depth += *s == '(';
        depth -= *s == ')';
        n += *s == ',' && depth == 1;
    }
    return n;
}

/* Extends lang by the user-defined operators in a text from expr_infix: the unknown names before a
 * bracket. */
static const struct language *with_functions(struct arena *a, const struct language *lang,
                                             const char *infix)
{
    const char *end = infix + strlen(infix);
    for (const char *s = infix; s < end;) {
        size_t n = identifier_length(s, end);
        if (n && s[n] == '(' && lang_find(lang, s, n) < 0)
            lang_declare(&lang, a, lang, arena_strndup(a, s, n), arguments_at(s + n), NULL);
        s += n ? n : 1;
    }
    return lang;
}

void formula_write(struct buf *out, struct arena *a, const char *infix)
{
    static const struct language *const languages[] = {&lang_calculus, &lang_boolean};
    const struct source_text source = {"formula", infix, strlen(infix)};
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        struct expr x;
        const struct language *lang = with_functions(a, languages[i], infix);
        if (!expr_parse_infix(&x, a, lang, &source, 0, source.len, false, NULL)) {
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

char *expr_infix_of(struct arena *a, const struct language *lang, const char *prefix)
{
    struct expr x;
    bool read = lang && expr_from_prefix(&x, a, lang, prefix, NULL) == OK;
    return read ? expr_infix(a, &x) : arena_strdup(a, prefix);
}
