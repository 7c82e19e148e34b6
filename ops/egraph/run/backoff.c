/* Bans of rules; see backoff.h. */
#include "ops/egraph/run/backoff.h"

enum {
    MOST_TIMES = 32,
    MOST_DOUBLED = 20
}; /* beyond these there is no limit, and bans grow no longer */

uint64_t backoff_limit(const struct backoff *r, const struct saturate_options *o)
{
    if (!o->ban_length || r->times >= MOST_TIMES)
        return UINT64_MAX;
    return (uint64_t)o->match_limit << r->times;
}

void backoff_ban(struct backoff *r, const struct saturate_options *o, uint32_t iteration)
{
    uint32_t times = r->times < MOST_DOUBLED ? r->times : MOST_DOUBLED;
    uint64_t length = (uint64_t)o->ban_length << times;
    r->until = length > UINT32_MAX - iteration ? UINT32_MAX : iteration + (uint32_t)length;
    r->times++;
}

bool backoff_shorten(struct backoff *backoff, size_t n, uint32_t next)
{
    uint32_t first = UINT32_MAX;
    bool any_active = false;
    for (size_t i = 0; i < n; i++) {
        if (backoff[i].until > next && backoff[i].until < first)
            first = backoff[i].until;
        any_active |= backoff[i].until == next && next > 0 && backoff[i].times;
    }
    if (first == UINT32_MAX || any_active)
        return any_active;
    for (size_t i = 0; i < n; i++)
        if (backoff[i].until > next)
            backoff[i].until -= first - next;
    return true;
}
