/* Maps over collections that have leaves: whatever few elements change, the outputs are those of a
 * run from scratch, and what did not change is not looked at one by one. The seed is printed and
 * may be given in EQLOOM_TEST_SEED. */
#include "base/buf.h"
#include "base/os.h"
#include "base/rng.h"
#include "place.h"
#include "store/collection/collection.h"
#include "store/internal.h"
#include "store/maintain.h"
#include "tests/unit.h"

#include <time.h>

enum { SEEDS, NAMES, UPPER, FIRST, RANK, WEIGH, NODES };
enum { LINES_MAX = 60000, ROUNDS = 5, LARGE = 56000 };

struct text {
    uint32_t lines[LINES_MAX];
    size_t n;
};

static void write_seeds(struct place *p, const struct text *t)
{
    struct buf b = {0};
    for (size_t i = 0; i < t->n; i++)
        buf_printf(&b, "%c%u\n", 'a' + (int)(t->lines[i] % 3), t->lines[i]);
    write_file(p, "seeds", b.data ? b.data : "");
    write_file(p, "names", "g/one t\nz/bee u\n");
    buf_free(&b);
}

static struct graph *build(struct place *p)
{
    struct graph *g = graph_new(p, "blocks");
    graph_add(g, "seeds", "lines", "", "seeds");
    graph_add(g, "names", "names", "", "names");
    graph_add(g, "upper", "upper", "repeat=2", "exprs=seeds names=names");
    graph_add(g, "first", "first", "", "exprs=upper");
    graph_add(g, "rank", "rank", "", "exprs=seeds names=names");
    graph_add(g, "weigh", "weigh", "most=4", "exprs=rank");
    return g;
}

static struct run_result run_text(struct place *p, const struct text *t, unsigned threads)
{
    write_seeds(p, t);
    struct graph *g = build(p);
    struct run_result r =
        run_with(p, g, (struct run_options){.keep_going = true, .threads = threads});
    assert_int_equal(r.failed, 0);
    return r;
}

static void edit(struct text *t, struct rng *r, uint32_t *fresh)
{
    size_t at = (size_t)rng_below(r, t->n), n = 1 + (size_t)rng_below(r, 5);
    switch (rng_below(r, 4)) {
    case 0: t->lines[at] = (*fresh)++; break;
    case 1: /* some go */
        n = n < t->n - at ? n : t->n - at;
        memmove(t->lines + at, t->lines + at + n, (t->n - at - n) * sizeof *t->lines);
        t->n -= n;
        break;
    case 2: /* some come */
        n = n < LINES_MAX - t->n ? n : LINES_MAX - t->n;
        memmove(t->lines + at + n, t->lines + at, (t->n - at) * sizeof *t->lines);
        for (size_t i = 0; i < n; i++)
            t->lines[at + i] = (*fresh)++;
        t->n += n;
        break;
    case 3: { /* another order */
        uint32_t first = t->lines[0];
        t->lines[0] = t->lines[at];
        t->lines[at] = first;
        break;
    }
    }
}

TEST(few_elements_change)
{
    struct rng r = rng_new(test_seed((uint64_t)time(NULL)), 0);
    static struct text t;
    t.n = 2000 + (size_t)rng_below(&r, 2000);
    struct place p;
    uint32_t fresh = 0;
    place_new(&p);
    for (size_t i = 0; i < t.n; i++)
        t.lines[i] = fresh++;
    run_text(&p, &t, 2);
    for (int round = 0; round < ROUNDS; round++) {
        struct place scratch;
        uint32_t before = fresh;
        edit(&t, &r, &fresh);
        if (rng_below(&r, 3) == 0)
            place_reopen(&p);
        int ran = ops_ran;
        struct run_result a = run_text(&p, &t, 1 + (unsigned)rng_below(&r, 3));
        ran = ops_ran - ran;
        /* The source and `weigh`; and of each new line one element of `upper`, two of `first`, one
         * of `rank`. */
        assert_in_range(ran, 0, 2 + 4 * (fresh - before));
        place_new(&scratch);
        struct run_result b = run_text(&scratch, &t, 2);
        for (int i = 0; i < NODES; i++) {
            assert_memory_equal(&a.nodes[i].outputs[0], &b.nodes[i].outputs[0], DIGEST_SIZE);
            assert_int_equal(a.nodes[i].elements, b.nodes[i].elements);
            if (i != WEIGH)
                assert_int_equal(a.nodes[i].elements, a.nodes[i].ran + a.nodes[i].cached);
        }
        place_free(&scratch);
    }
    place_assert_sound(&p);
    place_free(&p);
}

static unsigned depth_of(struct place *p, const struct digest *collection)
{
    struct collection *c;
    struct err e = {0};
    check(collection_open(&c, p->store, collection, &e), &e);
    unsigned depth = collection_depth(c);
    collection_close(c);
    return depth;
}

/* Enough elements for blocks above the leaves: whatever is edited, the same ids; and of a map and
 * of summaries little is done. */
TEST(blocks_above_leaves)
{
    struct text *t = calloc(1, sizeof *t);
    struct rng r = rng_new(7, 0);
    struct place p;
    uint32_t fresh = 0;
    place_new(&p);
    for (t->n = 0; t->n < LARGE; t->n++)
        t->lines[t->n] = fresh++;
    for (int round = 0; round < CASES(4, 3); round++) {
        struct place scratch;
        struct run_result result[2];
        struct place *places[] = {&p, &scratch};
        uint32_t before = fresh;
        if (round)
            edit(t, &r, &fresh);
        place_new(&scratch);
        if (round == 2) { /* what only old runs had goes; blocks name slices of what there is now */
            place_gc(&p);
        }
        int ran = ops_ran, summarized = ops_summarized;
        for (int k = 0; k < 2; k++) {
            write_seeds(places[k], t);
            struct graph *g = graph_new(&p, "blocks");
            graph_add(g, "seeds", "lines", "", "seeds");
            graph_add(g, "first", "first", "", "exprs=seeds");
            graph_add(g, "weigh", "weigh", "most=4", "exprs=seeds");
            result[k] = run(places[k], g);
            if (k == 0 && round) {
                assert_in_range(ops_ran - ran, 0, 2 + fresh - before);
                assert_in_range(ops_summarized - summarized, 0, fresh - before);
            }
        }
        assert_true(depth_of(&p, &result[0].nodes[0].outputs[0]) > 1);
        for (int i = 0; i < 3; i++)
            assert_memory_equal(&result[0].nodes[i].outputs[0], &result[1].nodes[i].outputs[0],
                                DIGEST_SIZE);
        assert_memory_equal(&result[0].nodes[2].outputs[1], &result[1].nodes[2].outputs[1],
                            DIGEST_SIZE);
        place_free(&scratch);
    }
    place_free(&p);
    free(t);
}

/* ---- what may not be believed ---- */

enum { MANY = 3000 };

static void fill(struct text *t, size_t n)
{
    for (t->n = 0; t->n < n; t->n++)
        t->lines[t->n] = (uint32_t)t->n;
}

/* What the same job gives in a store of its own. */
static void assert_as_from_scratch(struct graph *g, const struct run_result *r)
{
    struct place scratch;
    place_new(&scratch);
    struct run_result fresh = run(&scratch, g);
    for (size_t i = 0; i < g->job.n_nodes; i++)
        assert_memory_equal(&fresh.nodes[i].outputs[0], &r->nodes[i].outputs[0], DIGEST_SIZE);
    place_free(&scratch);
}

/* Versions, parameters and side inputs are parts of the keys of blocks and of summaries: when one
 * changes, no element is taken for known because its leaf is; when it is changed back, all are. */
PLACE_TEST(keys_of_blocks)
{
    static const struct {
        const char *repeat, *most, *names;
        uint32_t raise; /* of the versions */
        int ran, summarized;
    } rounds[] = {
        {"repeat=1", "most=3", "g/one t\n", 0, MANY + 1, MANY},
        {"repeat=2", "most=3", "g/one t\n", 0, MANY, 0},
        {"repeat=2", "most=4", "g/one t\n", 0, 1, MANY},
        {"repeat=2", "most=4", "g/one t\ng/two u\n", 0, MANY, 0},
        {"repeat=2", "most=4", "g/one t\ng/two u\n", 1, MANY + 1, MANY},
        {"repeat=1", "most=3", "g/one t\n", 0, 0, 0},
    };
    static struct text t;
    fill(&t, MANY);
    for (size_t k = 0; k < sizeof rounds / sizeof *rounds; k++) {
        struct op upper = *op_find("upper"), weigh = *op_find("weigh");
        upper.version += rounds[k].raise;
        weigh.version += rounds[k].raise;
        write_seeds(p, &t);
        write_file(p, "names", rounds[k].names);
        struct graph *g = graph_new(p, "keys");
        graph_add(g, "seeds", "lines", "", "seeds");
        graph_add(g, "names", "names", "", "names");
        graph_add(g, "upper", "upper", rounds[k].repeat, "exprs=seeds names=names");
        graph_add(g, "weigh", "weigh", rounds[k].most, "exprs=seeds");
        g->nodes[UPPER].op = &upper;
        g->nodes[UPPER + 1].op = &weigh;
        int ran = ops_ran, summarized = ops_summarized;
        struct run_result r = run(p, g);
        assert_int_equal(r.failed, 0);
        /* A source of names counts, too, when its file is new. */
        assert_in_range(ops_ran - ran, rounds[k].ran, rounds[k].ran + 1);
        assert_int_equal(ops_summarized - summarized, rounds[k].summarized);
        assert_as_from_scratch(g, &r);
    }
}

/* One element fails: its leaf is not known, now or later, and everything else of the map is. */
PLACE_TEST(failed_element_of_a_leaf)
{
    enum { AT = MANY / 2 };
    for (int round = 0; round < 4; round++) {
        struct buf b = {0};
        for (int i = 0; i < MANY; i++)
            buf_printf(&b, "%s%d\n", i == AT && round < 2 ? "bad" : "w", i);
        write_file(p, "seeds", b.data);
        buf_free(&b);
        struct graph *g = graph_new(p, "failing");
        graph_add(g, "seeds", "lines", "", "seeds");
        graph_add(g, "upper", "upper", "", "exprs=seeds");
        struct run_result r =
            run_with(p, g, (struct run_options){.keep_going = true, .threads = 2});
        assert_int_equal(r.failed, round < 2 ? 1 : 0);
        static const uint64_t ran[] = {MANY - 1, 0, 1, 0};
        assert_int_equal(r.nodes[1].ran, ran[round]);
        if (round >= 2)
            assert_as_from_scratch(g, &r);
    }
}

/* All blocks of a depth. */
static size_t damage_blocks(struct place *p, const struct digest *collection, unsigned depth)
{
    struct collection *c;
    struct collection_block block;
    struct digest ids[LARGE / 16];
    struct err e = {0};
    size_t n = 0;
    check(collection_open(&c, p->store, collection, &e), &e);
    assert_true(collection_depth(c) > depth);
    for (uint64_t at = 0; at < collection_count(c); at = block.first + block.n) {
        check(collection_block(&block, c, depth, at, &e), &e);
        ids[n++] = block.id;
    }
    collection_close(c);
    for (size_t i = 0; i < n; i++)
        place_damage(p, &ids[i]);
    return n;
}

/* Slices of earlier outputs lead into damaged blocks: the run makes them again itself. */
PLACE_TEST(damaged_blocks_of_outputs)
{
    struct text *t = calloc(1, sizeof *t);
    fill(t, LARGE);
    for (int round = 0; round < 3; round++) {
        char *said = NULL;
        size_t n;
        write_seeds(p, t);
        struct graph *g = graph_new(p, "damaged");
        graph_add(g, "seeds", "lines", "", "seeds");
        graph_add(g, "upper", "upper", "", "exprs=seeds");
        FILE *events = open_memstream(&said, &n);
        struct run_result r = run_with(
            p, g, (struct run_options){.keep_going = true, .threads = 2, .events = events});
        fclose(events);
        assert_int_equal(r.failed, 0);
        bool healed = strstr(said, "the store was found damaged") != NULL;
        free(said);
        assert_int_equal(healed, round == 1);
        assert_int_equal(r.nodes[1].ran, round == 0 ? LARGE : round == 1 ? 1 : 0);
        assert_true(depth_of(p, &r.nodes[0].outputs[0]) > 1);
        if (round == 1)
            assert_as_from_scratch(g, &r);
        if (round == 0)
            assert_true(damage_blocks(p, &r.nodes[1].outputs[0], 1) > 1);
        t->lines[LARGE - 10] = LINES_MAX;
    }
    /* The last run began by setting aside what was left of the damage: the outputs of the first. */
    place_assert_sound(p);
    free(t);
}

static struct place *losing;
enum { KEEPS, FORGETS, SPOILS };
static atomic_int losses;

/* Of the kind that `arg` points to. */
static enum err_code lose_action(void *arg, const struct digest *key, struct span value,
                                 struct err *e)
{
    struct rocks_write w = {ROCKS_ACTIONS, *(int *)arg == FORGETS, digest_span(key),
                            span_str("spoilt")};
    return rocks_write(losing->store->rocks, &w, 1, false, e);
}

/* `first`; the first element that runs loses all actions of the store. */
static enum err_code losing_run(struct op_ctx *ctx, void *state, struct err *e)
{
    int how = atomic_exchange(&losses, KEEPS);
    if (how != KEEPS)
        check(store_each_action(losing->store, lose_action, &how, e), e);
    return op_find("first")->run(ctx, state, e);
}

/* The actions of known blocks go, or can no longer be read, before a run or once it counts on them:
 * it makes them again. */
PLACE_TEST(lost_actions_of_blocks)
{
    static struct text t;
    struct op op = *op_find("first");
    struct err e = {0};
    op.run = losing_run;
    losing = p;
    for (int how = FORGETS; how <= SPOILS; how++)
        for (int within = 0; within < 2; within++) {
            fill(&t, MANY);
            for (int round = 0; round < 2; round++) {
                t.lines[0] = (uint32_t)(MANY * (1 + (round > 0) + 3 * within + 10 * how));
                atomic_store(&losses, round == 1 && within ? how : KEEPS);
                if (round == 1 && !within)
                    check(store_each_action(p->store, lose_action, &how, &e), &e);
                write_seeds(p, &t);
                struct graph *g = graph_new(p, "losing");
                graph_add(g, "seeds", "lines", "", "seeds");
                graph_add(g, "first", "first", "", "exprs=seeds");
                g->nodes[1].op = &op;
                struct run_result r = run(p, g);
                assert_int_equal(r.failed, 0);
                if (round == 1) {
                    assert_in_range(r.nodes[1].ran, MANY * 9 / 10, MANY);
                    assert_as_from_scratch(g, &r);
                }
            }
        }
}
