/* Whether keywords stand in a text: as they are, or those of more than ten characters with one
 * character changed, left out or put in (a Levenshtein distance below 2). */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

/* Keywords of more characters than this have none (63 bits hold a state). */
enum { KEYWORD_MAX = 63, KEYWORD_EXACT = 10 };

/* Lower case (Latin-1, Greek, Cyrillic), one blank for several, none at the ends. UTF-8. */
char *keywords_fold(struct arena *a, const char *text);
size_t keyword_characters(const char *folded);
/* Both folded; the keyword is not empty and not too long. */
bool keyword_in(const char *text, const char *keyword);
