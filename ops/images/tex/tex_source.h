/* Writes an equation as TeX source, with the macros that it needs, in its display; and reads from
 * TeX's log what happened to each equation of a run. */
#pragma once

#include "base/buf.h"
#include "base/span.h"
#include "paper.pb-c.h"

#include <stdbool.h>

/* The preamble, loaded once, up to \dump. It defines \eqloomset{NAME}, which draws the file
 * NAME.tex. */
extern const char tex_preamble[];

void tex_source_write(struct buf *out, struct arena *a, const Eqloom__Equation *q);
/* Whether typesetting the equation may affect later equations: it contains a command that makes, or
 * may make, global assignments. */
bool tex_source_is_global(const Eqloom__Equation *q);

struct tex_outcome {
    bool done;
    const char *error; /* TeX's first error line and its place, or NULL:
                        * "! Undefined control sequence. l.2 \x" */
};

/* Matches outcomes by file name: equation k of the run is file k + 1. */
void tex_log_read(struct tex_outcome *out, size_t n, struct arena *a, struct span log);
/* Returns the reason, one of a fixed list. */
const char *tex_log_reason(const char *error);
