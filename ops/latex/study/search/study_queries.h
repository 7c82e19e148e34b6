/* What a study of searches asks: the queries of an input, or equations of the corpus that are
 * drawn.
 *
 * Drawn queries take the words of their section's title that are relevant to neither too few nor
 * too many equations. All sources have a turn before one has another; within a source the order is
 * by a hash of the seed and the equation's place. Equations are in two halves by a hash of the
 * place alone: draws of different halves share no query, whatever their seeds. */
#pragma once

#include "ops/latex/study/equation_vectors.h"

struct asked {
    const Eqloom__Place *place;
    const char *keywords; /* joined by ", " */
    const bool *relevant; /* (the corpus's sections): a keyword stands in it */
    uint32_t row;         /* of its vector, among the queries' or, drawn, the corpus's */
    uint32_t source;      /* drawn: of the corpus; else a number of its own */
};

struct study_queries {
    struct asked *asked; /* drawn: in the order of rows */
    size_t n;
    const char **title; /* of the corpus's sections; "" where the paper is not among the papers */
};

/* Where papers come from: of each equation the folder that its paper's name begins with, or else
 * the paper. In the ctx's arena. */
uint32_t *study_sources(const struct equation_vectors *x, struct op_ctx *ctx);

/* Of the inputs `papers` and `queries`. ERR_INPUT if one has no keyword. */
enum err_code study_queries_take(struct study_queries *out, const struct equation_vectors *queries,
                                 const struct equation_vectors *corpus, struct op_ctx *ctx,
                                 struct err *e);

struct study_draw {
    size_t most;                          /* queries */
    uint64_t seed, half;                  /* half: 0 or 1 */
    double least_relevant, most_relevant; /* shares of all equations, of each keyword */
};
enum err_code study_queries_draw(struct study_queries *out, const struct study_draw *how,
                                 const struct equation_vectors *corpus, const uint32_t *source,
                                 struct op_ctx *ctx, struct err *e);
