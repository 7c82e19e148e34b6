/* A cluster of equal expressions from one e-graph: the seed first, then terms of its class in
 * random order, each compared with the seed. */
#pragma once

#include "cluster.pb-c.h"
#include "ops/expr/ball/ball.h"
#include "ops/extract/extract_draw.h"

struct extract_options {
    struct grammar_options grammar;
    uint32_t per_cluster; /* maximum number of members, including the seed */
    struct draw_options draw;
    bool verify;
    uint32_t points;
};

/* An e-graph from which a cluster is drawn; keeps pointers to the e-graph and the options. */
struct extraction {
    const Eqloom__EGraph *egraph;
    const struct extract_options *options;
    struct grammar grammar;
    struct expr seed;
};

/* *out lives in the arena. */
enum err_code extract_begin(struct extraction *out, struct arena *a, const Eqloom__EGraph *egraph,
                            const struct extract_options *options, struct err *e);
/* The cluster lives in the arena. Fails with ERR_FAILED and a witness if a member is not equal to
 * the seed. */
enum err_code extract_cluster(Eqloom__Cluster *out, struct arena *a, const struct extraction *x,
                              struct rng *rng, struct err *e);
