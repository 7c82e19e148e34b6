/* The files of one paper, or of a folder of papers: what an archive or a folder holds, decoded, and
 * what could not be read of it. */
#pragma once

#include "base/arena.h"
#include "base/digest.h"
#include "base/map.h"
#include "base/span.h"
#include "ops/latex/source/tex_scan.h"
#include "paper.pb-c.h"

struct tex_file {
    const char *name; /* path within the bundle, '/' between its parts */
    const char *text; /* UTF-8, lines end in \n; comments as they are; NULL: nobody has asked yet */
    size_t len;
    struct piece stripped; /* likewise */
    struct digest id;      /* of the bytes, of one that is read when it is asked for ... */
    size_t number;         /* ... by its number */
};

enum { PROBLEMS_MAX = 1000 };

struct problems { /* in an arena; the first PROBLEMS_MAX */
    Eqloom__Problem **items;
    size_t n, cap;
};

struct bundle {
    struct arena *a;
    const char *name; /* of the archive; "" for a folder */
    struct tex_file *files;
    size_t n, cap;
    struct name_map index; /* name -> position */
    struct problems problems;
    /* Of files that are read when they are asked for; all zeros if it cannot. */
    struct span (*load)(void *arg, size_t number);
    void *arg;
};

void bundle_free(struct bundle *b);
void bundle_problem(struct problems *p, struct arena *a, const char *file, unsigned line,
                    const char *reason, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Adds a file of any encoding; binary files and those too large are problems. Copies. */
void bundle_add(struct bundle *b, const char *name, struct span bytes);
/* Adds one that will be read when it is asked for: a text, as somebody has seen. */
void bundle_add_later(struct bundle *b, const char *name, size_t number, const struct digest *id);
/* NULL if there is none of this name. */
struct tex_file *bundle_find(const struct bundle *b, const char *name);
/* The whole file, decoded. */
struct piece bundle_text(struct bundle *b, struct tex_file *file);
/* Without comments, \iffalse ... \fi, and what is verbatim. */
struct piece bundle_stripped(struct bundle *b, struct tex_file *file);
