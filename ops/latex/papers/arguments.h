/* The arguments of macros that the reader expands itself, by specifications as \NewDocumentCommand
 * has them. */
#pragma once

#include "ops/latex/source/tex_scan.h"

#include "base/arena.h"

enum { ARGUMENTS_MAX = 9 };

/* What stands for an optional argument that is absent, and for a star that is there or not. */
#define ARGUMENT_ABSENT "\\eqloom@novalue"
#define ARGUMENT_TRUE "\\BooleanTrue"
#define ARGUMENT_FALSE "\\BooleanFalse"

/* Returns true if the specification is of a known form; *body: whether its last argument is the
 * body of an environment (b). */
bool arguments_known(bool *body, const char *spec);
/* Reads what stands at the cursor. Returns the number of arguments, at most ARGUMENTS_MAX; fewer
 * than specified if an argument is missing. A body (b) is left to the caller. */
size_t arguments_take(struct piece *out, const char *spec, struct cursor *c);
/* Returns the specification of a command with n arguments, the first of which is optional if
 * `initial` is given. */
char *arguments_plain(struct arena *a, unsigned n, const struct piece *initial);
/* Returns the body with #1 to #9 replaced by the arguments, and ## by #. */
struct piece arguments_substitute(struct arena *a, const char *body, const struct piece *args,
                                  size_t n);
