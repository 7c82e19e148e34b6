/* Derivations for E-Gen's mistake detection: expressions simplified step by step by rules, some of
 * them with one step that is wrong. */
#pragma once

#include "base/rng.h"
#include "cluster.pb-c.h"
#include "exercise.pb-c.h"
#include "ops/egraph/derive/derive.h"

struct mistake_options {
    uint32_t most;        /* derivations, of different members */
    uint32_t least_steps; /* of each */
    uint32_t most_steps;  /* further ones are cut off */
    uint32_t max_tokens;  /* of any of its terms */
    double wrong;         /* the share of derivations with a mistake */
    bool evaluates;       /* steps are those of evaluation_step.h; no rule is used */
    uint32_t iterations, max_nodes, points;
};

/* Derivations from members of a cluster, in the arena: `most` of them, or as many as can be made. A
 * derivation with a mistake goes on from the wrong term to the least term equal to that, so exactly
 * one of its steps is wrong. ERR_INPUT: a member is not an expression, or the rules are of another
 * language. */
enum err_code derivations_draw(Eqloom__Exercise **out, size_t *n, struct arena *a,
                               const Eqloom__Cluster *cluster, const struct rules *rules,
                               const struct ruleset *set, const struct mistake_options *options,
                               struct rng *rng, struct err *e);
