/* What a corpus of clusters looks like: counts for the report. */
#ifndef OPS_EVAL_REPORT_CORPUS_STATS_H
#define OPS_EVAL_REPORT_CORPUS_STATS_H

#include "base/arena.h"
#include "base/map.h"
#include "cluster.pb-c.h"
#include "ops/expr/lang.h"

#include <stdbool.h>

enum {
    STATS_LENGTHS = 64,
    STATS_EXAMPLES = 6,
    STATS_SHOWN = 6,
    STATS_SHORT = 13,
    STATS_STANDINGS = 4,
    STATS_EXP = X_BOOLEAN_END, /* e^x is the 34th operator of the calculus, not a case of pow */
    STATS_OPS
};

struct corpus_stats {
    const struct language *lang; /* of the first cluster; of terms in others nothing is told */
    uint64_t clusters, members, tokens;
    uint64_t derivatives;              /* clusters whose seed is one */
    uint64_t by_length[STATS_LENGTHS]; /* members; the last also longer ones */
    uint64_t by_op[STATS_OPS];         /* members that contain it */
    uint64_t by_standing[STATS_STANDINGS];
    uint64_t reducible;   /* members that ops/eval/report/trivial.h can reduce, seeds apart */
    struct map64 shapes;  /* hashes of terms with every number and symbol taken for one */
    uint64_t shapes_each; /* different shapes in a cluster, summed over clusters */
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
void corpus_stats_free(struct corpus_stats *s);
/* "sin", "exp"; NULL if the language has no such operator. */
const char *corpus_op_name(const struct corpus_stats *s, uint32_t op);
/* How many operators occur, of how many. */
uint32_t corpus_stats_operators(uint32_t *all, const struct corpus_stats *s);
/* What a trivial rewrite holds, in its language (trivial.h). */
const char *corpus_stats_trivial(const struct corpus_stats *s);

#endif
