/* All checks of `eqloom doctor` on the emulated kernels, for the sanitizers: each buffer is an
 * allocation of its own. */
#include "gpu/cuda_plugin.h"
#include "ops/doctor/tensor_checks.h"
#include "tests/cuda/double.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    struct gpu_device *cpu, *card;
    struct err e;
    int bad = 0;
    eqloom_double.now = true;
    if (getenv("SEED"))
        eqloom_double.seed = strtoull(getenv("SEED"), NULL, 0);
    if (gpu_open_cpu(&cpu, NULL, NULL, &e) || eqloom_cuda_plugin.open(&card, 0, &e))
        return fprintf(stderr, "%s\n", e.message), 1;
    for (size_t i = 0; i < tensor_checks_number(); i++) {
        struct tensor_check c;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
        if (strcmp(tensor_check_name(i), "matmul aligned bf16") == 0)
            continue; /* large, and without a kernel of ours */
#endif
        if (tensor_check_run(&c, i, card, cpu, &e))
            return fprintf(stderr, "%s\n", e.message), 1;
        bool good = c.off <= c.tolerance && c.repeats;
        printf("%s %s %g\n", good ? "ok" : "WRONG", c.name, c.off);
        bad += !good;
    }
    gpu_close(card);
    gpu_close(cpu);
    return bad || eqloom_double.live;
}
