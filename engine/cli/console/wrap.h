/* Text broken into lines at blanks. */
#ifndef ENGINE_CLI_WRAP_H
#define ENGINE_CLI_WRAP_H

#include <stdio.h>

enum { WRAP_NEVER = 1 << 30 };

/* The width of the terminal; WRAP_NEVER if `to` is not one: other programs read whole lines. */
int wrap_width(FILE *to);
/* Columns that UTF-8 text takes. */
int wrap_columns(const char *text);
/* Writes text, which begins in column `column`, and a newline. Lines after the first are indented;
 * none is wider than `width` unless a word is. */
void wrap_print(FILE *to, const char *text, int column, int indent, int width);

#endif
