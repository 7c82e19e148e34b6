/* The training data of an image network: pictures, their papers and optionally labels; and the
 * sampler of examples.
 *
 * The k-th example depends on the seed, k and the contents of images. Anchors, the images that have
 * what the task needs (a label; another image of the paper), come in a random order, new in each
 * epoch. Negatives are drawn anew for each example, or are all others (image_loss.h). */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "image.pb-c.h"
#include "ops/learn/data/epoch_order.h"
#include "ops/learn/image/image_network.h"

struct image_corpus {
    size_t n, labels_n; /* number of images; of their labels */
    uint8_t *pixels;    /* (n, IMAGE_PIXELS) */
    struct image_entry {
        uint64_t mark; /* a hash of pixels and labels */
        uint32_t paper;
        size_t label_first; /* its first label; sorted, up to the first of the next image */
    } * image;              /* (n + 1) */
    uint64_t *paper_mark;   /* (papers): a hash of the name */
    uint32_t *label;
    size_t pixels_cap, image_cap, paper_mark_cap, label_cap;
    struct name_map names; /* of papers */
    size_t papers;
    uint32_t *member, *member_first; /* by paper: its images; set by image_corpus_close */
};
void image_corpus_free(struct image_corpus *c);
/* ERR_INPUT if the image does not have the networks' input size. */
enum err_code image_check(const Eqloom__Image *image, struct err *e);
/* labels may be NULL. ERR_INPUT if the image does not have the networks' input size. */
enum err_code image_corpus_add(struct image_corpus *c, const Eqloom__Image *image,
                               const Eqloom__Labels *labels, struct err *e);
/* Builds the indices; call after all images. */
void image_corpus_close(struct image_corpus *c);
/* Returns (labels): the log-odds of each label, with half an image added on either side. */
double *image_corpus_odds(struct arena *a, const struct image_corpus *c, size_t labels);

/* The negatives of an example: labels, or images of other papers. */
enum image_negatives {
    IMAGE_NEGATIVES_ONE,      /* drawn uniformly */
    IMAGE_NEGATIVES_FREQUENT, /* labels: drawn by frequency to the power 0.75 */
    IMAGE_NEGATIVES_ALL,
};

struct image_sampler {
    const struct image_corpus *corpus;
    enum image_task task;
    enum image_negatives negatives;
    uint32_t labels; /* size of the vocabulary */
    uint64_t seed;
    struct epoch_order anchors;
    double *frequency; /* (labels), for IMAGE_NEGATIVES_FREQUENT: cumulative */
};
/* *x must be zeroed. ERR_INPUT if the corpus has no example; `role` names the input. */
enum err_code image_sampler_init(struct image_sampler *x, const struct image_corpus *c,
                                 enum image_task task, enum image_negatives negatives,
                                 uint32_t labels, uint64_t seed, const char *role, struct err *e);
void image_sampler_free(struct image_sampler *x);

struct image_example {
    uint32_t image[3]; /* one per view of the task */
    uint32_t label;
    bool right;
};
struct image_example image_sampler_draw(struct image_sampler *x, uint64_t k);
/* Draws the examples from index * batch on into the arena; leaves odds unset. */
struct image_batch image_sampler_batch(struct image_sampler *x, struct arena *a, size_t batch,
                                       uint64_t index);
