/* Which sets of instructions there are: "base" (any processor), "avx2", "avx512" and "amx" (avx512
 * with tile units for bf16). Arithmetic may differ in the last bits from one to another,
 * so that kernels and the identity of results must agree on which is used: cpu_isa. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

/* The best of this machine, or what the environment variable EQLOOM_CPU names; that may be one that
 * is not supported here. */
const char *cpu_isa(void);
/* False for unknown names too. For "amx" this asks the system for leave to use the tiles. */
bool cpu_supports(const char *isa);

#endif
