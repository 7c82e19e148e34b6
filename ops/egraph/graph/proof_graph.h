/* Why nodes are equal: a graph over the nodes of an e-graph, with an edge for each union that
 * joined two classes, and for more equalities that were found although they were known by then:
 * they make proofs shorter (Flatt et al. 2022).
 *
 * Edges are numbered in the order in which they were found. What an edge needs (that arguments
 * are equal, for a congruence or to see a pattern in a class) was proved by the edges before it;
 * so an explanation that uses only those can be unfolded without ever running in a circle. */
#ifndef OPS_EGRAPH_GRAPH_PROOF_GRAPH_H
#define OPS_EGRAPH_GRAPH_PROOF_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_EDGE UINT32_MAX

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

struct proof_edge {
    uint32_t node[2]; /* the reason reads from the first to the second */
    uint32_t next[2]; /* another edge of each of them, or NO_EDGE */
    struct reason why;
};

struct witness_counts {
    struct proof_edge *edges;
    size_t n_edges, edges_cap;
    uint32_t *first; /* by cell: the last edge found of a node, or NO_EDGE */
    uint8_t *spare;  /* by cell: edges that joined nothing */
    uint32_t *kid;   /* by slot: arguments as they were when the node was added */
    /* REASON_RULE: rule index, then the record of ematch.h, then the nodes of the right side in
     * the order of its term. */
    uint32_t *matches;
    size_t n_matches, matches_cap;
};

struct witness_counts *proofs_new(void);
void proofs_free(struct witness_counts *p);
void proofs_grow(struct witness_counts *p, size_t cap);
void proofs_add_node(struct witness_counts *p, uint32_t node, const uint32_t *kids, uint32_t arity);
void proofs_join(struct witness_counts *p, uint32_t a, uint32_t b, struct reason why);
/* One more reason for nodes that are known to be equal; only while it is worth remembering. */
bool proofs_want(const struct witness_counts *p, uint32_t a, uint32_t b, enum reason_kind kind,
                 uint32_t rule);
void proofs_add_spare(struct witness_counts *p, uint32_t a, uint32_t b, struct reason why);

#endif
