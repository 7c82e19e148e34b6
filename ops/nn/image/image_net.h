/* The passes of a network on images over a shard, some images of a batch, on one queue: from
 * pictures to features, which are what the first linear layer gives; and the end of the network,
 * from the features of a whole batch to its vectors. */
#pragma once

#include "gpu/gpu.h"
#include "ops/nn/image/image_model.h"

/* What a shard of S images keeps from forward to backward. */
struct image_tape {
    size_t images;
    float *x;                        /* (S, IMAGE_HEIGHT, IMAGE_WIDTH): ink */
    float *out[IMAGE_CONVOLUTIONS];  /* what the next layer reads; NULL: the scratch's */
    uint8_t *at[IMAGE_CONVOLUTIONS]; /* of its pool; NULL: none, or inference */
};

/* A queue's working memory, for at most S images: each (S, the largest image of a layer). */
struct image_scratch {
    float *first; /* the first layer's output, if nothing pools it: made again by the backward */
    float *x, *y;
};

void image_tape_layout(struct image_tape *t, const struct image_model *m, size_t images,
                       bool training, struct gpu_layout *l);
void image_scratch_layout(struct image_scratch *s, const struct image_model *m, size_t images,
                          struct gpu_layout *l);

/* Ink of pixels (n): 0 is white paper, 1 black. */
void image_ink(float *x, const uint8_t *pixels, size_t n);

/* features (S, IMAGE_VECTOR) of t->x; flat: the parameters. */
void image_forward(struct gpu_queue *q, float *features, const struct image_model *m,
                   const float *flat, const struct image_tape *t, const struct image_scratch *s,
                   enum gpu_precision precision);
/* grad (flat) += ... from dfeatures. */
void image_backward(struct gpu_queue *q, float *grad, const float *dfeatures,
                    const struct image_model *m, const float *flat, const struct image_tape *t,
                    const struct image_scratch *s, enum gpu_precision precision);

/* The end, of n images. On the device, each (n, IMAGE_VECTOR) or (IMAGE_VECTOR). A network without
 * norm has none: vectors are its features. */
struct image_end {
    size_t n;
    float *features, *vectors;
    float *hidden, *dhidden; /* normalised features, cut by ReLU; the gradient before that */
    float *factor, *shift, *back, *back_shift;
    double *sums; /* (2, IMAGE_VECTOR) */
};
void image_end_layout(struct image_end *x, const struct image_model *m, size_t n,
                      struct gpu_layout *l);
/* sums: of the features and their squares. */
void image_end_sums(struct gpu_queue *q, const struct image_end *x);
/* Given factor and shift: vectors. */
void image_end_forward(struct gpu_queue *q, const struct image_model *m, const float *flat,
                       const struct image_end *x, enum gpu_precision precision);
/* vectors hold their gradient. Adds to grad; leaves in dhidden the gradient of the norm's result,
 * and in sums those of it and of it times the features. */
void image_end_backward(struct gpu_queue *q, float *grad, const struct image_model *m,
                        const float *flat, const struct image_end *x, enum gpu_precision precision);
/* Given back and back_shift: features become their gradient. */
void image_end_norm_back(struct gpu_queue *q, const struct image_end *x);
