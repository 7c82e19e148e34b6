/* Prefix tokens: a tree or one error with its place, and the written form reads back. */
#include "ops/expr/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct source_text source = {"fuzz", (const char *)data, size};
    struct expr x, y;
    struct err e = {0};
    if (expr_parse_prefix(&x, &a, &lang_calculus, &source, 0, size, true, &e)) {
        if (!e.message[0] || e.line < 1 || e.column < 1)
            __builtin_trap();
    } else {
        char *text = expr_prefix(&a, &x);
        if (expr_from_prefix(&y, &a, &lang_calculus, text, &e) || !expr_equal(&x, &y) ||
            expr_compare(&x, &y) != 0)
            __builtin_trap();
    }
    arena_free(&a);
    return 0;
}
