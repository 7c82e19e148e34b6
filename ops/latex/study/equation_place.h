/* The places of equations, as summaries of Graph, MathML, Image and Paper records: ops that walk a
 * corpus read these instead of the records. */
#pragma once

#include "engine/op.h"
#include "paper.pb-c.h"

/* An op's `summarize` for all four kinds. A paper with sections is summarized by its name alone. */
enum err_code equation_place_summarize(struct span *out, struct arena *a, struct op_ctx *ctx,
                                       const ProtobufCMessage *element, struct err *e);
/* Returns the place of element i of such an input, in the arena; it is empty if the element has
 * none. */
enum err_code equation_place_get(const Eqloom__Place **out, struct op_ctx *ctx, const char *role,
                                 uint64_t i, struct arena *a, struct err *e);
/* Whether both are the same equation of the same paper. */
bool equation_place_same(const Eqloom__Place *x, const Eqloom__Place *y);
