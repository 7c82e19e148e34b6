/* The state of reading one document. What is being read is a stack of texts: the files that read
 * each other, and the macros that were expanded. What is found is kept: sections begin, words and
 * displays are added. Bounded: files as deep as the caller says, 100 texts at a time, 100,000 texts
 * and 64 MiB in all. */
#pragma once

#include "ops/latex/papers/citations.h"
#include "ops/latex/papers/macros.h"
#include "ops/latex/source/tex_lookup.h"

#include "base/buf.h"

enum { DISPLAY_MAX = 20000, FRAMES_MAX = 100 };

struct frame {
    struct cursor c;
    struct tex_file *file; /* that it stands in */
    bool is_file;
    bool definitions; /* a style: only definitions count */
    const void *of;   /* the macro that it is the body of */
    bool scanned;     /* for arXiv ids, from a \begin{thebibliography} on */
};

struct reader {
    struct arena *a;
    struct lookup lookup; /* of files */
    struct frame stack[FRAMES_MAX];
    size_t n;           /* of the stack */
    unsigned max_depth; /* of files below the root */
    size_t texts, bytes;
    size_t
        wasted; /* bytes that were looked through for a \) that is not there, or keys of a .bib */
    bool *used; /* of the bundle's files: has been read */
    struct macro_table macros;
    struct citations cites;
    struct problems problems;
    Eqloom__Paper *paper;
    size_t sections_cap, equations_cap;
    struct buf words, abstract; /* of the section; of the abstract */
    bool in_body, in_abstract;
    /* The display being copied; its environment is NULL outside. */
    char *environment;
    struct buf display;
    unsigned nested; /* environments of the same name within it */
    uint32_t number;
};

/* ---- what is being read ---- */

static inline struct frame *reader_top(struct reader *r)
{
    return &r->stack[r->n - 1];
}

/* The body of a macro; nothing if that is being expanded already. */
void reader_push_text(struct reader *r, struct piece text, const void *of);
/* False, with a problem, if it is not to be read. */
bool reader_push_file(struct reader *r, struct tex_file *file, bool definitions);
/* A file that the document names; `folder` is what \import gives, or "". With `suffix` (".sty"),
 * only with that, and silently nothing if there is none. Macros in the name stand for their bodies,
 * within bounds. */
void reader_input(struct reader *r, struct piece folder, struct piece name, const char *suffix);
/* Finds without reading. */
struct tex_file *reader_find(struct reader *r, const char *name, const char *suffixes);

/* ---- what is found ---- */

/* Plain words, in the arena: commands go, their arguments stay; formulas go; blanks are joined. */
char *reader_plain(struct reader *r, struct piece latex);
void reader_begin_section(struct reader *r, char *title);
void reader_end_section(struct reader *r);
/* Of the body only; to the abstract or the section. */
void reader_add_words(struct reader *r, const char *s, size_t n);
/* A display is copied to r->display from here on ... */
void reader_begin_display(struct reader *r, struct piece environment);
/* ... and kept, unless it is empty or too large, or given up as a problem. */
void reader_end_display(struct reader *r);
void reader_abandon_display(struct reader *r);

/* One more of the section, with a place. */
Eqloom__Equation *equation_add(Eqloom__Section *s, struct arena *a, size_t *cap);
