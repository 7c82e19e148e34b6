/* Jobs by hand; see graph_build.h. */
#include "graph_build.h"

#include "base/os.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct graph *graph_in(struct arena *a, const char *dir, const char *name)
{
    struct graph *g = arena_new(a, struct graph);
    g->arena = a;
    g->dir = dir;
    g->job.name = arena_strdup(a, name);
    g->job.path = g->job.dir = ".";
    g->job.nodes = g->nodes;
    return g;
}

/* The word "key=value" for a key, in a list separated by blanks; NULL if there is none. */
static char *find_value(struct arena *a, const char *list, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = list; at && *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        if (strncmp(at, key, n) == 0 && at[n] == '=')
            return arena_strndup(a, at + n + 1, len - n - 1);
        at += len;
    }
    return NULL;
}

static struct node_source find_node(struct graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->job.n_nodes; i++)
        if (strcmp(g->nodes[i].name, name) == 0)
            return (struct node_source){i, 0};
    fprintf(stderr, "no node %s\n", name);
    abort();
}

static void add_files(struct graph *g, struct node *n, const char *files)
{
    const char **list = arena_array(g->arena, const char *, 16);
    for (const char *at = files; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        list[n->n_files++] = os_join(g->arena, g->dir, arena_strndup(g->arena, at, len));
        at += len;
    }
    n->files = list;
}

uint32_t graph_add(struct graph *g, const char *name, const char *op, const char *params,
                   const char *inputs)
{
    struct node *n = &g->nodes[g->job.n_nodes];
    struct node_param *values = arena_array(g->arena, struct node_param, 16);
    struct node_input *ports = arena_array(g->arena, struct node_input, 16);
    struct node_source *sources = arena_array(g->arena, struct node_source, 16);
    assert(g->job.n_nodes < GRAPH_NODES);
    n->op = op_find(op);
    assert(n->op);
    n->name = n->base = arena_strdup(g->arena, name);
    for (size_t i = 0; n->op->params && n->op->params[i].name; i++) {
        char *value = find_value(g->arena, params, n->op->params[i].name);
        values[i] =
            (struct node_param){&n->op->params[i], value ? value : n->op->params[i].initial};
    }
    for (size_t p = 0; n->op->inputs && n->op->inputs[p].role; p++) {
        char *value = find_value(g->arena, inputs, n->op->inputs[p].role);
        ports[p].port = &n->op->inputs[p];
        if (!value)
            continue;
        ports[p].sources = &sources[n->n_above];
        ports[p].n_sources = 1;
        sources[n->n_above++] = find_node(g, value);
    }
    n->params = values;
    n->inputs = ports;
    n->above = sources;
    if (n->op->node == OP_SOURCE)
        add_files(g, n, inputs);
    return (uint32_t)g->job.n_nodes++;
}
