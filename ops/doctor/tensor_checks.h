/* Compares every tensor op on a device with the CPU, on small random inputs, and runs it twice to
 * check that the bytes are equal. */
#pragma once

#include "gpu/gpu.h"

struct tensor_check {
    const char *name;
    double off, tolerance; /* off: the largest difference / (1 + |CPU's value|); NaN if only one
                              side is NaN */
    bool repeats;          /* both runs gave the same bytes */
};

size_t tensor_checks_number(void);
const char *tensor_check_name(size_t i);
/* Runs check i. */
enum err_code tensor_check_run(struct tensor_check *out, size_t i, struct gpu_device *device,
                               struct gpu_device *cpu, struct err *e);
