/* A pool of worker threads for loops over independent items. Which thread runs an item is
 * unspecified, so results must be stored by item; they are then the same for any number of
 * threads. */
#pragma once

#include <stddef.h>

struct pool;
/* n_threads includes the caller of pool_for, so 1 starts no thread. Returns NULL if threads cannot
 * be started. */
struct pool *pool_new(unsigned n_threads);
void pool_free(struct pool *p);
unsigned pool_threads(const struct pool *p); /* 1 for NULL */

/* Calls fn(arg, item, worker) for item 0..n-1, worker < pool_threads(p); returns when all are
 * done. p == NULL runs in the caller. Not reentrant: fn must not call pool_for on the same pool. */
void pool_for(struct pool *p, size_t n, void (*fn)(void *arg, size_t item, unsigned worker),
              void *arg);

/* Like pool_for, in chains: an item starts after item - chains has finished. Items start in order,
 * so a wait cannot deadlock. */
void pool_for_chains(struct pool *p, size_t n, size_t chains,
                     void (*fn)(void *arg, size_t item, unsigned worker), void *arg);
