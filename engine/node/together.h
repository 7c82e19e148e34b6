/* Work that a map's op does once for several elements (op.together): before a range of elements
 * runs, the uncached ones get their shares in one call. An element that still has no share when it
 * runs gets its own, alone; results do not depend on which elements are grouped. */
#pragma once

#include "engine/node/node.h"

struct together {
    struct arena arena;
    uint64_t from; /* the first position of the range */
    void **shares; /* by position; NULL: none yet */
};

/* Errors are reported when the elements run. */
void together_begin(struct together *t, struct node_run *r, uint64_t from, uint64_t n);
/* Sets ctx->share; does nothing for ops without `together`. */
enum err_code together_share(struct op_ctx *ctx, struct together *t, struct node_run *r,
                             uint64_t position, struct err *e);
void together_end(struct together *t);
