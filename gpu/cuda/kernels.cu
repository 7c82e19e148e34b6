/* All kernels as one translation unit: compiling the CUDA headers takes longer than compiling the
 * kernels. */
#include "gpu/cuda/cuda_attention.cu"
#include "gpu/cuda/cuda_elementwise.cu"
#include "gpu/cuda/cuda_images.cu"
#include "gpu/cuda/cuda_loss.cu"
#include "gpu/cuda/cuda_norm.cu"
#include "gpu/cuda/cuda_outcome.cu"
#include "gpu/cuda/cuda_reduce.cu"
#include "gpu/cuda/cuda_sequence.cu"
