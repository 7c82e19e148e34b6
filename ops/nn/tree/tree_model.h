/* EqNet (Allamanis, Chanthirasegaran, Kohli and Sutton 2017) as data: a network that reads an
 * expression's tree from its leaves to its root, and its table of parameters.
 *
 *     leaf       r = E[token] / |E[token]|
 *     operator   x = [r of its operands], h = sigmoid(W x + b), y = U x + V h + c, r = y / |y|
 *     root       the same with matrices of its own, of the whole expression's r
 *     codes      z = tanh(D tanh(C [x, r])) sqrt(operands) / |tanh(D ...)|: the operands again,
 *                from a narrow code (the subexpression auto-encoder); with an outer layer there is
 *                one more on either side of the code (the stacked one of EqNet-L, Liu 2022)
 *     classes    a vector for each class of equal expressions
 *
 * W, U, V, b, c and C are the operator's own; all other matrices are everybody's.
 *
 * With `points` P a network of functions: a node has P vectors, of what the function that it is
 * does at P points, and the operators' matrices are the same at all points. A leaf has P rows of E;
 * h = max(0, W x + b), r = y, there is no division by lengths, no code and no class. Values at each
 * point are read off r: v = H r + g. With `inputs` it is told what each node is worth: r = y + F f,
 * where f are that many numbers which say it, and F is everybody's. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "ops/nn/parameters.h"

#include <stdbool.h>

enum { TREE_ARITY = 2, TREE_LAYERS = 4, TREE_VALUES = 9, TREE_INPUTS = 36 };

struct tree_config {
    uint32_t d, hidden, code, outer; /* outer: 0, there is none */
    uint32_t points;                 /* 0: EqNet */
    uint32_t inputs;                 /* of functions: TREE_INPUTS, or 0 */
    uint32_t classes;
    const char *arity; /* by token: '0' to '2', or 'x' for a token that no tree has */
};

/* Places within the flat vector. */
struct tree_combine {
    uint32_t arity;                 /* 0: of no operator */
    size_t hidden, direct, through; /* W, U, V */
    size_t hidden_bias, bias;       /* b, c */
    size_t encoder;                 /* C */
};

struct tree_model {
    struct tree_config config;
    struct nn_table table;
    uint32_t tokens, rows;        /* rows: of a node */
    struct tree_combine *combine; /* (tokens + 1), the last of roots */
    /* Behind the operator's own layer the auto-encoder has these; the last one's rows are as many
     * as the operands have numbers. */
    size_t layers, layer[TREE_LAYERS];
    uint32_t width[TREE_LAYERS]; /* that a layer reads */
    size_t leaves;               /* (tokens, rows, d) */
    size_t classes;              /* (classes, d) */
    size_t dropped;              /* all W, U and V lie before this */
    size_t values, values_bias;  /* H (TREE_VALUES, d), g; of a network of functions */
    size_t inputs;               /* F (d, TREE_INPUTS) */
};

/* Checkpoint.architecture. */
char *tree_config_text(struct arena *a, const struct tree_config *c);
/* Whether it is the text of such a network. */
bool tree_config_is(const char *text);
/* Reads it back, into the arena. ERR_INPUT if it is of another kind of model, ERR_CORRUPT. */
enum err_code tree_config_parse(struct tree_config *c, struct arena *a, const char *text,
                                struct err *e);

struct tree_model *tree_model_new(struct arena *a, const struct tree_config *c);
/* All numbers normally distributed with this deviation; of a network of functions uniform, by the
 * numbers that a row reads. flat: (table.total), host. */
void tree_model_init(float *flat, const struct tree_model *m, double deviation, uint64_t seed);

/* Numbers of a tree's vector; operands of a token. */
static inline uint32_t tree_width(const struct tree_model *m)
{
    return m->rows * m->config.d;
}

static inline uint32_t tree_arity(const struct tree_model *m, uint32_t token)
{
    return (uint32_t)(m->config.arity[token] - '0');
}
