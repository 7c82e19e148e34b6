/* Embedded equations with their places, and the split of equations by paper. */
#pragma once

#include "engine/op.h"
#include "ops/eval/measure/vectors.h"
#include "ops/latex/study/hnsw.h"
#include "paper.pb-c.h"

struct equation_vectors {
    struct vectors v; /* of length 1; the caller may set `cluster`; n is 0 without equations */
    const Eqloom__Place **place; /* (n) */
    uint32_t *paper;             /* (n): papers, numbered by first appearance */
    uint32_t *section;           /* (n): sections, numbered likewise over all papers */
    uint32_t n_papers, n_sections;
};

/* Loads an input of graphs, whose op summarizes them by equation_place_summarize, and one of
 * embeddings, with one vector per graph in the same order. Keeps only papers that have a graph in
 * the input `within`; keeps all if that is NULL or not connected. Lives in the ctx's arena. */
enum err_code equation_vectors_load(struct equation_vectors *out, struct op_ctx *ctx,
                                    const char *graphs, const char *embeddings, const char *within,
                                    struct err *e);
/* Makes each label a cluster, and each equation without label a cluster of its own. Returns the
 * number of labels. */
uint32_t equation_vectors_by_label(struct equation_vectors *x);
/* Builds an approximate index if there are at least as many vectors as the op's parameter
 * `approximate_from`; otherwise sets *out to NULL. */
enum err_code equation_vectors_index(struct hnsw **out, const struct equation_vectors *x,
                                     struct op_ctx *ctx, struct err *e);

/* Shared by the ops that split equations by paper. A hash of the paper's name chooses the part, so
 * adding or removing a paper moves no other. */
extern const struct op_param paper_split_params[];
enum err_code paper_split_check(struct op_ctx *ctx, struct err *e);
/* Copies the elements of `role`, which are summarized by equation_place_summarize, to the outputs
 * train, valid and test. */
enum err_code paper_split_run(struct op_ctx *ctx, const char *role, struct err *e);
