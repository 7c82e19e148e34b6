/* The parts of explaining: a first proof out of the proof graph, to be made shorter; and the search
 * for a shortest one. */
#ifndef OPS_EGRAPH_EXPLAIN_EXPLANATION_H
#define OPS_EGRAPH_EXPLAIN_EXPLANATION_H

#include "ops/egraph/graph/egraph_core.h"

struct explainer;

/* Lives in the arena, but for scratch that is to be freed. The graph must not change. */
struct explainer *explainer_new(struct arena *a, struct egraph *g, const struct ruleset *rules);
void explainer_free(struct explainer *x);
/* ERR_NOTFOUND if the graph does not hold the terms equal, ERR_LIMIT if the proof is too long. */
enum err_code explainer_connect(struct explanation *out, struct explainer *x,
                                const struct expr *from, const struct expr *to, struct err *e);
/* Puts a shorter proof in the place of *p where there is one, and says whether it is a shortest
 * one: see explain_search.c for the budget, and for what is promised. */
void explain_search(struct explanation *p, struct arena *a, struct egraph *g,
                    const struct ruleset *rules, const struct expr *from, const struct expr *to);
/* The term that was added as node n, for graphs that keep proofs; false if it is very large. */
bool explain_node_term(struct expr *out, struct arena *a, struct egraph *g, uint32_t n);

#endif
