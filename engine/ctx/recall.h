/* Recall: an op may say in the middle of its run all that its result depends on from there on
 * (op_recall); a trace leads from that to the action that did the rest. So an element that changed
 * where the op does not look costs the looking, and its result is reused. */
#ifndef ENGINE_RECALL_H
#define ENGINE_RECALL_H

#include "engine/cache/action.h"

struct op_ctx;

struct recall {
    bool may; /* earlier results may be used */
    bool asked, found;
    struct digest at; /* in `traces`: of what is read, with op, version, numerics, parameters */
    struct action_result made; /* found: the result, and the note that says why */
};

/* Into the batch: a trace from what op_recall was asked for to this action. */
enum err_code recall_write(struct store_batch *b, struct op_ctx *ctx, const struct digest *action,
                           struct err *e);

#endif
