/* How far the ranking error of held-out papers may lie below the true one (Semantic Search in
 * Millions of Equations, 5.2). Papers are independent, the equations of one are not; triples of an
 * equation x, x+ of its class and x- of none of it depend on each other where they share a paper.
 * Janson's inequality for sums of partly dependent variables bounds the error s by its estimate:
 *
 *     s <= estimate + sqrt(ln(1 / delta) * chi / (2 |D|))   with probability 1 - delta,
 *
 * where D are the triples, and chi is at least the (fractional) chromatic number of their
 * dependency graph.
 *
 * - by_size: the paper's, corrected: 3 sqrt(ln(1 / delta) max n_i / (2 n)) of n equations, n_i of
 *   them in paper i. It is for means over all triples of any equations.
 * - by_triples: with chi at most the number of triples that touch one or the other of two papers.
 * It is for means over the triples (x, x+, x-) alone, as the ranking error is one, also where most
 *   papers have one equation, and thus no x+.
 * - A sample has chi colours of a greedy colouring (the paper's (9)).
 *
 * Where positives are equations of cited papers, a triple is of three papers: chi is at most the
 * number of triples that touch one of three. */
#pragma once

#include "base/rng.h"
#include "ops/eval/measure/vectors.h"

/* The members of group k, in order, are member[first[k]] up to member[first[k + 1]]. */
struct groups {
    uint32_t *first, *member;
};
struct groups groups_of(struct arena *a, const uint32_t *group, uint32_t n, uint32_t n_groups);

struct ranking_blocks {
    const struct vectors *v; /* of length 1; v->cluster: classes, each within one paper */
    const uint32_t *paper;   /* (n): of each vector */
    uint32_t n_papers;
    /* NULL, or: positives are equations of cited papers, those of the own paper are left out. Pairs
     * of citing and cited paper, (n_cites), sorted, each once, none of itself; where those of a
     * paper begin (n_papers + 1). */
    const uint32_t (*cites)[2];
    const uint32_t *cites_first;
};

struct ranking_bound {
    double triples;             /* how many there are: ordered (x, x+, x-) */
    double largest;             /* equations of the largest paper */
    double by_size, by_triples; /* what is to be added to the error of all triples */
};
void ranking_bound_find(struct ranking_bound *out, struct arena *a, const struct ranking_blocks *x,
                        double delta);

struct ranking_sample {
    double error;   /* of n triples, drawn independently; equal cosines count half */
    double colours; /* chi */
    double bound;   /* what is to be added */
};
/* n at least 1; there must be triples. */
void ranking_sample_draw(struct ranking_sample *out, struct arena *a,
                         const struct ranking_blocks *x, uint32_t n, double delta, struct rng *rng);
