/* The macros and environments that a paper has defined so far. A macro is `structural` if it opens
 * or closes a display, begins a section or reads a file: the reader has to expand it itself; so it
 * does with one that `defines` others, before the body begins. All other macros stay in the
 * displays, for KaTeX. */
#pragma once

#include "ops/latex/source/tex_scan.h"

#include "base/arena.h"
#include "base/map.h"
#include "paper.pb-c.h"

struct macro {
    Eqloom__Macro m; /* texts live as long as the table's arena */
    bool structural, defines;
    bool sets;     /* \xtrue or \xfalse of a \newif: expanded wherever it stands */
    bool known;    /* its arguments can be read */
    bool has_body; /* an environment whose last argument is its body */
    uint32_t seen; /* the last closure that included it */
};

struct macro_table {
    struct arena *a;
    bool (*begins_definition)(struct piece command);
    struct macro **items; /* in order of first definition */
    size_t n, cap;
    struct name_map index; /* freed by the owner of the table */
    uint32_t closures;
    size_t bytes; /* of all definitions */
    unsigned
        refused; /* definitions beyond the limits: names of 100 bytes, bodies of 16 KiB, 64 MiB */
};

/* Adds a definition; a later one replaces an earlier one. Displays that were read before keep what
 * they had. */
void macro_define(struct macro_table *t, Eqloom__Macro m, struct piece name, struct piece body,
                  struct piece end);
void macro_undefine(struct macro_table *t, struct piece name);
/* Returns NULL if it is not defined. Commands have their backslash, environments do not. */
struct macro *macro_find(const struct macro_table *t, struct piece name);
/* What the name of a conditional means: -1 if it is none of the paper's. */
int macro_truth(const struct macro_table *t, struct piece name);
/* Collects the macros that the text uses, directly or through other macros, sorted by name. */
size_t macro_closure(Eqloom__Macro ***out, struct arena *a, struct macro_table *t,
                     struct piece text);
/* Counts what looks like displays in a text, structural macros included. */
unsigned macro_count_displays(const struct macro_table *t, struct piece text);
