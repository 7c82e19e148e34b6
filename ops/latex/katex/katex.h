/* KaTeX, run unchanged in Duktape: converts LaTeX to presentation MathML or a parse tree. KaTeX as
 * it was when eqloom was built is compiled in, with a script for each purpose: glue/, tree.js. The
 * digest of KaTeX and the script is part of the action keys of the ops that use them. A heap serves
 * one thread at a time. Calls leave no state in it: the result depends on the text alone.
 *
 * Limits for one text: 10,000 characters, 2,000 expansions to 50,000 tokens, 200 levels and 64
 * MiB. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "paper.pb-c.h"

struct katex_part {
    const char *text;
    size_t len;
    const char *digest; /* "katex 0123456789abcdef", of KaTeX and this */
};
struct katex_source {
    const char *katex;
    size_t katex_len;
    struct katex_part glue, tree; /* mhchem and glue/; tree.js */
};
extern const struct katex_source katex_source;

struct katex;
/* Loads KaTeX and a script of katex_source. */
enum err_code katex_new(struct katex **out, const struct katex_part *script, struct err *e);
void katex_free(struct katex *k);

struct katex_answer {
    const char *text;    /* a <math> element, or JSON; NULL if refused */
    const char *refused; /* the reason, one of a fixed list */
    const char *detail;  /* the reason in words */
    size_t position;     /* where a tree was refused, in UTF-16 units */
};
/* Both write to the arena. A refused text is reported in *out and is not an error. This one needs
 * the script `glue`. */
enum err_code katex_mathml(struct katex_answer *out, struct arena *a, struct katex *k,
                           const Eqloom__Equation *equation, struct err *e);
/* Needs the script `tree`. Returns KaTeX's parse tree as JSON; "loc" is [begin, end] in UTF-16
 * units. */
enum err_code katex_tree(struct katex_answer *out, struct arena *a, struct katex *k,
                         const char *latex, struct err *e);
