/* Models of a store: made by compact, read by everybody, kept by gc, made again when the store has
 * grown, and no single point whose loss would take a kind along. */
#include "tests/store/fixture.h"

#include "base/buf.h"
#include "cluster.pb-c.h"
#include "egraph.pb-c.h"
#include "store/dense/model.h"
#include "store/internal.h"
#include "store/maintain.h"

enum { CLUSTERS = 300, FEW = 40, MANY = 2400 };

struct place {
    char path[64];
    struct store *s;
    struct digest ids[CLUSTERS];
};

static struct digest current_model(struct store *s)
{
    struct err err = {0};
    const struct dictionary *model;
    MUST(dictionaries_model(&model, &s->dictionaries, KIND_CLUSTER, &err));
    assert_non_null(model);
    return model->id;
}

/* Texts of a common language, each its own. */
static char *make_text(struct arena *a, struct rng *r)
{
    static const char *const words[] = {"sin x",     "cos + x 1",   "pow x 2",   "+ x 1",
                                        "* 2 x",     "ln abs x",    "/ 1 x",     "sqrt x",
                                        "asinh x 3", "- pow x 3 1", "tanh * 5 x"};
    struct buf text = {0};
    for (int i = 0; i < 4; i++)
        buf_printf(&text, "* %s + %u ", words[rng_below(r, 11)], (unsigned)rng_below(r, 90));
    char *copy = arena_strdup(a, text.data);
    buf_free(&text);
    return copy;
}

static struct digest put_cluster(struct store_batch *b, unsigned i)
{
    struct err err = {0};
    struct arena a = {0};
    struct rng r = rng_new(5, i);
    struct digest id;
    Eqloom__Cluster cluster = EQLOOM__CLUSTER__INIT;
    Eqloom__Member *members[12];
    for (int k = 0; k < 12; k++) {
        members[k] = arena_alloc(&a, sizeof *members[k]);
        *members[k] = (Eqloom__Member)EQLOOM__MEMBER__INIT;
        members[k]->prefix = make_text(&a, &r);
        members[k]->tokens = 20;
    }
    cluster.n_members = 12;
    cluster.members = members;
    cluster.max_tokens = 25;
    MUST(store_batch_put_message(&id, b, KIND_CLUSTER, &cluster.base, &err));
    arena_free(&a);
    return id;
}

static void put_clusters(struct place *p, unsigned from, unsigned to)
{
    struct err err = {0};
    struct store_batch *b = store_batch_new(p->s);
    for (unsigned i = from; i < to; i++)
        p->ids[i] = put_cluster(b, i);
    MUST(store_batch_ref(b, "first", &p->ids[from], &err));
    MUST(store_batch_ref(b, "last", &p->ids[to - 1], &err));
    commit(b);
    store_batch_free(b);
}

static void check_clusters(struct store *s, const struct place *p, unsigned n)
{
    struct err err = {0};
    struct arena a = {0};
    struct record r;
    for (unsigned i = 0; i < n; i++) {
        MUST(store_get(&r, s, &p->ids[i], &a, &err));
        struct digest id = record_id(r.kind, r.payload);
        assert_true(digest_equal(&id, &p->ids[i]));
    }
    arena_free(&a);
}

static struct kind_stats clusters_of(struct store *s, uint64_t *dictionaries)
{
    struct err err = {0};
    struct store_stats stats;
    MUST(store_stats(&stats, s, &err));
    if (dictionaries)
        *dictionaries = stats.kinds[KIND_DICTIONARY].records;
    return stats.kinds[KIND_CLUSTER];
}

static int setup(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    temporary_directory(p->path);
    p->s = open_store(p->path);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;
    store_close(p->s);
    remove_tree(p->path);
    free(p);
    return 0;
}

static void compact(struct place *p)
{
    struct err err = {0};
    MUST(store_compact(p->s, &err));
}

static void test_compact_makes_dense(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    uint64_t dictionaries;
    put_clusters(p, 0, CLUSTERS);
    struct kind_stats before = clusters_of(p->s, &dictionaries);
    assert_int_equal(before.dense, 0);
    assert_int_equal(dictionaries, 0);
    compact(p);
    struct kind_stats after = clusters_of(p->s, &dictionaries);
    assert_int_equal(dictionaries, 1);
    assert_int_equal(after.dense, CLUSTERS);
    assert_int_equal(after.raw, before.raw);
    assert_true(after.stored * 5 < before.stored * 2);
    check_clusters(p->s, p, CLUSTERS);
    /* A reader, and a later writer. */
    struct store *reader = open_reader(p->path);
    check_clusters(reader, p, CLUSTERS);
    store_close(reader);
    store_close(p->s);
    p->s = open_store(p->path);
    check_clusters(p->s, p, CLUSTERS);
    struct fsck_result r;
    MUST(store_fsck(&r, p->s, false, NULL, NULL, &err));
    assert_int_equal(r.faults, 0);
    /* Once more changes nothing. */
    compact(p);
    assert_int_equal(clusters_of(p->s, &dictionaries).stored, after.stored);
    assert_int_equal(dictionaries, 1);
}

static bool has_copy(struct store *s, const struct digest *id)
{
    struct buf key = {0};
    struct rocks_value v;
    buf_puts(&key, "dictionary-copy/");
    buf_add(&key, id->bytes, DIGEST_SIZE);
    enum err_code code = rocks_get(&v, s->rocks, ROCKS_META, span_of(key.data, key.len), NULL);
    rocks_value_free(&v);
    buf_free(&key);
    return code == OK;
}

static void test_a_larger_store_gets_a_better_model(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct gc_result gc;
    uint64_t dictionaries;
    put_clusters(p, 0, FEW);
    compact(p);
    struct digest first = current_model(p->s);
    assert_int_equal(clusters_of(p->s, &dictionaries).dense, FEW);
    put_clusters(p, FEW, CLUSTERS);
    compact(p);
    struct digest second = current_model(p->s);
    assert_false(digest_equal(&first, &second));
    assert_int_equal(clusters_of(p->s, &dictionaries).dense, CLUSTERS);
    assert_int_equal(dictionaries, 2);
    check_clusters(p->s, p, CLUSTERS);
    /* Nothing needs the first any more. */
    struct store_batch *b = store_batch_new(p->s);
    for (unsigned i = 0; i < CLUSTERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "c/%u", i);
        MUST(store_batch_ref(b, name, &p->ids[i], &err));
    }
    commit(b);
    store_batch_free(b);
    assert_true(has_copy(p->s, &first));
    MUST(store_gc(&gc, p->s, &(struct gc_options){.keep_runs = 1}, &err));
    assert_int_equal(gc.records_removed, 1);
    assert_false(has_copy(p->s, &first));
    assert_true(has_copy(p->s, &second));
    store_close(p->s);
    p->s = open_store(p->path);
    check_clusters(p->s, p, CLUSTERS);
}

static void test_gc_keeps_what_is_needed(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct gc_result gc;
    uint64_t dictionaries;
    put_clusters(p, 0, CLUSTERS);
    compact(p);
    MUST(store_gc(&gc, p->s, &(struct gc_options){.keep_runs = 1}, &err));
    assert_int_equal(clusters_of(p->s, &dictionaries).records, 2);
    assert_int_equal(dictionaries, 1);
    struct arena a = {0};
    struct record r;
    MUST(store_get(&r, p->s, &p->ids[CLUSTERS - 1], &a, &err));
    arena_free(&a);
}

static void test_lost_and_bad_models(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct fsck_result result;
    struct arena a = {0};
    struct record r;
    put_clusters(p, 0, CLUSTERS);
    compact(p);
    put_clusters(p, 0, CLUSTERS); /* nothing new */
    struct digest id = current_model(p->s);
    /* The record is bad: its copy serves, fsck tells. */
    struct rocks_write bad = {ROCKS_OBJECTS, false, digest_span(&id), span_str("eq rubbish")};
    MUST(rocks_write(p->s->rocks, &bad, 1, true, &err));
    store_close(p->s);
    p->s = open_store(p->path);
    check_clusters(p->s, p, CLUSTERS);
    MUST(store_fsck(&result, p->s, false, NULL, NULL, &err));
    assert_int_equal(result.bad_records, 1);
    MUST(store_fsck(&result, p->s, true, NULL, NULL, &err));
    check_clusters(p->s, p, CLUSTERS);
    /* Both are gone: what needs it is bad, nothing else, and is made anew. */
    struct store_batch *other = store_batch_new(p->s);
    struct digest text = put_text(other, "+ x 1");
    commit(other);
    store_batch_free(other);
    struct buf key = {0};
    buf_puts(&key, "dictionary-copy/");
    buf_add(&key, id.bytes, DIGEST_SIZE);
    struct rocks_write gone = {.family = ROCKS_META, .remove = true, .key = {0}};
    gone.key = span_of(key.data, key.len);
    MUST(rocks_write(p->s->rocks, &gone, 1, true, &err));
    buf_free(&key);
    store_close(p->s);
    p->s = open_store(p->path);
    assert_int_equal(store_get(&r, p->s, &p->ids[CLUSTERS - 1], &a, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.message, "dictionary"));
    err_clear(&err);
    MUST(store_get(&r, p->s, &text, &a, &err));
    MUST(store_fsck(&result, p->s, true, NULL, NULL, &err));
    assert_true(result.bad_records >= CLUSTERS - 1);
    put_clusters(p, 0, CLUSTERS);
    check_clusters(p->s, p, CLUSTERS);
    MUST(store_fsck(&result, p->s, false, NULL, NULL, &err));
    assert_int_equal(result.bad_records, 0);
    arena_free(&a);
}

static void test_same_records_same_model(void **state)
{
    struct place *p = *state;
    struct place other = {0};
    put_clusters(p, 0, CLUSTERS);
    temporary_directory(other.path);
    other.s = open_store(other.path);
    struct store_batch *b = store_batch_new(other.s);
    for (unsigned i = CLUSTERS; i-- > 0;) /* in another order */
        put_cluster(b, i);
    commit(b);
    store_batch_free(b);
    compact(p);
    compact(&other);
    struct digest mine = current_model(p->s);
    struct digest theirs = current_model(other.s);
    assert_true(digest_equal(&mine, &theirs));
    store_close(other.s);
    remove_tree(other.path);
}

/* What compact does at once: the same records in the same forms, whatever the steps. */
static void count_beginnings(void *arg, uint64_t budget_ns)
{
    assert_true(budget_ns > 0);
    ++*(unsigned *)arg;
}

static void test_tidy_bit_by_bit(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    uint64_t waiting, dictionaries, before = UINT64_MAX, dense = 0;
    unsigned told = 0;
    struct tidy_options options = {.begins = count_beginnings, .arg = &told};
    struct store_batch *b = store_batch_new(p->s);
    for (unsigned i = 0; i < MANY; i++) {
        struct digest id = put_cluster(b, i);
        if (i < CLUSTERS)
            p->ids[i] = id;
    }
    commit(b);
    store_batch_free(b);
    MUST(store_tidy(&waiting, p->s, &options, &err)); /* no time: only a note of it */
    assert_true(waiting > 1 << 20);
    assert_int_equal(clusters_of(p->s, &dictionaries).dense, 0);
    assert_int_equal(told, 0);
    options.budget_ns = 100000000;
    options.stop = &(volatile int){1};
    MUST(store_tidy(&waiting, p->s, &options, &err));
    assert_int_equal(clusters_of(p->s, &dictionaries).dense, 0);
    options.stop = NULL;
    for (unsigned calls = 0; waiting; calls++) {
        assert_true(calls < 100);
        options.budget_ns +=
            calls / 10 * UINT64_C(100000000); /* a slow machine comes to an end, too */
        store_close(p->s);
        p->s = open_store(p->path);
        MUST(store_tidy(&waiting, p->s, &options, &err));
        uint64_t now = clusters_of(p->s, &dictionaries).dense;
        assert_true(now >= dense && waiting <= before);
        dense = now;
        before = waiting;
    }
    assert_int_equal(dense, MANY);
    assert_true(told > 1);
    unsigned before_idle = told;
    MUST(store_tidy(&waiting, p->s, &options, &err)); /* nothing waits: nobody is told to */
    assert_int_equal(told, before_idle);
    check_clusters(p->s, p, CLUSTERS);
    struct fsck_result result;
    MUST(store_fsck(&result, p->s, false, NULL, NULL, &err));
    assert_int_equal(result.faults, 0);
}

static void put_egraph(struct store_batch *b, unsigned i)
{
    struct err err = {0};
    struct arena a = {0};
    struct rng r = rng_new(6, i);
    struct digest id;
    Eqloom__EGraph g = EQLOOM__EGRAPH__INIT;
    char *facts[40];
    for (int k = 0; k < 40; k++)
        facts[k] = make_text(&a, &r);
    g.facts = facts;
    g.n_facts = 40;
    MUST(store_batch_put_message(&id, b, KIND_EGRAPH, &g.base, &err));
    arena_free(&a);
}

/* However short the time, an e-graph is not begun before the last cluster is done. */
static void test_clusters_come_first(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct store_batch *b = store_batch_new(p->s);
    for (unsigned i = 0; i < MANY; i++)
        put_cluster(b, i);
    for (unsigned i = 0; i < CLUSTERS; i++)
        put_egraph(b, i);
    commit(b);
    store_batch_free(b);
    struct tidy_options options = {.budget_ns = 20000000, .any = true};
    uint64_t waiting = 1, dense = 0;
    unsigned part = 0;
    for (unsigned calls = 0; waiting; calls++) {
        struct store_stats stats;
        assert_true(calls < 1000);
        MUST(store_tidy(&waiting, p->s, &options, &err));
        MUST(store_stats(&stats, p->s, &err));
        part += stats.kinds[KIND_CLUSTER].dense > 0 && stats.kinds[KIND_CLUSTER].dense < MANY;
        dense = stats.kinds[KIND_EGRAPH].dense;
        if (dense)
            assert_int_equal(stats.kinds[KIND_CLUSTER].dense, MANY);
        options.budget_ns += calls / 50 * 20000000;
    }
    assert_true(part > 0);
    assert_int_equal(dense, CLUSTERS);
}

/* Longer ones are compressed as ever: they would take too much memory. */
static void test_large_records_stay_as_they_are(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct arena a = {0};
    struct digest large, small;
    struct record r;
    Eqloom__Cluster cluster = EQLOOM__CLUSTER__INIT;
    Eqloom__Member member = EQLOOM__MEMBER__INIT;
    Eqloom__Member **members = arena_array(&a, Eqloom__Member *, DENSE_MAX_WRITTEN / 4);
    member.prefix = (char *)(uintptr_t) "* x + 1 pow x 2";
    for (size_t i = 0; i < DENSE_MAX_WRITTEN / 4; i++)
        members[i] = &member;
    cluster.members = members;
    struct store_batch *b = store_batch_new(p->s);
    for (unsigned i = 0; i < CLUSTERS; i++)
        p->ids[i] = put_cluster(b, i);
    cluster.n_members = 300;
    MUST(store_batch_put_message(&small, b, KIND_CLUSTER, &cluster.base, &err));
    cluster.n_members = DENSE_MAX_WRITTEN / 4;
    MUST(store_batch_put_message(&large, b, KIND_CLUSTER, &cluster.base, &err));
    commit(b);
    store_batch_free(b);
    compact(p);
    assert_int_equal(clusters_of(p->s, NULL).records, CLUSTERS + 2);
    assert_int_equal(clusters_of(p->s, NULL).dense, CLUSTERS + 1);
    MUST(store_get(&r, p->s, &large, &a, &err));
    assert_true(r.payload.len > DENSE_MAX_WRITTEN);
    arena_free(&a);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_compact_makes_dense),     TEST(test_a_larger_store_gets_a_better_model),
        TEST(test_gc_keeps_what_is_needed), TEST(test_lost_and_bad_models),
        TEST(test_same_records_same_model), TEST(test_tidy_bit_by_bit),
        TEST(test_clusters_come_first),     TEST(test_large_records_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
