/* An equation as text for TeX: the macros that it needs, and its display. */
#pragma once

#include "base/buf.h"
#include "paper.pb-c.h"

#include <stdbool.h>

/* What TeX loads once, up to \dump; it defines \eqloomset{NAME}, which draws the file NAME.tex. */
extern const char tex_preamble[];

void tex_source_write(struct buf *out, struct arena *a, const Eqloom__Equation *q);
/* Whether setting it may change what TeX does with equations after it: it names a command that
 * assigns globally, or may. */
bool tex_source_is_global(const Eqloom__Equation *q);
