/* Reads LaTeX as an expression: KaTeX's parse tree is read as prefix tokens, which are parsed.
 * A node of the tree is read only if its type and all its attributes are known.
 * Ambiguous notation is never resolved silently: either one reading is taken and reported (a note),
 * or the text is refused with the possible readings. docs/formats.md lists both. */
#pragma once

#include "ops/expr/expr.h"

struct latex_reader;

/* A reader of LaTeX, created at the first LaTeX text because KaTeX takes 0.2 s to load. */
void latex_reader_free(struct latex_reader *r);
/* A reader of what SymPy's latex() writes: \log is the natural logarithm, e Euler's number, i
 * sqrt(-1), x(y + 1) a product, and a derivative reaches to the end of its product. Letters without
 * a blank between are refused: SymPy writes a name of several letters so, never a product. */
struct latex_reader *latex_reader_sympy(void);

/* Whether a text is LaTeX: it has a backslash, or it has braces and, outside indices, no letters
 * side by side, which infix would read as one name: x^{2}, a_{max}, but not sin x^{2}. */
bool latex_is(const char *text, size_t len);

/* Reads len bytes of the source, from offset on, as LaTeX, like the parsers of expr.h. *r is NULL
 * at first. Appends to `notes` a line for each ambiguity that was resolved; if `notes` is NULL,
 * ambiguous texts are refused. */
enum err_code latex_parse(struct expr *out, struct latex_reader **r, struct arena *a,
                          const struct language *lang, const struct source_text *source,
                          size_t offset, size_t len, bool patterns, struct buf *notes,
                          struct err *e);
/* Strips the delimiters $...$ or \(...\) around a formula; returns false if there are none. */
bool latex_bare(const char *text, size_t *at, size_t *len);
