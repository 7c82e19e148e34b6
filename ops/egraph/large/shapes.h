/* Shapes: what a pattern asks of a subterm, its variables left open: of sin(?a)^2, that it is a
 * power, that a sine stands below it, and that its exponent is 2. Sets of shapes are numbered, so
 * that what a class of an e-graph holds is a small number; what a node has, if its arguments have
 * these and those, is found out once. As the states of a tree automaton, made as they are met. */
#ifndef OPS_EGRAPH_LARGE_SHAPES_H
#define OPS_EGRAPH_LARGE_SHAPES_H

#include "ops/egraph/match/ruleset.h"

enum {
    SHAPE_ANY = UINT16_MAX, /* of a variable, for which every class will do */
    SHAPES_NONE = 0,        /* the empty set */
    SHAPES_ALL = 1,         /* stands for any where there are too many sets */
};

struct shape {
    uint32_t op; /* of one argument or two; or OP_LEAF | a leaf of the rule set */
    uint16_t kid[2];
    uint16_t next; /* another of the same operator, or SHAPE_ANY */
};

struct shapes_made { /* what was found out; another may take its place */
    uint64_t key;
    uint16_t set;
};

struct shapes {
    struct shape *items;
    size_t n, cap;
    uint16_t *first; /* by operator */
    uint32_t n_ops;
    size_t words; /* of a set */
    /* By number, three sets: itself, and the shapes for whose first and second argument a class
     * with these will do. */
    uint64_t *sets;
    uint64_t *by_op;  /* by operator: its shapes */
    uint64_t *by_kid; /* by shape, and of any at last: two sets, of which it is the argument */
    size_t n_sets, sets_cap;
    size_t sweep_at; /* with more sets than these, those that nobody has should go */
    uint16_t *slots; /* a hash table of the sets; 0: free, since the empty one is not looked for */
    struct shapes_made *joined, *applied;
};

/* Without any. */
void shapes_init(struct shapes *s, uint32_t n_ops);
void shapes_free(struct shapes *s);
/* The shape of a subterm of a pattern; to be called before there are sets. */
uint16_t shapes_add(struct shapes *s, const struct ruleset *set, const struct expr *x,
                    uint32_t position);
/* The shapes are these: sets begin. */
void shapes_seal(struct shapes *s);
/* The set with the shape of this leaf, if it is one. */
uint16_t shapes_of_leaf(struct shapes *s, uint32_t leaf);
uint16_t shapes_join(struct shapes *s, uint16_t a, uint16_t b);
/* Those of a node of this operator over classes with a and b; SHAPES_NONE for a second argument
 * that it has not. */
uint16_t shapes_apply(struct shapes *s, uint32_t op, uint16_t a, uint16_t b);

/* Numbers anew the sets that are among these n, and forgets the others. */
void shapes_sweep(struct shapes *s, uint16_t *held, size_t n);

/* Nodes of this operator may have shapes. */
static inline bool shapes_know(const struct shapes *s, uint32_t op)
{
    return op < s->n_ops && s->first[op] != SHAPE_ANY;
}

static inline bool shapes_have(const struct shapes *s, uint16_t set, uint16_t shape)
{
    return s->sets[3 * set * s->words + shape / 64] >> shape % 64 & 1;
}

#endif
