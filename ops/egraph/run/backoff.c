/* Rests of rules; see backoff.h. */
#include "ops/egraph/run/backoff.h"

enum {
    MOST_TIMES = 32,
    MOST_DOUBLED = 20
}; /* beyond which there is no limit, and no longer rest */

uint64_t rest_allows(const struct rest *r, const struct saturate_options *o)
{
    if (!o->ban_length || r->times >= MOST_TIMES)
        return UINT64_MAX;
    return (uint64_t)o->match_limit << r->times;
}

void rest_begin(struct rest *r, const struct saturate_options *o, uint32_t iteration)
{
    uint32_t times = r->times < MOST_DOUBLED ? r->times : MOST_DOUBLED;
    uint64_t length = (uint64_t)o->ban_length << times;
    r->until = length > UINT32_MAX - iteration ? UINT32_MAX : iteration + (uint32_t)length;
    r->times++;
}

bool rests_wake(struct rest *rests, size_t n, uint32_t next)
{
    uint32_t first = UINT32_MAX;
    bool awake_later = false;
    for (size_t i = 0; i < n; i++) {
        if (rests[i].until > next && rests[i].until < first)
            first = rests[i].until;
        awake_later |= rests[i].until == next && next > 0 && rests[i].times;
    }
    if (first == UINT32_MAX || awake_later)
        return awake_later;
    for (size_t i = 0; i < n; i++)
        if (rests[i].until > next)
            rests[i].until -= first - next;
    return true;
}
