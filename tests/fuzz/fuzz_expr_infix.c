/* The infix syntax: whatever the bytes, a tree or one error with its place; what is read reads back
 * from each syntax that is written. */
#include "ops/expr/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct source_text source = {"fuzz", (const char *)data, size};
    struct expr x;
    struct err e = {0};
    bool patterns = size % 2;
    if (expr_parse_infix(&x, &a, &lang_calculus, &source, 0, size, patterns, &e)) {
        if (!e.message[0] || e.line < 1 || e.column < 1)
            __builtin_trap();
    } else {
        struct buf latex = {0};
        expr_write_latex(&latex, &x);
        buf_free(&latex);
        read_back(&a, &x, expr_write_infix, expr_parse_infix);
        read_back(&a, &x, expr_write_prefix, expr_parse_prefix);
    }
    arena_free(&a);
    return 0;
}
