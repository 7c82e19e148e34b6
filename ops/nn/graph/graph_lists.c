/* See graph_lists.h. The lists are built in host memory of the same layout and copied in one
 * piece. */
#include "ops/nn/graph/graph_lists.h"

#include <string.h>

/* Writes the rows of the table that a node uses; returns their number. */
static size_t rows_of(uint32_t rows[5], const struct graph_vertex *v, const struct graph_config *c)
{
    size_t n = 0;
    if (!v->hidden) {
        rows[n++] = v->tag;
        if (v->attribute)
            rows[n++] = GRAPH_TAGS + v->attribute - 1u;
        if (v->character)
            rows[n++] = GRAPH_TAGS + GRAPH_ATTRIBUTES + v->character - 1u;
    }
    rows[n++] = GRAPH_FEATURES;
    rows[n++] = GRAPH_FEATURES + 1 + (v->position < c->positions ? v->position : c->positions - 1);
    return n;
}

void graph_lists_layout(struct graph_lists *out, const struct graph_set *s,
                        const struct graph_config *c, struct gpu_layout *l)
{
    size_t n = s->first[s->graphs], uses = 0, rows = graph_table_rows(c);
    uint32_t ignored[5];
    *out = (struct graph_lists){.graphs = s->graphs, .nodes = n};
    for (size_t i = 0; i < n; i++) {
        uses += rows_of(ignored, &s->vertices[i], c);
        out->hidden += s->vertices[i].hidden;
    }
    struct {
        uint32_t **list;
        size_t n;
    } lists[] = {
        {&out->use, uses},
        {&out->use_first, n + 1},
        {&out->used_by, uses},
        {&out->used_by_first, rows + 1},
        {&out->near, 3 * n - 2 * s->graphs},
        {&out->near_first, n + 1},
        {&out->graph_first, s->graphs + 1},
        {&out->counting, n + 1},
        {&out->hidden_node, out->hidden},
        {&out->label[0], out->hidden},
        {&out->label[1], out->hidden},
        {&out->label[2], out->hidden},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        *lists[i].list = gpu_carve(l, lists[i].n * sizeof(uint32_t));
}

static void fill_uses(const struct graph_lists *x, const struct graph_set *s,
                      const struct graph_config *c)
{
    size_t rows = graph_table_rows(c);
    uint32_t at = 0;
    memset(x->used_by_first, 0, (rows + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < x->nodes; i++) {
        x->use_first[i] = at;
        at += (uint32_t)rows_of(x->use + at, &s->vertices[i], c);
    }
    x->use_first[x->nodes] = at;
    for (uint32_t j = 0; j < at; j++)
        x->used_by_first[x->use[j] + 1]++;
    for (size_t r = 0; r < rows; r++)
        x->used_by_first[r + 1] += x->used_by_first[r];
    for (uint32_t i = 0; i < x->nodes; i++) /* each row's fill position advances */
        for (uint32_t j = x->use_first[i]; j < x->use_first[i + 1]; j++)
            x->used_by[x->used_by_first[x->use[j]]++] = i;
    for (size_t r = rows; r > 0; r--)
        x->used_by_first[r] = x->used_by_first[r - 1];
    x->used_by_first[0] = 0;
}

/* The node itself, then its parent and children in index order. */
static void fill_near(const struct graph_lists *x, const struct graph_set *s)
{
    uint32_t *first = x->near_first;
    memset(first, 0, (x->nodes + 1) * sizeof *first);
    for (size_t g = 0; g < s->graphs; g++)
        for (uint32_t i = s->first[g]; i < s->first[g + 1]; i++) {
            uint32_t parent = s->vertices[i].parent;
            first[i + 1] += parent ? 2 : 1;
            if (parent)
                first[s->first[g] + parent]++;
        }
    for (size_t i = 0; i < x->nodes; i++)
        first[i + 1] += first[i];
    for (size_t g = 0; g < s->graphs; g++)
        for (uint32_t i = s->first[g]; i < s->first[g + 1]; i++) {
            uint32_t parent = s->vertices[i].parent, up = s->first[g] + parent - 1;
            x->near[first[i]++] = i;
            if (!parent)
                continue;
            x->near[first[i]++] = up;
            x->near[first[up]++] = i;
        }
    for (size_t i = x->nodes; i > 0; i--)
        first[i] = first[i - 1];
    first[0] = 0;
}

static void fill_hidden(const struct graph_lists *x, const struct graph_set *s)
{
    for (uint32_t i = 0, k = 0; i < x->nodes; i++) {
        const struct graph_vertex *v = &s->vertices[i];
        if (!v->hidden)
            continue;
        x->hidden_node[k] = i;
        x->label[0][k] = v->tag;
        x->label[1][k] = v->attribute;
        x->label[2][k++] = v->character;
    }
}

void graph_lists_write(struct gpu_queue *q, const struct graph_lists *to, const struct graph_set *s,
                       const struct graph_config *c, struct arena *a)
{
    struct gpu_layout l = {0};
    struct graph_lists host;
    graph_lists_layout(&host, s, c, &l);
    size_t bytes = l.used;
    l = (struct gpu_layout){.base = arena_alloc(a, bytes)};
    graph_lists_layout(&host, s, c, &l);
    fill_uses(&host, s, c);
    fill_near(&host, s);
    fill_hidden(&host, s);
    memcpy(host.graph_first, s->first, (s->graphs + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i <= host.nodes; i++)
        host.counting[i] = i;
    gpu_write(q, to->use, host.use, bytes);
}
