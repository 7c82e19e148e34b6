/* Searches a text for keywords: exactly, or, if they have more than ten characters, with one
 * character changed, left out or inserted (a Levenshtein distance below 2). */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

/* Keywords have at most KEYWORD_MAX characters, as the automaton's state has 63 bits; up to
 * KEYWORD_EXACT they are matched exactly. */
enum { KEYWORD_MAX = 63, KEYWORD_EXACT = 10 };

/* Converts UTF-8 to lower case (Latin-1, Greek, Cyrillic), collapses blanks and trims. */
char *keywords_fold(struct arena *a, const char *text);
size_t keyword_characters(const char *folded);
/* Both texts are folded; the keyword has 1 to KEYWORD_MAX characters. */
bool keyword_in(const char *text, const char *keyword);
