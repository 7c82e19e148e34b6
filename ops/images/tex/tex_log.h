/* What TeX's log says of each equation of a run. */
#pragma once

#include "base/arena.h"
#include "base/span.h"

struct tex_outcome {
    bool done;
    const char *error; /* TeX's first error line and the place, "! Undefined control sequence. l.2
                        * \x"; NULL: none */
};

/* By name: equation k of the run is file k + 1. */
void tex_log_read(struct tex_outcome *out, size_t n, struct arena *a, struct span log);
/* The reason, of a short list. */
const char *tex_log_reason(const char *error);
