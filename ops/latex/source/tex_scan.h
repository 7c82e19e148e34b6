/* Reading TeX source character by character: control sequences, groups and optional arguments.
 * Nothing is expanded. Comments are gone already (bundle.h). */
#pragma once

#include "base/span.h"

/* A place in a text that others own. */
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
bool piece_in(struct piece p, const char *words); /* separated by blanks */

/* At a backslash: "\name" with its backslash, or "\" and one character; the cursor goes behind it
 * (not behind the blanks that follow). */
struct piece scan_command(struct cursor *c);
void scan_blanks(struct cursor *c);
bool scan_char(struct cursor *c, char ch); /* behind blanks, if it is there */
/* The inside of {...} behind blanks. False, and nothing read, if there is none or it has no end
 * within 32 KiB. */
bool scan_group(struct piece *out, struct cursor *c);
/* The same of [...]; brackets within braces do not count. */
bool scan_optional(struct piece *out, struct cursor *c);
/* What TeX takes for an argument: a group, a command or a character. */
bool scan_argument(struct piece *out, struct cursor *c);
/* The next of a list "a, b", trimmed. False at its end. */
bool scan_item(struct piece *out, struct cursor *list);
