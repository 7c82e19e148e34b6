/* Backoff (after egg's): a rule that has applied match_limit matches in one iteration and finds
 * another is banned for ban_length iterations, and then continues at the node where it stopped.
 * Both numbers double each time. */
#pragma once

#include "ops/egraph/graph/egraph.h"

/* The backoff of one rule. */
struct backoff {
    uint32_t until; /* banned before this iteration */
    uint32_t times;
};

/* How many matches the rule may apply in an iteration. */
uint64_t backoff_limit(const struct backoff *r, const struct saturate_options *o);
/* Bans a rule that found more in this iteration. */
void backoff_ban(struct backoff *r, const struct saturate_options *o, uint32_t iteration);
/* Nothing changed before iteration `next`. Returns whether a rule whose ban ended is active in it.
 * If only banned rules are left, all bans are shortened until the first one ends. */
bool backoff_shorten(struct backoff *backoff, size_t n, uint32_t next);
