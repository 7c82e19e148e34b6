/* The training of a graph network. */
#pragma once

#include "ops/learn/graph/graph_similarity.h"
#include "ops/learn/train/trainer.h"
#include "ops/nn/graph/graph_net.h"

/* The loss is that of the similarity plus the cross entropy of the heads, averaged over all hidden
 * nodes. */
struct graph_training {
    enum graph_similarity similarity;
    double margin;
    struct optimizer optimizer;
    enum gpu_precision precision;
    uint64_t seed; /* of the weights */
};

/* A batch is a struct graph_set: anchors, their positives, their negatives. Measuring uses running
 * statistics, as inference does. */
enum err_code graph_network_new(void *out, struct gpu_device *device,
                                const struct graph_model *model, const struct graph_training *c,
                                struct err *e);
