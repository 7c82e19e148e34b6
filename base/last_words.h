/* What is said when the process cannot go on. */
#ifndef BASE_LAST_WORDS_H
#define BASE_LAST_WORDS_H

#include <stddef.h>

/* Writes the line before the process ends. Only the first thread comes back, to end it: others that
 * run into the same wait for that. Safe in a signal handler. */
void last_words(const char *line, size_t n);
/* Says so in one line and ends the process: for allocations too small to be handled one by one.
 * Nothing committed is lost; the next run goes on. */
_Noreturn void out_of_memory(size_t bytes);

#endif
