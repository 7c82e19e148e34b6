/* The passes of an image network over a shard, some images of a batch, on one queue: from pictures
 * to features, the output of the first linear layer; and the end of the network, from the features
 * of a whole batch to its vectors. */
#pragma once

#include "gpu/gpu.h"
#include "ops/nn/image/image_model.h"

/* What a shard of S images keeps from forward to backward. */
struct image_tape {
    size_t images;
    float *x;                        /* (S, IMAGE_HEIGHT, IMAGE_WIDTH): ink */
    float *out[IMAGE_CONVOLUTIONS];  /* inputs of the next layer; NULL: in the scratch */
    uint8_t *at[IMAGE_CONVOLUTIONS]; /* argmax of its pool; NULL: no pool, or inference */
};

/* A queue's working memory, for at most S images: each (S, the largest image of a layer). */
struct image_scratch {
    float *first; /* the first layer's output if no pool follows; recomputed by the backward */
    float *x, *y;
};

void image_tape_layout(struct image_tape *t, const struct image_model *m, size_t images,
                       bool training, struct gpu_layout *l);
void image_scratch_layout(struct image_scratch *s, const struct image_model *m, size_t images,
                          struct gpu_layout *l);

/* Converts n pixels to ink: 0 is white paper, 1 black. */
void image_ink(float *x, const uint8_t *pixels, size_t n);

/* Computes features (S, IMAGE_VECTOR) from t->x; flat: the parameters. */
void image_forward(struct gpu_queue *q, float *features, const struct image_model *m,
                   const float *flat, const struct image_tape *t, const struct image_scratch *s,
                   enum gpu_precision precision);
/* Adds the gradient of the parameters, from dfeatures, to grad. */
void image_backward(struct gpu_queue *q, float *grad, const float *dfeatures,
                    const struct image_model *m, const float *flat, const struct image_tape *t,
                    const struct image_scratch *s, enum gpu_precision precision);

/* The end of the network for n images. Arrays are on the device, each (n, IMAGE_VECTOR) or
 * (IMAGE_VECTOR). Without a norm there is no end: the features are the vectors. */
struct image_end {
    size_t n;
    float *features, *vectors;
    float *hidden, *dhidden; /* normalised features after ReLU; the gradient before it */
    float *factor, *shift, *back, *back_shift;
    double *sums; /* (2, IMAGE_VECTOR) */
};
void image_end_layout(struct image_end *x, const struct image_model *m, size_t n,
                      struct gpu_layout *l);
/* Computes sums, of the features and of their squares. */
void image_end_sums(struct gpu_queue *q, const struct image_end *x);
/* Computes the vectors; factor and shift must be set. */
void image_end_forward(struct gpu_queue *q, const struct image_model *m, const float *flat,
                       const struct image_end *x, enum gpu_precision precision);
/* Takes the gradient of the vectors in `vectors`. Adds to grad; writes the gradient of the norm's
 * output to dhidden, and the sums of it and of it times the features to sums. */
void image_end_backward(struct gpu_queue *q, float *grad, const struct image_model *m,
                        const float *flat, const struct image_end *x, enum gpu_precision precision);
/* Replaces the features by their gradient; back and back_shift must be set. */
void image_end_norm_back(struct gpu_queue *q, const struct image_end *x);
