/* Questions of E-Gen's semantic understanding test: which of some expressions is equal to a query,
 * when one that is looks different and others that are not look alike? */
#pragma once

#include "base/rng.h"
#include "cluster.pb-c.h"
#include "exercise.pb-c.h"
#include "ops/expr/expr.h"

struct question_options {
    uint32_t most;        /* questions, of different queries; or members that are drawn */
    uint32_t near_misses; /* of each, at most */
    uint32_t distance;    /* of a question: edits from query to answer, at least */
    uint32_t points;
};

/* Questions about a cluster, in the arena: as many as were asked for, or as can be made. Half of
 * the near misses resemble the query, half the answer. ERR_INPUT names a member that is no
 * expression. */
enum err_code questions_draw(Eqloom__Exercise **out, size_t *n, struct arena *a,
                             const Eqloom__Cluster *cluster, const struct question_options *options,
                             struct rng *rng, struct err *e);

/* Near misses of a cluster's members, for learning: terms 2i and 2i + 1 are a member and one that
 * was altered from it and differs from the whole cluster. There may be none. ERR_INPUT as above. */
enum err_code near_misses_draw(Eqloom__Exercise *out, struct arena *a,
                               const Eqloom__Cluster *cluster,
                               const struct question_options *options, struct rng *rng,
                               struct err *e);
