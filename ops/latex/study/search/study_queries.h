/* The queries of a search study: those of an input, or equations drawn from the corpus.
 *
 * The keywords of a drawn query are the words of its section's title that are relevant to neither
 * too few nor too many equations. Draws alternate between sources; within a source the order is by
 * a hash of the seed and the equation's place. A hash of the place alone splits the equations into
 * two halves, so draws from different halves share no query, whatever their seeds. */
#pragma once

#include "ops/latex/study/equation_vectors.h"

struct keyword_query {
    const Eqloom__Place *place;
    const char *keywords; /* joined by ", " */
    const bool *relevant; /* by section of the corpus: it contains a keyword */
    uint32_t row;         /* of its vector, among the queries' or, if drawn, the corpus's */
    uint32_t source;      /* of the corpus if drawn; otherwise unique */
};

struct study_queries {
    struct keyword_query *items; /* drawn queries are in the order of rows */
    size_t n;
    const char **title; /* by section of the corpus; "" if its paper is not in the input */
};

/* Returns the source of each equation: the folder that its paper's name begins with, or else the
 * paper. Lives in the ctx's arena. */
uint32_t *study_sources(const struct equation_vectors *x, struct op_ctx *ctx);

/* Takes the queries of the inputs `papers` and `queries`. Fails with ERR_INPUT if one has no
 * keyword. */
enum err_code study_queries_take(struct study_queries *out, const struct equation_vectors *queries,
                                 const struct equation_vectors *corpus, struct op_ctx *ctx,
                                 struct err *e);

struct study_draw {
    size_t most;                          /* maximum number of queries */
    uint64_t seed, half;                  /* half: 0 or 1 */
    double least_relevant, most_relevant; /* bounds of each keyword's share of all equations */
};
enum err_code study_queries_draw(struct study_queries *out, const struct study_draw *how,
                                 const struct equation_vectors *corpus, const uint32_t *source,
                                 struct op_ctx *ctx, struct err *e);
