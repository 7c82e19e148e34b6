/* See claim_latex.h. Records store points and domains as text, so this parses them. */
#include "ops/expr/syntax/claim_latex.h"

#include "base/buf.h"
#include "ops/expr/syntax/lexical.h"

#include <string.h>

struct claims {
    struct arena *a;
    const struct language *lang;
};

/* Position of the first of the marks outside brackets, or `n`; *mark is its index. */
static size_t find(size_t *mark, const char *s, size_t n, const char *const *marks)
{
    int depth = 0;
    for (size_t i = 0; i < n; i++) {
        depth += (s[i] == '(') - (s[i] == ')');
        for (*mark = 0; !depth && marks[*mark]; ++*mark) {
            size_t m = strlen(marks[*mark]);
            if (i + m <= n && !memcmp(s + i, marks[*mark], m))
                return i;
        }
    }
    return n;
}

/* Whether s is a decimal number, possibly complex, which is written unchanged. */
static bool is_number(const char *s, size_t n)
{
    bool digit = false;
    for (size_t i = 0; i < n; i++) {
        digit |= s[i] >= '0' && s[i] <= '9';
        if (!strchr("0123456789.+- *ie", s[i]))
            return false;
    }
    return digit;
}

/* Writes "0.3 - 6.2*i" without the multiplication sign. */
static char *number(struct arena *a, const char *s, size_t n)
{
    char *out = arena_strndup(a, s, n), *star = strchr(out, '*'), *e = strchr(out, 'e');
    if (star)
        *star = ' ';
    if (!e)
        return out;
    size_t digits = strspn(e + 1, "+-0123456789");
    return arena_printf(a, "%.*s \\cdot 10^{%.*s}%s", (int)(e - out), out, (int)digits, e + 1,
                        e + 1 + digits);
}

static char *words(struct arena *a, const char *s)
{
    struct buf b = {0};
    for (; *s; s++)
        buf_printf(&b, strchr("_#$%&{}", *s) ? "\\%c" : "%c", *s);
    return arena_printf(a, "\\text{%s}", buf_text(&b, a));
}

/* Writes text that parses as an expression as such, and other text as words. */
static char *term(const struct claims *c, const char *s, size_t n)
{
    while (n && *s == ' ')
        s++, n--;
    while (n && s[n - 1] == ' ')
        n--;
    struct source_text source = {"", arena_strndup(c->a, s, n), n};
    struct expr x;
    if (is_number(s, n))
        return number(c->a, s, n);
    if (n && identifier_length(s, s + n) == n && lang_find(c->lang, s, n) < 0) {
        x = expr_leaf(c->a, c->lang, X_SYM, source.text);
        return expr_latex(c->a, &x);
    }
    if (expr_parse_infix(&x, c->a, c->lang, &source, 0, n, true, NULL))
        return n ? words(c->a, source.text) : "";
    return expr_latex(c->a, &x);
}

/* Writes the property that a condition or domain states of a term; NULL if unknown. */
static char *of_kind(const struct claims *c, const char *kind, size_t n_kind, const char *s,
                     size_t n)
{
    static const char *const kinds[][2] = {{"positive", "> 0"},
                                           {"negative", "< 0"},
                                           {"nonnegative", "\\geq 0"},
                                           {"nonpositive", "\\leq 0"},
                                           {"nonzero", "\\neq 0"},
                                           {"real", "\\in \\mathbb{R}"},
                                           {"integer", "\\in \\mathbb{Z}"},
                                           {"complex", "\\in \\mathbb{C}"},
                                           {"even", "\\text{ even}"},
                                           {"odd", "\\text{ odd}"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (lexical_is(kind, n_kind, kinds[i][0]))
            return arena_printf(c->a, "%s %s", term(c, s, n), kinds[i][1]);
    return NULL;
}

/* Writes "nonzero(t)", "less(t, u)", "x:real", or a claim of --real. */
static char *kind_of(const struct claims *c, const char *s, size_t n)
{
    static const char *const comma[] = {",", NULL};
    const char *open = memchr(s, '(', n), *colon = memchr(s, ':', n);
    size_t name = open ? (size_t)(open - s) : 0, mark;
    if (lexical_is(s, n, "real values"))
        return "\\text{real values}";
    if (colon)
        return of_kind(c, colon + 1, n - (size_t)(colon - s) - 1, s, (size_t)(colon - s));
    if (!name || s[n - 1] != ')')
        return NULL;
    size_t len = n - name - 2, at = find(&mark, open + 1, len, comma);
    if (at == len)
        return of_kind(c, s, name, open + 1, len);
    bool less = lexical_is(s, name, "less");
    return less || lexical_is(s, name, "less_equal")
               ? arena_printf(c->a, "%s %s %s", term(c, open + 1, at), less ? "<" : "\\leq",
                              term(c, open + 2 + at, len - at - 1))
               : NULL;
}

/* One claim: terms with relations between them. */
static void write_claim(struct buf *out, const struct claims *c, const char *s, size_t n)
{
    static const char *const relations[] = {" against ", "<=", ">=", "<", ">", "=", NULL};
    static const char *const signs[] = {" \\neq ", " \\leq ", " \\geq ", " < ", " > ", " = "};
    const char *whole = kind_of(c, s, n);
    if (whole) {
        buf_puts(out, whole);
        return;
    }
    for (size_t mark, at; n; s += at, n -= at) {
        at = find(&mark, s, n, relations);
        buf_puts(out, term(c, s, at));
        if (at == n)
            return;
        buf_puts(out, signs[mark]);
        at += strlen(relations[mark]);
    }
}

char *claim_latex(struct arena *a, const struct language *lang, const char *text)
{
    static const char *const ends[] = {", ", ": ", NULL};
    struct claims c = {a, lang ? lang : &lang_calculus};
    struct buf out = {0};
    for (size_t n = strlen(text), mark, at; n; text += at, n -= at) {
        at = find(&mark, text, n, ends);
        write_claim(&out, &c, text, at);
        if (at == n)
            break;
        buf_puts(&out, ends[mark]);
        at += strlen(ends[mark]);
    }
    return buf_text(&out, a);
}
