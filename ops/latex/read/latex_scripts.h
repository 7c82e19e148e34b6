/* What stands above and below the line. */
#pragma once

#include "ops/latex/read/latex_nodes.h"

/* Refuses, or notes, a superscript that may be no power of this base: f', A^T, x^{(2)}, 90^\circ.
 * `function`: the base is the name of a function. */
bool latex_check_power(struct latex_reading *r, const json_t *sup, struct latex_value base,
                       bool function);
/* Returns the exponent if it is an integer from -1 to 9, else -2. */
int latex_small_exponent(struct latex_reading *r, const json_t *sup);
/* Refuses x^12 and x_12: the script is one digit, and another digit follows. */
bool latex_check_script_ends(struct latex_reading *r, const json_t *node, const json_t *next);
/* Returns the base of a node with scripts, also in braces, perhaps with its index: {x}^2, {x_1}^2;
 * NULL and a refusal if the braces hold more. *sub becomes its index. */
const json_t *latex_open_base(const json_t **sub, struct latex_reading *r, const json_t *node);
