/* Lists of words in one text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Whether a word of n bytes is among words that are separated by blanks. */
static inline bool word_in(const char *words, const char *word, size_t n)
{
    for (size_t len; *words; words += len + (words[len] == ' ')) {
        len = strcspn(words, " ");
        if (len == n && memcmp(words, word, n) == 0)
            return true;
    }
    return false;
}
