/* The store on records of 2 KB: put in batches of 1,000, get in random order, open. One line a
 * figure: NAME VALUE UNIT. */
#include "base/os.h"
#include "base/rng.h"
#include "checkpoint.pb-c.h"
#include "store/store.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RECORDS = 100000, BATCH = 1000, SIZE = 2000 };

static void check(enum err_code code, const struct err *e)
{
    if (code == OK)
        return;
    fprintf(stderr, "bench_store: %s\n", e->message);
    exit(1);
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

/* Words from a small dictionary: compresses about as clusters of expressions do. */
static void fill(uint8_t *data, uint64_t i)
{
    static const char *const words[] = {"sin ", "cos ", "+ ", "* ", "x ", "2 ", "pow ", "ln "};
    struct rng r = rng_new(1, i);
    for (size_t at = 0; at < SIZE;) {
        const char *w = words[rng_below(&r, 8)];
        while (*w && at < SIZE)
            data[at++] = (uint8_t)*w++;
    }
}

static double seconds_since(uint64_t start)
{
    return (double)(os_monotonic_ns() - start) / 1e9;
}

static double time_open(const char *path, bool read_only)
{
    struct err e = {0};
    double best = 1e9;
    for (int i = 0; i < 7; i++) {
        struct store *s;
        struct store_options o = {.path = path, .read_only = read_only};
        uint64_t start = os_monotonic_ns();
        check(store_open(&s, &o, &e), &e);
        double t = seconds_since(start);
        best = t < best ? t : best;
        store_close(s);
    }
    return best * 1e3;
}

int main(void)
{
    struct err e = {0};
    char path[] = "/tmp/eqloom-bench-XXXXXX";
    if (!mkdtemp(path))
        return 1;
    struct store *s;
    struct store_options o = {.path = path, .create = true};
    check(store_open(&s, &o, &e), &e);
    struct digest *ids = malloc(RECORDS * sizeof *ids);
    uint8_t data[SIZE];
    Eqloom__Chunk chunk = EQLOOM__CHUNK__INIT;
    chunk.data = (ProtobufCBinaryData){SIZE, data};

    struct store_batch *b = store_batch_new(s);
    double filling = 0;
    uint64_t start = os_monotonic_ns();
    for (size_t i = 0; i < RECORDS; i++) {
        uint64_t before = os_monotonic_ns();
        fill(data, i);
        filling += seconds_since(before);
        check(store_batch_put_message(&ids[i], b, KIND_CHUNK, &chunk.base, &e), &e);
        if (store_batch_count(b) == BATCH)
            check(store_batch_commit(b, &e), &e);
    }
    check(store_batch_commit(b, &e), &e);
    printf("put %.0f records/s\n", RECORDS / (seconds_since(start) - filling));
    store_batch_free(b);
    store_close(s);

    printf("open_writer %.2f ms\n", time_open(path, false));
    printf("open_reader %.2f ms\n", time_open(path, true));

    check(store_open(&s, &o, &e), &e);
    struct arena a = {0};
    struct rng r = rng_new(2, 2);
    start = os_monotonic_ns();
    for (size_t i = 0; i < RECORDS; i++) {
        struct record record;
        check(store_get(&record, s, &ids[rng_below(&r, RECORDS)], &a, &e), &e);
        arena_reset(&a);
    }
    printf("get %.0f records/s\n", RECORDS / seconds_since(start));
    store_close(s);
    arena_free(&a);
    free(ids);
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
