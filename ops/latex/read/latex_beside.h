/* Factors side by side: which products are read in silence, with a note, or not at all. */
#pragma once

#include "ops/latex/read/latex_lists.h"

/* Whether what comes next, after the factor `last`, is certainly its factor, with the sign that
 * stands there or without one. `over`: the factor before is a denominator. */
bool latex_check_beside(struct latex_reading *r, const struct latex_list *l,
                        struct latex_value last, const json_t *before, bool over);
