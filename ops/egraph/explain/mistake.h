/* Derivations for E-Gen's mistake detection: expressions simplified step by step by rules, some of
 * them with one step that is wrong. */
#ifndef OPS_EGRAPH_EXPLAIN_MISTAKE_H
#define OPS_EGRAPH_EXPLAIN_MISTAKE_H

#include "base/rng.h"
#include "cluster.pb-c.h"
#include "exercise.pb-c.h"
#include "ops/egraph/explain/simplify.h"

struct mistake_options {
    uint32_t most;        /* derivations, of different members */
    uint32_t least_steps; /* of each */
    uint32_t most_steps;  /* more are left out at the end */
    uint32_t max_tokens;  /* of any of its terms */
    double wrong;         /* the share of derivations with a mistake */
    uint32_t iterations, max_nodes, points;
};

/* Of members of a cluster, in the arena: as many as were asked for, or as can be made. A derivation
 * with a mistake goes on from what is wrong to the least term that equals that, so exactly one of
 * its steps is wrong. ERR_INPUT names a member that is no expression, or a language that is not the
 * rules'. */
enum err_code derivations_draw(Eqloom__Exercise **out, size_t *n, struct arena *a,
                               const Eqloom__Cluster *cluster, const struct rules *rules,
                               const struct ruleset *set, const struct mistake_options *options,
                               struct rng *rng, struct err *e);

#endif
