/* The decoded files of one paper, or of a folder of papers, and the problems met in reading
 * them. */
#pragma once

#include "base/arena.h"
#include "base/digest.h"
#include "base/map.h"
#include "base/span.h"
#include "ops/latex/source/tex_scan.h"
#include "paper.pb-c.h"

struct tex_file {
    const char *name; /* path within the bundle, separated by '/' */
    const char *text; /* UTF-8, lines end in \n, with comments; NULL until it is read */
    size_t len;
    struct piece stripped; /* without comments; NULL until it is needed */
    unsigned hidden;       /* then: what looks like displays in what was stripped */
    struct digest id;      /* digest of the bytes, if loaded lazily */
    bool lazy;             /* then: */
    size_t number;         /* the argument of `load` */
    unsigned displays;     /* what looks like displays in the text, when it was classified */
};

enum { PROBLEMS_MAX = 1000 };

struct problems { /* in an arena; at most PROBLEMS_MAX are kept */
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
    /* Loads the files that are read lazily; NULL if there are none. */
    struct span (*load)(void *arg, size_t number);
    void *arg;
};

void bundle_free(struct bundle *b);
void bundle_problem(struct problems *p, struct arena *a, const char *file, unsigned line,
                    const char *reason, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Adds a copy of a file in any encoding; a binary or too large file becomes a problem. */
void bundle_add(struct bundle *b, const char *name, struct span bytes);
/* Adds a file that is loaded when needed. The caller has checked that it is text, and counted what
 * looks like displays. */
void bundle_add_lazy(struct bundle *b, const char *name, size_t number, const struct digest *id,
                     unsigned displays);
/* Returns NULL if no file has this name. */
struct tex_file *bundle_find(const struct bundle *b, const char *name);
/* Returns the whole file, decoded. */
struct piece bundle_text(struct bundle *b, struct tex_file *file);
/* Returns the text without comments and verbatim material. Of a picture its empty environment
 * stays. */
struct piece bundle_stripped(struct bundle *b, struct tex_file *file);
