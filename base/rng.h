/* Seeded randomness. A generator is a function of (seed, stream): two ops, or two elements of a
 * map, never share one. xoshiro256** (Blackman and Vigna 2018), seeded by SplitMix64. */
#pragma once

#include <stdint.h>

struct rng {
    uint64_t s[4];
};

/* SplitMix64's 64-bit finaliser: a bijection that mixes all bits. */
static inline uint64_t rng_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Hashes a text into h. */
static inline uint64_t rng_mix_text(uint64_t h, const char *s)
{
    for (; *s; s++)
        h = rng_mix(h ^ (uint8_t)*s);
    return h;
}

/* Counter-based: returns the k-th value of a stream without computing the earlier ones. */
static inline uint64_t rng_at(uint64_t seed, uint64_t stream, uint64_t k)
{
    return rng_mix(rng_mix(rng_mix(seed) ^ stream) ^ k);
}

struct rng rng_new(uint64_t seed, uint64_t stream);
uint64_t rng_u64(struct rng *r);
/* Uniform below n, without bias; n > 0. */
uint64_t rng_below(struct rng *r, uint64_t n);
/* Uniform in [0, 1), 53 bits. */
double rng_double(struct rng *r);
/* Standard normal. */
double rng_normal(struct rng *r);
/* Fisher-Yates. */
void rng_shuffle_u32(struct rng *r, uint32_t *values, uint64_t n);
