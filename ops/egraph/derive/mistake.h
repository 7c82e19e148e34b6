/* Derivations for E-Gen's mistake detection: expressions simplified step by step with rules; in
 * some derivations one step is wrong. */
#pragma once

#include "base/rng.h"
#include "cluster.pb-c.h"
#include "exercise.pb-c.h"
#include "ops/egraph/derive/derive.h"

struct mistake_options {
    uint32_t most;        /* maximum number of derivations, each of a different member */
    uint32_t least_steps; /* minimum per derivation */
    uint32_t most_steps;  /* maximum per derivation; further steps are cut off */
    uint32_t max_tokens;  /* maximum length of any term */
    double wrong;         /* the share of derivations with a mistake */
    bool evaluates;       /* steps are those of evaluation_step.h instead of rules */
    uint32_t iterations, max_nodes, points;
};

/* Draws derivations that begin at members of a cluster: `most` of them, or fewer if not as many can
 * be made. They live in the arena. A derivation with a mistake continues from the wrong term to the
 * least term equal to that, so exactly one of its steps is wrong. Fails with ERR_INPUT if a member
 * is not an expression, or the rules are of another language. */
enum err_code derivations_draw(Eqloom__Exercise **out, size_t *n, struct arena *a,
                               const Eqloom__Cluster *cluster, const struct rules *rules,
                               const struct ruleset *set, const struct mistake_options *options,
                               struct rng *rng, struct err *e);
