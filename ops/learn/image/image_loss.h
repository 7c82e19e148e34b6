/* What networks on images learn: losses of a batch's vectors x / (|x| + 1e-5), and their gradient.
 *
 * Labels: image i and label[i] either belong together (right) or not: the cross entropy of the
 * logistic function of the vector's product with the label's. Siamese: vectors i and n + i are of
 * one paper (right) or not: max(0, margin -+ product). Triples: anchors, their positives, their
 * negatives: max(0, margin - s(anchor, positive) + s), s being the greater of s(anchor, negative)
 * and s(positive, negative): with `swap` anchor and positive swap their roles. Hinges are squared
 * unless `linear`. All are means over the batch.
 *
 * With all negatives nothing is drawn but anchors and positives, and losses are means over what
 * else there is: every label; every image of the batch of another paper, siamese with half of the
 * weight for the positive. Labels then weigh alike, are multiplied by vectors of any length, and
 * the logarithm of their odds is added: else the first thousands of steps would go into learning
 * how often each occurs. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum image_task { IMAGE_LABELS, IMAGE_SIAMESE, IMAGE_TRIPLES };

/* Images of an example. */
static inline size_t image_views(enum image_task task, bool all_negatives)
{
    return task == IMAGE_TRIPLES && all_negatives ? 2 : (size_t)task + 1;
}

/* Of each example of a batch. */
struct image_truth {
    bool right;            /* labels, siamese */
    uint32_t label, paper; /* paper: with all negatives */
    const uint32_t *own;   /* labels of the image, ascending: with all negatives */
    size_t n_own;
};

struct image_loss {
    enum image_task task;
    bool all_negatives, linear, swap;
    double margin;
    size_t batch; /* examples */
    size_t labels;
    const double *odds;              /* (labels): with all negatives */
    const struct image_truth *truth; /* (batch) */
};

/* x (d) becomes x / (|x| + 1e-5). */
void image_unit(float *x, size_t d);

struct image_score {
    double loss, accuracy; /* accuracy: share of pairs on their side of 0, of triples in order;
                            * equal ones count a half */
};
/* Of x (views * batch, d), not normalised. To differentiate, x become d loss / d x, and the labels'
 * gradient is added to `gradient`; labels, gradient (all labels, d): of that task only. */
struct image_score image_loss(float *x, size_t d, const struct image_loss *how, const float *labels,
                              float *gradient, bool differentiate, struct arena *a);
