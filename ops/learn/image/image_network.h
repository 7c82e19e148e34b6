/* The training of an image network. */
#pragma once

#include "ops/learn/image/image_loss.h"
#include "ops/learn/train/trainer.h"
#include "ops/nn/image/image_net.h"

struct image_training {
    enum image_task task;
    bool all_negatives;
    bool linear; /* hinges are not squared */
    double margin;
    uint64_t swap_from;   /* from this step on anchor and positive may swap roles */
    uint64_t frozen_from; /* after this step running statistics are frozen */
    struct optimizer optimizer;
    enum gpu_precision precision;
    uint64_t seed; /* of the weights */
};

/* The first images of the examples, then the second, then the third. */
struct image_batch {
    size_t examples;
    const uint8_t *const *pixels;    /* (views * examples) -> (IMAGE_PIXELS) */
    const struct image_truth *truth; /* (examples) */
    const double *odds;              /* (labels): log-odds, with all negatives */
};

/* With all negatives, label vectors start a tenth as long. Measuring uses running statistics, as
 * inference does. */
enum err_code image_network_new(void *out, struct gpu_device *device,
                                const struct image_model *model, const struct image_training *c,
                                struct err *e);
