/* How far the ranking error of held-out papers may be below the true one (Semantic Search in
 * Millions of Equations, 5.2). Papers are independent, the equations of one paper are not. Triples
 * of an equation x, x+ of its class and x- of another class depend on each other if they share a
 * paper. Janson's inequality for sums of partly dependent variables bounds the error s by its
 * estimate:
 *
 *     s <= estimate + sqrt(ln(1 / delta) * chi / (2 |D|))   with probability 1 - delta,
 *
 * where D is the set of triples, and chi is at least the (fractional) chromatic number of their
 * dependency graph.
 *
 * - by_size: the bound of the article, corrected: 3 sqrt(ln(1 / delta) max n_i / (2 n)) for n
 *   equations, n_i of them in paper i. It holds for means over all triples of any equations.
 * - by_triples: takes for chi the largest number of triples that touch one or the other of two
 *   papers. It holds for means over the triples (x, x+, x-) alone, such as the ranking error, even
 *   where most papers have one equation and therefore no x+.
 * - A sample takes for chi the number of colours of a greedy colouring (the article's (9)).
 *
 * Where positives are equations of cited papers, a triple involves three papers: chi is at most the
 * number of triples that touch one of three. */
#pragma once

#include "base/rng.h"
#include "ops/eval/measure/vectors.h"

/* The members of group k, in order, are member[first[k]] to member[first[k + 1] - 1]. */
struct groups {
    uint32_t *first, *member;
};
struct groups groups_of(struct arena *a, const uint32_t *group, uint32_t n, uint32_t n_groups);

struct ranking_blocks {
    const struct vectors *v; /* of length 1; v->cluster: classes, each within one paper */
    const uint32_t *paper;   /* (n): paper of each vector */
    uint32_t n_papers;
    /* NULL, or: positives are equations of cited papers, and those of the same paper are left out.
     * (n_cites) pairs of citing and cited paper, sorted and unique, without self-citations; and the
     * index of each paper's first pair (n_papers + 1). */
    const uint32_t (*cites)[2];
    const uint32_t *cites_first;
};

struct ranking_bound {
    double triples;             /* number of ordered triples (x, x+, x-) */
    double largest;             /* number of equations of the largest paper */
    double by_size, by_triples; /* to be added to the error over all triples */
};
void ranking_bound_find(struct ranking_bound *out, struct arena *a, const struct ranking_blocks *x,
                        double delta);

struct ranking_sample {
    double error;   /* over n triples, drawn independently; equal cosines count half */
    double colours; /* chi */
    double bound;   /* to be added to the error */
};
/* Requires n >= 1 and at least one triple. */
void ranking_sample_draw(struct ranking_sample *out, struct arena *a,
                         const struct ranking_blocks *x, uint32_t n, double delta, struct rng *rng);
