/* Graphs as lists of rows, which is all that the network's ops read: which rows of the first
 * layer's table a node adds up, which nodes are next to it, and so on. */
#pragma once

#include "gpu/gpu.h"
#include "ops/nn/graph/graph_model.h"

/* A node as the network sees it. */
struct graph_vertex {
    uint32_t parent; /* index within its graph + 1; 0: the root */
    uint32_t position;
    uint8_t tag;       /* from 0 */
    uint8_t attribute; /* 0: none */
    uint8_t character; /* 0: none */
    bool hidden;       /* the network sees its position only, and is asked for the rest */
};

/* Graph g has the vertices first[g] .. first[g+1]-1, first[0] being 0. */
struct graph_set {
    const struct graph_vertex *vertices;
    const uint32_t *first;
    size_t graphs;
    const uint32_t *paper; /* (graphs) of each, or NULL; the network does not see it */
};

/* The first layer's table: a row for each feature, the bias, then alpha E(position). */
static inline size_t graph_table_rows(const struct graph_config *c)
{
    return GRAPH_FEATURES + 1 + c->positions;
}

/* On the device. Lists i of a kind are x[x_first[i]] .. x[x_first[i+1]-1]; nodes are counted from
 * the set's first. */
struct graph_lists {
    size_t graphs, nodes, hidden;
    uint32_t *use, *use_first;         /* of nodes: rows of the table */
    uint32_t *used_by, *used_by_first; /* the transpose: of rows, nodes */
    uint32_t *near, *near_first;       /* of nodes: itself and its neighbours */
    uint32_t *graph_first;             /* of graphs: nodes, which are `counting` */
    uint32_t *counting;                /* 0, 1, 2, ... */
    uint32_t *hidden_node;             /* the hidden nodes, */
    uint32_t *label[GRAPH_HEADS];      /* and what each head should say of them */
};

/* Measures (l->base NULL) or lays out the lists of graphs. */
void graph_lists_layout(struct graph_lists *out, const struct graph_set *s,
                        const struct graph_config *c, struct gpu_layout *l);
/* Writes what was laid out. The arena serves as working memory. */
void graph_lists_write(struct gpu_queue *q, const struct graph_lists *to, const struct graph_set *s,
                       const struct graph_config *c, struct arena *a);
