/* Backoff (after egg's): a rule that has applied match_limit matches in one iteration and finds
 * another rests ban_length iterations, and later goes on with the node at which it stopped; both
 * double each time. */
#ifndef OPS_EGRAPH_RUN_BACKOFF_H
#define OPS_EGRAPH_RUN_BACKOFF_H

#include "ops/egraph/graph/egraph.h"

/* Of one rule. */
struct backoff {
    uint32_t until; /* this iteration */
    uint32_t times;
};

/* How many matches the rule may apply in an iteration. */
uint64_t backoff_limit(const struct backoff *r, const struct saturate_options *o);
/* In this iteration the rule found more. */
void backoff_ban(struct backoff *r, const struct saturate_options *o, uint32_t iteration);
/* Nothing changed before iteration `next`. True: a rule that rested is awake in it; where only
 * resting rules could go on, time passes until the first of them wakes. */
bool backoff_wake(struct backoff *backoff, size_t n, uint32_t next);

#endif
