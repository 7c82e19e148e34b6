/* Safe output to a terminal. Names, labels, terms and messages come from untrusted files and
 * stores: on a terminal, control characters and bytes that are not UTF-8 are shown as \x1b, and
 * invisible characters that change the display (U+202E: right-to-left) as \u202e. Elsewhere bytes
 * are written unchanged. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Returns the stream to use for stdout or stderr: the stream itself unless it is a terminal. Call
 * once for each, before any output. */
FILE *terminal_guard(FILE *to);
/* Writes a control sequence unescaped. */
void terminal_control(FILE *to, const char *sequence);
bool terminal_is(FILE *to);
int terminal_width(FILE *to); /* columns; 80 if unknown */
