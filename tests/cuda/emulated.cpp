/* The kernels, compiled for the CPU. */
#include "gpu/cuda/kernels.cu"
