/* Keywords of a text by RAKE (Rose et al. 2010): candidates are runs of words between stop words
 * and punctuation; a word's score is its degree (the lengths of the candidates it stands in,
 * summed) by its frequency, a candidate's the sum of its words'. */
#pragma once

#include "base/arena.h"

struct rake_keyword {
    const char *text; /* lower case, one blank between words */
    double score;
};

/* The best of the candidates, each once, best first, equal ones by text: a third of the number of
 * different words, rounded up. Returns how many. UTF-8. */
size_t rake_keywords(struct rake_keyword **out, struct arena *a, const char *text);
