/* Every tensor op on a device against the CPU, on small random inputs, and once more for equal
 * bytes. */
#pragma once

#include "gpu/gpu.h"

struct tensor_check {
    const char *name;
    double off, tolerance; /* the largest difference, by 1 + the CPU's value; NaN: of NaN alone */
    bool repeats;          /* the same bytes twice */
};

size_t tensor_checks_number(void);
/* Check number i. */
enum err_code tensor_check_run(struct tensor_check *out, size_t i, struct gpu_device *device,
                               struct gpu_device *cpu, struct err *e);
