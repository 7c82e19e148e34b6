/* Word lists stored as one blank-separated string. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Returns whether a word of n bytes occurs in a blank-separated list. */
static inline bool word_in(const char *words, const char *word, size_t n)
{
    for (size_t len; *words; words += len + (words[len] == ' ')) {
        len = strcspn(words, " ");
        if (len == n && memcmp(words, word, n) == 0)
            return true;
    }
    return false;
}
