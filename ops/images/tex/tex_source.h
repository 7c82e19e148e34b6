/* An equation as text for TeX: the macros that it needs, and its display; and what TeX's log says
 * of each equation of a run. */
#pragma once

#include "base/buf.h"
#include "base/span.h"
#include "paper.pb-c.h"

#include <stdbool.h>

/* What TeX loads once, up to \dump; it defines \eqloomset{NAME}, which draws the file NAME.tex. */
extern const char tex_preamble[];

void tex_source_write(struct buf *out, struct arena *a, const Eqloom__Equation *q);
/* Whether setting it may change what TeX does with equations after it: it names a command that
 * assigns globally, or may. */
bool tex_source_is_global(const Eqloom__Equation *q);

struct tex_outcome {
    bool done;
    const char *error; /* TeX's first error line and the place, "! Undefined control sequence. l.2
                        * \x"; NULL: none */
};

/* By name: equation k of the run is file k + 1. */
void tex_log_read(struct tex_outcome *out, size_t n, struct arena *a, struct span log);
/* The reason, of a short list. */
const char *tex_log_reason(const char *error);
