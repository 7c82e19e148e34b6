/* Any text as LaTeX of an expression: refused, or read as something that infix reads again. */
#include "ops/latex/read/latex.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct latex_reader *reader; /* 0.2 s to make */
    struct arena a = {0};
    struct source_text source = {"<fuzz>", (const char *)data, size};
    struct expr x, again;
    struct err e;
    if (size < 4096 &&
        latex_parse(&x, &reader, &a, &lang_calculus, &source, 0, size, true, NULL, &e) == OK) {
        char *infix = expr_infix(&a, &x);
        struct source_text written = {"<written>", infix, strlen(infix)};
        assert(expr_parse_infix(&again, &a, &lang_calculus, &written, 0, written.len, true, &e) ==
               OK);
        assert(expr_equal(&x, &again));
    }
    arena_free(&a);
    return 0;
}
