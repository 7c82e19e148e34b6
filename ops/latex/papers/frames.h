/* What is being read of a document: a stack of texts, the files that read each other and the macros
 * that were expanded. Bounded: files as deep as the caller says, 100 texts, 100,000 texts and
 * 64 MiB in all. */
#pragma once

#include "ops/latex/papers/macro_table.h"
#include "ops/latex/source/tex_lookup.h"

enum { FRAMES_MAX = 100 };

struct frame {
    struct cursor c;
    struct tex_file *file; /* that it stands in */
    bool is_file;
    bool definitions; /* a style: only definitions count */
    const void *of;   /* the macro that it is the body of */
};

struct frames {
    struct lookup lookup; /* of files */
    struct frame stack[FRAMES_MAX];
    size_t n;
    unsigned max_depth; /* of files below the root */
    size_t texts, bytes;
    bool *used; /* of the bundle's files: has been read */
    struct problems *problems;
    struct arena *a;
};

static inline struct frame *frames_top(struct frames *f)
{
    return &f->stack[f->n - 1];
}

/* The body of a macro; nothing if that is being expanded already. */
void frames_push_text(struct frames *f, struct piece text, const void *of);
/* False, with a problem, if it is not to be read. */
bool frames_push_file(struct frames *f, struct tex_file *file, bool definitions);
/* A file that the document names; `folder` is what \import gives, or "". With `suffix` (".sty"),
 * only with that, and silently nothing if there is none. Macros without arguments in the name are
 * expanded. */
void frames_input(struct frames *f, const struct macro_table *macros, struct piece folder,
                  struct piece name, const char *suffix);
/* Finds without reading. */
struct tex_file *frames_find(struct frames *f, const char *name, const char *suffixes);
