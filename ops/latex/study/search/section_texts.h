/* The words of the sections that equations stand in. */
#pragma once

#include "ops/latex/study/equation_vectors.h"

struct section_texts {
    const char **text;  /* by section of the equations: title and words, folded by keywords_fold */
    const char **title; /* "" where the paper is not among the papers */
};

/* Of an input of papers, in the ctx's arena. */
enum err_code section_texts_load(struct section_texts *out, struct op_ctx *ctx, const char *papers,
                                 const struct equation_vectors *x, struct err *e);
