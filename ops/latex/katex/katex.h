/* KaTeX, run unchanged in Duktape, as it was when eqloom was built: both are compiled in, with
 * glue.js between them, and their digest enters the action keys of what uses them. LaTeX in,
 * presentation MathML or a parse tree out. A heap serves one thread at a time; calls leave no trace
 * in it: the same text gives the same answer, whatever was asked before.
 *
 * Bounded: 10,000 characters, 2,000 expansions to 50,000 tokens, 200 levels and 64 MiB for one
 * text. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "paper.pb-c.h"

struct katex;
enum err_code katex_new(struct katex **out, struct err *e);
void katex_free(struct katex *k);

struct katex_answer {
    const char *text;    /* a <math> element, or JSON; NULL if refused */
    const char *refused; /* the reason, of a short list ... */
    const char *detail;  /* ... and for people */
    size_t position;     /* of a refused tree: UTF-16 units before it */
};
/* Both in the arena. The error is only for what is no fault of the text. */
enum err_code katex_mathml(struct katex_answer *out, struct arena *a, struct katex *k,
                           const Eqloom__Equation *equation, struct err *e);
/* The tree that KaTeX parses the text to (as JSON; "loc" is [begin, end] in UTF-16 units). */
enum err_code katex_tree(struct katex_answer *out, struct arena *a, struct katex *k,
                         const char *latex, struct err *e);

struct katex_source {
    const char *katex;
    size_t katex_len;
    const char *glue;
    size_t glue_len;
    const char *digest; /* "katex 0123456789abcdef": of both */
};
extern const struct katex_source katex_source;
