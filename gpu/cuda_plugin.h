/* Between the program and the CUDA back end, a shared library of its own that the program loads
 * when a card is asked for: what the library exports. */
#pragma once

#include "gpu/gpu.h"

/* Sizes of what both sides share: they must have been built from the same headers. */
#define CUDA_PLUGIN_LAYOUT                                                                         \
    (sizeof(struct gpu_device) * 1000003 + sizeof(struct gpu_queue) * 1009 +                       \
     sizeof(struct gpu_matmul) + sizeof(struct gpu_attention) + sizeof(struct gpu_loss) +          \
     sizeof(struct gpu_outcome) + sizeof(struct gpu_convolution) + sizeof(struct gpu_max_pool))

struct cuda_plugin {
    size_t layout;
    /* How many cards there are; ERR_UNSUPPORTED says why there is none to be seen. */
    enum err_code (*count)(int *n, struct err *e);
    enum err_code (*open)(struct gpu_device **out, int index, struct err *e);
    enum err_code (*card)(struct gpu_card *out, int index, struct err *e);
};

#define CUDA_PLUGIN_SYMBOL "eqloom_cuda_plugin"
extern const struct cuda_plugin eqloom_cuda_plugin;
