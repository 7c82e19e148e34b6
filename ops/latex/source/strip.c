/* See strip.h. A comment goes to the end of its line and takes the line's end and the blanks that
 * follow with it, as TeX has it; a line that is only a comment leaves nothing. */
#include "ops/latex/source/strip.h"

static const char verbatims[] = "verbatim verbatim* Verbatim lstlisting minted comment alltt "
                                "filecontents filecontents* tikzpicture pspicture asy";

/* Behind "\end{name}", or the end of the text. */
static size_t find_end(const struct cursor *c, struct piece name)
{
    for (size_t at = c->at; at + 6 + name.len <= c->len; at++)
        if (c->s[at] == '\\' && !memcmp(c->s + at, "\\end{", 5) &&
            !memcmp(c->s + at + 5, name.s, name.len) && c->s[at + 5 + name.len] == '}')
            return at + 6 + name.len;
    return c->len;
}

/* Behind the \fi of an \iffalse. An \else at its level ends it too: what follows is typeset. */
static size_t find_fi(const struct cursor *from)
{
    struct cursor c = *from;
    size_t depth = 0;
    while (!cursor_end(&c)) {
        if (c.s[c.at] != '\\') {
            c.at++;
            continue;
        }
        struct piece word = scan_command(&c);
        if (depth == 0 && (piece_is(word, "\\fi") || piece_is(word, "\\else")))
            return c.at;
        if (piece_is(word, "\\fi"))
            depth--;
        else if (word.len > 3 && !memcmp(word.s, "\\if", 3) && !piece_is(word, "\\iff"))
            depth++;
    }
    return from->at; /* no end: not skipped */
}

static void skip_verb(struct cursor *c)
{
    scan_char(c, '*');
    if (cursor_end(c))
        return;
    const char *end = memchr(c->s + c->at + 1, c->s[c->at], c->len - c->at - 1);
    const char *line = memchr(c->s + c->at, '\n', c->len - c->at);
    if (end && (!line || end < line))
        c->at = (size_t)(end - c->s) + 1;
}

static void skip_comment(struct cursor *c)
{
    while (!cursor_end(c) && c->s[c->at] != '\n')
        c->at++;
    if (!cursor_end(c))
        c->at++;
    while (!cursor_end(c) && (c->s[c->at] == ' ' || c->s[c->at] == '\t'))
        c->at++;
}

/* At a backslash: true if what is there is left out. */
static bool skip_command(struct cursor *c)
{
    struct cursor look = *c;
    struct piece word = scan_command(&look), name;
    if (piece_is(word, "\\iffalse")) {
        c->at = find_fi(&look);
        return true;
    }
    if (piece_is(word, "\\verb") || piece_is(word, "\\lstinline")) {
        skip_verb(&look);
        *c = look;
        return true;
    }
    if (piece_is(word, "\\begin") && scan_group(&name, &look) && piece_in(name, verbatims)) {
        c->at = find_end(&look, name);
        return true;
    }
    return false;
}

struct piece strip(struct arena *a, const char *text, size_t len)
{
    char *out = arena_alloc(a, len + 1);
    size_t n = 0;
    struct cursor c = {text, 0, len};
    while (!cursor_end(&c)) {
        char ch = c.s[c.at];
        if (ch == '%') {
            skip_comment(&c);
        } else if (ch != '\\') {
            out[n++] = ch;
            c.at++;
        } else if (!skip_command(&c)) {
            struct piece word = scan_command(&c);
            memcpy(out + n, word.s, word.len);
            n += word.len;
        }
    }
    out[n] = 0;
    return (struct piece){out, n};
}
