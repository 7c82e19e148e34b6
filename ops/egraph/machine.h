/* The matching machine: runs a compiled pattern over an e-graph. Matches come in the order of
 * their root nodes, then of the nodes bound, and are written one after another as records:
 *
 *     root node | class of each variable | with proofs: the node of each further bind
 *
 * (for a pattern that is a bare variable the root is the class). In a graph with unions that were
 * not rebuilt yet, matches are found once or more, or not at all if it is these unions that make
 * two arguments congruent. */
#ifndef OPS_EGRAPH_MACHINE_H
#define OPS_EGRAPH_MACHINE_H

#include "ops/egraph/ruleset.h"

/* The nodes that an iteration may find new matches at: they are new, or something changed as far
 * below them as any rule looks. By operator, with what stands in their first two arguments. */
struct machine_fresh {
    uint32_t cells; /* since this moment */
    uint16_t epoch;
    struct fresh_nodes {
        struct u32_list nodes; /* ids ascending */
        uint64_t mask[2];
    } * by_op;
};

/* Only matches that may be new since a moment, of nodes that are not too new; zeroed: all. */
struct machine_since {
    uint32_t cells;                    /* nodes from here on are new */
    uint16_t epoch;                    /* stamps from here on are new */
    uint32_t until;                    /* nodes from here on are not looked at; 0: all are */
    const struct machine_fresh *fresh; /* if it is of the same moment, it saves time */
};

/* Collects the nodes that are fresh since a moment; the graph was just rebuilt. */
void machine_freshen(struct machine_fresh *out, struct egraph *g, uint32_t cells, uint16_t epoch);

static inline size_t machine_record(const struct egraph *g, const struct pattern *p)
{
    size_t binds = g->proofs && p->n_binds ? p->n_binds - 1u : 0;
    return 1 + p->n_vars + binds;
}

/* Appends records; stops after `limit` of them. Returns how many. `leaf` as for conditions. */
size_t machine_search(struct u32_list *out, struct egraph *g, const struct compiled_rule *r,
                      const uint32_t *leaf, struct machine_since since, size_t limit);

#endif
