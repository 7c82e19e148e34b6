#include "ops/latex/source/tex_scan.h"

#include "base/text/words.h"

#include <ctype.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

struct piece piece_trim(struct piece p)
{
    while (p.len && is_blank(*p.s))
        p.s++, p.len--;
    while (p.len && is_blank(p.s[p.len - 1]))
        p.len--;
    return p;
}

bool piece_in(struct piece p, const char *words)
{
    return word_in(words, p.s, p.len);
}

struct piece scan_command(struct cursor *c)
{
    size_t from = c->at++;
    while (c->at < c->len && (isalpha((unsigned char)c->s[c->at]) || c->s[c->at] == '@'))
        c->at++;
    if (c->at == from + 1 && c->at < c->len)
        c->at++;
    return (struct piece){c->s + from, c->at - from};
}

void scan_blanks(struct cursor *c)
{
    while (c->at < c->len && is_blank(c->s[c->at]))
        c->at++;
}

bool scan_char(struct cursor *c, char ch)
{
    size_t from = c->at;
    scan_blanks(c);
    if (c->at < c->len && c->s[c->at] == ch) {
        c->at++;
        return true;
    }
    c->at = from;
    return false;
}

/* A limit keeps scanning linear: in a text of unclosed braces, each would be scanned to the end. */
enum { GROUP_MAX = 32 << 10 };

static bool scan_until(struct piece *out, struct cursor *c, char open, char close)
{
    size_t from = c->at, depth = 0;
    if (!scan_char(c, open))
        return false;
    size_t begin = c->at, end = c->len - begin < GROUP_MAX ? c->len : begin + GROUP_MAX;
    for (; c->at < end; c->at++) {
        char ch = c->s[c->at];
        if (ch == close && depth == 0) {
            *out = (struct piece){c->s + begin, c->at - begin};
            c->at++;
            return true;
        }
        if (ch == '\\')
            c->at++;
        depth += ch == '{';
        if (ch == '}' && depth-- == 0)
            break;
    }
    c->at = from;
    return false;
}

bool scan_group(struct piece *out, struct cursor *c)
{
    return scan_until(out, c, '{', '}');
}

bool scan_optional(struct piece *out, struct cursor *c)
{
    return scan_until(out, c, '[', ']');
}

bool scan_argument(struct piece *out, struct cursor *c)
{
    if (scan_group(out, c))
        return true;
    size_t from = c->at;
    scan_blanks(c);
    if (c->at < c->len && c->s[c->at] == '\\') {
        *out = scan_command(c);
        return true;
    }
    if (c->at < c->len && c->s[c->at] != '{' && c->s[c->at] != '}') {
        *out = (struct piece){c->s + c->at, 1};
        c->at++;
        while (c->at < c->len && ((unsigned char)c->s[c->at] & 0xc0) == 0x80)
            c->at++, out->len++;
        return true;
    }
    c->at = from;
    return false;
}

bool scan_item(struct piece *out, struct cursor *list)
{
    if (cursor_end(list))
        return false;
    const char *s = list->s + list->at, *comma = memchr(s, ',', list->len - list->at);
    size_t n = comma ? (size_t)(comma - s) : list->len - list->at;
    *out = piece_trim((struct piece){s, n});
    list->at += n + 1;
    return true;
}
