/* Evaluation step by step: from a term to the least one that rules are found to lead to. */
#ifndef OPS_EGRAPH_EXPLAIN_SIMPLIFY_H
#define OPS_EGRAPH_EXPLAIN_SIMPLIFY_H

#include "ops/egraph/graph/egraph.h"
#include "ops/expr/ball/ball.h"

struct simplify_options {
    uint32_t iterations, max_nodes;
    const struct ball_domain *domains; /* of variables that are not positive */
    size_t n_domains;
};

/* The steps, replayed and asked of numbers; none if the term is the least already, if its proof is
 * too long or if numbers cast doubt on it. Lives in the arena. `set` is `rules` compiled.
 * ERR_FAILED if the rules contradict themselves. */
enum err_code simplify(struct explanation *out, struct arena *a, const struct rules *rules,
                       const struct ruleset *set, const struct expr *from,
                       const struct simplify_options *options, struct err *e);

#endif
