/* Hash maps from 64-bit keys and from digests to 64-bit values: open addressing, power-of-two
 * tables, no deletion, no iteration (callers keep the insertion order). A zeroed struct is an empty
 * map. */
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
/* Returns NULL if the key is absent; the pointer is valid until the next put. */
uint64_t *map64_get(const struct map64 *m, uint64_t key);
/* Returns a pointer to the value, inserted as `initial` if absent; *added (may be NULL) reports
 * whether it was inserted. */
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

/* A map from strings, which it copies, to values. */
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
