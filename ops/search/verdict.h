/* Whether what was found is equal to what was asked for: proved, refuted or undecided, with the
 * reason in words. */
#ifndef OPS_SEARCH_VERDICT_H
#define OPS_SEARCH_VERDICT_H

#include "cluster.pb-c.h"
#include "ops/egraph/graph/egraph.h"

enum verdict { VERDICT_PROVED, VERDICT_REFUTED, VERDICT_UNDECIDED };
const char *verdict_word(enum verdict v);  /* "proved", ... */
const char *verdict_color(enum verdict v); /* of the word on a terminal */

/* What was found. Members of a cluster that rules made are equal to its seed; one proof for any of
 * them is a proof for all. */
struct finding {
    struct expr x;
    uint32_t cluster;              /* its number */
    const Eqloom__Cluster *source; /* NULL if unknown */
    bool by_rules;                 /* certified rules lead from the source's seed to it */
    enum verdict verdict;          /* filled by judge_all */
    const char *why;
};

struct judge; /* the shipped rules, read when they are first needed */
struct judge *judge_new(uint32_t max_nodes);
void judge_free(struct judge *j);

/* Fills verdict and why (in the arena) of n findings. Points refute; what agrees is looked for in
 * one e-graph for each cluster, of at most max_nodes e-nodes. */
enum err_code judge_all(struct judge *j, struct finding *findings, size_t n,
                        const struct expr *question, struct arena *a, struct err *e);

#endif
