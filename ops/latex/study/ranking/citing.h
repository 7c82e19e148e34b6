/* Which papers cite which: the equations of cited papers are the positives of those of the citing
 * one, which are left out themselves; all others are negatives. */
#pragma once

#include "ops/latex/study/equation_vectors.h"

struct citing {
    const struct equation_vectors *x;
    uint32_t (*pairs)[2], n_pairs;   /* citing, cited: sorted, each once, none of itself */
    uint32_t *first;                 /* (papers + 1): where a paper's pairs begin */
    uint32_t *member, *member_first; /* of papers: equations */
};

/* From records of papers; papers without equations do not matter. `pairs` is freed by the caller.
 */
enum err_code citing_load(struct citing *c, struct op_ctx *ctx, const char *papers,
                          const struct equation_vectors *x, struct err *e);
/* For a retrieval_relation. */
void citing_mark(uint8_t *standing, const void *citing, uint32_t query);
