/* A node stands in the column after the last of its inputs; within a column nodes are in the order
 * of the means of their inputs' rows. */
#include "engine/serve/graph.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 150, HEIGHT = 40, GAP_X = 40, GAP_Y = 14, LETTERS = 19 };

struct vertex {
    const json_t *node;
    size_t column, row;
    double wish; /* the row it would like */
};

static size_t find(const struct vertex *v, size_t n, const char *name)
{
    size_t i = 0;
    while (i < n && strcmp(json_text(v[i].node, "node"), name))
        i++;
    return i;
}

static int compare(const void *a, const void *b)
{
    const struct vertex *x = *(const struct vertex *const *)a,
                        *y = *(const struct vertex *const *)b;
    if (x->wish != y->wish)
        return x->wish < y->wish ? -1 : 1;
    return x < y ? -1 : 1;
}

/* Sets the rows of a column; returns how many it has. */
static size_t place_column(struct vertex *v, size_t n, size_t column, struct arena *a)
{
    struct vertex **members = arena_array(a, struct vertex *, n);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const json_t *inputs = json_object_get(v[i].node, "inputs");
        double sum = 0;
        if (v[i].column != column)
            continue;
        for (size_t k = 0; k < json_array_size(inputs); k++)
            sum += (double)v[find(v, n, json_string_value(json_array_get(inputs, k)))].row;
        v[i].wish = json_array_size(inputs) ? sum / (double)json_array_size(inputs) : 0;
        members[count++] = &v[i];
    }
    qsort(members, count, sizeof *members, compare);
    for (size_t i = 0; i < count; i++)
        members[i]->row = i;
    return count;
}

static int left(const struct vertex *v)
{
    return (int)v->column * (WIDTH + GAP_X) + 4;
}

static int top(const struct vertex *v)
{
    return (int)v->row * (HEIGHT + GAP_Y) + 4;
}

static void write_edge(struct page *p, const struct vertex *from, const struct vertex *to)
{
    int x = left(from) + WIDTH, y = top(from) + HEIGHT / 2, u = left(to), w = top(to) + HEIGHT / 2;
    page_printf(p, "<path class=\"edge\" d=\"M%d %dC%d %d %d %d %d %d\"/>\n", x, y, x + GAP_X, y,
                u - GAP_X, w, u, w);
}

/* "current", "stale", "failed": a word and a class, so that colour is not all that tells. */
static const char *state_of(const json_t *node)
{
    if (!strcmp(json_text(node, "last"), "running") || !strcmp(json_text(node, "last"), "failed"))
        return json_text(node, "last");
    return json_is_true(json_object_get(node, "current")) ? "current" : "stale";
}

static void write_vertex(struct page *p, const struct vertex *v, const char *job)
{
    const char *name = json_text(v->node, "node"), *state = state_of(v->node);
    size_t n = strlen(name);
    page_printf(p, "<a href=\"%s\"><g class=\"node %s\"><title>",
                page_address(p->arena, "/node", "ref", arena_printf(p->arena, "%s/%s", job, name)),
                state);
    page_text(p, arena_printf(p->arena, "%s: %s. %s", name, state, json_text(v->node, "why")));
    page_printf(p,
                "</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"7\"/><text "
                "x=\"%d\" y=\"%d\">",
                left(v), top(v), WIDTH, HEIGHT, left(v) + 9, top(v) + 17);
    page_text(p, arena_strndup(p->arena, name, n > LETTERS ? LETTERS - 1 : n));
    page_printf(p, "%s</text><text class=\"small\" x=\"%d\" y=\"%d\">", n > LETTERS ? "…" : "",
                left(v) + 9, top(v) + 32);
    page_text(p, arena_printf(p->arena, "%s, %s", json_text(v->node, "op"), state));
    page_html(p, "</text></g></a>\n");
}

void graph_write(struct page *p, const json_t *nodes, const char *job)
{
    size_t n = json_array_size(nodes), columns = 0, rows = 0;
    struct vertex *v = arena_array(p->arena, struct vertex, n + 1);
    for (size_t i = 0; i < n; i++) {
        v[i].node = json_array_get(nodes, i);
        const json_t *inputs = json_object_get(v[i].node, "inputs");
        for (size_t k = 0; k < json_array_size(inputs); k++) {
            size_t from = find(v, i, json_string_value(json_array_get(inputs, k)));
            if (from < i && v[from].column >= v[i].column)
                v[i].column = v[from].column + 1;
        }
        columns = v[i].column >= columns ? v[i].column + 1 : columns;
    }
    for (size_t c = 0; c < columns; c++) {
        size_t count = place_column(v, n, c, p->arena);
        rows = count > rows ? count : rows;
    }
    int width = (int)columns * (WIDTH + GAP_X) - GAP_X + 8;
    int height = (int)rows * (HEIGHT + GAP_Y) - GAP_Y + 8;
    page_printf(p,
                "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Graph\"><svg "
                "class=\"graph\" role=\"group\" aria-label=\"The nodes of the job, each with what "
                "reads it to its right; the table below says the same\" width=\"%d\" height=\"%d\" "
                "viewBox=\"0 0 %d %d\">\n",
                width, height, width, height);
    for (size_t i = 0; i < n; i++) {
        const json_t *inputs = json_object_get(v[i].node, "inputs");
        for (size_t k = 0; k < json_array_size(inputs); k++) {
            size_t from = find(v, i, json_string_value(json_array_get(inputs, k)));
            if (from < i)
                write_edge(p, &v[from], &v[i]);
        }
    }
    for (size_t i = 0; i < n; i++)
        write_vertex(p, &v[i], job);
    page_html(p, "</svg></div>\n");
}
