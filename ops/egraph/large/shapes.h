/* Shapes: what a pattern requires of a subterm, its variables left open. sin(?a)^2 is a power, with
 * a sine below it and the exponent 2. Sets of shapes are interned, so that what a class holds is a
 * small integer, and what a node has, given the sets of its arguments, is computed once: the states
 * of a deterministic tree automaton, made when they are first met. */
#ifndef OPS_EGRAPH_LARGE_SHAPES_H
#define OPS_EGRAPH_LARGE_SHAPES_H

#include "ops/egraph/match/ruleset.h"

enum {
    SHAPE_ANY = UINT16_MAX, /* of a variable: every class fits */
    SHAPES_NONE = 0,        /* the empty set */
    SHAPES_ALL = 1,         /* stands for any set, once there are too many */
};

struct shape {
    uint32_t op; /* of one or two arguments; or OP_LEAF | a leaf of the rule set */
    uint16_t kid[2];
    uint16_t next; /* the next one of the same operator, or SHAPE_ANY */
};

struct shapes_made { /* an entry of a cache, which another may replace */
    uint64_t key;
    uint16_t set;
};

struct shapes {
    struct shape *items;
    size_t n, cap;
    uint16_t *first; /* by operator */
    uint32_t n_ops;
    size_t words; /* of a set */
    /* By number, three bit sets: itself, and the shapes for whose first and second argument a class
     * with this set fits. */
    uint64_t *sets;
    uint64_t *by_op;  /* by operator: its shapes */
    uint64_t *by_kid; /* by shape, SHAPE_ANY last: two sets, of the shapes of which it is the first
                         or second argument */
    size_t n_sets, sets_cap;
    size_t sweep_at; /* with more sets than this, unused ones are swept */
    uint16_t *slots; /* hash table of the sets; 0: free, since the empty set is never looked up */
    struct shapes_made *joined, *applied;
};

/* Has no shapes yet. */
void shapes_init(struct shapes *s, uint32_t n_ops);
void shapes_free(struct shapes *s);
/* Adds the shape of a subterm of a pattern; before shapes_seal. */
uint16_t shapes_add(struct shapes *s, const struct ruleset *set, const struct expr *x,
                    uint32_t position);
/* No more shapes are added: sets may be made. */
void shapes_seal(struct shapes *s);
/* The set with the shape of this leaf, if there is one. */
uint16_t shapes_of_leaf(struct shapes *s, uint32_t leaf);
uint16_t shapes_join(struct shapes *s, uint16_t a, uint16_t b);
/* The set of a node of this operator over classes with the sets a and b; b is SHAPES_NONE for unary
 * operators. */
uint16_t shapes_apply(struct shapes *s, uint32_t op, uint16_t a, uint16_t b);

/* Keeps only the sets among these n, and numbers them anew. */
void shapes_sweep(struct shapes *s, uint16_t *held, size_t n);

/* Whether nodes of this operator may have shapes. */
static inline bool shapes_know(const struct shapes *s, uint32_t op)
{
    return op < s->n_ops && s->first[op] != SHAPE_ANY;
}

static inline bool shapes_have(const struct shapes *s, uint16_t set, uint16_t shape)
{
    return s->sets[3 * set * s->words + shape / 64] >> shape % 64 & 1;
}

#endif
