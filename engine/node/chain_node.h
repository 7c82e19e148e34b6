/* The inside of chains: what is known of one (chain_resume.c) and how the rest of it is run
 * (chain_node.c).
 *
 * A segment is known by its key, which holds the ids of all inputs, or by what it reads of them
 * (op.reads): then it stands by proof, whatever else the inputs hold. Either leads to an action,
 * and by way of a trail over segments whose records are gone. */
#ifndef ENGINE_CHAIN_NODE_H
#define ENGINE_CHAIN_NODE_H

#include "engine/run/session.h"
#include "engine/node/chain_index.h"

struct chain_segment {
    struct digest key;
    struct digest reads; /* zero: not asked */
    bool proved;         /* known by what it reads alone */
};

struct chain {
    struct worker *w;
    uint32_t node;
    uint64_t n;
    bool distrust;
    bool has_previous;
    struct digest previous;
    struct digest *outputs; /* of the last segment done, by op->outputs */
    struct chain_segment *segments;
    struct digest *made; /* by segment: its first output; zero: not known */
    struct chain_index trail;  /* by keys: of this chain */
    struct chain_index reads;  /* by what is read: of all chains that begin with the same text */
    uint64_t proved;     /* segments before the end that stand by proof ... */
    const char *reason;  /* ... as the op says of the last one; in the node's arena `work` */
};

/* `outputs`: room for what the op gives. */
enum err_code chain_open(struct chain *c, struct worker *w, uint32_t i, struct digest *outputs,
                         struct err *e);
void chain_close(struct chain *c);

/* Of the segment that comes after what was done. */
enum err_code chain_key(struct key *key, struct op_segment *segment, const struct chain *c,
                        struct arena *a, uint64_t index, struct err *e);
/* Fills segments[index].reads, if the op can tell; else it stays zero. */
void chain_read(const char **reason, struct chain *c, const struct op_segment *segment,
                struct arena *a);
/* The segment is done. */
void chain_step(struct chain *c, const struct action_result *made);
/* Goes to the end of the last segment that is known and of which all that it made is there. *done:
 * segments up to there. */
enum err_code chain_find_end(uint64_t *done, struct chain *c, struct err *e);
/* Into the batch: actions of the proved ones among these whose records are there. */
enum err_code chain_adopt(struct store_batch *b, struct chain *c, uint64_t done, struct err *e);
/* Into the batch: what leads from here to a segment's action, which gave made[index]. */
enum err_code chain_note(struct store_batch *b, struct chain *c, uint64_t index,
                         const struct digest *action, struct arena *a, struct err *e);

#endif
