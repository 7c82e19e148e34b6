/* Equal forms of one expression: terms of its e-class in a saturated e-graph, each compared with
 * it. Forms that differ only in the order or grouping of sums and products or in the place of signs
 * count as one. */
#pragma once

#include "ops/egraph/graph/egraph.h"

struct variants_options {
    uint32_t n; /* forms, at most */
    uint32_t max_tokens;
    bool different; /* each as far as possible from the others, by edit distance; else the shortest
                     */
};
struct variants {
    struct expr *forms; /* not the expression itself */
    uint32_t n;
    char terms[48]; /* of the class within the tokens, counted; ">=" before a lower bound */
};

/* `root` is the class of x in the rebuilt graph. Lives in the arena. ERR_FAILED, with a witness: a
 * rule is false. */
enum err_code variants_find(struct variants *out, struct arena *a, struct egraph *g, eclass_id root,
                            const struct expr *x, const struct variants_options *options,
                            struct err *e);
