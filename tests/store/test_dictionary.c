/* Dictionaries of a store: trained by a run that puts much and by compact, read by everybody, and
 * no single point whose loss would take a kind along. */
#include "tests/store/fixture.h"

#include "base/buf.h"
#include "cluster.pb-c.h"
#include "store/internal.h"
#include "store/maintain.h"

enum { CLUSTERS = 300, MANY = 2400 };

static struct digest ids[MANY];

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
    MUST(store_batch_put_message(&id, b, KIND_CLUSTER, &cluster.base, &err));
    arena_free(&a);
    return id;
}

static void put_clusters(struct store *s, unsigned n)
{
    struct store_batch *b = store_batch_new(s);
    for (unsigned i = 0; i < n; i++)
        ids[i] = put_cluster(b, i);
    commit(b);
    store_batch_free(b);
}

static void check_clusters(struct store *s, unsigned n)
{
    struct arena a = {0};
    struct record r;
    for (unsigned i = 0; i < n; i++)
        MUST(store_get(&r, s, &ids[i], &a, &err));
    arena_free(&a);
}

static struct kind_stats clusters_of(struct store *s, uint64_t *dictionaries)
{
    struct store_stats stats;
    MUST(store_stats(&stats, s, &err));
    *dictionaries = stats.kinds[KIND_DICTIONARY].records;
    return stats.kinds[KIND_CLUSTER];
}

static struct digest current(struct store *s)
{
    struct digest id;
    struct rocks_value v;
    MUST(rocks_get(&v, s->rocks, ROCKS_META, span_str("dictionary/cluster"), &err));
    memcpy(id.bytes, v.bytes.data, DIGEST_SIZE);
    rocks_value_free(&v);
    return id;
}

static struct span copy_key(struct buf *key, const struct digest *id)
{
    buf_puts(key, DICTIONARY_COPY_PREFIX);
    buf_add(key, id->bytes, DIGEST_SIZE);
    return span_of(key->data, key->len);
}

STORE_TEST(compact)
{
    uint64_t dictionaries;
    put_clusters(p->s, CLUSTERS);
    struct kind_stats before = clusters_of(p->s, &dictionaries);
    assert_int_equal(before.with_dictionary, 0);
    assert_int_equal(dictionaries, 0);
    assert_true(before.stored < before.raw);
    MUST(store_compact(p->s, &err));
    struct kind_stats after = clusters_of(p->s, &dictionaries);
    assert_int_equal(dictionaries, 1);
    assert_int_equal(after.with_dictionary, CLUSTERS);
    assert_int_equal(after.raw, before.raw);
    assert_true(after.stored * 4 < before.stored * 3);
    check_clusters(p->s, CLUSTERS);
    struct store *reader = open_reader(p->path);
    check_clusters(reader, CLUSTERS);
    store_close(reader);
    test_store_reopen(p);
    check_clusters(p->s, CLUSTERS);
    struct fsck_result r;
    MUST(store_fsck(&r, p->s, false, NULL, NULL, &err));
    assert_int_equal(r.faults, 0);
    /* Once more changes nothing. */
    MUST(store_compact(p->s, &err));
    assert_int_equal(clusters_of(p->s, &dictionaries).stored, after.stored);
    assert_int_equal(dictionaries, 1);
}

/* What is put once a run has put enough is compressed under a dictionary; compact replaces it, and
 * gc leaves the one in use. */
STORE_TEST(run_then_compact)
{
    struct rocks_value v;
    struct gc_result gc;
    struct buf key = {0};
    uint64_t dictionaries;
    put_clusters(p->s, MANY);
    struct kind_stats k = clusters_of(p->s, &dictionaries);
    assert_int_equal(dictionaries, 1);
    assert_true(k.with_dictionary > 0 && k.with_dictionary < MANY);
    struct digest first = current(p->s);
    check_clusters(p->s, MANY);
    test_store_reopen(p);
    MUST(store_compact(p->s, &err));
    struct digest second = current(p->s);
    assert_false(digest_equal(&first, &second));
    assert_int_equal(clusters_of(p->s, &dictionaries).with_dictionary, MANY);
    assert_int_equal(dictionaries, 1);
    assert_int_equal(rocks_get(&v, p->s->rocks, ROCKS_META, copy_key(&key, &first), NULL),
                     ERR_NOTFOUND);
    test_store_reopen(p);
    check_clusters(p->s, MANY);
    MUST(store_gc(&gc, p->s, &(struct gc_options){.keep_runs = 1}, &err));
    assert_int_equal(clusters_of(p->s, &dictionaries).records, 0);
    assert_int_equal(dictionaries, 1);
    buf_free(&key);
}

STORE_TEST(lost_and_bad_dictionaries)
{
    struct fsck_result result;
    struct record r;
    put_clusters(p->s, CLUSTERS);
    MUST(store_compact(p->s, &err));
    struct digest id = current(p->s);
    /* The record is bad: its copy serves, fsck tells. */
    struct rocks_write bad = {ROCKS_OBJECTS, false, digest_span(&id), span_str("eq rubbish")};
    MUST(rocks_write(p->s->rocks, &bad, 1, true, &err));
    test_store_reopen(p);
    check_clusters(p->s, CLUSTERS);
    MUST(store_fsck(&result, p->s, true, NULL, NULL, &err));
    assert_int_equal(result.bad_records, 1);
    check_clusters(p->s, CLUSTERS);
    /* Both are gone: what needs it is bad, nothing else, and is made anew. */
    struct store_batch *other = store_batch_new(p->s);
    struct digest text = put_text(other, "+ x 1");
    commit(other);
    store_batch_free(other);
    struct buf key = {0};
    struct rocks_write gone = {ROCKS_META, true, copy_key(&key, &id), {0}};
    MUST(rocks_write(p->s->rocks, &gone, 1, true, &err));
    buf_free(&key);
    test_store_reopen(p);
    assert_int_equal(store_get(&r, p->s, &ids[CLUSTERS - 1], &p->a, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.message, "dictionary"));
    err_clear(&err);
    MUST(store_get(&r, p->s, &text, &p->a, &err));
    MUST(store_fsck(&result, p->s, true, NULL, NULL, &err));
    assert_true(result.bad_records >= CLUSTERS - 1);
    put_clusters(p->s, CLUSTERS);
    check_clusters(p->s, CLUSTERS);
    MUST(store_fsck(&result, p->s, false, NULL, NULL, &err));
    assert_int_equal(result.bad_records, 0);
}

/* A dictionary that cannot be read now says nothing about the record: it comes up as what it is. */
static enum err_code fail_to_read(const struct dictionary **out, void *arg,
                                  const uint8_t id[ENVELOPE_DICTIONARY], struct err *e)
{
    return err_fail(e, *(enum err_code *)arg, "the device fails");
}

STORE_TEST(unreadable_dictionary)
{
    static const enum err_code codes[] = {ERR_IO, ERR_NOMEM};
    struct record r;
    put_clusters(p->s, CLUSTERS);
    MUST(store_compact(p->s, &err));
    test_store_reopen(p);
    for (int i = 0; i < 2; i++) {
        struct arena a = {0};
        enum err_code wanted = codes[i];
        struct coder *c = store_coder_take(p->s);
        coder_set_dictionaries(c, (struct coder_dictionaries){NULL, fail_to_read, &wanted});
        store_coder_give(p->s, c); /* the next read takes it */
        assert_int_equal(store_get(&r, p->s, &ids[0], &a, &err), wanted);
        assert_non_null(strstr(err.message, "the device fails"));
        coder_free(store_coder_take(p->s));
        err_clear(&err);
        MUST(store_get(&r, p->s, &ids[0], &a, &err)); /* not in quarantine */
        arena_free(&a);
    }
    struct store_stats stats;
    MUST(store_stats(&stats, p->s, &err));
    assert_int_equal(stats.quarantined, 0);
}

STORE_TEST(same_records_same_dictionary)
{
    char path[64];
    put_clusters(p->s, CLUSTERS);
    temporary_directory(path);
    struct store *other = open_store(path);
    struct store_batch *b = store_batch_new(other);
    for (unsigned i = CLUSTERS; i-- > 0;) /* in another order */
        put_cluster(b, i);
    commit(b);
    store_batch_free(b);
    MUST(store_compact(p->s, &err));
    MUST(store_compact(other, &err));
    struct digest mine = current(p->s), theirs = current(other);
    assert_true(digest_equal(&mine, &theirs));
    store_close(other);
    os_remove_tree(path);
}

/* A payload that does not shrink leaves zstd in the middle of a frame; the next record, of another
 * dictionary or none, is compressed by its own all the same. */
STORE_TEST(after_what_does_not_shrink)
{
    struct rng rng = rng_new(test_seed(1), 1);
    struct record r;
    uint8_t noise[500];
    char text[500];
    put_clusters(p->s, CLUSTERS);
    MUST(store_compact(p->s, &err));
    for (size_t i = 0; i < sizeof noise; i++) {
        noise[i] = (uint8_t)rng_below(&rng, 256);
        text[i] = "+ sin x 1 "[i % 10];
    }
    struct span payloads[] = {span_of(noise, sizeof noise), span_of(text, sizeof text)};
    static const enum record_kind kinds[] = {KIND_CLUSTER, KIND_FILE, KIND_CLUSTER};
    struct coder *c = store_coder_take(p->s);
    for (int i = 0; i < 12; i++) {
        struct buf b = {0};
        struct digest id = record_id(kinds[i % 3], payloads[i % 2]);
        MUST(envelope_write(&b, c, EFFORT_FAST, kinds[i % 3], payloads[i % 2], &err));
        MUST(envelope_verify(&r, c, &id, span_of(b.data, b.len), &p->a, &err));
        buf_free(&b);
    }
    store_coder_give(p->s, c);
}
