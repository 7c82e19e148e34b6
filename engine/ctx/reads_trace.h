/* What an element was found to read. An op may say in the middle of its run all that its result
 * depends on from there on (op_recall); a trace leads from that to the action that did the rest. So
 * an element that changed where the op does not look costs the looking, and its result stands by
 * proof. */
#ifndef ENGINE_READS_TRACE_H
#define ENGINE_READS_TRACE_H

#include "engine/cache/action.h"

struct op_ctx;

struct recall {
    bool may; /* the engine believes earlier results */
    bool asked, found;
    struct digest at; /* in `traces`: of what is read, with op, version, numerics, parameters */
    struct action_result made; /* found: what stands, and the note that says why */
};

/* A trace that leads from what is read, as digest, to the action that did the rest. */
enum err_code reads_trace_write(struct store_batch *b, struct arena *a, const struct digest *at,
                                const struct digest *action, struct err *e);
/* Where it leads; false: to nothing that is there. */
bool reads_trace_find(struct action_result *out, struct arena *a, struct store *s,
                      const struct op *op, const struct digest *at);

/* Into the batch: what op_recall was asked for is given by this action from now on. */
enum err_code reads_trace_commit(struct store_batch *b, struct op_ctx *ctx,
                                 const struct digest *action, struct err *e);

#endif
