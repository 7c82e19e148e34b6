/* Reuse by proof: an element's earlier result, made from other side inputs, stands if the op proves
 * that it would be made again. The column family `traces` leads from an element (with op, version,
 * numerics and parameters) to its latest action and to what the op noted then for such proofs. */
#ifndef ENGINE_REUSE_H
#define ENGINE_REUSE_H

#include "engine/session.h"

struct reuse_origin {
    struct digest trace;   /* the element's key in `traces` */
    struct digest made_by; /* the action that ran, and under which the note stands */
};

/* True: the earlier result stands; *made has its outputs and says why. False also when anything
 * goes wrong: then the element is computed. The op is prepared. */
bool reuse_element(struct made *made, struct reuse_origin *origin, struct worker *w, uint32_t i,
                   const struct digest *id);
/* An action that ran, and what the op noted, for later. */
enum err_code reuse_note(struct store_batch *b, struct worker *w, uint32_t i,
                         const struct digest *id, const struct digest *action, struct span note,
                         struct err *e);
/* The element's latest action is another one now, with the same result. */
enum err_code reuse_follow(struct store_batch *b, struct worker *w,
                           const struct reuse_origin *origin, const struct digest *action,
                           struct err *e);

#endif
