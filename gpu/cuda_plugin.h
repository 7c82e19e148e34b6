/* The interface between the program and the CUDA back end, a shared library that the program loads
 * when a card is first requested: the library's only export. */
#pragma once

#include "gpu/gpu.h"

/* Sizes of shared structs: a mismatch shows that program and library were built from different
 * headers. */
#define CUDA_PLUGIN_LAYOUT                                                                         \
    (sizeof(struct gpu_device) * 1000003 + sizeof(struct gpu_queue) * 1009 +                       \
     sizeof(struct gpu_matmul) + sizeof(struct gpu_attention) + sizeof(struct gpu_loss) +          \
     sizeof(struct gpu_outcome) + sizeof(struct gpu_convolution) + sizeof(struct gpu_max_pool))

struct cuda_plugin {
    size_t layout;
    /* Counts the cards; ERR_UNSUPPORTED with the reason if none is visible. */
    enum err_code (*count)(int *n, struct err *e);
    enum err_code (*open)(struct gpu_device **out, int index, struct err *e);
    enum err_code (*card)(struct gpu_card *out, int index, struct err *e);
};

#define CUDA_PLUGIN_SYMBOL "eqloom_cuda_plugin"
extern const struct cuda_plugin eqloom_cuda_plugin;
