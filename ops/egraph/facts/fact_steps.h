/* Why a term has its fact: what follows from the domains of its variables, operator by operator. */
#ifndef OPS_EGRAPH_FACTS_FACT_STEPS_H
#define OPS_EGRAPH_FACTS_FACT_STEPS_H

#include "ops/egraph/graph/egraph_core.h"

/* A line for each part of x of which something is known, parts first: "  exp(x) in (0.99,inf)
 * [interval]". Of the e-graph only the domains of variables are asked, and each interval is checked
 * at points by ball arithmetic: one that values leave is marked. *fact is what is known of x in the
 * end, as text. */
void fact_steps_write(struct buf *out, char **fact, struct arena *a, const struct egraph *g,
                      const struct expr *x, const char *indent);

#endif
