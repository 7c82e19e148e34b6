/* What a corpus of clusters looks like: counts for the report. */
#ifndef OPS_EVAL_CORPUS_STATS_H
#define OPS_EVAL_CORPUS_STATS_H

#include "base/arena.h"
#include "cluster.pb-c.h"
#include "ops/expr/lang.h"

#include <stdbool.h>

enum {
    STATS_LENGTHS = 64,
    STATS_EXAMPLES = 6,
    STATS_SHOWN = 6,
    STATS_SHORT = 13,
    STATS_STANDINGS = 4
};

struct corpus_stats {
    uint64_t clusters, members, tokens;
    uint64_t by_length[STATS_LENGTHS]; /* members; the last also longer ones */
    uint64_t by_op[X_DECLARED];        /* members that contain it */
    uint64_t by_standing[STATS_STANDINGS];
    bool unsound;
    struct corpus_example {
        char *seed, *terms;
        char *members[STATS_SHOWN];
        uint32_t n_shown, n_members;
    } examples[STATS_EXAMPLES];
    uint32_t n_examples;
};

/* Cluster i of n; examples are taken at even distances and copied into the arena. */
void corpus_stats_add(struct corpus_stats *s, struct arena *a, const Eqloom__Cluster *c, uint64_t i,
                      uint64_t n);

#endif
