/* The arXiv ids that a paper's bibliography names: in \thebibliography, its .bbl, and those entries
 * of its .bib that are cited. New style 1501.00001, old style hep-th/9901001; without version. */
#pragma once

#include "ops/latex/source/tex_scan.h"

#include "base/arena.h"
#include "base/map.h"

struct citations {
    struct arena *a;
    char **ids; /* each once, in order of their first occurrence */
    size_t n, cap;
    struct name_map seen, keys; /* keys: cited ones of .bib files; "*" for all */
};

void citations_free(struct citations *c);
/* \cite{a,b} */
void citations_key(struct citations *c, struct piece keys);
/* Ids in a text that is all bibliography. */
void citations_scan(struct citations *c, struct piece text);
void citations_scan_bib(struct citations *c, struct piece text);
void citations_sort(struct citations *c);
/* The id of a paper as its file's name has it ("0704.0001", "hep-th9901001.gz"); NULL if none. */
const char *citations_id_of_name(struct arena *a, const char *name);
