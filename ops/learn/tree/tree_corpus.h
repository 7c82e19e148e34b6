/* The training data of a tree network: expressions in prefix order, by class, and the batches drawn
 * from them. */
#pragma once

#include "ops/learn/tree/tree_points.h"
#include "ops/nn/tree/tree_lists.h"
#include "token.pb-c.h"

/* Returns the arities by token as in tree_config: '0' for symbols and small integers. Allocates in
 * the arena. */
char *tree_arities(struct arena *a, const Eqloom__Vocabulary *v);

struct tree_corpus {
    uint32_t *tokens;
    size_t n_tokens, tokens_cap;
    size_t *offset; /* (trees + 1) */
    size_t trees, offset_cap;
    uint32_t *class; /* (trees) */
    size_t class_cap;
    uint32_t classes;
};
void tree_corpus_free(struct tree_corpus *c);
/* Adds the batch's sequences; each of its clusters is a new class. ERR_INPUT names a sequence that
 * is not a tree; else ERR_CORRUPT. */
enum err_code tree_corpus_add(struct tree_corpus *c, const Eqloom__TokenBatch *b,
                              const struct tree_model *m, struct err *e);

/* The order of training: stages, each with its own order of the trees that have at most first +
 * stage * growth tokens. A function of the seed and the stage. */
struct tree_curriculum {
    double first, growth;
    uint64_t stage; /* length in steps */
    size_t batch;
    uint64_t seed;
};
struct tree_order {
    uint32_t *trees;
    size_t n;
    uint64_t of; /* the stage's number + 1; 0 at first */
};
void tree_order_free(struct tree_order *x);
struct tree_batch {
    struct tree_set set;
    const uint32_t *class;
    /* With pairs: the first `paired` trees form pairs 2i and 2i + 1; the others are near misses of
     * from[i]. */
    size_t paired;
    const uint32_t *from;
};
/* Draws the batch of step `index` into the arena. At least one tree must be small enough for the
 * first stage. */
void tree_batch_draw(struct tree_batch *out, struct arena *a, struct tree_order *order,
                     const struct tree_corpus *c, const struct tree_curriculum *how,
                     uint64_t index);
/* Returns all trees, in order. */
void tree_batch_all(struct tree_batch *out, struct arena *a, const struct tree_corpus *c);
/* Returns at most `most` trees, a function of the seed. */
void tree_batch_sample(struct tree_batch *out, struct arena *a, const struct tree_corpus *c,
                       size_t most, uint64_t seed);

/* Batches of pairs: two trees from each of some classes, and near misses of them, made by altering
 * one token or exchanging two operands. A near miss may be equal to its source; the values decide
 * that (tree_points.h). */
struct tree_pairs {
    const struct tree_corpus *corpus;
    uint32_t *members; /* (trees): grouped by class */
    uint32_t *first;   /* (classes + 1): offsets in members */
    uint32_t *classes; /* those with at least two trees */
    size_t n_classes;
};
/* Allocates in the arena; the corpus must outlive it. */
void tree_pairs_make(struct tree_pairs *out, struct arena *a, const struct tree_corpus *c);

struct tree_pairs_config {
    size_t pairs;
    double near_share; /* share of the trees with a near miss in the batch */
    uint64_t seed;
};
/* Draws the batch of step `index` into the arena: trees 2i and 2i+1 are of one class; after the
 * pairs come near misses, each in its own class. Each epoch has a new order of classes. */
void tree_pairs_draw(struct tree_batch *out, struct arena *a, const struct tree_pairs *x,
                     const struct tree_model *m, const struct tree_meaning *meaning,
                     const struct tree_pairs_config *how, uint64_t index);
