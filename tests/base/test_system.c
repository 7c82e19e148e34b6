/* Digests, randomness, threads and files. */
#include "base/digest.h"
#include "base/err.h"
#include "base/io/out_file.h"
#include "base/isa.h"
#include "base/os.h"
#include "base/pool.h"
#include "base/rng.h"
#include "tests/unit.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(digest)
{
    char hex[DIGEST_HEX];
    struct span parts[] = {span_str("a"), span_str(""), span_str("bc")};
    struct digest d = digest_of(parts, 3), back; /* FIPS 180-2: SHA-256 of "abc" */
    assert_string_equal(digest_hex(hex, &d),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    struct hasher *h = hasher_new();
    for (int again = 0; again < 2; again++) {
        hasher_add(h, "ab", 2);
        hasher_add(h, "c", 1);
        back = hasher_finish(h);
        assert_true(digest_equal(&d, &back));
    }
    hasher_add(h, "abc", 3);
    back = hasher_finish(h);
    assert_int_equal(digest_compare(&d, &back), 0);
    hasher_free(h);
    assert_false(digest_is_zero(&d));
}

/* Results of seeded ops are in people's stores: the generator never changes. */
TEST(rng_golden)
{
    struct rng a = rng_new(42, 0), b = rng_new(42, 1), c = rng_new(42, 0);
    uint64_t first = rng_u64(&a);
    assert_true(first == rng_u64(&c));
    assert_true(first != rng_u64(&b));
    assert_true(rng_mix(0) == 0xe220a8397b1dcdafu); /* SplitMix64 of seed 0 */
    assert_true(rng_at(1, 2, 3) == rng_at(1, 2, 3) && rng_at(1, 2, 3) != rng_at(1, 3, 2));
}

TEST(rng_distributions)
{
    struct rng r = rng_new(7, 7);
    enum { N = 70000 };
    unsigned counts[7] = {0};
    double sum = 0, squares = 0;
    for (int i = 0; i < N; i++) {
        counts[rng_below(&r, 7)]++;
        double u = rng_double(&r), z = rng_normal(&r);
        assert_true(u >= 0 && u < 1);
        sum += z;
        squares += z * z;
    }
    for (int i = 0; i < 7; i++)
        assert_true(abs((int)counts[i] - N / 7) < 500); /* five sigma */
    assert_true(fabs(sum / N) < 0.02 && fabs(squares / N - 1) < 0.03);
    assert_int_equal(rng_below(&r, 1), 0);
    uint32_t values[100];
    for (uint32_t i = 0; i < 100; i++)
        values[i] = i;
    rng_shuffle_u32(&r, values, 100);
    uint64_t seen[2] = {0};
    unsigned moved = 0;
    for (uint32_t i = 0; i < 100; i++) {
        seen[values[i] / 64] |= 1ull << values[i] % 64;
        moved += values[i] != i;
    }
    assert_true(seen[0] == UINT64_MAX && seen[1] == (1ull << 36) - 1);
    assert_true(moved > 80);
}

struct work {
    unsigned threads;
    uint64_t out[1000];
};

static void square(void *arg, size_t item, unsigned worker)
{
    struct work *w = arg;
    if (worker < w->threads)
        w->out[item] += item * item + 1;
}

/* What computes is the best that the machine can, unless another is named. */
TEST(isa)
{
    static const char *const best_first[] = {"amx", "avx512", "avx2", "base"};
    char *named = getenv("EQLOOM_CPU") ? strdup(getenv("EQLOOM_CPU")) : NULL;
    size_t best = 0;
    unsetenv("EQLOOM_CPU");
    while (!cpu_supports(best_first[best]))
        best++;
    assert_string_equal(cpu_isa(), best_first[best]);
    for (size_t i = best + (best == 0); i < 4; i++) /* each includes the lower ones */
        assert_true(cpu_supports(best_first[i]));
    assert_false(cpu_supports("avx"));
    setenv("EQLOOM_CPU", "", 1);
    assert_string_equal(cpu_isa(), best_first[best]);
    setenv("EQLOOM_CPU", "base", 1);
    assert_string_equal(cpu_isa(), "base");
    unsetenv("EQLOOM_CPU");
    if (named)
        setenv("EQLOOM_CPU", named, 1);
    free(named);
}

TEST(pool)
{
    for (unsigned threads = 0; threads <= 4; threads++) {
        struct pool *p = threads ? pool_new(threads) : NULL;
        struct work w = {.threads = pool_threads(p)};
        assert_int_equal(w.threads, threads ? threads : 1);
        for (size_t n = 0; n <= 1000; n += 125) {
            memset(w.out, 0, sizeof w.out);
            pool_for(p, n, square, &w);
            for (size_t i = 0; i < 1000; i++)
                assert_int_equal(w.out[i], i < n ? i * i + 1 : 0);
        }
        pool_free(p);
    }
}

struct chains {
    size_t n;
    uint64_t out[1000];
};

static void continue_chain(void *arg, size_t item, unsigned worker)
{
    struct chains *c = arg;
    uint64_t before = item < c->n ? 7 : c->out[item - c->n];
    if (item % 3 == 0) /* some take longer */
        usleep(50);
    c->out[item] = 3 * before + item;
}

TEST(pool_chains)
{
    static const size_t chains[] = {1, 3, 8, 400, 2000};
    for (unsigned threads = 0; threads <= 4; threads++) {
        struct pool *p = threads ? pool_new(threads) : NULL;
        for (size_t k = 0; k < sizeof chains / sizeof *chains; k++) {
            struct chains c = {.n = chains[k]};
            pool_for_chains(p, 1000, chains[k], continue_chain, &c);
            for (size_t i = 0; i < 1000; i++)
                assert_int_equal(c.out[i], 3 * (i < chains[k] ? 7 : c.out[i - chains[k]]) + i);
        }
        pool_free(p);
    }
}

TEST_IN_ARENA(files)
{
    struct err e = {0};
    struct span bytes;
    struct os_stat st;
    char root[] = "/tmp/eqloom-os-XXXXXX";
    assert_non_null(mkdtemp(root));
    char *dir = arena_printf(a, "%s/deep/er", root), *file = os_join(a, dir, "file.txt");
    assert_int_equal(os_mkdirs(dir, &e), OK);
    assert_int_equal(os_mkdirs(dir, &e), OK);
    assert_int_equal(os_stat(&st, file, &e), ERR_NOTFOUND);
    assert_int_equal(out_file_write(file, "first", 5, &e), OK);
    assert_int_equal(out_file_write(file, "second one", 10, &e), OK);
    assert_int_equal(os_read_file(&bytes, a, file, 100, &e), OK);
    assert_true(span_equal(bytes, span_str("second one")));
    assert_int_equal(bytes.data[10], 0);
    assert_int_equal(os_read_file(&bytes, a, file, 10, &e), OK);
    assert_int_equal(os_read_file(&bytes, a, file, 9, &e), ERR_LIMIT);
    assert_int_equal(os_read_file(&bytes, a, dir, 9, &e), ERR_INPUT);
    assert_int_equal(os_read_file(&bytes, a, "/nonexistent/x", 9, &e), ERR_NOTFOUND);
    assert_int_equal(os_stat(&st, file, &e), OK);
    assert_true(st.size == 10 && !st.is_dir && st.changed_ns > 0);
    assert_int_equal(os_mkdirs(os_join(a, file, "below"), &e), ERR_NOTFOUND);
    char *real;
    assert_int_equal(os_realpath(&real, a, arena_printf(a, "%s/../er/file.txt", dir), &e), OK);
    assert_string_equal(os_dirname(a, real), dir);
    assert_string_equal(os_join(a, "a/", "b"), "a/b");
    assert_string_equal(os_join(a, "a", "/b"), "/b");
    assert_string_equal(os_dirname(a, "/x"), "/");
    assert_string_equal(os_dirname(a, "x"), ".");
    unlink(file);
    rmdir(dir);
    rmdir(os_dirname(a, dir));
    rmdir(root);
}

static void *run_out(void *barrier)
{
    pthread_barrier_wait(barrier);
    out_of_memory(7);
}

/* However many threads run out of memory at once, one says so. */
TEST(last_words)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        pthread_barrier_t barrier;
        pthread_t thread;
        dup2(ends[1], STDERR_FILENO);
        pthread_barrier_init(&barrier, NULL, 4);
        for (int i = 0; i < 4; i++)
            if (pthread_create(&thread, NULL, run_out, &barrier))
                _exit(2);
        for (;;)
            pause();
    }
    close(ends[1]);
    char text[2000];
    size_t n = 0;
    for (ssize_t got; (got = read(ends[0], text + n, sizeof text - 1 - n)) > 0;)
        n += (size_t)got;
    text[n] = 0;
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_memory_equal(text, "eqloom: error: out of memory (7 bytes requested)", 48);
    assert_ptr_equal(strchr(text, '\n'), text + n - 1);
}
