/* A graph convolutional network for the nodes of equations (Pfahler and Morik 2020) as data: its
 * configuration and its table of parameters.
 *
 *     h0 = relu(sum over j in N(i) and i of W0 x_j + b0 + alpha E(position_j))
 *     hl = relu(sum over j in N(i) and i of Wl y_j + bl)      for each layer l from 1 on, y being
 *          h(l-1), before odd layers batch-normalised (no factor and shift that are learnt)
 *     vector = W mean(h of the last layer) + b, divided by the mean and deviation of such lengths
 *
 * x_j are a node's features: a tag, perhaps an attribute and a character. E are sinusoids. Three
 * heads on the last layer tell the features of nodes that were hidden.
 *
 * With `counts` an equation is embedded as two vectors of length 1 beside each other, so that
 * cosines are means of two: that vector, and U b / |b| + v, b being how often each feature occurs.
 * U and v are not learnt (op whiten-graphs). */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "ops/nn/parameters.h"

#include <stdbool.h>

struct graph_config {
    uint32_t d, layers, out;
    uint32_t positions; /* that are told apart; the last one stands for all from it on */
    uint32_t counts;    /* 1: embedded equations have a second part, see below */
};

enum {
    GRAPH_TAGS = 32,
    GRAPH_ATTRIBUTES = 32,
    GRAPH_CHARACTERS = 192,
    GRAPH_FEATURES = GRAPH_TAGS + GRAPH_ATTRIBUTES + GRAPH_CHARACTERS,
    GRAPH_HEADS = 3,
};
/* Classes of each head: a tag; an attribute or none; a character or none. */
extern const uint32_t graph_head_classes[GRAPH_HEADS];

struct graph_linear {
    size_t weight, bias; /* within the flat vector */
};

struct graph_model {
    struct graph_config config;
    struct nn_table table;
    size_t first; /* (GRAPH_FEATURES + 1, d): W0 transposed, then b0 */
    size_t alpha;
    struct graph_linear *layers, out, heads[GRAPH_HEADS];
    size_t learnt; /* floats before this are learnt; from here on they are running statistics: */
    size_t norms;  /* how many layers are normalised */
    size_t *mean, *variance;              /* (norms): where those of each are, (d) */
    size_t length_mean, length_deviation; /* of vectors */
    size_t count_weight, count_bias;      /* with counts: U (GRAPH_FEATURES, GRAPH_FEATURES), v */
};

/* Of layer l > 0, counted from 1, which norm comes before it; there is one if l is odd. */
static inline size_t graph_norm_of(size_t l)
{
    return (l - 1) / 2;
}

/* Numbers of an embedded equation. */
static inline uint32_t graph_vector_size(const struct graph_config *c)
{
    return c->out + (c->counts ? GRAPH_FEATURES : 0);
}

enum err_code graph_config_check(const struct graph_config *c, struct err *e);
/* Checkpoint.architecture. */
char *graph_config_text(struct arena *a, const struct graph_config *c);
/* Whether it is the text of such a network, whatever its numbers. */
bool graph_config_is(const char *text);
/* Reads it back. ERR_INPUT if it is of another kind of model, ERR_CORRUPT. */
enum err_code graph_config_parse(struct graph_config *c, const char *text, struct err *e);

enum err_code graph_model_new(struct graph_model **out, struct arena *a,
                              const struct graph_config *c, struct err *e);
