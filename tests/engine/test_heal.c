/* Damaged records: whoever made them makes them again, and everything is as it was. */
#include "base/os.h"
#include "place.h"
#include "schemas/action.pb-c.h"
#include "schemas/checkpoint.pb-c.h"
#include "store/collection/collection.h"
#include "store/internal.h"
#include "store/maintain.h"
#include "tests/unit.h"

enum { SEEDS, NAMES, UPPER, FIRST, JOINED, MODEL, EXTRA };

static struct graph *build(struct place *p, const char *steps, const char *prefix)
{
    struct graph *g = graph_new(p, "heal");
    graph_add(g, "seeds", "lines", "", "seeds");
    graph_add(g, "names", "names", "", "names");
    graph_add(g, "upper", "upper", "repeat=2", "exprs=seeds names=names");
    graph_add(g, "first", "first", "", "exprs=upper");
    graph_add(g, "joined", "join", "", "exprs=first");
    graph_add(g, "model", "fold", steps, "expr=joined");
    graph_add(g, "extra", "join", prefix, "exprs=upper");
    return g;
}

static void lose(struct place *p, const struct digest *id)
{
    struct rocks_write w = {ROCKS_OBJECTS, true, digest_span(id), {0}};
    struct err e = {0};
    check(rocks_write(p->store->rocks, &w, 1, false, &e), &e);
}

static struct digest element_of(struct place *p, const struct digest *collection, uint64_t i)
{
    struct collection *c;
    struct digest id;
    struct err e = {0};
    check(collection_open(&c, p->store, collection, &e), &e);
    check(collection_ids(&id, c, i, 1, &e), &e);
    collection_close(c);
    return id;
}

static void bad_record(void *arg, const struct digest *id, const char *what)
{
    char hex[DIGEST_HEX];
    print_message("%s: %s\n", digest_hex(hex, id), what);
}

static const char *const SAME = "a x\nb y\nc z\nd w\n";

struct edit {
    const char *seeds, *names, *steps, *prefix;
};

/* Runs the job whole, harms what `pick` says, runs the job with an edit by which it is read, and
 * compares with the same in a store where nothing was harmed. */
static void heal_case(struct digest (*pick)(struct place *p, const struct run_result *r),
                      void (*harm)(struct place *p, const struct digest *id), struct edit edit,
                      const char *reader)
{
    struct digest outputs[2][7];
    for (int damaged = 0; damaged < 2; damaged++) {
        struct place p;
        place_new(&p);
        write_file(&p, "seeds", SAME);
        write_file(&p, "names", "g/one t\ng/two u\n");
        struct graph *g = build(&p, "steps=3", "prefix=");
        struct run_result r = run(&p, g);
        assert_int_equal(r.failed, 0);
        struct digest victim = pick(&p, &r);
        if (damaged)
            harm(&p, &victim);
        write_file(&p, "seeds", edit.seeds ? edit.seeds : SAME);
        if (edit.names)
            write_file(&p, "names", edit.names);
        g = build(&p, edit.steps ? edit.steps : "steps=3", edit.prefix ? edit.prefix : "prefix=");
        char *said = NULL, hex[DIGEST_HEX];
        size_t n;
        FILE *events = open_memstream(&said, &n);
        r = run_with(&p, g, (struct run_options){.keep_going = true, .events = events});
        fclose(events);
        assert_int_equal(r.failed, 0);
        assert_int_equal(strstr(said, arena_printf(&p.arena, "%s: record", reader)) != NULL,
                         damaged);
        assert_int_equal(strstr(said, "the store was found damaged") != NULL, damaged);
        assert_int_equal(strstr(said, digest_hex(hex, &victim)) != NULL, damaged);
        free(said);
        for (int i = 0; i < 7; i++)
            outputs[damaged][i] = r.nodes[i].outputs[0];
        place_assert_sound(&p);
        r = run(&p, g);
        assert_int_equal(r.nodes_ran, 0);
        place_free(&p);
    }
    assert_memory_equal(outputs[0], outputs[1], sizeof outputs[0]);
}

/* Opens the store as a reader beside the writer's directory, and reads. */
static enum err_code read_as_reader(struct place *p, const struct digest *id)
{
    struct store_options o = {.path = os_join(&p->arena, p->dir, ".eqloom"), .read_only = true};
    struct store *reader;
    struct record record;
    struct err e = {0};
    check(store_open(&reader, &o, &e), &e);
    enum err_code code = store_get(&record, reader, id, &p->arena, &e);
    store_close(reader);
    return code;
}

/* A reader cannot set aside what it finds damaged; the next run does, although nothing of the job
 * has changed. */
static void heal_after_reader(struct digest (*pick)(struct place *p, const struct run_result *r),
                              uint64_t elements)
{
    struct place p;
    place_new(&p);
    write_file(&p, "seeds", SAME);
    write_file(&p, "names", "g/one t\ng/two u\n");
    struct graph *g = build(&p, "steps=3", "prefix=");
    struct run_result before = run(&p, g);
    struct digest victim = pick(&p, &before);
    place_damage(&p, &victim);
    place_reopen(&p);
    struct run_result blind = run(&p, g);
    assert_int_equal(blind.nodes_ran, 0); /* nobody has looked */
    assert_int_equal(read_as_reader(&p, &victim), ERR_CORRUPT);
    place_reopen(&p);
    struct run_result after = run(&p, g);
    assert_int_equal(after.failed, 0);
    assert_in_range(after.elements_ran, elements, 4);
    for (int i = 0; i < 7; i++)
        assert_memory_equal(&before.nodes[i].outputs[0], &after.nodes[i].outputs[0], DIGEST_SIZE);
    place_assert_sound(&p);
    assert_int_equal(run(&p, g).nodes_ran, 0);
    place_free(&p);
}

static struct digest map_element(struct place *p, const struct run_result *r)
{
    return element_of(p, &r->nodes[UPPER].outputs[0], 3);
}

static struct digest side_element(struct place *p, const struct run_result *r)
{
    return element_of(p, &r->nodes[NAMES].outputs[0], 1);
}

static struct digest map_collection(struct place *p, const struct run_result *r)
{
    return r->nodes[UPPER].outputs[0];
}

static struct digest source_element(struct place *p, const struct run_result *r)
{
    return element_of(p, &r->nodes[SEEDS].outputs[0], 0);
}

static struct digest checkpoint(struct place *p, const struct run_result *r)
{
    return r->nodes[MODEL].outputs[0];
}

static struct digest chunk(struct place *p, const struct run_result *r)
{
    Eqloom__Checkpoint *m;
    struct err e = {0};
    struct digest id;
    check(store_get_message(&m, p->store, &r->nodes[MODEL].outputs[0], KIND_CHECKPOINT, &p->arena,
                            &e),
          &e);
    memcpy(id.bytes, m->tensors[0]->chunk_ids.data, DIGEST_SIZE);
    return id;
}

TEST(element_of_a_map)
{
    heal_case(map_element, place_damage, (struct edit){.prefix = "prefix=new"}, "extra");
}

TEST(element_of_a_side_input)
{
    heal_case(side_element, place_damage, (struct edit){.seeds = "a x\nb y\nc z\nd w\ne new\n"},
              "upper");
}

/* The source is read again, and most of it is taken for stored as it was. */
TEST(element_of_an_edited_source)
{
    static const char *const seeds[] = {"a x\nb y\nc new\nd w\n", "new\na x\nb y\nc z\nd w\n",
                                        "a x\nc z\nd w\n"};
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        struct edit edit = {.seeds = seeds[i], .names = "g/one t\n"};
        heal_case(source_element, place_damage, edit, "upper");
        heal_case(source_element, lose, edit, "upper");
    }
}

TEST(collection_of_a_map)
{
    heal_case(map_collection, place_damage, (struct edit){.prefix = "prefix=new"}, "extra");
}

TEST(checkpoint)
{
    heal_case(checkpoint, place_damage, (struct edit){.steps = "steps=5"}, "model");
}

TEST(chunk_of_a_checkpoint)
{
    heal_case(chunk, place_damage, (struct edit){.steps = "steps=5"}, "model");
}

/* By a map whose op works on several elements at once. */
PLACE_TEST(element_read_among_several)
{
    write_file(p, "seeds", SAME);
    write_file(p, "names", "g/one t\n");
    struct graph *g = build(p, "steps=3", "prefix=");
    struct run_result r = run(p, g);
    struct digest victim = map_element(p, &r);
    place_damage(p, &victim);
    graph_add(g, "loud", "shout", "", "exprs=upper");
    r = run(p, g);
    assert_int_equal(r.failed, 0);
    assert_int_equal(r.nodes[EXTRA + 1].ran, 8);
    place_assert_sound(p);
}

/* Read by nobody: a new element is all that is made. Then fsck finds it, and the run after that
 * makes it again. */
PLACE_TEST(found_by_reading)
{
    struct record record;
    struct err e = {0};
    write_file(p, "seeds", SAME);
    write_file(p, "names", "g/one t\n");
    struct graph *g = build(p, "steps=3", "prefix=");
    struct run_result r = run(p, g);
    struct digest before = r.nodes[JOINED].outputs[0];
    place_damage(p, &before);
    assert_int_equal(store_get(&record, p->store, &before, &p->arena, &e), ERR_CORRUPT);
    struct run_result planned = plan(p, g);
    assert_int_equal(planned.nodes[JOINED].state, NODE_RAN);
    assert_string_equal(planned.nodes[JOINED].why, "output missing");
    r = run(p, g);
    assert_int_equal(r.nodes[JOINED].state, NODE_RAN);
    assert_int_equal(r.nodes_ran, 1);
    assert_true(digest_equal(&before, &r.nodes[JOINED].outputs[0]));
    place_assert_sound(p);

    struct digest element = source_element(p, &r);
    struct fsck_result checked;
    place_damage(p, &element);
    check(store_fsck(&checked, p->store, true, bad_record, NULL, &e), &e);
    assert_int_equal(checked.bad_records, 1);
    r = run(p, g);
    assert_int_equal(r.failed, 0);
    place_assert_sound(p);
}

TEST(found_by_a_reader)
{
    heal_after_reader(map_element, 1);
    heal_after_reader(map_collection, 0);
    heal_after_reader(source_element, 0);
    heal_after_reader(checkpoint, 1);
    heal_after_reader(chunk, 1);
}

/* ---- claims of packs ---- */

struct forger {
    struct place *p;
    struct store_batch *batch;
    Eqloom__Action *last[32]; /* by op and kind of output: one whose outputs the next one gets */
    enum record_kind kinds[32];
    size_t n, foreign;
    bool wrong_kinds; /* it gets outputs of any kind */
};

static enum record_kind kind_of(struct place *p, const Eqloom__Action *x)
{
    struct record r = {0};
    if (x->n_outputs && x->outputs[0]->output_ids.len)
        store_get(&r, p->store, (const struct digest *)x->outputs[0]->output_ids.data, &p->arena,
                  NULL);
    return r.kind;
}

/* Makes all actions claims, each with the outputs of another like it. */
static enum err_code forge(void *arg, const struct digest *key, struct span value, struct err *e)
{
    struct forger *f = arg;
    struct arena *a = &f->p->arena;
    Eqloom__Action *x;
    struct span bytes;
    size_t i = 0;
    check(canonical_unpack(&x, a, &eqloom__action__descriptor, value, e), e);
    f->foreign += x->foreign;
    if (!f->batch)
        return OK;
    enum record_kind kind = f->wrong_kinds ? KIND_END : kind_of(f->p, x);
    while (i < f->n && (f->kinds[i] != kind ||
                        (!f->wrong_kinds && strcmp(f->last[i]->key->op, x->key->op) != 0)))
        i++;
    Eqloom__Action forged = *x;
    if (i < f->n && f->last[i]->n_outputs == x->n_outputs)
        forged.outputs = f->last[i]->outputs;
    f->n += i == f->n;
    f->last[i] = x;
    f->kinds[i] = kind;
    forged.foreign = true;
    check(canonical_pack(&bytes, a, &forged.base, e), e);
    check(store_batch_action(f->batch, key, bytes, e), e);
    return OK;
}

static void forge_all(struct place *p, bool wrong_kinds)
{
    struct err e = {0};
    struct forger f = {.p = p, .batch = store_batch_new(p->store), .wrong_kinds = wrong_kinds};
    check(store_each_action(p->store, forge, &f, &e), &e);
    check(store_batch_commit(f.batch, &e), &e);
    store_batch_free(f.batch);
}

/* Believed until they are checked, unless they cannot be read; then named and replaced. */
static void check_claims(struct place *p, bool wrong_kinds)
{
    struct err e = {0};
    struct forger rest = {.p = p};
    write_file(p, "seeds", SAME);
    write_file(p, "names", "g/one t\ng/two u\n");
    struct graph *g = build(p, "steps=3", "prefix=");
    struct run_result right = run(p, g);
    assert_int_equal(right.failed, 0);
    forge_all(p, wrong_kinds);
    struct run_result wrong = run(p, g);
    size_t differ = wrong.failed;
    for (int i = 0; !wrong.failed && i < 7; i++)
        differ += !digest_equal(&right.nodes[i].outputs[0], &wrong.nodes[i].outputs[0]);
    assert_true(differ > 0);
    char *said = NULL;
    size_t n;
    FILE *events = open_memstream(&said, &n);
    struct run_result checked =
        run_with(p, g, (struct run_options){.keep_going = true, .check = true, .events = events});
    fclose(events);
    assert_int_equal(checked.failed, 0);
    assert_non_null(strstr(said, "what a pack claimed is wrong, and is replaced"));
    free(said);
    check(store_each_action(p->store, forge, &rest, &e), &e);
    assert_int_equal(rest.foreign, 0);
    for (int k = 0; k < 2; k++) {
        struct run_result now = run(p, g);
        for (int i = 0; i < 7; i++)
            assert_memory_equal(&right.nodes[i].outputs[0], &now.nodes[i].outputs[0], DIGEST_SIZE);
        assert_true(k == 0 || now.nodes_ran == 0);
    }
}

PLACE_TEST(claims_of_packs)
{
    check_claims(p, false);
}

PLACE_TEST(claims_of_wrong_kinds)
{
    check_claims(p, true);
}
