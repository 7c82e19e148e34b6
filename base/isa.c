/* Processor features; see isa.h. */
#include "base/isa.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("fma");
}

/* Does not check leaves 0x1d and 0x1e, which describe the tiles: virtual machines leave them empty,
 * and the only palette defined is the one that we use. */
static bool has_amx(void)
{
    enum { BF16 = 1 << 22, TILES = 1 << 24 };
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, TILE_DATA = 18 };
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return false;
    return (d & BF16) && (d & TILES) &&
           syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0;
}

bool cpu_supports(const char *isa)
{
    __builtin_cpu_init();
    return strcmp(isa, "base") == 0 || (strcmp(isa, "avx2") == 0 && has_avx2()) ||
           (strcmp(isa, "avx512") == 0 && has_avx512()) ||
           (strcmp(isa, "amx") == 0 && has_avx512() && has_amx());
}
#else
bool cpu_supports(const char *isa)
{
    return strcmp(isa, "base") == 0;
}
#endif

const char *cpu_isa(void)
{
    static const char *const best_first[] = {"amx", "avx512", "avx2"};
    const char *named = getenv("EQLOOM_CPU");
    if (named && *named)
        return named;
    for (int i = 0; i < 3; i++)
        if (cpu_supports(best_first[i]))
            return best_first[i];
    return "base";
}
