/* Hash maps; see map.h. Linear probing, load at most 1/2. */
#include "base/map.h"

#include "base/err.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

void map64_free(struct map64 *m)
{
    free(m->slots);
    free(m->used);
    *m = (struct map64){0};
}

void map64_clear(struct map64 *m)
{
    if (m->n)
        memset(m->used, 0, m->size);
    m->n = 0;
}

static size_t find64(const struct map64 *m, uint64_t key)
{
    size_t i = rng_mix(key) & (m->size - 1);
    while (m->used[i] && m->slots[i].key != key)
        i = (i + 1) & (m->size - 1);
    return i;
}

uint64_t *map64_get(const struct map64 *m, uint64_t key)
{
    if (!m->size)
        return NULL;
    size_t i = find64(m, key);
    return m->used[i] ? &m->slots[i].value : NULL;
}

static void grow64(struct map64 *m)
{
    struct map64 bigger = {.size = m->size ? m->size * 2 : 16, .n = m->n};
    bigger.slots = must_calloc(bigger.size, sizeof *bigger.slots);
    bigger.used = must_calloc(bigger.size, 1);
    for (size_t i = 0; i < m->size; i++)
        if (m->used[i]) {
            size_t j = find64(&bigger, m->slots[i].key);
            bigger.slots[j] = m->slots[i];
            bigger.used[j] = 1;
        }
    free(m->slots);
    free(m->used);
    *m = bigger;
}

uint64_t *map64_put(struct map64 *m, uint64_t key, uint64_t initial, bool *added)
{
    if (m->n * 2 >= m->size)
        grow64(m);
    size_t i = find64(m, key);
    if (added)
        *added = !m->used[i];
    if (!m->used[i]) {
        m->used[i] = 1;
        m->slots[i] = (struct map64_slot){key, initial};
        m->n++;
    }
    return &m->slots[i].value;
}

void digest_map_free(struct digest_map *m)
{
    free(m->slots);
    free(m->used);
    *m = (struct digest_map){0};
}

void digest_map_clear(struct digest_map *m)
{
    if (m->used)
        memset(m->used, 0, m->size);
    m->n = 0;
}

static size_t find_digest(const struct digest_map *m, const struct digest *key)
{
    uint64_t h;
    memcpy(&h, key->bytes, sizeof h);
    size_t i = rng_mix(h) & (m->size - 1);
    while (m->used[i] && !digest_equal(&m->slots[i].key, key))
        i = (i + 1) & (m->size - 1);
    return i;
}

uint64_t *digest_map_get(const struct digest_map *m, const struct digest *key)
{
    if (!m->size)
        return NULL;
    size_t i = find_digest(m, key);
    return m->used[i] ? &m->slots[i].value : NULL;
}

uint64_t *digest_map_put(struct digest_map *m, const struct digest *key, uint64_t initial,
                         bool *added)
{
    if (m->n * 2 >= m->size) {
        struct digest_map bigger = {.size = m->size ? m->size * 2 : 16, .n = m->n};
        bigger.slots = must_calloc(bigger.size, sizeof *bigger.slots);
        bigger.used = must_calloc(bigger.size, 1);
        for (size_t i = 0; i < m->size; i++)
            if (m->used[i]) {
                size_t j = find_digest(&bigger, &m->slots[i].key);
                bigger.slots[j] = m->slots[i];
                bigger.used[j] = 1;
            }
        digest_map_free(m);
        *m = bigger;
    }
    size_t i = find_digest(m, key);
    if (added)
        *added = !m->used[i];
    if (!m->used[i]) {
        m->used[i] = 1;
        m->slots[i] = (struct digest_map_slot){*key, initial};
        m->n++;
    }
    return &m->slots[i].value;
}

void name_map_free(struct name_map *m)
{
    for (size_t i = 0; i < m->size; i++)
        free(m->slots[i].key);
    free(m->slots);
    *m = (struct name_map){0};
}

static size_t find_name(const struct name_map *m, const char *key)
{
    uint64_t h = 1469598103934665603u; /* FNV-1a */
    for (const char *p = key; *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211u;
    size_t i = rng_mix(h) & (m->size - 1);
    while (m->slots[i].key && strcmp(m->slots[i].key, key) != 0)
        i = (i + 1) & (m->size - 1);
    return i;
}

uint64_t *name_map_get(const struct name_map *m, const char *key)
{
    if (!m->size)
        return NULL;
    size_t i = find_name(m, key);
    return m->slots[i].key ? &m->slots[i].value : NULL;
}

uint64_t *name_map_put(struct name_map *m, const char *key, uint64_t initial, bool *added)
{
    if (m->n * 2 >= m->size) {
        struct name_map bigger = {.size = m->size ? m->size * 2 : 16, .n = m->n};
        bigger.slots = must_calloc(bigger.size, sizeof *bigger.slots);
        for (size_t i = 0; i < m->size; i++)
            if (m->slots[i].key)
                bigger.slots[find_name(&bigger, m->slots[i].key)] = m->slots[i];
        free(m->slots);
        *m = bigger;
    }
    size_t i = find_name(m, key);
    if (added)
        *added = !m->slots[i].key;
    if (!m->slots[i].key) {
        m->slots[i].key = strdup(key);
        if (!m->slots[i].key)
            out_of_memory(strlen(key) + 1);
        m->slots[i].value = initial;
        m->n++;
    }
    return &m->slots[i].value;
}
