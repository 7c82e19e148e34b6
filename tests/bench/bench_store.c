/* The store on clusters of 2 KB: put in batches of 1,000, get in random order, open; and RocksDB
 * alone, with the store's own settings, on the same bytes in the same run. Ratios are given by the
 * wall and, for busy machines, by processor time. One line a figure: NAME VALUE UNIT. */
#include "base/buf.h"
#include "base/os.h"
#include "base/rng.h"
#include "cluster.pb-c.h"
#include "schemas/canonical.h"
#include "store/db/rocks.h"
#include "store/store.h"
#include "tests/bench/bench.h"

enum { RECORDS = 50000, BATCH = 1000, MEMBERS = 45 };

/* A cluster of terms over a small language; the payload goes into the arena. */
static struct span make_payload(struct arena *a, uint64_t i)
{
    static const char *const words[] = {"sin ", "cos ", "+ ",   "* ", "x ",   "2 ",
                                        "pow ", "ln ",  "abs ", "/ ", "exp ", "sqrt "};
    struct err e = {0};
    struct rng r = rng_new(1, i);
    struct arena scratch = {0};
    struct span packed;
    Eqloom__Cluster cluster = EQLOOM__CLUSTER__INIT;
    Eqloom__Member *members[MEMBERS];
    for (int k = 0; k < MEMBERS; k++) {
        struct buf text = {0};
        for (int w = 0; w < 12; w++)
            buf_puts(&text, words[rng_below(&r, 12)]);
        members[k] = arena_alloc(&scratch, sizeof *members[k]);
        *members[k] = (Eqloom__Member)EQLOOM__MEMBER__INIT;
        members[k]->prefix = arena_strdup(&scratch, text.data);
        members[k]->standing = EQLOOM__STANDING__PROVED;
        members[k]->tokens = 12;
        buf_free(&text);
    }
    cluster.n_members = MEMBERS;
    cluster.members = members;
    must(canonical_pack(&packed, &scratch, &cluster.base, &e), &e);
    packed = span_of(arena_memdup(a, packed.data, packed.len), packed.len);
    arena_free(&scratch);
    return packed;
}

struct watch {
    uint64_t wall;
    double cpu;
};
struct pace {
    double wall, cpu; /* records a second */
};

static struct watch watch_start(void)
{
    return (struct watch){os_monotonic_ns(), cpu_seconds(CLOCK_PROCESS_CPUTIME_ID)};
}

static struct pace watch_stop(struct watch w)
{
    return (struct pace){RECORDS / ((double)(os_monotonic_ns() - w.wall) / 1e9),
                         RECORDS / (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - w.cpu)};
}

static void print_pace(const char *name, struct pace ours, struct pace bare)
{
    printf("%s %.0f records/s\nbare_%s %.0f records/s\n", name, ours.wall, name, bare.wall);
    printf("%s_ratio %.2f of bare\n%s_cpu_ratio %.2f of bare\n", name, ours.wall / bare.wall, name,
           ours.cpu / bare.cpu);
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
        must(store_open(&s, &o, &e), &e);
        double t = seconds_since(start);
        best = t < best ? t : best;
        store_close(s);
    }
    return best * 1e3;
}

/* Puts and gets the payloads as they are, under the same keys. */
static void time_bare(struct pace *put, struct pace *get, const char *path,
                      const struct digest *ids, const struct span *payloads)
{
    struct err e = {0};
    struct rocks *r;
    struct rocks_write *writes = calloc(BATCH, sizeof *writes);
    must(rocks_open(&r, path, ROCKS_CREATE, &e), &e);
    struct watch start = watch_start();
    for (size_t i = 0; i < RECORDS; i += BATCH) {
        for (size_t k = 0; k < BATCH; k++)
            writes[k] = (struct rocks_write){.family = ROCKS_OBJECTS,
                                             .key = span_of(ids[i + k].bytes, DIGEST_SIZE),
                                             .value = payloads[i + k]};
        must(rocks_write(r, writes, BATCH, false, &e), &e);
    }
    *put = watch_stop(start);
    rocks_close(r);
    must(rocks_open(&r, path, ROCKS_WRITE, &e), &e);
    struct rng rng = rng_new(2, 2);
    start = watch_start();
    for (size_t i = 0; i < RECORDS; i++) {
        struct rocks_value v;
        struct span key = span_of(ids[rng_below(&rng, RECORDS)].bytes, DIGEST_SIZE);
        must(rocks_get(&v, r, ROCKS_OBJECTS, key, &e), &e);
        rocks_value_free(&v);
    }
    *get = watch_stop(start);
    rocks_close(r);
    free(writes);
}

int main(void)
{
    struct err e = {0};
    char path[] = "/tmp/eqloom-bench-XXXXXX";
    if (!mkdtemp(path))
        return 1;
    struct store *s;
    struct store_options o = {.path = path, .create = true};
    must(store_open(&s, &o, &e), &e);
    struct digest *ids = malloc(RECORDS * sizeof *ids);
    struct arena corpus = {0};
    struct span *payloads = calloc(RECORDS, sizeof *payloads);
    size_t bytes = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        payloads[i] = make_payload(&corpus, i);
        bytes += payloads[i].len;
    }
    printf("payload %.0f bytes\n", (double)bytes / RECORDS);

    struct store_batch *b = store_batch_new(s);
    struct watch start = watch_start();
    for (size_t i = 0; i < RECORDS; i++) {
        must(store_batch_put(&ids[i], b, KIND_CLUSTER, payloads[i], &e), &e);
        if (store_batch_count(b) == BATCH)
            must(store_batch_commit(b, &e), &e);
    }
    must(store_batch_commit(b, &e), &e);
    struct pace put = watch_stop(start);
    store_batch_free(b);
    store_close(s);

    printf("open_writer %.2f ms\n", time_open(path, false));
    printf("open_reader %.2f ms\n", time_open(path, true));

    must(store_open(&s, &o, &e), &e);
    struct arena a = {0};
    struct rng r = rng_new(2, 2);
    start = watch_start();
    for (size_t i = 0; i < RECORDS; i++) {
        struct record record;
        must(store_get(&record, s, &ids[rng_below(&r, RECORDS)], &a, &e), &e);
        arena_reset(&a);
    }
    struct pace get = watch_stop(start), bare_put, bare_get;
    store_close(s);
    char bare[64];
    snprintf(bare, sizeof bare, "%s/bare", path);
    time_bare(&bare_put, &bare_get, bare, ids, payloads);
    print_pace("put", put, bare_put);
    print_pace("get", get, bare_get);
    free(payloads);
    arena_free(&corpus);
    arena_free(&a);
    free(ids);
    os_remove_tree(path);
    return 0;
}
