/* Products of bf16 on tile units (Intel AMX), which multiply 16 rows of 32 values by 32 values of
 * 16 columns in one instruction and add in f32. */
#pragma once

#include "gpu/gpu.h"

/* GPU_BF16 only. */
void amx_matmul(struct gpu_queue *q, const struct gpu_matmul *how);
