/* Fuzz targets. FUZZ(name) with its body is one; FUZZ_TARGET says which of a file's this program
 * runs. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FUZZ(name) static __attribute__((unused)) void fuzz_##name(const uint8_t *data, size_t size)

static void FUZZ_TARGET(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_TARGET(data, size);
    return 0;
}
