/* The files of one paper, or of a folder of papers: what an archive or a folder holds, decoded, and
 * what could not be read of it. */
#ifndef OPS_LATEX_SOURCE_BUNDLE_H
#define OPS_LATEX_SOURCE_BUNDLE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/span.h"
#include "ops/latex/source/tex_scan.h"
#include "paper.pb-c.h"

struct tex_file {
    const char *name; /* path within the bundle, '/' between its parts */
    const char *text; /* UTF-8, lines end in \n; comments as they are */
    size_t len;
    struct piece stripped; /* s NULL: nobody has asked yet */
};

struct problems {
    Eqloom__Problem **items;
    size_t n, cap;
    uint64_t more; /* beyond PROBLEMS_MAX */
};

enum { PROBLEMS_MAX = 1000 };

struct bundle {
    struct arena *a;
    const char *name; /* of the archive; "" for a folder */
    struct tex_file *files;
    size_t n, cap;
    struct name_map index; /* name -> position */
    struct problems problems;
};

void bundle_free(struct bundle *b);
void bundle_problem(struct problems *p, struct arena *a, const char *file, unsigned line,
                    const char *reason, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Adds a file of any encoding; binary files and those too large are problems. Copies. */
void bundle_add(struct bundle *b, const char *name, struct span bytes);
/* NULL if there is none of this name. */
struct tex_file *bundle_find(const struct bundle *b, const char *name);
/* The file as strip.h leaves it. */
struct piece bundle_stripped(struct bundle *b, struct tex_file *file);

#endif
