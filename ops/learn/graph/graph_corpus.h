/* The training data of a graph network: the graphs of equations, by paper and section, and the
 * citations between papers. */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "graph.pb-c.h"
#include "ops/nn/graph/graph_lists.h"

struct graph_corpus {
    struct graph_vertex *vertices;
    struct graph_entry {
        size_t first;            /* its first vertex */
        uint32_t paper, section; /* section: its number within the paper */
        uint64_t mark;           /* a hash of its vertices */
    } * graph;                   /* (graphs + 1): the last has only `first` */
    size_t graphs, vertices_cap, graph_cap;
    struct name_map names; /* of papers */
    uint64_t *paper_mark;  /* (papers): a hash of the name */
    size_t papers, paper_mark_cap;
    uint32_t (*cites)[2]; /* pairs of papers, both in the corpus, sorted */
    size_t n_cites, cites_cap;
    /* Set by graph_corpus_close: */
    uint32_t *member, *member_first; /* by paper: its graphs, ordered by section */
    uint32_t *cited_first;           /* (papers + 1): the first of a paper's pairs */
};

void graph_corpus_free(struct graph_corpus *c);
/* ERR_CORRUPT if the graph is not well formed. */
enum err_code graph_corpus_add(struct graph_corpus *c, const Eqloom__Graph *g, struct err *e);
/* Adds a citation; call after all graphs. Ignores papers without a graph. */
void graph_corpus_cite(struct graph_corpus *c, const char *paper, const char *cited);
/* Builds the indices; call last. */
void graph_corpus_close(struct graph_corpus *c);

/* Reads a record's vertices into out (g->n_parent). */
enum err_code graph_vertices_read(struct graph_vertex *out, const Eqloom__Graph *g, struct err *e);
