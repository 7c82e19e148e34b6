/* Configuration and parameter table of a graph convolutional network for the nodes of equations
 * (Pfahler and Morik 2020).
 *
 *     h0 = relu(sum over j in N(i) and i of W0 x_j + b0 + alpha E(position_j))
 *     hl = relu(sum over j in N(i) and i of Wl y_j + bl)      for each layer l from 1 on, y being
 *          h(l-1), batch-normalised before odd layers (without a learnable scale and shift)
 *     vector = W mean(h of the last layer) + b, divided by the mean plus deviation of such lengths
 *
 * x_j are a node's features: a tag, and optionally an attribute and a character. E are sinusoids.
 * Three heads on the last layer predict the features of hidden nodes.
 *
 * With `counts` the embedding of an equation is the concatenation of two unit vectors, so that its
 * cosines are means of two: that vector, and U b / |b| + v, where b counts the occurrences of each
 * feature. U and v are not trained (op whiten-graphs). */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "ops/nn/parameters.h"

#include <stdbool.h>

struct graph_config {
    uint32_t d, layers, out;
    uint32_t positions; /* distinct positions; the last one stands for all later ones */
    uint32_t counts;    /* 1: embeddings have a second part, see above */
};

enum {
    GRAPH_TAGS = 32,
    GRAPH_ATTRIBUTES = 32,
    GRAPH_CHARACTERS = 192,
    GRAPH_FEATURES = GRAPH_TAGS + GRAPH_ATTRIBUTES + GRAPH_CHARACTERS,
    GRAPH_HEADS = 3,
};
/* The number of classes of each head: a tag; an attribute or none; a character or none. */
extern const uint32_t graph_head_classes[GRAPH_HEADS];

struct graph_linear {
    size_t weight, bias; /* offsets in the flat vector */
};

struct graph_model {
    struct graph_config config;
    struct nn_table table;
    size_t first; /* (GRAPH_FEATURES + 1, d): W0 transposed, then b0 */
    size_t alpha;
    struct graph_linear *layers, out, heads[GRAPH_HEADS];
    size_t learnt; /* floats before this are trained; those from here on are running statistics: */
    size_t norms;  /* number of normalised layers */
    size_t *mean, *variance;              /* (norms): the offset of each, (d) */
    size_t length_mean, length_deviation; /* of vectors */
    size_t count_weight, count_bias;      /* with counts: U (GRAPH_FEATURES, GRAPH_FEATURES), v */
};

/* The norm before layer l > 0. Only odd layers have one. */
static inline size_t graph_norm_of(size_t l)
{
    return (l - 1) / 2;
}

/* The dimension of an embedded equation. */
static inline uint32_t graph_vector_size(const struct graph_config *c)
{
    return c->out + (c->counts ? GRAPH_FEATURES : 0);
}

enum err_code graph_config_check(const struct graph_config *c, struct err *e);
/* Returns the text for Checkpoint.architecture. */
char *graph_config_text(struct arena *a, const struct graph_config *c);
/* Returns true if the text describes a network of this kind, of any size. */
bool graph_config_is(const char *text);
/* Parses the text. ERR_INPUT for another kind of model, else ERR_CORRUPT. */
enum err_code graph_config_parse(struct graph_config *c, const char *text, struct err *e);

enum err_code graph_model_new(struct graph_model **out, struct arena *a,
                              const struct graph_config *c, struct err *e);
