/* Hash maps from 64-bit keys and from digests to 64-bit values: open addressing, power-of-two
 * tables, no deletion. Never iterated: order of insertion lives with the caller. A zeroed struct
 * is an empty map. */
#pragma once

#include "base/digest.h"

#include <stddef.h>

struct map64 {
    struct map64_slot {
        uint64_t key, value;
    } * slots;
    uint8_t *used;
    size_t n, size;
};

void map64_free(struct map64 *m);
void map64_clear(struct map64 *m);
/* NULL when absent; the pointer is good until the next put. */
uint64_t *map64_get(const struct map64 *m, uint64_t key);
/* The value's place, new ones set to `initial`; *added tells (may be NULL). */
uint64_t *map64_put(struct map64 *m, uint64_t key, uint64_t initial, bool *added);

struct digest_map {
    struct digest_map_slot {
        struct digest key;
        uint64_t value;
    } * slots;
    uint8_t *used;
    size_t n, size;
};

void digest_map_free(struct digest_map *m);
void digest_map_clear(struct digest_map *m);
uint64_t *digest_map_get(const struct digest_map *m, const struct digest *key);
uint64_t *digest_map_put(struct digest_map *m, const struct digest *key, uint64_t initial,
                         bool *added);

/* From strings (copied) to values, for names. */
struct name_map {
    struct name_map_slot {
        char *key;
        uint64_t value;
    } * slots;
    size_t n, size;
};

void name_map_free(struct name_map *m);
uint64_t *name_map_get(const struct name_map *m, const char *key);
uint64_t *name_map_put(struct name_map *m, const char *key, uint64_t initial, bool *added);
