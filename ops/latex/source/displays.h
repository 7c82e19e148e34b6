/* What begins a display equation in TeX source. */
#pragma once

#include "ops/latex/source/tex_scan.h"

/* Whether this environment, starred or not, is a display. */
bool display_is(struct piece environment);
/* Counts what looks like displays: \begin of such an environment, \[, pairs of $$, and names for
 * which `opens`, unless it is NULL, returns true. */
typedef bool display_opens(const void *arg, struct piece name, bool environment);
unsigned displays_count(struct piece text, display_opens *opens, const void *arg);
