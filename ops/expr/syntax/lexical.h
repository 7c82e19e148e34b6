/* Lexical elements shared by the syntaxes: characters, names, and hints for unreadable text. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <string.h>

static inline bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Whether the n bytes equal the word. */
static inline bool lexical_is(const char *s, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(s, word, n) == 0;
}

/* Length of the identifier at s, 0 if there is none. */
static inline size_t identifier_length(const char *s, const char *end)
{
    size_t n = 0;
    if (s == end || !is_letter(*s))
        return 0;
    while (s + n < end && (is_letter(s[n]) || is_digit(s[n])))
        n++;
    return n;
}

/* Length of the UTF-8 character at s (1 for a stray byte). */
static inline size_t character_length(const char *s, const char *end)
{
    size_t n = 1;
    while (s + n < end && n < 4 && ((unsigned char)s[n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* Length of the space at s, including no-break spaces; 0 if there is none. */
size_t space_length(const char *s, const char *end);
/* Length of the number at s, which begins with a digit: 12, 0.25, 1.5e3, 2e-3. *exponent is the
 * offset of its e, 0 if it has none. */
size_t number_length(const char *s, const char *end, size_t *exponent);
/* The operator that a character of n bytes denotes: '*' for a centred dot, '-' for U+2212; 0 if
 * none. */
char lexical_sign(const char *s, const char *end, size_t *n);
/* The word that a character of n bytes denotes: sqrt, cbrt, or the name of a Greek letter; the text
 * is NULL if none. */
struct lexical_word {
    const char *text;
    size_t n;
};
struct lexical_word lexical_word(const char *s, const char *end);
/* The code point of a Greek letter by its LaTeX name; 0 if LaTeX has no such letter. */
unsigned lexical_letter(const char *name, size_t n);
/* Whether the name is that of a Greek letter. */
bool lexical_is_greek(const char *name, size_t n);
/* The integer that n bytes of superscripts denote, such as "-12", or NULL. */
const char *lexical_superscript(struct arena *a, const char *s, const char *end, size_t *n);

struct err;
struct source_text;
/* The text with comments (# to the end of the line) and carriage returns replaced by blanks. */
char *lexical_without_comments(struct arena *a, const struct source_text *source);
/* Adds a hint about an unknown character: '-' for U+2212, and so on. */
void lexical_hint(struct err *e, const char *s, const char *end);
