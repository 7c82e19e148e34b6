/* Garbage collection, fsck, and stores with flipped bytes. */
#include "tests/store/fixture.h"

#include "action.pb-c.h"
#include "base/buf.h"
#include "store/collection/collection.h"
#include "store/db/rocks.h"
#include "store/maintain.h"
#include "store/pack/pack.h"

/* An action named op that made one record. */
static struct digest put_action(struct store_batch *b, const char *op, const struct digest *output)
{
    struct arena a = {0};
    struct span preimage, value;
    Eqloom__ActionKey key = EQLOOM__ACTION_KEY__INIT;
    key.op = (char *)op;
    MUST(canonical_pack(&preimage, &a, &key.base, &err));
    Eqloom__ActionOutput out = EQLOOM__ACTION_OUTPUT__INIT, *outs[] = {&out};
    out.role = "out";
    out.output_ids = (ProtobufCBinaryData){DIGEST_SIZE, (uint8_t *)output->bytes};
    Eqloom__Action action = EQLOOM__ACTION__INIT;
    action.key = &key;
    action.n_outputs = 1;
    action.outputs = outs;
    MUST(canonical_pack(&value, &a, &action.base, &err));
    struct digest id = action_key(preimage);
    MUST(store_batch_action(b, &id, value, &err));
    arena_free(&a);
    return id;
}

static void put_run(struct store_batch *b, const char *run, const struct digest *output)
{
    struct arena a = {0};
    struct span value;
    Eqloom__ActionOutput out = EQLOOM__ACTION_OUTPUT__INIT, *outs[] = {&out};
    out.output_ids = (ProtobufCBinaryData){DIGEST_SIZE, (uint8_t *)output->bytes};
    Eqloom__RunNode node = EQLOOM__RUN_NODE__INIT, *nodes[] = {&node};
    node.n_outputs = 1;
    node.outputs = outs;
    Eqloom__Run message = EQLOOM__RUN__INIT;
    message.n_nodes = 1;
    message.nodes = nodes;
    MUST(canonical_pack(&value, &a, &message.base, &err));
    MUST(store_batch_run(b, run, value, &err));
    arena_free(&a);
}

/* A collection of n expressions starting at `from`. */
static struct digest put_collection(struct store_batch *b, unsigned from, unsigned n)
{
    struct digest id;
    struct collection_builder *c = collection_builder_new(b, KIND_EXPR);
    for (unsigned i = 0; i < n; i++) {
        id = put_number(b, from + i);
        MUST(collection_builder_add(c, &id, &err));
    }
    MUST(collection_builder_finish(&id, c, &err));
    collection_builder_free(c);
    return id;
}

static bool has_action(struct store *s, const struct digest *key)
{
    struct arena a = {0};
    struct span out;
    bool has = store_action(&out, s, key, &a, NULL) == OK;
    arena_free(&a);
    return has;
}

STORE_TEST(gc)
{
    struct store_batch *b = store_batch_new(p->s);
    struct digest kept = put_collection(b, 0, 1000), lost = put_collection(b, 900, 1000);
    struct digest newest = put_text(b, "newest"), older = put_text(b, "older"),
                  other = put_text(b, "other job");
    size_t total = store_batch_count(b);
    struct digest kept_action = put_action(b, "kept", &kept),
                  lost_action = put_action(b, "lost", &lost);
    MUST(store_batch_ref(b, "job/node", &kept, &err));
    put_run(b, "job/9", &older);
    put_run(b, "job/10", &newest);
    put_run(b, "other/1", &other);
    commit(b);
    struct gc_result dry, wet;
    struct gc_options o = {.dry_run = true, .keep_runs = 1};
    MUST(store_gc(&dry, p->s, &o, &err));
    assert_true(store_has(p->s, &lost) && has_action(p->s, &lost_action));
    o.dry_run = false;
    MUST(store_gc(&wet, p->s, &o, &err));
    assert_memory_equal(&dry, &wet, sizeof dry);
    assert_int_equal(wet.records_kept + wet.records_removed, total);
    assert_int_equal(wet.actions_removed, 1);
    /* 900 expressions, "older", the lost collection and its blocks. */
    assert_true(wet.records_removed >= 903 && wet.records_removed <= 930);
    assert_true(store_has(p->s, &newest) && store_has(p->s, &other) && store_has(p->s, &kept));
    assert_false(store_has(p->s, &older) || store_has(p->s, &lost));
    assert_true(has_action(p->s, &kept_action));
    assert_false(has_action(p->s, &lost_action));
    struct fsck_result check;
    MUST(store_fsck(&check, p->s, false, NULL, NULL, &err));
    assert_int_equal(check.bad_records + check.missing, 0);
    assert_int_equal(check.records, wet.records_kept);
    MUST(store_gc(&wet, p->s, &o, &err));
    assert_int_equal(wet.records_removed, 0);
    /* What was removed can be put again. */
    put_text(b, "older");
    commit(b);
    assert_true(store_has(p->s, &older));
    store_batch_free(b);
}

struct faults {
    unsigned n;
    struct digest wanted;
    bool named;
    struct buf text;
};

static void on_bad(void *arg, const struct digest *id, const char *what)
{
    struct faults *f = arg;
    f->n++;
    f->named = f->named || (id && digest_equal(id, &f->wanted));
    buf_printf(&f->text, "%s\n", what);
}

STORE_TEST(fsck_finds_dangling)
{
    struct store_batch *b = store_batch_new(p->s);
    struct digest x = put_text(b, "x"), nothing = {{7}};
    struct digest good = put_action(b, "good", &x), bad = put_action(b, "bad", &nothing);
    MUST(store_batch_ref(b, "dangling", &nothing, &err));
    struct digest wrong_key = {{9}};
    struct span value;
    commit(b);
    MUST(store_action(&value, p->s, &good, &p->a, &err));
    MUST(store_batch_action(b, &wrong_key, value, &err));
    commit(b);
    struct fsck_result r;
    struct faults f = {.wanted = bad};
    MUST(store_fsck(&r, p->s, true, on_bad, &f, &err));
    assert_true(f.named);
    assert_int_equal(r.missing, 1);
    assert_int_equal(r.actions, 3);
    assert_int_equal(f.n, 4); /* the missing record, two actions, the ref */
    assert_false(has_action(p->s, &bad) || has_action(p->s, &wrong_key));
    assert_true(has_action(p->s, &good));
    buf_free(&f.text);
    store_batch_free(b);
}

/* Flips one bit of a file where it holds `needle`. */
static void flip(const char *directory, const char *pattern, const void *needle, size_t n)
{
    glob_t g = files_of(directory, pattern);
    bool found = false;
    for (size_t i = 0; i < g.gl_pathc && !found; i++) {
        struct arena a = {0};
        struct span bytes;
        assert_int_equal(os_read_file(&bytes, &a, g.gl_pathv[i], 1 << 30, NULL), OK);
        const uint8_t *at = memmem(bytes.data, bytes.len, needle, n);
        if (at)
            flip_bits(g.gl_pathv[i], at + n / 2 - bytes.data, 0x10);
        found = at != NULL;
        arena_free(&a);
    }
    globfree(&g);
    assert_true(found);
}

/* Fills a store so that everything is in files: 5,000 expressions, one of which is returned. */
static struct digest fill_files(struct test_store *p)
{
    struct store_batch *b = store_batch_new(p->s);
    struct rng r = rng_new(8, 8);
    for (unsigned i = 0; i < 5000; i++)
        put_number(b, i);
    for (unsigned i = 0; i < 100; i++) { /* more than closing leaves in memory */
        struct digest noise = put_noise(b, &r, 200000);
        if (i == 0)
            put_action(b, "noise", &noise);
    }
    struct digest victim = put_text(b, "the record that is going to be damaged");
    put_action(b, "victim", &victim);
    commit(b);
    store_batch_free(b);
    store_close(p->s);
    p->s = NULL;
    return victim;
}

static void check_healing(struct test_store *p, struct digest victim,
                          struct digest (*again)(struct store_batch *b))
{
    struct arena a = {0};
    struct record record;
    char hex[DIGEST_HEX];
    /* A reader says what is bad, and then treats it as absent. */
    struct store *reader = open_reader(p->path);
    assert_int_equal(store_get(&record, reader, &victim, &a, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.message, digest_hex(hex, &victim)));
    assert_false(store_has(reader, &victim));
    store_close(reader);
    p->s = open_store(p->path);
    struct fsck_result r;
    struct faults f = {.wanted = victim};
    MUST(store_fsck(&r, p->s, false, on_bad, &f, &err));
    assert_true(f.named);
    assert_true(r.bad_records >= 1);
    assert_true(r.records >= 5000 - 600); /* only a block is lost */
    assert_int_equal(store_get(&record, p->s, &victim, &a, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.message, hex));
    assert_false(store_has(p->s, &victim));
    assert_int_equal(store_get(&record, p->s, &victim, &a, &err), ERR_NOTFOUND);
    struct store_batch *b = store_batch_new(p->s);
    struct digest id = again(b);
    assert_true(digest_equal(&id, &victim));
    assert_int_equal(store_batch_count(b), 1);
    put_action(b, "victim", &victim); /* its outputs come with it, as ever */
    commit(b);
    MUST(store_get(&record, p->s, &victim, &a, &err));
    MUST(store_fsck(&r, p->s, false, NULL, NULL, &err)); /* it is seen, whatever is around it */
    assert_int_equal(r.missing, 0);
    store_batch_free(b);
    store_close(p->s);
    p->s = open_store(p->path);
    MUST(store_get(&record, p->s, &victim, &a, &err));
    MUST(store_fsck(&r, p->s, false, NULL, NULL, &err));
    assert_int_equal(r.bad_records, 0);
    buf_free(&f.text);
    arena_free(&a);
}

static struct digest victim_again(struct store_batch *b)
{
    return put_text(b, "the record that is going to be damaged");
}

STORE_TEST(flipped_byte_in_a_block)
{
    struct digest victim = fill_files(p);
    flip(p->path, "*.sst", "that is going to", 16);
    check_healing(p, victim, victim_again);
}

static uint8_t first_noise[64];

static struct digest noise_again(struct store_batch *b)
{
    struct rng r = rng_new(8, 8);
    return put_noise(b, &r, 200000);
}

STORE_TEST(flipped_byte_in_a_large_value)
{
    fill_files(p);
    struct rng r = rng_new(8, 8);
    for (size_t i = 0; i < sizeof first_noise; i++)
        first_noise[i] = (uint8_t)rng_u64(&r);
    p->s = open_store(p->path);
    struct store_batch *b = store_batch_new(p->s);
    struct digest victim = noise_again(b);
    assert_int_equal(store_batch_count(b), 0);
    store_batch_free(b);
    store_close(p->s);
    p->s = NULL;
    flip(p->path, "*.sst", first_noise, sizeof first_noise);
    check_healing(p, victim, noise_again);
}

/* A wrong value that RocksDB has no reason to doubt. */
STORE_TEST(wrong_value)
{
    struct digest victim = fill_files(p);
    char path[100];
    snprintf(path, sizeof path, "%s/db", p->path);
    struct rocks *rocks;
    MUST(rocks_open(&rocks, path, ROCKS_WRITE, &err));
    struct rocks_write w = {ROCKS_OBJECTS, false, span_of(victim.bytes, DIGEST_SIZE),
                            span_of("eq\1\0\1\0\1\0\3\0\0\0\0\0\0\0\x0a\1x", 19)};
    MUST(rocks_write(rocks, &w, 1, true, &err));
    rocks_close(rocks);
    check_healing(p, victim, victim_again);
}

STORE_TEST(repair)
{
    struct digest victim = fill_files(p);
    flip(p->path, "*.sst", "that is going to", 16);
    p->s = open_store(p->path);
    struct fsck_result r;
    struct digest key;
    struct store_batch *b = store_batch_new(p->s);
    key = put_action(b, "victim", &victim);
    assert_true(has_action(p->s, &key));
    MUST(store_fsck(&r, p->s, true, NULL, NULL, &err));
    assert_true(r.bad_records >= 1 && r.quarantined >= 1);
    assert_false(has_action(p->s, &key)); /* so that it is done again */
    assert_false(store_has(p->s, &victim));
    store_batch_free(b);
    b = store_batch_new(p->s);
    victim_again(b);
    put_action(b, "victim", &victim);
    commit(b);
    store_batch_free(b);
    assert_true(store_has(p->s, &victim) && has_action(p->s, &key));
    MUST(store_fsck(&r, p->s, false, NULL, NULL, &err));
    assert_int_equal(r.bad_records + r.missing, 0);
    store_close(p->s);
    p->s = open_store(p->path);
    MUST(store_fsck(&r, p->s, false, NULL, NULL, &err));
    assert_int_equal(r.bad_records + r.missing, 0);
}

/* A rebuild cut off between its two renames. */
STORE_TEST(rebuild_cut_off)
{
    struct digest victim = fill_files(p);
    char db[100], old[100], fresh[100];
    snprintf(db, sizeof db, "%s/db", p->path);
    snprintf(old, sizeof old, "%s/db.old", p->path);
    snprintf(fresh, sizeof fresh, "%s/db.new", p->path);
    assert_int_equal(rename(db, old), 0);
    assert_int_equal(os_mkdirs(fresh, NULL), OK);
    p->s = open_store(p->path);
    assert_true(store_has(p->s, &victim));
    assert_int_equal(access(fresh, F_OK) | access(old, F_OK), -1);
}

/* Every file damaged somewhere, its index and filter included: the store opens, repairs itself,
 * and takes all records again. */
STORE_TEST(damage_anywhere)
{
    struct rng r = rng_new(test_seed(1), 11);
    struct digest x = fill_files(p);
    for (int round = 0; round < 6; round++) {
        glob_t g = files_of(p->path, "*.sst");
        for (size_t i = 0; i < g.gl_pathc; i++) {
            struct os_stat st;
            assert_int_equal(os_stat(&st, g.gl_pathv[i], NULL), OK);
            /* Small files are mostly index; in large ones, half of the damage goes there. */
            uint64_t tail = st.size > 4000 && round % 2 ? 4000 : st.size;
            flip_bits(g.gl_pathv[i], -1 - (long)rng_below(&r, tail), 0x10);
        }
        globfree(&g);
        p->s = open_store(p->path);
        struct fsck_result result;
        MUST(store_fsck(&result, p->s, true, NULL, NULL, &err));
        MUST(store_fsck(&result, p->s, false, NULL, NULL, &err));
        assert_int_equal(result.bad_records + result.missing, 0);
        store_close(p->s);
        p->s = open_store(p->path);
        fill_files(p);
        p->s = open_store(p->path);
        MUST(store_fsck(&result, p->s, false, NULL, NULL, &err));
        assert_int_equal(result.bad_records + result.missing, 0);
        assert_true(result.records >= 5101 && store_has(p->s, &x));
        store_close(p->s);
        p->s = NULL;
    }
}

/* Names that no run makes again: whatever is bad of the index of their table, each stays. */
STORE_TEST(index_of_names)
{
    enum { NAMES = 3000, PLACES = 12, STEP = 300 };
    char name[64];
    struct store_batch *b = store_batch_new(p->s);
    struct digest id, found;
    for (unsigned i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "tag/%u-of-many-names", i);
        id = action_key(span_str(name)); /* no two alike: it does not become shorter */
        MUST(store_batch_ref(b, name, &id, &err));
    }
    commit(b);
    store_batch_free(b);
    MUST(store_compact(p->s, &err));
    unsigned told = 0;
    for (long at = 900; at < 900 + PLACES * STEP; at += STEP) {
        store_close(p->s);
        glob_t g = files_of(p->path, "*.sst");
        const char *largest = NULL;
        struct os_stat st, most = {0};
        for (size_t i = 0; i < g.gl_pathc; i++)
            if (!os_stat(&st, g.gl_pathv[i], NULL) && st.size > most.size) {
                most = st;
                largest = g.gl_pathv[i];
            }
        assert_true(most.size > 100000);
        flip_bits(largest, -at, 0x10);
        globfree(&g);
        p->s = open_store(p->path);
        told += store_notice(p->s) != NULL;
        for (unsigned i = 0; i < NAMES; i++) {
            snprintf(name, sizeof name, "tag/%u-of-many-names", i);
            id = action_key(span_str(name));
            MUST(store_ref(&found, p->s, name, &err));
            assert_true(digest_equal(&found, &id));
        }
    }
    assert_true(told > PLACES / 2);
}

/* ---- packs ---- */

static void check_action(struct store *s, const struct digest *key, const struct digest *output,
                         bool foreign)
{
    struct arena a = {0};
    struct span value;
    const Eqloom__Action *action;
    MUST(store_action(&value, s, key, &a, &err));
    MUST(canonical_unpack(&action, &a, &eqloom__action__descriptor, value, &err));
    assert_memory_equal(action->outputs[0]->output_ids.data, output, DIGEST_SIZE);
    assert_int_equal(action->foreign, foreign);
    arena_free(&a);
}

/* What a pack says of an action that was made here is not believed, whatever it says. */
STORE_TEST(own_actions_win)
{
    char path[64];
    struct pack_result r;
    temporary_directory(path);
    struct store *other = open_store(path);
    struct store_batch *mine = store_batch_new(p->s), *theirs = store_batch_new(other);
    struct digest x = put_text(mine, "x"), y = put_text(theirs, "y"), keys[3];
    struct digest gone = {{9}};
    keys[0] = put_action(mine, "both", &x);
    put_action(mine, "broken", &gone);
    commit(mine);
    put_action(theirs, "both", &y);
    keys[1] = put_action(theirs, "broken", &y);
    keys[2] = put_action(theirs, "theirs", &y);
    commit(theirs);
    store_batch_free(mine);
    store_batch_free(theirs);
    for (int trust = PACK_FOREIGN; trust >= PACK_OWN; trust--) {
        FILE *f = tmpfile();
        struct pack_root root = {NULL, y};
        struct pack_contents what = {.roots = &root, .n_roots = 1, .actions = keys, .n_actions = 3};
        MUST(store_pack(&r, other, f, &what, &err));
        rewind(f);
        MUST(store_unpack(&r, p->s, f, "pack", (enum pack_trust)trust, &err));
        fclose(f);
        assert_int_equal(r.actions, trust == PACK_FOREIGN ? 2 : 0);
        check_action(p->s, &keys[0], &x, false);
        check_action(p->s, &keys[1], &y, true);
        check_action(p->s, &keys[2], &y, true);
    }
    store_close(other);
    os_remove_tree(path);
}
