#include "ops/learn/graph/graph_corpus.h"

#include "base/buf.h"
#include "base/rng.h"

#include <stdlib.h>

void graph_corpus_free(struct graph_corpus *c)
{
    free(c->vertices);
    free(c->graph);
    free(c->paper_mark);
    free(c->cites);
    free(c->member);
    free(c->member_first);
    free(c->cited_first);
    name_map_free(&c->names);
    *c = (struct graph_corpus){0};
}

enum err_code graph_vertices_read(struct graph_vertex *out, const Eqloom__Graph *g, struct err *e)
{
    size_t n = g->n_parent;
    if (n == 0 || g->n_position != n || g->n_tag != n || g->n_attribute != n ||
        g->n_character != n || n > UINT32_MAX / 8)
        return err_fail(e, ERR_CORRUPT, "the arrays of a graph differ in length");
    for (size_t i = 0; i < n; i++) {
        if ((i == 0) != (g->parent[i] == 0) || g->parent[i] > i)
            return err_fail(e, ERR_CORRUPT, "node %zu of a graph does not follow its parent", i);
        if (g->tag[i] >= GRAPH_TAGS || g->attribute[i] > GRAPH_ATTRIBUTES ||
            g->character[i] > GRAPH_CHARACTERS)
            return err_fail(e, ERR_CORRUPT, "node %zu of a graph has a feature beyond %d", i,
                            GRAPH_FEATURES);
        out[i] = (struct graph_vertex){.parent = g->parent[i],
                                       .position = g->position[i],
                                       .tag = (uint8_t)g->tag[i],
                                       .attribute = (uint8_t)g->attribute[i],
                                       .character = (uint8_t)g->character[i]};
    }
    return OK;
}

static uint64_t mark_of(const struct graph_vertex *v, size_t n)
{
    uint64_t mark = n;
    for (size_t i = 0; i < n; i++) {
        mark = rng_mix(mark ^ ((uint64_t)v[i].parent << 32 | v[i].position));
        mark = rng_mix(mark ^ ((uint64_t)v[i].tag << 16 | v[i].attribute << 8 | v[i].character));
    }
    return mark;
}

static uint32_t paper_of(struct graph_corpus *c, const char *name)
{
    bool added;
    uint32_t paper = (uint32_t)*name_map_put(&c->names, name, c->papers, &added);
    if (!added)
        return paper;
    uint64_t mark = 0;
    for (const char *s = name; *s; s++)
        mark = rng_mix(mark ^ (unsigned char)*s);
    c->paper_mark =
        vec_grow(c->paper_mark, &c->paper_mark_cap, c->papers + 1, sizeof *c->paper_mark);
    c->paper_mark[c->papers++] = mark;
    return paper;
}

enum err_code graph_corpus_add(struct graph_corpus *c, const Eqloom__Graph *g, struct err *e)
{
    size_t at = c->graphs ? c->graph[c->graphs].first : 0, i = c->graphs;
    c->vertices = vec_grow(c->vertices, &c->vertices_cap, at + g->n_parent, sizeof *c->vertices);
    enum err_code code = graph_vertices_read(c->vertices + at, g, e);
    if (code)
        return err_up(e, code);
    c->graph = vec_grow(c->graph, &c->graph_cap, i + 2, sizeof *c->graph);
    c->graph[i].first = at;
    c->graph[i + 1].first = at + g->n_parent;
    c->graph[i].paper = paper_of(c, g->place ? g->place->paper : "");
    c->graph[i].section = g->place ? g->place->section : 0;
    c->graph[i].mark = mark_of(c->vertices + at, g->n_parent);
    c->graphs++;
    return OK;
}

void graph_corpus_cite(struct graph_corpus *c, const char *paper, const char *cited)
{
    const uint64_t *from = name_map_get(&c->names, paper), *to = name_map_get(&c->names, cited);
    if (!from || !to || *from == *to)
        return;
    c->cites = vec_grow(c->cites, &c->cites_cap, c->n_cites + 1, sizeof *c->cites);
    c->cites[c->n_cites][0] = (uint32_t)*from;
    c->cites[c->n_cites++][1] = (uint32_t)*to;
}

static int compare_cites(const void *x, const void *y)
{
    const uint32_t *a = x, *b = y;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

static int compare_members(const void *x, const void *y, void *arg)
{
    const struct graph_corpus *c = arg;
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    if (c->graph[a].paper != c->graph[b].paper)
        return c->graph[a].paper < c->graph[b].paper ? -1 : 1;
    if (c->graph[a].section != c->graph[b].section)
        return c->graph[a].section < c->graph[b].section ? -1 : 1;
    return (a > b) - (a < b);
}

void graph_corpus_close(struct graph_corpus *c)
{
    size_t cap = 0;
    c->member = vec_grow(NULL, &cap, c->graphs + 1, sizeof *c->member);
    for (size_t i = 0; i < c->graphs; i++)
        c->member[i] = (uint32_t)i;
    qsort_r(c->member, c->graphs, sizeof *c->member, compare_members, c);
    if (c->n_cites)
        qsort(c->cites, c->n_cites, sizeof *c->cites, compare_cites);
    c->member_first = must_calloc(c->papers + 1, sizeof *c->member_first);
    c->cited_first = must_calloc(c->papers + 1, sizeof *c->cited_first);
    for (size_t i = 0; i < c->graphs; i++)
        c->member_first[c->graph[i].paper + 1]++;
    for (size_t i = 0; i < c->n_cites; i++)
        c->cited_first[c->cites[i][0] + 1]++;
    for (size_t p = 0; p < c->papers; p++) {
        c->member_first[p + 1] += c->member_first[p];
        c->cited_first[p + 1] += c->cited_first[p];
    }
}
