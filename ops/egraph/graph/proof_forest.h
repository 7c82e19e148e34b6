/* Why nodes are equal: a forest over the nodes of an e-graph, with an edge for each union that
 * joined two classes (Nieuwenhuis and Oliveras 2005). Exactly one path connects two nodes of one
 * class. All equalities that an edge depends on (equal arguments of a congruence, or of a match)
 * held before the edge was made, so unfolding a path terminates. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum reason_kind {
    REASON_GIVEN,      /* joined by graph_union */
    REASON_CONGRUENCE, /* same operator, equal arguments */
    REASON_CONSTANT,   /* the first node evaluates to the number in the second */
    REASON_RULE,       /* index into `matches`: the rule, then its match */
    REASON_FORM,       /* index into `matches`: the method of the normal form, then both terms */
};

struct reason {
    uint32_t kind;  /* enum reason_kind */
    uint32_t match; /* REASON_RULE, REASON_FORM */
};

struct proof_edge {
    uint32_t parent;  /* NO_PARENT at a root */
    bool from_parent; /* the reason reads from the parent to the node, not from node to parent */
    struct reason why;
};
#define NO_PARENT UINT32_MAX

struct proof_forest {
    struct proof_edge *edges; /* by cell */
    uint32_t *kid;            /* two per cell: the arguments at the time the node was added */
    /* For REASON_RULE: rule index, then the match record of ematch.h, then the nodes of the right
     * side in the order of its term. For REASON_FORM: the method (normal.h), the sizes of two
     * terms, and their nodes by position. */
    uint32_t *matches;
    size_t n_matches, matches_cap;
};

struct proof_forest *proofs_new(void);
void proofs_free(struct proof_forest *p);
void proofs_grow(struct proof_forest *p, size_t cap);
void proofs_add_node(struct proof_forest *p, uint32_t node, const uint32_t *kids, uint32_t arity);
/* a and b are in different trees; the reason reads from a to b. */
void proofs_join(struct proof_forest *p, uint32_t a, uint32_t b, struct reason why);
