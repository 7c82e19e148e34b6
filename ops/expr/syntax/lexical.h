/* What the syntaxes share: characters, and the words for what cannot be read. */
#ifndef OPS_EXPR_SYNTAX_LEXICAL_H
#define OPS_EXPR_SYNTAX_LEXICAL_H

#include <stdbool.h>
#include <stddef.h>

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

struct err;
/* Hints at what a character that no syntax knows was meant to be: U+2212 for '-', and so on. */
void lexical_hint(struct err *e, const char *s, const char *end);

#endif
