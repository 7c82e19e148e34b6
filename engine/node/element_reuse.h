/* Reuse by proof: an element's earlier result, made from other side inputs, stands if the op proves
 * that it would be made again. The column family `traces` leads from an element (with op, version,
 * numerics and parameters) to its latest action and to what the op noted then for such proofs. The
 * same goes for blocks of a map's input (map_tree.h), whose notes unite those of their elements.
 */
#ifndef ENGINE_ELEMENT_REUSE_H
#define ENGINE_ELEMENT_REUSE_H

#include "engine/node/node.h"

struct reuse_origin {
    struct digest action;  /* the latest action with this result */
    struct digest trace;   /* the element's key in `traces` */
    struct digest made_by; /* the action that ran, and under which the note stands */
};

/* True: the earlier result stands; *made has its outputs and says why, *note is what goes with it.
 * False also when anything goes wrong: then the element is computed. The op is prepared. */
bool reuse_element(struct action_result *made, struct reuse_origin *origin, struct span *note,
                   struct worker *w, uint32_t i, const struct digest *id);
/* The same for a block, whose results all stand. Prepares the op. */
bool reuse_block(struct reuse_origin *origin, const char **reason, struct worker *w, uint32_t i,
                 const struct digest *id);
/* The note that goes with an action of an element or block, into the worker's arena; data NULL:
 * none is known. */
struct span reuse_find_note(struct worker *w, uint32_t i, const struct digest *id,
                            const struct digest *action);
/* An action that ran, and what the op noted, for later. */
enum err_code reuse_note(struct store_batch *b, struct worker *w, uint32_t i,
                         const struct digest *id, const struct digest *action, struct span note,
                         struct err *e);
/* The element's latest action is another one now, with the same result. */
enum err_code reuse_follow(struct store_batch *b, struct worker *w,
                           const struct reuse_origin *origin, const struct digest *action,
                           struct err *e);

#endif
