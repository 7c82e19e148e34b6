/* Files that the program brings for pages: engine/serve/assets. */
#ifndef ENGINE_SERVE_ASSET_H
#define ENGINE_SERVE_ASSET_H

#include <stddef.h>

struct asset {
    const char *path; /* "/style.css" */
    const char *type;
    const char *data;
    size_t n;
};
extern const struct asset serve_assets[]; /* ended by path NULL */

#endif
