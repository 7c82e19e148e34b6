/* The dense form of the records of a store: how small, and how fast coded and read back.
 *
 *     bench_dense STORE [KIND [MEGABYTES]]
 *
 * A model learns from the records with the lowest ids, as for `compact`; the others, up to so many
 * megabytes, are coded one by one, and read. Rates are of payload bytes by processor time.
 * Clusters' text is what `eqloom export --format text` would write: each member and a line's end.
 * One line a figure: NAME VALUE UNIT. */
#include "base/buf.h"
#include "base/os.h"
#include "cluster.pb-c.h"
#include "schemas/canonical.h"
#include "store/dense/model.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RECORD_MOST = 1 << 20 };

struct corpus {
    struct store *store;
    enum record_kind kind;
    size_t most, bytes;
    struct arena arena;
    struct span *list;
    size_t n, cap;
};

static void check(enum err_code code, const struct err *e)
{
    if (code == OK)
        return;
    fprintf(stderr, "bench_dense: %s\n", e->message);
    exit(1);
}

static enum err_code take(void *arg, const struct digest *id, enum record_kind kind,
                          uint64_t stored, struct err *e)
{
    struct corpus *c = arg;
    struct record r;
    if (kind != c->kind || c->bytes >= c->most)
        return OK;
    check(store_get(&r, c->store, id, &c->arena, e), e);
    if (r.payload.len > RECORD_MOST)
        return OK;
    c->list = vec_grow(c->list, &c->cap, c->n + 1, sizeof *c->list);
    c->list[c->n++] = r.payload;
    c->bytes += r.payload.len;
    return OK;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t text_bytes(struct span payload)
{
    struct arena a = {0};
    struct err e = {0};
    ProtobufCMessage *m;
    size_t n = 0;
    check(canonical_unpack(&m, &a, &eqloom__cluster__descriptor, payload, &e), &e);
    const Eqloom__Cluster *cluster = (const Eqloom__Cluster *)m;
    for (size_t i = 0; i < cluster->n_members; i++)
        n += strlen(cluster->members[i]->prefix) + 1;
    arena_free(&a);
    return n;
}

static struct dense_model *learn(size_t *used, const struct corpus *c)
{
    struct err e = {0};
    struct buf content = {0};
    struct dense_model *m;
    size_t bytes = 0, wanted = c->bytes / 8 < DENSE_SAMPLES ? c->bytes / 8 : DENSE_SAMPLES;
    for (*used = 0; *used < c->n && bytes < wanted; ++*used)
        bytes += c->list[*used].len;
    dense_content(&content, c->kind, c->list, *used);
    double start = cpu_seconds();
    check(dense_model_new(&m, span_of(content.data, content.len), &e), &e);
    printf("model %zu bytes\nlearning %.1f ms\n", content.len, 1e3 * (cpu_seconds() - start));
    buf_free(&content);
    return m;
}

static void measure(const struct corpus *c)
{
    struct err e = {0};
    struct arena a = {0};
    size_t first, text = 0, bytes = 0;
    struct dense_model *m = learn(&first, c);
    struct buf all = {0};
    size_t *ends = calloc(c->n + 1, sizeof *ends);
    double start = cpu_seconds();
    for (size_t i = first; i < c->n; i++) {
        check(dense_write(&all, m, c->list[i], &e), &e);
        ends[i + 1] = all.len;
        bytes += c->list[i].len;
    }
    double written = cpu_seconds();
    size_t at = 0;
    for (size_t i = first; i < c->n; i++) {
        struct span back;
        check(
            dense_read(&back, m, span_of(all.data + at, ends[i + 1] - at), c->list[i].len, &a, &e),
            &e);
        if (!span_equal(back, c->list[i]))
            abort();
        at = ends[i + 1];
        arena_reset(&a);
    }
    double read = cpu_seconds();
    for (size_t i = first; i < c->n && c->kind == KIND_CLUSTER; i++)
        text += text_bytes(c->list[i]);
    printf("records %zu\npayloads %zu bytes\ndense %zu bytes\nratio %.3f\n", c->n - first, bytes,
           all.len, (double)bytes / (double)all.len);
    if (text)
        printf("text %zu bytes\nratio_to_text %.3f\n", text, (double)text / (double)all.len);
    printf("write %.2f MB/s\nread %.2f MB/s\n", (double)bytes / 1e6 / (written - start),
           (double)bytes / 1e6 / (read - written));
    free(ends);
    buf_free(&all);
    arena_free(&a);
    dense_model_free(m);
}

int main(int argc, char **argv)
{
    struct err e = {0};
    if (argc < 2) {
        fprintf(stderr, "usage: bench_dense STORE [KIND [MEGABYTES]]\n");
        return 2;
    }
    const struct kind_info *kind = kind_by_name(argc > 2 ? argv[2] : "cluster");
    struct store_options o = {.path = argv[1], .read_only = true};
    struct corpus c = {.most = (argc > 3 ? strtoul(argv[3], NULL, 10) : 20) * 1000000};
    if (!kind || !dense_serves(kind->kind)) {
        fprintf(stderr, "bench_dense: no kind of record with a dense form\n");
        return 2;
    }
    c.kind = kind->kind;
    check(store_open(&c.store, &o, &e), &e);
    check(store_each_record(c.store, take, &c, &e), &e);
    if (c.n < 2) {
        fprintf(stderr, "bench_dense: too few records\n");
        return 1;
    }
    measure(&c);
    store_close(c.store);
    arena_free(&c.arena);
    free(c.list);
    return 0;
}
