/* Expressions, and what is said of their variables and operators. */
#include "tests/fuzz/fuzz.h"

#include "ops/expr/ball/domain.h"
#include "ops/expr/compare/compare.h"
#include "ops/expr/expr.h"
#include "ops/expr/normal/normal.h"
#include "ops/expr/own/own.h"
#include "ops/expr/rational.h"

#include <string.h>

/* What --domain says of a variable: refused, or a name with a domain that is not empty. */
FUZZ(domain)
{
    struct ball_domain d;
    struct err e = {0};
    enum err_code code = domain_parse(&d, a, arena_strndup(a, (const char *)data, size), &e);
    if (code ? !e.message[0]
             : !d.name[d.name[0] == '?'] || !d.domain ||
                   (d.low && d.high && number_compare(d.low, d.high) >= 0))
        __builtin_trap();
}

/* Two expressions with a tab between them, and perhaps a domain after another: what normal forms
 * prove no point refutes, and both answers come soon. */
FUZZ(equality)
{
    char *save = NULL, *text = arena_strndup(a, (const char *)data, size < 200 ? size : 200);
    const char *way, *left = strtok_r(text, "\t", &save), *right = strtok_r(NULL, "\t", &save),
                     *given = strtok_r(NULL, "\t", &save);
    struct source_text first = {"first", left, left ? strlen(left) : 0};
    struct source_text second = {"second", right, right ? strlen(right) : 0};
    struct ball_domain domain;
    struct ball_options options = {.points = 3, .domains = &domain};
    struct expr x, y;
    if (left && right &&
        !expr_parse_infix(&x, a, &lang_calculus, &first, 0, first.len, false, NULL) &&
        !expr_parse_infix(&y, a, &lang_calculus, &second, 0, second.len, false, NULL)) {
        options.n_domains = given && !domain_parse(&domain, a, given, NULL);
        if (normal_equal(&way, &x, &y, &domain, options.n_domains)) {
            struct ball_compare c;
            ball_compare(&c, &x, &y, &options);
            if (c.verdict == BALL_DIFFERENT)
                __builtin_trap();
        }
    }
    ball_thread_cleanup();
}

/* The infix syntax: whatever the bytes, a tree or one error with its place; what is read reads back
 * from each syntax that is written. */
typedef enum err_code parser(struct expr *out, struct arena *a, const struct language *lang,
                             const struct source_text *source, size_t offset, size_t len,
                             bool patterns, struct err *e);

static void read_back(struct arena *a, const struct expr *x,
                      void (*write)(struct buf *out, const struct expr *x), parser *parse)
{
    struct buf b = {0};
    struct expr y;
    write(&b, x);
    struct source_text source = {"written", b.data, b.len};
    if (parse(&y, a, x->lang, &source, 0, b.len, true, NULL) || !expr_equal(x, &y))
        __builtin_trap();
    buf_free(&b);
}

FUZZ(expr_infix)
{
    struct source_text source = {"fuzz", (const char *)data, size};
    struct expr x;
    struct err e = {0};
    bool patterns = size % 2;
    if (expr_parse_infix(&x, a, &lang_calculus, &source, 0, size, patterns, &e)) {
        if (!e.message[0] || e.line < 1 || e.column < 1)
            __builtin_trap();
    } else {
        struct buf latex = {0};
        expr_write_latex(&latex, &x);
        buf_free(&latex);
        read_back(a, &x, expr_write_infix, expr_parse_infix);
        read_back(a, &x, expr_write_prefix, expr_parse_prefix);
    }
}

/* Prefix tokens: a tree or one error with its place, and the written form reads back. */
FUZZ(expr_prefix)
{
    struct source_text source = {"fuzz", (const char *)data, size};
    struct expr x, y;
    struct err e = {0};
    if (expr_parse_prefix(&x, a, &lang_calculus, &source, 0, size, true, &e)) {
        if (!e.message[0] || e.line < 1 || e.column < 1)
            __builtin_trap();
    } else {
        char *text = expr_prefix(a, &x);
        if (expr_from_prefix(&y, a, &lang_calculus, text, &e) || !expr_equal(&x, &y) ||
            expr_compare(&x, &y) != 0)
            __builtin_trap();
    }
}

/* Files of operators: whatever the bytes, operators or one error; what a record says of them reads
 * back as the same; terms with them are evaluated and compared within bounds. */
static void use(struct arena *a, const struct language *lang, unsigned op)
{
    const struct ball_point point = {2, (const char *const[]){"x", "y"},
                                     (const double[]){0.75, 2.5}, NULL};
    const struct expr arguments[LANG_MAX_ARITY] = {expr_leaf(a, lang, X_SYM, "x"),
                                                   expr_leaf(a, lang, X_SYM, "y")};
    const struct expr x = expr_apply(a, lang, (uint16_t)op, arguments, lang->ops[op].arity);
    const struct expr by[2] = {arguments[0], x};
    const struct expr derivative = expr_apply(a, lang, X_D, by, 2);
    const char *way;
    double re, im;
    ball_value(&re, &im, &x, &point);
    ball_value(&re, &im, &derivative, &point);
    normal_equal(&way, &derivative, &x, NULL, 0);
}

FUZZ(operators)
{
    struct source_text source = {"fuzz", (const char *)data, size};
    const struct language *lang = &lang_calculus, *back;
    struct err e = {0};
    if (own_parse(&lang, a, &source, true, &e)) {
        if (!e.message[0] || lang != &lang_calculus)
            __builtin_trap();
        return;
    }
    bool *used = arena_array(a, bool, lang->n_ops);
    memset(used, true, lang->n_ops * sizeof *used);
    char *text = language_text(a, lang, used);
    if (language_read(&back, a, text, NULL) || back->n_ops != lang->n_ops)
        __builtin_trap();
    used = arena_array(a, bool, lang->n_ops);
    memset(used, true, lang->n_ops * sizeof *used);
    if (strcmp(text, language_text(a, back, used)) != 0)
        __builtin_trap();
    for (unsigned op = X_DECLARED; op < lang->n_ops && op < X_DECLARED + 4u; op++)
        use(a, lang, op);
    ball_thread_cleanup();
}
