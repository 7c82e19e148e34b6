/* Instruction sets: "base" (any processor), "avx2", "avx512" and "amx" (avx512 with tile units for
 * bf16). Results may differ in the last bits between instruction sets, so kernels and action keys
 * must use the same one: cpu_isa(). */
#pragma once

#include <stdbool.h>

/* Returns the best instruction set of this machine, or the one named by the environment variable
 * EQLOOM_CPU, even if this machine does not support it. */
const char *cpu_isa(void);
/* Returns false for unknown names too. For "amx", requests the operating system's permission to use
 * the tiles. */
bool cpu_supports(const char *isa);

/* A function compiled for several instruction sets, the best chosen when the program starts:
 *
 *     EQL_CLONES double dot(const float *a, const float *b, size_t n) ...
 *
 * Under sanitizers there is one version only: their instrumentation would run in the resolvers,
 * before the sanitizer's own start. */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) &&                 \
    !defined(__SANITIZE_ADDRESS__)
#define EQL_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define EQL_CLONES
#endif
