/* Embedded equations beside their places, and the division of equations by their papers. */
#pragma once

#include "engine/op.h"
#include "ops/eval/measure/vectors.h"
#include "ops/latex/study/hnsw.h"
#include "paper.pb-c.h"

struct equation_vectors {
    struct vectors v; /* of length 1; `cluster` is free for use. n is 0 without equations */
    const Eqloom__Place **place; /* (n) */
    uint32_t *paper;             /* (n): papers, numbered by first appearance */
    uint32_t *section;           /* (n): sections of papers, too */
    uint32_t n_papers, n_sections;
};

/* Of an input of graphs, whose op summarizes them by equation_place_summarize, and one of
 * embeddings: one vector for each graph, in their order. `within` leaves those of papers that have
 * a graph in that input; if it is NULL or not connected, all. Lives in the ctx's arena. */
enum err_code equation_vectors_load(struct equation_vectors *out, struct op_ctx *ctx,
                                    const char *graphs, const char *embeddings, const char *within,
                                    struct err *e);
/* Clusters are labels; those without one are each a cluster of its own. Returns how many labels
 * there are. */
uint32_t equation_vectors_by_label(struct equation_vectors *x);
/* An approximate index, from as many vectors on as the op's parameter `approximate_from` says; else
 * NULL. */
enum err_code equation_vectors_index(struct hnsw **out, const struct equation_vectors *x,
                                     struct op_ctx *ctx, struct err *e);

/* What the ops that divide equations by their papers have in common. A hash of the paper's name
 * says which part it is in: a paper that comes or goes moves no other. */
extern const struct op_param paper_split_params[];
enum err_code paper_split_check(struct op_ctx *ctx, struct err *e);
/* Elements of `role`, summarized by equation_place_summarize, to the outputs train, valid, test. */
enum err_code paper_split_run(struct op_ctx *ctx, const char *role, struct err *e);
