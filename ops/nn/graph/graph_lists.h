/* Graphs as the index lists that the network's kernels read: which rows of the first layer's table
 * each node adds up, which nodes are its neighbours, and so on. */
#pragma once

#include "gpu/gpu.h"
#include "ops/nn/graph/graph_model.h"

/* A node as the network sees it. An attribute or character of 0 means that it has none. */
struct graph_vertex {
    uint32_t parent; /* index within its graph + 1; 0: the root */
    uint32_t position;
    uint8_t tag; /* from 0 */
    uint8_t attribute;
    uint8_t character;
    bool hidden; /* the network sees only its position and predicts the rest */
};

/* Graph g has the vertices first[g] .. first[g+1]-1; first[0] is 0. */
struct graph_set {
    const struct graph_vertex *vertices;
    const uint32_t *first;
    size_t graphs;
    const uint32_t *paper; /* (graphs), or NULL; the network does not see it */
};

/* The first layer's table: a row for each feature, the bias, then alpha E(position). */
static inline size_t graph_table_rows(const struct graph_config *c)
{
    return GRAPH_FEATURES + 1 + c->positions;
}

/* On the device. List i of a kind is x[x_first[i]] .. x[x_first[i+1]-1]; nodes are numbered from
 * the first one of the set. */
struct graph_lists {
    size_t graphs, nodes, hidden;
    uint32_t *use, *use_first;         /* by node: rows of the table */
    uint32_t *used_by, *used_by_first; /* the transpose, by row: nodes */
    uint32_t *near, *near_first;       /* by node: itself and its neighbours */
    uint32_t *graph_first;             /* by graph: nodes, listed in `counting` */
    uint32_t *counting;                /* 0, 1, 2, ... */
    uint32_t *hidden_node;             /* the hidden nodes */
    uint32_t *label[GRAPH_HEADS];      /* by head: their labels */
};

/* Lays out the lists of the graphs; only measures if l->base is NULL. */
void graph_lists_layout(struct graph_lists *out, const struct graph_set *s,
                        const struct graph_config *c, struct gpu_layout *l);
/* Writes the lists to the device. Uses the arena as working memory. */
void graph_lists_write(struct gpu_queue *q, const struct graph_lists *to, const struct graph_set *s,
                       const struct graph_config *c, struct arena *a);
