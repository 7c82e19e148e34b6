/* Text on its way to a terminal. Names, labels, terms and messages come from files and stores of
 * others: on a terminal their control characters, and bytes that are not UTF-8, are shown as \x1b,
 * and what is not seen but changes what is (U+202E: from right to left) as \u202e. Elsewhere bytes
 * go out as they are. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* The stream through which to write to stdout or stderr: itself, unless it is a terminal. Once for
 * each, before all else. */
FILE *terminal_guard(FILE *to);
/* A control sequence of our own. */
void terminal_control(FILE *to, const char *sequence);
bool terminal_is(FILE *to);
int terminal_width(FILE *to); /* columns; 80 if unknown */
