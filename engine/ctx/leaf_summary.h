/* Summaries of the elements of a large collection (op.summarize), stored by leaf of the
 * collection's tree: one action holds those of some 128 elements; its key has the op, its version
 * and parameters and the leaf's id. So a task over a collection of which little changed reads few
 * records. In a new leaf, elements that the collection had before are found in its former leaves.
 * The actions name the leaf as their output, so that gc drops them together. */
#pragma once

#include "engine/ctx/ctx.h"

struct summaries; /* of one collection; one thread at a time */
/* `before`: an earlier state of the collection, or NULL. */
enum err_code summaries_open(struct summaries **out, struct store *s,
                             const struct digest *collection, const struct digest *before,
                             struct err *e);
void summaries_close(struct summaries *s); /* NULL is fine */
/* The summary of element i of the ctx's input `port`, good until the next call. New ones go into
 * the ctx's batch. `fresh`: stored summaries are ignored. */
enum err_code summaries_at(struct span *out, struct summaries *s, struct op_ctx *ctx, size_t port,
                           uint64_t i, bool fresh, struct err *e);
