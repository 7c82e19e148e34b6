/* What a task has to know of each element of a large collection (op.summarize), kept by leaf of the
 * collection's tree: the summaries of some 128 elements stand in one action, whose key has the op,
 * its version and parameters and the leaf's id. So a task over a collection of which little changed
 * reads few records: those summaries, and what it really works on. For a leaf that is new, elements
 * that the collection had before, in leaves that it has no more, are found there. The actions name
 * the leaf as their output, so that gc drops them with it. */
#ifndef ENGINE_LEAF_SUMMARY_H
#define ENGINE_LEAF_SUMMARY_H

#include "engine/ctx/ctx.h"

struct summaries; /* of one collection; one thread at a time */
/* `before`: an earlier state of the collection, or NULL. */
enum err_code summaries_open(struct summaries **out, struct store *s,
                             const struct digest *collection, const struct digest *before,
                             struct err *e);
void summaries_close(struct summaries *s); /* NULL is fine */
/* The summary of element i of the ctx's input `port`, good until the next call. What was not known
 * goes into the ctx's batch. `fresh`: what is known is not believed. */
enum err_code summaries_at(struct span *out, struct summaries *s, struct op_ctx *ctx, size_t port,
                           uint64_t i, bool fresh, struct err *e);

#endif
