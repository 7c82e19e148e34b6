/* Configuration and parameter table of EqNet (Allamanis, Chanthirasegaran, Kohli and Sutton 2017),
 * a network that evaluates an expression's tree from its leaves to its root.
 *
 *     leaf       r = E[token] / |E[token]|
 *     operator   x = [r of its operands], h = sigmoid(W x + b), y = U x + V h + c, r = y / |y|
 *     root       the same with its own matrices, applied to the whole expression's r
 *     codes      z = tanh(D tanh(C [x, r])) sqrt(operands) / |tanh(D ...)|: the operands, rebuilt
 *                from a narrow code (the subexpression auto-encoder); with an outer layer there is
 *                one more on either side of the code (the stacked one of EqNet-L, Liu 2022)
 *     classes    a vector for each class of equal expressions
 *
 * Each operator has its own W, U, V, b, c and C; all other matrices are shared.
 *
 * With `points` P it is a network of functions: a node has P vectors, which describe its function
 * at P points, and the operators' matrices are the same at all points. A leaf has P rows of E; h =
 * max(0, W x + b) and r = y, without division by lengths, codes or classes. The values at each
 * point are predicted from r: v = H r + g. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "ops/nn/parameters.h"

#include <stdbool.h>

enum { TREE_ARITY = 2, TREE_LAYERS = 4, TREE_VALUES = 9 };

struct tree_config {
    uint32_t d, hidden, code, outer; /* outer: 0 for none */
    uint32_t points;                 /* 0 for EqNet */
    uint32_t classes;
    const char *arity; /* by token: '0' to '2', or 'x' for a token that no tree has */
};

/* Offsets in the flat vector. */
struct tree_combine {
    uint32_t arity;                 /* 0: not an operator */
    size_t hidden, direct, through; /* W, U, V */
    size_t hidden_bias, bias;       /* b, c */
    size_t encoder;                 /* C */
};

struct tree_model {
    struct tree_config config;
    struct nn_table table;
    uint32_t tokens, rows;        /* rows: of each node */
    struct tree_combine *combine; /* (tokens + 1), the last for roots */
    /* The auto-encoder's layers after the operator's own; the last one has as many rows as the
     * operands have numbers. */
    size_t layers, layer[TREE_LAYERS];
    uint32_t width[TREE_LAYERS]; /* input width of each layer */
    size_t leaves;               /* (tokens, rows, d) */
    size_t classes;              /* (classes, d) */
    size_t dropped;              /* all W, U and V are stored before this */
    size_t values, values_bias;  /* H (TREE_VALUES, d), g; networks of functions only */
};

/* Returns the text for Checkpoint.architecture. */
char *tree_config_text(struct arena *a, const struct tree_config *c);
/* Returns true if the text describes a network of this kind. */
bool tree_config_is(const char *text);
/* Parses the text into the arena. ERR_INPUT for another kind of model, else ERR_CORRUPT. */
enum err_code tree_config_parse(struct tree_config *c, struct arena *a, const char *text,
                                struct err *e);

struct tree_model *tree_model_new(struct arena *a, const struct tree_config *c);
/* Initialises flat (table.total) on the host: normally distributed with this deviation, or for a
 * network of functions as nn_table_init does. */
void tree_model_init(float *flat, const struct tree_model *m, double deviation, uint64_t seed);

/* The dimension of a tree's vector; the number of operands of a token. */
static inline uint32_t tree_width(const struct tree_model *m)
{
    return m->rows * m->config.d;
}

static inline uint32_t tree_arity(const struct tree_model *m, uint32_t token)
{
    return (uint32_t)(m->config.arity[token] - '0');
}
