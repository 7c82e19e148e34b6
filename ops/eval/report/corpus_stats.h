/* Statistics of a corpus of clusters, for the report. */
#pragma once

#include "base/map.h"
#include "cluster.pb-c.h"
#include "ops/eval/report/figures.h"
#include "ops/expr/expr.h"

enum {
    STATS_LENGTHS = 64,
    STATS_EXAMPLES = 6,
    STATS_SHOWN = 6,
    STATS_SHORT = 13,
    STATS_STANDINGS = 7,
    STATS_KINDS = 4,
    STATS_EXP = X_BOOLEAN_END, /* e^x is the 34th operator of the calculus, not a case of pow */
    STATS_OPS
};

struct corpus_stats {
    const struct language *lang; /* of the first cluster; terms in others are not counted */
    uint64_t clusters, members, tokens;
    double tokens_squared, operators, operators_squared; /* sums over members */
    uint64_t by_kinds[STATS_KINDS + 1]; /* members by the number of kinds of operators: arithmetic,
                                           trigonometric, hyperbolic, exponential */
    uint64_t derivatives;               /* clusters whose seed is a derivative */
    uint64_t by_length[STATS_LENGTHS];  /* members; the last entry includes longer ones */
    uint64_t by_op[STATS_OPS];          /* members that contain it */
    uint64_t by_standing[STATS_STANDINGS];
    uint64_t reducible;   /* reducible members other than seeds */
    struct map64 shapes;  /* hashes of terms, with all numbers and symbols identified */
    uint64_t shapes_each; /* different shapes in a cluster, summed over clusters */
    Eqloom__Basis basis;  /* the weakest of all clusters */
    struct corpus_example {
        char *seed, *terms;
        char *members[STATS_SHOWN];
        uint32_t n_shown, n_members;
    } examples[STATS_EXAMPLES];
    uint32_t n_examples;
};

/* Adds cluster i of n; examples are taken at regular intervals and copied into the arena. */
void corpus_stats_add(struct corpus_stats *s, struct arena *a, const Eqloom__Cluster *c, uint64_t i,
                      uint64_t n);
void corpus_stats_free(struct corpus_stats *s);
/* "sin", "exp"; NULL if the language has no such operator. */
const char *corpus_op_name(const struct corpus_stats *s, uint32_t op);
/* The figures and their table. */
struct figures corpus_stats_figures(struct arena *a, const struct corpus_stats *s);

/* Whether a term contains a trivial rewrite, that is one of these: * x+0 0+x x-0 0-(0-x) x*1 1*x
 * x/1 x^1 x*0 0/x x^0 1^x * -1*(-1*x) 0-(-1*x) a-(-1*x) 1/(1/x) a/(1/x) ||x|| * f(g(x)) of inverse
 * functions f and g, e^ln(x), ln(e^x), sqrt(x)^2, sqrt(x^2) or, of Boolean terms, not(not(x)) or a
 * connective of true or false. Two terms that differ by such steps only are not both irreducible,
 * so the share of reducible members bounds the share of members that differ trivially from
 * another. */
bool corpus_term_is_reducible(const struct expr *x);
