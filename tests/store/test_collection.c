/* Collections against a plain list of ids. */
#include "tests/store/fixture.h"

#include "base/buf.h"
#include "store/collection/collection.h"

struct list {
    struct digest *ids;
    size_t n, cap;
};

static struct digest any_id(uint64_t i)
{
    struct span part = span_of(&i, sizeof i);
    return digest_of(&part, 1);
}

static void list_insert(struct list *l, size_t at, struct digest id)
{
    l->ids = vec_grow(l->ids, &l->cap, l->n + 1, sizeof *l->ids);
    if (at < l->n)
        memmove(l->ids + at + 1, l->ids + at, (l->n - at) * sizeof *l->ids);
    l->ids[at] = id;
    l->n++;
}

static void list_remove(struct list *l, size_t at)
{
    memmove(l->ids + at, l->ids + at + 1, (l->n - at - 1) * sizeof *l->ids);
    l->n--;
}

static struct list list_of(size_t n)
{
    struct list l = {0};
    for (size_t i = 0; i < n; i++)
        list_insert(&l, i, any_id(i));
    return l;
}

/* Builds and commits; *records says how many were new. */
static struct digest build(struct test_store *p, const struct list *l, size_t *records)
{
    struct digest id;
    p->b = p->b ? p->b : store_batch_new(p->s);
    struct collection_builder *c = collection_builder_new(p->b, KIND_EXPR);
    for (size_t i = 0; i < l->n; i++)
        MUST(collection_builder_add(c, &l->ids[i], &err));
    MUST(collection_builder_finish(&id, c, &err));
    collection_builder_free(c);
    if (records)
        *records = store_batch_count(p->b);
    commit(p->b);
    return id;
}

static void check(struct test_store *p, const struct digest *id, const struct list *l,
                  struct rng *r)
{
    struct collection *c;
    MUST(collection_open(&c, p->s, id, &err));
    assert_int_equal(collection_count(c), l->n);
    assert_int_equal(collection_element_kind(c), KIND_EXPR);
    struct digest *got = calloc(l->n + 1, sizeof *got);
    MUST(collection_ids(got, c, 0, l->n, &err));
    assert_int_equal(l->n ? memcmp(got, l->ids, l->n * sizeof *got) : 0, 0);
    for (int i = 0; i < 30 && l->n; i++) {
        uint64_t from = rng_below(r, l->n), n = rng_below(r, l->n - from + 1);
        if (i % 2 && n > 10)
            n = 10;
        MUST(collection_ids(got, c, from, n, &err));
        assert_int_equal(memcmp(got, l->ids + from, n * sizeof *got), 0);
    }
    assert_int_equal(collection_ids(got, c, l->n, 1, &err), ERR_NOTFOUND);
    free(got);
    collection_close(c);
}

STORE_TEST(sizes)
{
    static const size_t sizes[] = {0, 1, 2, 255, 256, 257, 300, 1025, 5000, 60000};
    struct rng r = rng_new(test_seed(1), 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct list l = list_of(sizes[i]);
        struct digest id = build(p, &l, NULL);
        check(p, &id, &l, &r);
        free(l.ids);
    }
}

STORE_TEST(repetitions)
{
    struct rng r = rng_new(test_seed(1), 2);
    struct list l = {0};
    for (size_t i = 0; i < 5000; i++)
        list_insert(&l, i, any_id(i % 2500 < 2400 ? 1 : i));
    struct digest id = build(p, &l, NULL);
    check(p, &id, &l, &r);
    free(l.ids);
}

/* The shape is in everybody's ids: it never changes. */
STORE_TEST(golden)
{
    struct list l = list_of(3000);
    char hex[DIGEST_HEX];
    struct digest id = build(p, &l, NULL);
    assert_string_equal(digest_hex(hex, &id),
                        "1f1398b08814611c87edc75297ffef3d613dce28fc07a3addf6aae439f5affa7");
    l.n = 3;
    id = build(p, &l, NULL);
    assert_string_equal(digest_hex(hex, &id),
                        "8b436d4d40dac9ffbe0f45b5b78f9e8471b67dabe6b918411f6603e6f8e510da");
    free(l.ids);
}

/* One edit of a long list writes few new records, and undoing it gives the old id. */
STORE_TEST(edits_are_cheap)
{
    struct rng r = rng_new(test_seed(1), 3);
    struct list l = list_of(60000);
    struct digest first = build(p, &l, NULL);
    size_t worst = 0, sum = 0;
    for (unsigned i = 0; i < 60; i++) {
        size_t at = rng_below(&r, l.n), records;
        struct digest old = l.ids[at], id;
        switch (i % 3) {
        case 0:
            l.ids[at] = any_id(1000000 + i);
            id = build(p, &l, &records);
            l.ids[at] = old;
            break;
        case 1:
            list_insert(&l, at, any_id(1000000 + i));
            id = build(p, &l, &records);
            list_remove(&l, at);
            break;
        default:
            list_remove(&l, at);
            id = build(p, &l, &records);
            list_insert(&l, at, old);
            break;
        }
        assert_false(digest_equal(&id, &first));
        worst = records > worst ? records : worst;
        sum += records;
    }
    assert_true(worst <= 12);
    assert_true(sum <= 60 * 6);
    size_t records;
    struct digest again = build(p, &l, &records);
    assert_true(digest_equal(&again, &first));
    assert_int_equal(records, 0);
    free(l.ids);
}

/* ---- differences ---- */

struct diff {
    struct list added, removed;
    const struct list *from, *to;
};

static enum err_code on_difference(void *arg, bool added, uint64_t position,
                                   const struct digest *id, struct err *e)
{
    struct diff *d = arg;
    const struct list *in = added ? d->to : d->from;
    struct list *out = added ? &d->added : &d->removed;
    assert_true(position < in->n && digest_equal(&in->ids[position], id));
    list_insert(out, out->n, *id);
    return OK;
}

static int by_digest(const void *a, const void *b)
{
    return digest_compare(a, b);
}

static struct list sorted(const struct list *l)
{
    struct list out = {0};
    for (size_t i = 0; i < l->n; i++)
        list_insert(&out, i, l->ids[i]);
    if (out.n)
        qsort(out.ids, out.n, sizeof *out.ids, by_digest);
    return out;
}

/* x less y, as sorted multisets. */
static struct list less(const struct list *x, const struct list *y)
{
    struct list a = sorted(x), b = sorted(y), out = {0};
    for (size_t i = 0, k = 0; i < a.n; i++) {
        while (k < b.n && digest_compare(&b.ids[k], &a.ids[i]) < 0)
            k++;
        if (k < b.n && digest_equal(&b.ids[k], &a.ids[i]))
            k++;
        else
            list_insert(&out, out.n, a.ids[i]);
    }
    free(a.ids);
    free(b.ids);
    return out;
}

static void assert_same(const struct list *got, const struct list *want)
{
    struct list a = sorted(got);
    assert_int_equal(a.n, want->n);
    for (size_t i = 0; i < a.n; i++)
        assert_true(digest_equal(&a.ids[i], &want->ids[i]));
    free(a.ids);
}

STORE_TEST(diff)
{
    struct rng r = rng_new(test_seed(1), 4);
    static const size_t sizes[] = {0, 3, 250, 260, 3000, 20000};
    for (int round = 0; round < 60; round++) {
        struct list x = list_of(sizes[round % 6]), y = {0};
        if (round % 5 == 0)
            for (size_t i = 0; i < x.n; i++)
                x.ids[i] = any_id(rng_below(&r, 40)); /* many repetitions */
        for (size_t i = 0; i < x.n; i++)
            list_insert(&y, i, x.ids[i]);
        while (round % 4 == 3 && y.n > sizes[(size_t)round % 3]) /* far fewer, of less depth */
            list_remove(&y, y.n - 1);
        size_t edits = rng_below(&r, round % 7 == 0 ? 400 : 8);
        for (size_t i = 0; i < edits; i++) {
            size_t at = y.n ? rng_below(&r, y.n) : 0;
            if (rng_below(&r, 2) && y.n)
                list_remove(&y, at);
            else
                list_insert(&y, at, any_id(rng_below(&r, 50000)));
        }
        struct digest from = build(p, &x, NULL), to = build(p, &y, NULL);
        struct diff d = {.from = &x, .to = &y};
        MUST(collection_diff(p->s, &from, &to, on_difference, &d, &err));
        struct list added = less(&y, &x), removed = less(&x, &y);
        assert_same(&d.added, &added);
        assert_same(&d.removed, &removed);
        free(added.ids);
        free(removed.ids);
        free(d.added.ids);
        free(d.removed.ids);
        free(x.ids);
        free(y.ids);
    }
}

/* Records that are no proper tree are refused, not walked. */
STORE_TEST(bad_trees)
{
    struct digest id, element = any_id(1), block_id;
    uint64_t one = 1, two = 2;
    p->b = store_batch_new(p->s);
    Eqloom__CollectionBlock block = EQLOOM__COLLECTION_BLOCK__INIT;
    block.element_ids = (ProtobufCBinaryData){32, element.bytes};
    MUST(store_batch_put_message(&block_id, p->b, KIND_COLLECTION_BLOCK, &block.base, &err));
    Eqloom__Collection good = EQLOOM__COLLECTION__INIT;
    good.count = 1;
    good.element_kind = "expr";
    good.depth = 1;
    good.block_ids = (ProtobufCBinaryData){32, block_id.bytes};
    good.n_block_count = 1;
    good.block_count = &one;
    for (int fault = 0; fault < 8; fault++) {
        Eqloom__Collection c = good;
        if (fault == 1)
            c.count = 2;
        else if (fault == 2)
            c.element_kind = "nonsense";
        else if (fault == 3)
            c.depth = 99;
        else if (fault == 4)
            c.block_ids.len = 31;
        else if (fault == 5)
            c.n_block_count = 0;
        else if (fault == 6)
            c.depth = 2; /* the block says 0 */
        else if (fault == 7) {
            c.count = 2;
            c.block_count = &two; /* the block has 1 */
        }
        MUST(store_batch_put_message(&id, p->b, KIND_COLLECTION, &c.base, &err));
        commit(p->b);
        struct collection *reader = NULL;
        struct digest got[2];
        enum err_code code = collection_open(&reader, p->s, &id, &err);
        if (code == OK)
            code = collection_ids(got, reader, 0, collection_count(reader), &err);
        assert_int_equal(code, fault ? ERR_CORRUPT : OK);
        if (reader)
            collection_close(reader);
    }
}

/* Slices of two collections and elements of their own, in any order: the same as one by one. */
STORE_TEST(slices)
{
    struct rng r = rng_new(test_seed(1), 7);
    static const size_t sizes[] = {200, 70000};
    struct list sources[2];
    struct collection *readers[2];
    for (int k = 0; k < 2; k++) {
        sources[k] = list_of(sizes[k]);
        for (size_t i = 0; k && i < 40000; i += 3)
            sources[k].ids[i] = any_id(i % 1000); /* much the same: blocks as long as they get */
        struct digest id = build(p, &sources[k], NULL);
        MUST(collection_open(&readers[k], p->s, &id, &err));
    }
    for (int round = 0; round < 60; round++) {
        struct list all = {0};
        struct digest id, expected;
        struct collection_builder *c = collection_builder_new(p->b, KIND_EXPR);
        for (size_t part = 0, parts = 1 + rng_below(&r, 6); part < parts; part++) {
            const struct list *from = &sources[rng_below(&r, 4) > 0];
            uint64_t at = rng_below(&r, 3) ? rng_below(&r, from->n) : 0;
            uint64_t n = rng_below(&r, 3) ? rng_below(&r, from->n - at + 1) : from->n - at;
            MUST(collection_builder_add_slice(c, readers[from != sources], at, n, &err));
            for (uint64_t i = 0; i < n; i++)
                list_insert(&all, all.n, from->ids[at + i]);
            for (uint64_t i = rng_below(&r, 3); i > 0; i--) {
                struct digest one = any_id(rng_below(&r, 100000));
                MUST(collection_builder_add(c, &one, &err));
                list_insert(&all, all.n, one);
            }
        }
        MUST(collection_builder_finish(&id, c, &err));
        collection_builder_free(c);
        commit(p->b);
        expected = build(p, &all, NULL);
        assert_memory_equal(&id, &expected, sizeof id);
        free(all.ids);
    }
    struct collection_builder *c = collection_builder_new(p->b, KIND_EXPR);
    assert_int_equal(collection_builder_add_slice(c, readers[0], 190, 11, &err), ERR_CORRUPT);
    collection_builder_free(c);
    for (int k = 0; k < 2; k++) {
        collection_close(readers[k]);
        free(sources[k].ids);
    }
}
