/* Questions of E-Gen's semantic understanding test: which of several expressions is equal to the
 * query? The right one looks different from the query; the wrong ones look like it or like the
 * right one. */
#pragma once

#include "base/rng.h"
#include "cluster.pb-c.h"
#include "exercise.pb-c.h"
#include "ops/expr/expr.h"

struct question_options {
    uint32_t most;        /* maximum number of questions, of different queries; or of members */
    uint32_t near_misses; /* at most, per question or member */
    uint32_t distance;    /* minimum edit distance from query to answer */
    uint32_t points;
};

/* Draws questions about a cluster into the arena: options->most of them, or fewer if no more can be
 * made. Half of the near misses resemble the query, half the answer. ERR_INPUT names a member that
 * is not an expression. */
enum err_code questions_draw(Eqloom__Exercise **out, size_t *n, struct arena *a,
                             const Eqloom__Cluster *cluster, const struct question_options *options,
                             struct rng *rng, struct err *e);

/* Draws near misses of a cluster's members, for training: term 2i is a member, and term 2i + 1 is
 * made from it by one change and differs from the whole cluster. The exercise may be empty. Errors
 * as above. */
enum err_code near_misses_draw(Eqloom__Exercise *out, struct arena *a,
                               const Eqloom__Cluster *cluster,
                               const struct question_options *options, struct rng *rng,
                               struct err *e);
