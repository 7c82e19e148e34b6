/* What a graph network learns from: the graphs of equations, by paper and section, and which papers
 * cite which. */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "graph.pb-c.h"
#include "ops/nn/graph/graph_lists.h"

struct graph_corpus {
    struct graph_vertex *vertices;
    struct graph_entry {
        size_t first;            /* of its vertices */
        uint32_t paper, section; /* the section is its number within the paper */
        uint64_t mark;           /* a hash of its vertices */
    } * graph;                   /* (graphs + 1): the last has `first` alone */
    size_t graphs, vertices_cap, graph_cap;
    struct name_map names; /* of papers */
    uint64_t *paper_mark;  /* (papers): a hash of the name */
    size_t papers, paper_mark_cap;
    uint32_t (*cites)[2]; /* pairs of papers, both here, sorted */
    size_t n_cites, cites_cap;
    /* Since graph_corpus_close: */
    uint32_t *member, *member_first; /* of papers: graphs, section by section */
    uint32_t *cited_first;           /* (papers + 1): where a paper's pairs begin */
};

void graph_corpus_free(struct graph_corpus *c);
/* ERR_CORRUPT if it is not well formed. */
enum err_code graph_corpus_add(struct graph_corpus *c, const Eqloom__Graph *g, struct err *e);
/* After all graphs: that a paper cites another. Papers without a graph do not matter. */
void graph_corpus_cite(struct graph_corpus *c, const char *paper, const char *cited);
/* After all else. */
void graph_corpus_close(struct graph_corpus *c);

/* A record's vertices, (g->n_parent), of which the first is `out`. */
enum err_code graph_vertices_read(struct graph_vertex *out, const Eqloom__Graph *g, struct err *e);
