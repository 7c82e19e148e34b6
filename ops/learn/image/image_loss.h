/* Losses of image networks: of a batch's vectors x / (|x| + 1e-5), with gradients.
 *
 * Labels: image i and label[i] either match (right) or not; the loss is the logistic cross entropy
 * of the dot product of their vectors. Siamese: vectors i and n + i are of one paper (right) or
 * not: max(0, margin -+ product). Triples: anchors, their positives, their negatives: max(0, margin
 * - s(anchor, positive) + s), where s is s(anchor, negative), or with `swap` the maximum of that
 * and s(positive, negative). Hinges are squared unless `linear`. All are means over the batch.
 *
 * With all negatives only anchors and positives are drawn, and losses are means over all
 * candidates: every label; every image of another paper in the batch, for siamese with half of the
 * weight on the positive. Labels then have equal weights, their vectors are multiplied by image
 * vectors of any length, and their log-odds are added: otherwise the first thousands of steps would
 * be spent on learning the labels' frequencies. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum image_task { IMAGE_LABELS, IMAGE_SIAMESE, IMAGE_TRIPLES };

/* The number of images of an example. */
static inline size_t image_views(enum image_task task, bool all_negatives)
{
    return task == IMAGE_TRIPLES && all_negatives ? 2 : (size_t)task + 1;
}

/* The ground truth of an example. */
struct image_truth {
    bool right;            /* labels, siamese */
    uint32_t label, paper; /* paper: with all negatives */
    const uint32_t *own;   /* labels of the image, sorted: with all negatives */
    size_t n_own;
};

struct image_loss {
    enum image_task task;
    bool all_negatives, linear, swap;
    double margin;
    size_t batch; /* examples */
    size_t labels;
    const double *odds;              /* (labels): log-odds, with all negatives */
    const struct image_truth *truth; /* (batch) */
};

/* Replaces x (d) by x / (|x| + 1e-5). */
void image_unit(float *x, size_t d);

struct image_score {
    double loss, accuracy; /* accuracy: share of pairs on the correct side of 0, or of triples in
                            * order; ties count a half */
};
/* Computes the loss of x (views * batch, d), not normalised. With `differentiate`, replaces x by d
 * loss / d x and adds the labels' gradient to `gradient`. labels and gradient (all labels, d) are
 * used by the task IMAGE_LABELS only. */
struct image_score image_loss(float *x, size_t d, const struct image_loss *how, const float *labels,
                              float *gradient, bool differentiate, struct arena *a);
