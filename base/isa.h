/* Instruction sets: "base" (any processor), "avx2", "avx512" and "amx" (avx512
 * with tile units for bf16). Arithmetic may differ in the last bits from one to another,
 * so that kernels and the identity of results must agree on which is used: cpu_isa. */
#pragma once

#include <stdbool.h>

/* The best of this machine, or what the environment variable EQLOOM_CPU names; that may be one that
 * is not supported here. */
const char *cpu_isa(void);
/* False for unknown names too. For "amx" this asks the system for leave to use the tiles. */
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
