/* Expands the macros and environments of the paper that the reader has to expand itself
 * (macros.h). */
#pragma once

#include "ops/latex/papers/reader.h"

/* Reads the arguments of a macro and pushes its body. Displays in arguments that the body does not
 * use are counted. */
void expansion_push(struct reader *r, const struct macro *m);
/* Expands a macro if the reader has to; returns false if not. */
bool expansion_of_command(struct reader *r, struct piece word);
/* The same of an environment, at its \\begin or \\end. */
bool expansion_of_environment(struct reader *r, struct piece name, bool begin);
/* Whether \\let made this environment a display: \\let\\beq\\equation. */
bool expansion_same_as_display(struct piece *out, struct reader *r, struct piece name);
/* Reads up to the \\end of an environment, which is taken, too. */
bool expansion_body(struct piece *out, struct piece name, struct cursor *c);
