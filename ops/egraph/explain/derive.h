/* Looking for a derivation: two terms are saturated in one e-graph until they meet. */
#ifndef OPS_EGRAPH_EXPLAIN_DERIVE_H
#define OPS_EGRAPH_EXPLAIN_DERIVE_H

#include "ops/egraph/graph/egraph.h"
#include "ops/expr/ball/ball.h"

struct derive_options {
    uint32_t iterations, max_nodes;
    const struct ball_domain *domains; /* of variables that are not positive */
    size_t n_domains;
};

struct derivation {
    bool found;
    struct explanation proof; /* replayed: each step is an instance of its rule */
    struct err doubt; /* the first step that numbers refute; its code is OK if there is none */
    size_t stale;     /* its index */
    struct saturate_result run;
    uint32_t nodes;
};

/* Everything lives in the arena. A contradiction among the rules on the way is ERR_FAILED. */
enum err_code derive_equality(struct derivation *out, struct arena *a, const struct rules *rules,
                              const struct expr *from, const struct expr *to,
                              const struct derive_options *options, struct err *e);

/* "  = TERM   [RULE, backwards]", a line a step, each after `indent`; `mark`: before this step
 * comes a note that it is false (SIZE_MAX: none). */
void explanation_write(struct buf *out, struct arena *a, const struct explanation *x,
                       const char *indent, size_t mark);

#endif
