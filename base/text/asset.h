/* Static files for pages, compiled in by assets.py. */
#pragma once

#include <stddef.h>

struct asset {
    const char *path; /* "/style.css" */
    const char *type;
    const char *data;
    size_t n;
};
/* Terminated by path NULL. */
extern const struct asset serve_assets[];  /* of `eqloom serve` */
extern const struct asset report_assets[]; /* scripts of the report, in order */
