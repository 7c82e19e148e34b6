/* The state of reading one document. Its input is a stack of texts: files that include each other,
 * and expanded macros. Its output is sections, to which words and displays are added. Limits: the
 * caller's depth of files, 100 texts on the stack, 100,000 texts and 64 MiB in all. */
#pragma once

#include "ops/latex/papers/citations.h"
#include "ops/latex/papers/macros.h"
#include "ops/latex/source/tex_lookup.h"

#include "base/buf.h"

enum {
    DISPLAY_MAX = 20000,
    FRAMES_MAX = 100,
    CONDITIONALS_MAX = 1000,
    REASONS_MAX = 16,
    DEFINING_MAX = 20000,
    WASTED_MAX = 256 << 20
};

struct frame {
    struct cursor c;
    struct tex_file *file; /* that contains it */
    bool is_file;
    bool definitions; /* a style: only its definitions are read */
    const void *of;   /* the macro whose body this is */
    bool scanned;     /* for arXiv ids, from \begin{thebibliography} on */
};

/* Of an open conditional: both branches are read, only this one, or both are left to the converter. */
enum branch { BRANCH_BOTH, BRANCH_ONLY, BRANCH_LEFT };

struct reader {
    struct arena *a;
    struct lookup lookup; /* lookups of files */
    struct frame stack[FRAMES_MAX];
    size_t n;           /* frames on the stack */
    unsigned max_depth; /* of files below the root */
    size_t texts, bytes;
    size_t wasted;                /* bytes searched for a missing end, or for keys of a .bib */
    enum branch taken[CONDITIONALS_MAX]; /* of open conditionals */
    size_t n_ifs;
    unsigned defining;       /* expansions of macros that define others */
    struct name_map hidden;  /* the paper's environments that are listings or comments */
    const char *packages[8]; /* loaded ones by which commands differ, sorted */
    size_t n_packages;
    bool *used; /* by file of the bundle: it was read */
    struct macro_table macros;
    struct citations cites;
    struct problems problems;
    Eqloom__Paper *paper;
    size_t sections_cap, equations_cap;
    struct buf words, abstract; /* of the section; of the abstract */
    bool in_body, in_abstract;
    /* The environment of the display that is being copied, or NULL outside displays, and the name
     * that ends it. */
    char *environment, *closing;
    struct buf display;
    unsigned nested; /* open environments of the same name within it */
    uint32_t number;
};

/* ---- input ---- */

static inline struct frame *reader_top(struct reader *r)
{
    return &r->stack[r->n - 1];
}

/* The cursor behind a command: what follows the last command of a macro's body is read behind the
 * macro. */
struct cursor *reader_rest(struct reader *r);
/* The name of the file that is being read. */
const char *reader_here(const struct reader *r);
/* Pushes the body of a macro, unless that macro is being expanded already. */
void reader_push_text(struct reader *r, struct piece text, const void *of);
/* Returns false and adds a problem if the file must not be read. */
bool reader_push_file(struct reader *r, struct tex_file *file, bool definitions);
/* Reads a file that the document names; `folder` is the argument of \import, or "". With a `suffix`
 * (".sty"), only a file with that suffix is read, and a missing file is not a problem. Macros in
 * the name are expanded, within limits. */
void reader_input(struct reader *r, struct piece folder, struct piece name, const char *suffix);
/* Looks a file up without reading it. */
struct tex_file *reader_find(struct reader *r, const char *name, const char *suffixes);

/* ---- output ---- */

/* Returns the plain words in the arena: drops commands but not their arguments, drops formulas, and
 * joins blanks. */
char *reader_plain(struct reader *r, struct piece latex);
void reader_begin_section(struct reader *r, char *title);
void reader_end_section(struct reader *r);
/* Adds words of the body to the abstract or the section. */
void reader_add_words(struct reader *r, const char *s, size_t n);
/* Counts what looked like displays and is not taken. */
void reader_untaken(struct reader *r, const char *reason, unsigned n);
/* Starts copying a display to r->display; `closing` is the name in its \end. */
void reader_begin_display(struct reader *r, struct piece environment, struct piece closing);
/* Stops copying, and keeps the display unless it is empty, or too large, which is a problem. */
void reader_end_display(struct reader *r);
void reader_abandon_display(struct reader *r);

/* Appends an equation to the section and sets its place. */
Eqloom__Equation *equation_add(Eqloom__Section *s, struct arena *a, size_t *cap);
