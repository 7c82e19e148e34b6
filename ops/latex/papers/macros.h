/* The macros and environments that a paper has defined so far. A macro is `structural` if it opens
 * or closes a display, begins a section or reads a file: the reader has to expand it itself. All
 * other macros stay in the displays, for KaTeX. */
#pragma once

#include "ops/latex/source/tex_scan.h"

#include "base/arena.h"
#include "base/map.h"
#include "paper.pb-c.h"

struct macro {
    Eqloom__Macro m; /* texts live as long as the table's arena */
    bool structural;
    uint32_t seen; /* the last closure that included it */
};

struct macro_table {
    struct arena *a;
    struct macro **items; /* in order of first definition */
    size_t n, cap;
    struct name_map index; /* freed by the owner of the table */
    uint32_t closures;
    size_t bytes; /* of all definitions */
};

/* Reads a definition if `command` makes one: \newcommand and its variants, \def, \let,
 * \newenvironment, xparse's commands, \DeclareMathOperator, \DeclarePairedDelimiter. The cursor is
 * after the command. A new definition replaces an earlier one. Names and bodies beyond the limit (4
 * KiB) and macros that would expand to themselves are ignored silently; a definition in an unknown
 * form is skipped as far as it can be parsed. Returns false, and reads nothing, if the command
 * defines nothing. */
bool macro_read(struct macro_table *t, struct piece command, struct cursor *c);
/* Returns NULL if it is not defined. Commands have their backslash, environments do not. */
struct macro *macro_find(const struct macro_table *t, struct piece name);
/* Collects the macros that the text uses, directly or through other macros, sorted by name. */
size_t macro_closure(Eqloom__Macro ***out, struct arena *a, struct macro_table *t,
                     struct piece text);
/* Returns the body with #1 to #9 replaced by the arguments. */
struct piece macro_substitute(struct arena *a, const char *body, const struct piece *args,
                              size_t n);
/* Whether this environment, starred or not, is a display: those listed in the article and a few
 * more. */
bool macro_is_display(struct piece environment);
