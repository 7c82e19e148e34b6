/* Fuzz targets. FUZZ(name) with its body is one, which gets an arena `a`, and `data` of `size`
 * bytes; FUZZ_TARGET says which of a file's this program runs. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

#define FUZZ(name)                                                                                 \
    static __attribute__((unused)) void fuzz_##name(struct arena *a, const uint8_t *data,          \
                                                    size_t size)

static void FUZZ_TARGET(struct arena *a, const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    FUZZ_TARGET(&a, data, size);
    arena_free(&a);
    return 0;
}
