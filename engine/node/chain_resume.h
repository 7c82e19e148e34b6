/* How far a chain is done (chain_resume.c); chain_node.c runs the rest of it.
 *
 * A segment is found by its key, which holds the ids of all inputs, or by what it reads of them
 * (op.reads): then its record is reused, whatever else the inputs hold. Either leads to an action,
 * and by way of the chain index past segments whose records are gone. */
#ifndef ENGINE_CHAIN_RESUME_H
#define ENGINE_CHAIN_RESUME_H

#include "engine/cache/chain_index.h"
#include "engine/node/node.h"

struct chain_segment {
    struct digest key;
    struct digest reads; /* zero: not asked */
    bool reused;         /* found by what it reads alone */
};

struct chain {
    struct worker *w;
    uint32_t node;
    uint64_t n;
    bool damaged;
    bool has_previous;
    struct digest previous;
    struct digest *outputs; /* of the last segment done, by op->outputs */
    struct chain_segment *segments;
    struct digest *made; /* by segment: its first output; zero: none */
    struct chain_index index;
    uint64_t reused;    /* segments before the end that were found by what they read ... */
    const char *reason; /* ... as the op says of the last one; in the node's arena `work` */
};

/* `outputs`: room for what the op gives. */
enum err_code chain_open(struct chain *c, struct worker *w, uint32_t i, struct digest *outputs,
                         struct err *e);
void chain_close(struct chain *c);

/* Of the segment that follows what is done. */
enum err_code chain_key(struct key *key, struct op_segment *segment, const struct chain *c,
                        struct arena *a, uint64_t index, struct err *e);
/* Fills segments[index].reads, if the op can tell; else it stays zero. */
void chain_read(const char **reason, struct chain *c, const struct op_segment *segment,
                struct arena *a);
/* The segment is done. */
void chain_step(struct chain *c, const struct action_result *made);
/* Goes to the end of the last segment whose outputs are all stored. *done: segments up to there. */
enum err_code chain_find_end(uint64_t *done, struct chain *c, struct err *e);
/* Into the batch: actions for the reused ones among these whose records are there. */
enum err_code chain_adopt(struct store_batch *b, struct chain *c, uint64_t done, struct err *e);
/* Into the batch: what leads to a segment's action, which gave made[index]. */
enum err_code chain_remember(struct store_batch *b, struct chain *c, uint64_t index,
                             const struct digest *action, struct arena *a, struct err *e);

#endif
