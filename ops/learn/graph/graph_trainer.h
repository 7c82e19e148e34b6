/* Trains a graph network, one step at a time (trained.h). */
#pragma once

#include "ops/learn/graph/graph_similarity.h"
#include "ops/learn/train/trained.h"
#include "ops/nn/graph/graph_net.h"

/* The loss is that of the similarity plus the cross entropy of the heads, averaged over all hidden
 * nodes. */
struct graph_trainer_config {
    enum graph_similarity similarity;
    double margin;
    struct schedule schedule; /* of Adam: beta 0.9 and 0.999, eps 1e-8 */
    enum gpu_precision precision;
    uint64_t seed; /* of the weights */
};

struct graph_trainer;
enum err_code graph_trainer_new(void *out, struct gpu_device *device,
                                const struct graph_model *model,
                                const struct graph_trainer_config *c, struct err *e);
/* Makes one step on these graphs: anchors, their positives, their negatives. ERR_FAILED, with
 * unchanged weights, if loss or gradient is not finite. */
enum err_code graph_trainer_step(struct step_result *r, struct graph_trainer *t,
                                 const struct graph_set *x, struct err *e);
/* Computes loss and gradient (trained_gradient) without a step. */
enum err_code graph_trainer_differentiate(struct step_result *r, struct graph_trainer *t,
                                          const struct graph_set *x, struct err *e);
/* Computes loss and accuracy with running statistics, as in inference. Changes nothing. */
enum err_code graph_trainer_measure(struct step_result *r, struct graph_trainer *t,
                                    const struct graph_set *x, struct err *e);

enum err_code graph_trainer_write(void *trainer, const struct trainer_state *state, struct err *e);
