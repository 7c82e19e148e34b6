/* What a network on trees learns from: expressions in prefix order, by class, and the batches drawn
 * of them. */
#pragma once

#include "ops/learn/tree/tree_points.h"
#include "ops/nn/tree/tree_lists.h"
#include "token.pb-c.h"

/* By token, as tree_config has it: operands of operators, '0' for symbols and small integers. In
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
 * is no tree, ERR_CORRUPT. */
enum err_code tree_corpus_add(struct tree_corpus *c, const Eqloom__TokenBatch *b,
                              const struct tree_model *m, struct err *e);

/* In which order trees are learnt from: by stages, each in an order of its own, of the trees of at
 * most first + stage * growth tokens. A function of the seed and the stage. */
struct tree_curriculum {
    double first, growth;
    uint64_t stage; /* in steps */
    size_t batch;
    uint64_t seed;
};
struct tree_order {
    uint32_t *trees;
    size_t n;
    uint64_t of; /* the stage's number + 1; 0: none yet */
};
void tree_order_free(struct tree_order *x);
struct tree_batch {
    struct tree_set set;
    const uint32_t *class;
    /* Of pairs: so many trees have one, 2i and 2i + 1; the others are near misses, of from[i]. */
    size_t paired;
    const uint32_t *from;
};
/* Step `index`'s, in the arena. At least one tree must be small enough for the first stage. */
void tree_batch_draw(struct tree_batch *out, struct arena *a, struct tree_order *order,
                     const struct tree_corpus *c, const struct tree_curriculum *how,
                     uint64_t index);
/* All trees, in their order. */
void tree_batch_all(struct tree_batch *out, struct arena *a, const struct tree_corpus *c);
/* Some trees, always the same ones. */
void tree_batch_sample(struct tree_batch *out, struct arena *a, const struct tree_corpus *c,
                       size_t most, uint64_t seed);

/* Batches of pairs: of each of some classes two trees, and near misses of them, made by altering
 * one token, or exchanging two operands. A near miss may be equal to what it was made of; that is
 * for the values to say (tree_points.h). */
struct tree_pairs {
    const struct tree_corpus *corpus;
    uint32_t *members; /* (trees): by class */
    uint32_t *first;   /* (classes + 1): of members */
    uint32_t *classes; /* those of two trees or more */
    size_t n_classes;
};
/* In the arena; the corpus must outlive it. */
void tree_pairs_make(struct tree_pairs *out, struct arena *a, const struct tree_corpus *c);

struct tree_pairs_config {
    size_t pairs;
    double near_share; /* of the trees that have a near miss in the batch */
    uint64_t seed;
};
/* Trees 2i and 2i+1 of step `index` are of one class; behind the pairs come near misses, with
 * classes of their own. Classes come in a new order each time that all have come. In the arena. */
void tree_pairs_draw(struct tree_batch *out, struct arena *a, const struct tree_pairs *x,
                     const struct tree_model *m, const struct tree_meaning *meaning,
                     const struct tree_pairs_config *how, uint64_t index);
