/* Template files: whatever the bytes, expressions without duplicates or one error. */
#include "ops/corpus/template/templates.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct source_text source = {"fuzz", (const char *)data, size};
    struct templates_options options = {.limit = 100};
    struct templates t;
    struct err e = {0};
    if (templates_expand(&t, &a, &source, 1, &options, &e)) {
        if (!e.message[0])
            __builtin_trap();
    } else {
        for (size_t i = 1; i < t.n; i++)
            if (expr_equal(&t.exprs[i - 1], &t.exprs[i]))
                __builtin_trap();
    }
    arena_free(&a);
    return 0;
}
