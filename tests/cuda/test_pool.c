/* The pool of a card's memory, by random takes and gives: what is in use is no one else's, what was
 * given is given again, and all of it goes back to the driver. */
#include "base/rng.h"
#include "gpu/cuda/cuda_queue.h"
#include "tests/cuda/double.h"

#include <stdio.h>
#include <stdlib.h>

enum { HELD = 24, TIMES = 4000 };

struct held {
    char *at;
    size_t size;
};

static int overlap(const struct held *all, const struct held *x)
{
    for (int i = 0; i < HELD; i++)
        if (&all[i] != x && all[i].at && all[i].at < x->at + x->size &&
            x->at < all[i].at + all[i].size)
            return 1;
    return 0;
}

int main(void)
{
    const char *given = getenv("EQLOOM_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : 1;
    struct rng r = rng_new(seed, 0);
    struct cuda_pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct held all[HELD] = {0};
    long again = 0;
    printf("seed %llu\n", (unsigned long long)seed);
    eqloom_double.now = true;
    for (int i = 0; i < TIMES; i++) {
        struct held *x = &all[rng_below(&r, HELD)];
        if (x->at) {
            cuda_pool_give(&pool, x->at);
            x->at = NULL;
            continue;
        }
        long before = eqloom_double.allocations;
        x->size = 1 + (size_t)rng_below(&r, 6) * 1000;
        if (cuda_pool_take((void **)&x->at, &pool, x->size))
            return fprintf(stderr, "no memory\n"), 1;
        again += eqloom_double.allocations == before;
        if (overlap(all, x))
            return fprintf(stderr, "take %d: memory that is in use\n", i), 1;
    }
    if (again < TIMES / 4)
        return fprintf(stderr, "only %ld takes were of memory given back\n", again), 1;
    cuda_pool_close(&pool);
    return eqloom_double.live != 0;
}
