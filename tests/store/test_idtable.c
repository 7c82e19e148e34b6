/* The table of ids against a map: what is there is found, with its own flags, whatever the ids. */
#include "tests/store/fixture.h"

#include "base/rng.h"
#include "store/check/idtable.h"

#include <stdlib.h>

enum { ROUNDS = 200, MOST = 400, LARGE = 300000, PROBES = 50000 };

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, DIGEST_SIZE);
}

/* Ids that are random, crowded together, or share their first bytes. */
static struct digest random_id(struct rng *r, unsigned shape)
{
    struct digest id;
    for (int i = 0; i < DIGEST_SIZE; i++)
        id.bytes[i] = (uint8_t)rng_u64(r);
    for (unsigned i = 0; shape == 1 && i < 7; i++)
        id.bytes[i] = i < 3 ? 0 : 0xff;
    for (unsigned i = 0; shape == 2 && i < 8; i++)
        id.bytes[i] = i == 4 ? id.bytes[i] & 3 : 7;
    return id;
}

TEST(found_exactly)
{
    struct rng r = rng_new(test_seed(1), 11);
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t n = rng_below(&r, MOST), kept = 0;
        struct digest *ids = calloc(n + 1, sizeof *ids);
        for (size_t i = 0; i < n; i++)
            ids[i] = random_id(&r, round % 3);
        qsort(ids, n, sizeof *ids, by_bytes);
        struct id_table t = {0};
        for (size_t i = 0; i < n; i++) {
            if (i && digest_equal(&ids[i], &ids[kept - 1]))
                continue;
            ids[kept] = ids[i];
            id_table_add(&t, &ids[kept], (uint8_t)kept);
            kept++;
        }
        for (size_t i = 0; i < kept; i++) {
            uint8_t *flags = id_table_find(&t, &ids[i]);
            assert_non_null(flags);
            assert_int_equal(*flags, (uint8_t)i);
        }
        for (size_t i = 0; i < n; i++) {
            struct digest other = random_id(&r, 0);
            if (kept && i % 2) { /* differs in the last byte of the prefix */
                other = ids[rng_below(&r, kept)];
                other.bytes[7] ^= 0x80;
                if (bsearch(&other, ids, kept, sizeof *ids, by_bytes))
                    continue;
            }
            bool shares = false;
            for (size_t k = 0; k < kept; k++)
                shares = shares || memcmp(ids[k].bytes, other.bytes, 8) == 0;
            if (!shares)
                assert_null(id_table_find(&t, &other));
        }
        id_table_free(&t);
        free(ids);
    }
}

TEST(memory)
{
    struct rng r = rng_new(test_seed(1), 12);
    struct digest *ids = calloc(LARGE, sizeof *ids);
    for (size_t i = 0; i < LARGE; i++)
        ids[i] = random_id(&r, 0);
    qsort(ids, LARGE, sizeof *ids, by_bytes);
    struct id_table t = {0};
    for (size_t i = 0; i < LARGE; i++)
        id_table_add(&t, &ids[i], (uint8_t)(i % 251));
    assert_true(t.cap_prefix * sizeof *t.prefix + t.cap_flags <= 16 * (size_t)LARGE);
    for (size_t i = 0; i < PROBES; i++) {
        size_t at = rng_below(&r, LARGE);
        assert_int_equal(*id_table_find(&t, &ids[at]), at % 251);
    }
    id_table_free(&t);
    free(ids);
}
