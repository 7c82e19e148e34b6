/* Where equations stand, as summaries of Graph, MathML, Image and Paper records: ops that
 * walk a corpus read these instead of the records. */
#pragma once

#include "engine/op.h"
#include "paper.pb-c.h"

/* An op's `summarize` for all four kinds; of a paper with sections its name alone. */
enum err_code equation_place_summarize(struct span *out, struct arena *a, struct op_ctx *ctx,
                                       const ProtobufCMessage *element, struct err *e);
/* Element i of such an input, in the arena. What has no place has an empty one. */
enum err_code equation_place_get(const Eqloom__Place **out, struct op_ctx *ctx, const char *role,
                                 uint64_t i, struct arena *a, struct err *e);
/* The same equation of the same paper. */
bool equation_place_same(const Eqloom__Place *x, const Eqloom__Place *y);
