/* Seeded randomness; see rng.h. */
#include "base/rng.h"

#include <math.h>

struct rng rng_new(uint64_t seed, uint64_t stream)
{
    struct rng r;
    for (uint64_t i = 0; i < 4; i++)
        r.s[i] = rng_at(seed, stream, i);
    return r;
}

static uint64_t rotl(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

uint64_t rng_u64(struct rng *r)
{
    uint64_t *s = r->s, result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
    /* Lemire's multiplication; rejects the few values that would cause bias. */
    uint64_t threshold = -n % n;
    for (;;) {
        unsigned __int128 m = (unsigned __int128)rng_u64(r) * n;
        if ((uint64_t)m >= threshold)
            return (uint64_t)(m >> 64);
    }
}

double rng_double(struct rng *r)
{
    return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

double rng_normal(struct rng *r)
{
    /* Box-Muller, one value of the pair: no hidden state. */
    double u = 1.0 - rng_double(r), v = rng_double(r);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586477 * v);
}

void rng_shuffle_u32(struct rng *r, uint32_t *values, uint64_t n)
{
    for (uint64_t i = n; i > 1; i--) {
        uint64_t j = rng_below(r, i);
        uint32_t t = values[i - 1];
        values[i - 1] = values[j];
        values[j] = t;
    }
}
