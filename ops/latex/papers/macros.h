/* The macros and environments that a paper has defined up to a place. `structural` ones open or
 * close a display, begin a section or read a file: the reader has to expand them itself. All others
 * are left in the displays for KaTeX. */
#pragma once

#include "ops/latex/source/tex_scan.h"

#include "base/arena.h"
#include "base/map.h"
#include "paper.pb-c.h"

struct macro {
    Eqloom__Macro m; /* texts are good while the table's arena is */
    bool structural;
    uint32_t seen; /* of the last closure that it was found in */
};

struct macro_table {
    struct arena *a;
    struct macro **items; /* in order of the first definition */
    size_t n, cap;
    struct name_map index; /* to be freed */
    uint32_t closures;
    size_t bytes; /* of all definitions */
};

/* \newcommand and its kin, \def, \let, \newenvironment, xparse's, \DeclareMathOperator,
 * \DeclarePairedDelimiter: the command was read; the cursor is behind it. It replaces an earlier
 * definition. Refused in silence: names and bodies beyond the bounds (4 KiB), and what would expand
 * to itself. A definition in a form that is not known is read over as far as it is understood.
 * False, and nothing read, if the command defines nothing. */
bool macro_read(struct macro_table *t, struct piece command, struct cursor *c);
/* NULL if it is not defined. Commands with their backslash, environments without. */
struct macro *macro_find(const struct macro_table *t, struct piece name);
/* The macros that the text needs and those that they need, sorted by name. */
size_t macro_closure(Eqloom__Macro ***out, struct arena *a, struct macro_table *t,
                     struct piece text);
/* A body with its arguments, #1 to #9. */
struct piece macro_substitute(struct arena *a, const char *body, const struct piece *args,
                              size_t n);
/* Whether this environment, with or without a star, is a display: those of the paper's list and a
 * few more. */
bool macro_is_display(struct piece environment);
