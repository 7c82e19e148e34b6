/* Why nodes are equal: a forest over the nodes of an e-graph, one edge per union that joined two
 * classes. The path between two nodes is unique, and it existed from the moment at which they
 * became equal; so an explanation may be unfolded recursively without ever running in a circle
 * (Nieuwenhuis and Oliveras 2005; Flatt et al. 2022). */
#ifndef OPS_EGRAPH_PROOF_H
#define OPS_EGRAPH_PROOF_H

#include <stddef.h>
#include <stdint.h>

enum reason_kind {
    REASON_GIVEN,      /* somebody called egraph_union */
    REASON_CONGRUENCE, /* same operator, equal arguments */
    REASON_CONSTANT,   /* the first node computes to the number that the second is */
    REASON_RULE,       /* index into `matches`: the rule, then its match */
};

struct reason {
    uint32_t kind;  /* enum reason_kind */
    uint32_t match; /* REASON_RULE */
};

struct proofs {
    /* By cell: the other end of the edge, UINT32_MAX at a root, and whether the edge goes
     * backwards (the reason reads from the other end to this one). */
    uint32_t *to;
    struct reason *why;
    uint8_t *backwards;
    uint32_t *kid; /* by slot: arguments as they were when the node was added */
    size_t cap;
    /* REASON_RULE: rule index, then the record of machine.h, then the nodes of the right side in
     * the order of its term. */
    uint32_t *matches;
    size_t n_matches, matches_cap;
};

struct proofs *proofs_new(void);
void proofs_free(struct proofs *p);
void proofs_grow(struct proofs *p, size_t cap);
void proofs_add_node(struct proofs *p, uint32_t node, const uint32_t *kids, uint32_t arity);
/* a and b were in different trees. */
void proofs_join(struct proofs *p, uint32_t a, uint32_t b, struct reason why);

#endif
