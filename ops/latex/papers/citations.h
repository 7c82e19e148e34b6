/* Extracts the arXiv ids from a paper's bibliography: from \thebibliography, its .bbl, and the
 * cited entries of its .bib. Ids are 1501.00001 (new style) or hep-th/9901001 (old style), without
 * version. */
#pragma once

#include "ops/latex/source/tex_scan.h"

#include "base/arena.h"
#include "base/map.h"

struct citations {
    struct arena *a;
    char **ids; /* unique, in order of first occurrence */
    size_t n, cap;
    struct name_map seen, keys; /* keys: cited entries of .bib files; "*" stands for all */
};

void citations_free(struct citations *c);
/* Adds the keys of \cite{a,b}. */
void citations_key(struct citations *c, struct piece keys);
/* Adds the ids of a text that is all bibliography. */
void citations_scan(struct citations *c, struct piece text);
void citations_scan_bib(struct citations *c, struct piece text);
void citations_sort(struct citations *c);
/* Returns the id of a paper whose file has this name ("0704.0001", "hep-th9901001.gz"), or NULL. */
const char *citations_id_of_name(struct arena *a, const char *name);
