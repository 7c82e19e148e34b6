/* Trains an image network, one step at a time (trained.h). */
#pragma once

#include "ops/learn/image/image_loss.h"
#include "ops/learn/train/trained.h"
#include "ops/nn/image/image_net.h"

struct image_trainer_config {
    enum image_task task;
    bool all_negatives;
    bool linear; /* hinges are not squared */
    double margin;
    uint64_t swap_from;       /* from this step on anchor and positive may swap roles */
    uint64_t frozen_from;     /* after this step running statistics are frozen */
    struct schedule schedule; /* of Adam: beta 0.9 and 0.999, eps 1e-8 */
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

struct image_trainer;
/* With all negatives, label vectors start a tenth as long. */
enum err_code image_trainer_new(void *out, struct gpu_device *device,
                                const struct image_model *model,
                                const struct image_trainer_config *c, struct err *e);
/* Makes one step. ERR_FAILED, with unchanged weights, if loss or gradient is not finite. */
enum err_code image_trainer_step(struct step_result *r, struct image_trainer *t,
                                 const struct image_batch *x, struct err *e);
/* Computes loss and gradient (trained_gradient) without a step. */
enum err_code image_trainer_differentiate(struct step_result *r, struct image_trainer *t,
                                          const struct image_batch *x, struct err *e);
/* Computes loss and accuracy with running statistics, as in inference. Changes nothing. */
enum err_code image_trainer_measure(struct step_result *r, struct image_trainer *t,
                                    const struct image_batch *x, struct err *e);

enum err_code image_trainer_write(void *trainer, const struct trainer_state *state, struct err *e);
