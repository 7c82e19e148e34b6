/* LaTeX as an expression: KaTeX's parse tree -> infix -> the expression. What mathematicians write
 * in more than one meaning is never guessed in silence: either one reading is taken and said (a
 * note), or the text is refused with the choices. docs/formats.md lists both. */
#pragma once

#include "ops/expr/expr.h"

struct latex_reader;

/* A reader of LaTeX, made when the first is met: KaTeX takes 0.2 s to load. */
void latex_reader_free(struct latex_reader *r);

/* Whether a text is LaTeX: it has a backslash, or a brace, which no other syntax of ours has. */
bool latex_is(const char *text, size_t len);

/* Reads len bytes of the source from offset on as LaTeX, as the parsers of expr.h do. *r is NULL at
 * first. `notes`, if it is not NULL, gets a line for each reading taken among several; without it
 * such texts are refused. */
enum err_code latex_parse(struct expr *out, struct latex_reader **r, struct arena *a,
                          const struct language *lang, const struct source_text *source,
                          size_t offset, size_t len, bool patterns, struct buf *notes,
                          struct err *e);
/* Goes over the signs around a formula in a text, $...$ or \(...\); false if there are none. */
bool latex_bare(const char *text, size_t *at, size_t *len);
