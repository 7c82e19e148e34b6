/* Triplets of equations: what they are, in which shares, and what a paper more changes; names that
 * are exchanged and nodes that are hidden. */
#include "ops/learn/graph/graph_sampler.h"
#include "tests/unit.h"

#include <math.h>

/* A paper p of `graphs` equations, two to a section, as trees of 12 nodes; every third node but the
 * root is an identifier (tag 1), the others are numbers (tag 2). */
static void add_paper(struct graph_corpus *c, unsigned p, unsigned graphs)
{
    uint32_t parent[12], position[12], tag[12], attribute[12] = {0}, character[12];
    char name[16];
    snprintf(name, sizeof name, "p%u", p);
    for (unsigned g = 0; g < graphs; g++) {
        Eqloom__Graph graph = EQLOOM__GRAPH__INIT;
        Eqloom__Place place = EQLOOM__PLACE__INIT;
        for (uint32_t i = 0; i < 12; i++) {
            parent[i] = i ? 1 : 0;
            position[i] = i ? i - 1 : 0;
            tag[i] = i == 0 ? 0 : i % 3 ? 2 : 1;
            character[i] = i ? 1 + (31 * p + 7 * g + i) % 192 : 0;
        }
        place.paper = name;
        place.section = g / 2;
        graph.place = &place;
        graph.n_parent = graph.n_position = graph.n_tag = graph.n_attribute = graph.n_character =
            12;
        graph.parent = parent;
        graph.position = position;
        graph.tag = tag;
        graph.attribute = attribute;
        graph.character = character;
        assert_int_equal(graph_corpus_add(c, &graph, NULL), OK);
    }
}

/* Papers 0 .. n-1 but one, of 1 to 7 equations; each cites the next but one. */
static void make_corpus(struct graph_corpus *c, unsigned n, unsigned but)
{
    *c = (struct graph_corpus){0};
    for (unsigned p = 0; p < n; p++)
        if (p != but)
            add_paper(c, p, 1 + p % 7);
    for (unsigned p = 0; p < n; p++) {
        char from[16], to[16];
        snprintf(from, sizeof from, "p%u", p);
        snprintf(to, sizeof to, "p%u", p + 2);
        graph_corpus_cite(c, from, to);
    }
    graph_corpus_close(c);
}

static const double shares[] = {0.459, 0.422, 0.139};

static bool cites(const struct graph_corpus *c, uint32_t from, uint32_t to)
{
    for (uint32_t i = c->cited_first[from]; i < c->cited_first[from + 1]; i++)
        if (c->cites[i][1] == to)
            return true;
    return false;
}

TEST(triplets)
{
    struct graph_corpus c;
    struct graph_sampler x;
    enum { N = 30000 };
    unsigned ways[GRAPH_WAYS] = {0}, negatives[50] = {0}, anchors[50] = {0};
    make_corpus(&c, 50, 50);
    assert_int_equal(graph_sampler_init(&x, &c, shares, 3, "graphs", NULL), OK);
    for (uint64_t k = 0; k < N; k++) {
        struct graph_triplet t = graph_sampler_draw(&x, k);
        uint32_t a = c.graph[t.anchor].paper, p = c.graph[t.positive].paper;
        ways[t.way]++;
        negatives[c.graph[t.negative].paper]++;
        anchors[a] += t.way == GRAPH_SAME_PAPER;
        assert_true(t.anchor != t.positive && c.graph[t.negative].paper != a);
        if (t.way == GRAPH_CITED)
            assert_true(cites(&c, a, p));
        else
            assert_int_equal(a, p);
        if (t.way == GRAPH_SAME_SECTION)
            assert_int_equal(c.graph[t.anchor].section, c.graph[t.positive].section);
    }
    for (int w = 0; w < GRAPH_WAYS; w++) { /* five deviations */
        double share = shares[w] / 1.02;
        assert_true(fabs(ways[w] - N * share) < 5 * sqrt(N * share * (1 - share)));
    }
    /* Equations come in turn: papers as often as they have some, alone ones not as anchors. A
     * negative may have to take the place of one before it. */
    for (unsigned p = 0; p < 50; p++) {
        double n = 1 + p % 7, turns = N * n / (double)c.graphs;
        double pairs = n > 1 ? ways[GRAPH_SAME_PAPER] * n / (double)(c.graphs - 8) : 0;
        assert_in_range(negatives[p], turns * 0.9, turns * 1.1);
        assert_true(fabs(anchors[p] - pairs) <= 5 * sqrt(pairs));
    }
    graph_sampler_free(&x);
    graph_corpus_free(&c);
}

/* Which graph it is, whatever its number. */
static bool same_graph(const struct graph_corpus *a, uint32_t i, const struct graph_corpus *b,
                       uint32_t j)
{
    return a->graph[i].mark == b->graph[j].mark && a->graph[i].section == b->graph[j].section &&
           a->paper_mark[a->graph[i].paper] == b->paper_mark[b->graph[j].paper];
}

/* Orders are those of hashes: a paper that is missing changes what is drawn from its turn on. */
TEST(a_paper_less)
{
    struct graph_corpus all, less;
    struct graph_sampler x, y;
    unsigned same = 0;
    make_corpus(&all, 200, 200);
    make_corpus(&less, 200, 117);
    assert_int_equal(graph_sampler_init(&x, &all, shares, 5, "graphs", NULL), OK);
    assert_int_equal(graph_sampler_init(&y, &less, shares, 5, "graphs", NULL), OK);
    for (uint64_t k = 0; k < 100; k++, same++) {
        struct graph_triplet s = graph_sampler_draw(&x, k), t = graph_sampler_draw(&y, k);
        if (!same_graph(&all, s.anchor, &less, t.anchor) ||
            !same_graph(&all, s.positive, &less, t.positive) ||
            !same_graph(&all, s.negative, &less, t.negative))
            break;
    }
    assert_true(same >= 5);
    graph_sampler_free(&x);
    graph_sampler_free(&y);
    graph_corpus_free(&all);
    graph_corpus_free(&less);
}

TEST(too_few)
{
    struct graph_corpus c;
    struct graph_sampler x;
    struct err e;
    make_corpus(&c, 1, 1);
    assert_int_equal(graph_sampler_init(&x, &c, shares, 3, "graphs", &e), ERR_INPUT);
    assert_string_equal(e.message, "equations of at least two papers are needed; graphs has 1");
    graph_sampler_free(&x);
    graph_corpus_free(&c);
    make_corpus(&c, 2, 2); /* of one equation and of two, which are of one section; no citation */
    static const double cited[] = {0, 0, 1};
    assert_int_equal(graph_sampler_init(&x, &c, cited, 3, "valid", &e), ERR_INPUT);
    graph_sampler_free(&x);
    assert_int_equal(graph_sampler_init(&x, &c, shares, 3, "valid", &e), OK);
    for (uint64_t k = 0; k < 50; k++)
        assert_true(graph_sampler_draw(&x, k).way != GRAPH_CITED);
    graph_sampler_free(&x);
    graph_corpus_free(&c);
}

/* Identifiers change their names by one permutation for each graph, nothing else changes. */
TEST(swaps)
{
    struct graph_corpus c;
    struct graph_sampler x;
    struct arena a = {0};
    struct graph_set plain, set, again;
    struct graph_examples_config how = {.batch = 40, .identifier = 1, .seed = 5};
    size_t changed = 0, identifiers = 0, hidden = 0;
    make_corpus(&c, 50, 50);
    assert_int_equal(graph_sampler_init(&x, &c, shares, 3, "graphs", NULL), OK);
    graph_examples_draw(&plain, &a, &x, &how, 2);
    how.swaps = 32;
    how.hidden = 0.15;
    graph_examples_draw(&set, &a, &x, &how, 2);
    graph_examples_draw(&again, &a, &x, &how, 2);
    assert_int_equal(set.graphs, 120);
    for (size_t g = 0; g < set.graphs; g++) {
        uint8_t to[193] = {0}, from[193] = {0};
        size_t of_graph = 0;
        for (size_t i = set.first[g]; i < set.first[g + 1]; i++) {
            const struct graph_vertex *v = &set.vertices[i], *w = &plain.vertices[i];
            assert_memory_equal(v, &again.vertices[i], sizeof *v);
            assert_true(v->parent == w->parent && v->tag == w->tag && v->position == w->position);
            of_graph += v->hidden;
            if (v->tag != 1) {
                assert_int_equal(v->character, w->character);
                continue;
            }
            assert_in_range(v->character, 1, 192);
            assert_true(!to[w->character] || to[w->character] == v->character);
            assert_true(!from[v->character] || from[v->character] == w->character);
            to[w->character] = v->character;
            from[v->character] = w->character;
            identifiers++;
            changed += v->character != w->character;
        }
        assert_int_equal(of_graph, 2); /* of 12 */
        hidden += of_graph;
    }
    /* A name stays in place if none of 32 swaps takes it: (1 - 2/192)^32, about 0.72 */
    assert_true(fabs((double)changed / (double)identifiers - 0.28) < 0.08);
    assert_int_equal(hidden, 240);
    arena_free(&a);
    graph_sampler_free(&x);
    graph_corpus_free(&c);
}
