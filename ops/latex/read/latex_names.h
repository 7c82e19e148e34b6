/* Names in KaTeX's parse tree: of variables, with their fonts and indices, and of functions. */
#pragma once

#include "ops/latex/read/latex_nodes.h"

/* Returns the name that a variable has in infix: x, theta, mathcal_L, ab for \mathrm{ab}; "" if the
 * node is none. *kind becomes LATEX_LETTER or LATEX_WORD. */
const char *latex_name(enum latex_kind *kind, struct latex_reading *r, const json_t *node);
/* Reads a variable with its index, or a constant. Notes i, and e unless it is raised to a power. */
struct latex_value latex_read_name(struct latex_reading *r, const json_t *node, const json_t *sub,
                                   bool raised);
/* Returns the operator of the language that the node (without its scripts) applies, LATEX_EXP for
 * \exp, or -1. */
enum { LATEX_EXP = LANG_MAX_OPS };
int latex_function(struct latex_reading *r, const json_t *node);
/* Returns the operator that is the logarithm to the base that a subscript names, or -1. */
int latex_logarithm(struct latex_reading *r, const json_t *sub);
/* Its token, and its arity. */
const char *latex_token(const struct latex_reading *r, int function);
unsigned latex_arity(const struct latex_reading *r, int function);
/* The inverse function that \sin^{-1} denotes; -1 and a refusal if the function has none. */
int latex_inverse(struct latex_reading *r, const json_t *node, int function);
/* Whether the node is the d of a derivative, or \partial if `partial`. */
bool latex_is_d(const json_t *node, bool *partial);
/* Whether the node is this letter, in whatever font. */
bool latex_is_letter(struct latex_reading *r, const json_t *node, const char *letter);
