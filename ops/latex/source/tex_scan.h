/* Scans TeX source character by character: control sequences, groups and optional arguments.
 * Nothing is expanded. Comments have been removed (bundle.h). */
#pragma once

#include "base/span.h"

/* A position in a borrowed text. */
struct cursor {
    const char *s;
    size_t at, len;
};

struct piece {
    const char *s;
    size_t len;
};

static inline struct piece piece_of(const char *s)
{
    return (struct piece){s, strlen(s)};
}

static inline struct cursor cursor_of(struct piece p)
{
    return (struct cursor){p.s, 0, p.len};
}

static inline bool cursor_end(const struct cursor *c)
{
    return c->at >= c->len;
}

static inline bool piece_is(struct piece p, const char *word)
{
    return strlen(word) == p.len && memcmp(p.s, word, p.len) == 0;
}

struct piece piece_trim(struct piece p);
bool piece_in(struct piece p, const char *words); /* words are separated by blanks */

/* At a backslash: returns "\name", or "\" and one character, and moves the cursor past it (but not
 * past the blanks that follow). */
struct piece scan_command(struct cursor *c);
void scan_blanks(struct cursor *c);
bool scan_char(struct cursor *c, char ch); /* skips blanks, then `ch` if it comes next */
/* Skips blanks and reads {...}; *out is its content. Returns false, and reads nothing, if there is
 * no group or it does not end within 32 KiB. */
bool scan_group(struct piece *out, struct cursor *c);
/* The same for [...]; brackets within braces do not count. */
bool scan_optional(struct piece *out, struct cursor *c);
/* Reads one argument by TeX's rules: a group, a command or a character. */
bool scan_argument(struct piece *out, struct cursor *c);
/* Reads the next item of a list "a, b" and trims it. Returns false at the end. */
bool scan_item(struct piece *out, struct cursor *list);
