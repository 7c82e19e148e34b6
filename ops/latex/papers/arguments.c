#include "ops/latex/papers/arguments.h"

#include "base/buf.h"

enum { TEXT_MAX = 1 << 20 };

/* One argument of a specification. */
struct argument {
    char kind;
    struct piece open, close; /* r R d D; of t, the token */
    struct piece initial;     /* R O D G */
    bool at_once;             /* not behind blanks */
};

/* Reads the next argument of a specification; returns false at its end, or with kind 0 if it is of
 * an unknown form. */
static bool next_argument(struct argument *out, struct cursor *spec)
{
    struct piece ignored;
    *out = (struct argument){.initial = piece_of(ARGUMENT_ABSENT)};
    for (scan_blanks(spec); !cursor_end(spec); scan_blanks(spec)) {
        char kind = spec->s[spec->at++];
        if (kind == '+')
            continue;
        if (kind == '!') {
            out->at_once = true;
            continue;
        }
        if (kind == '>' && scan_group(&ignored, spec))
            continue;
        bool known = strchr("mrRoOdDgGstb", kind) != NULL;
        if (strchr("rRdD", kind))
            known = scan_argument(&out->open, spec) && scan_argument(&out->close, spec);
        if (kind == 't')
            known = scan_argument(&out->open, spec);
        if (known && strchr("RODG", kind))
            known = scan_group(&out->initial, spec);
        out->kind = known ? kind : 0;
        return true;
    }
    return false;
}

bool arguments_known(bool *body, const char *spec)
{
    struct cursor c = cursor_of(piece_of(spec));
    struct argument x;
    unsigned n = 0;
    *body = false;
    while (next_argument(&x, &c)) {
        if (!x.kind || *body || ++n > ARGUMENTS_MAX)
            return false;
        *body = x.kind == 'b';
    }
    return true;
}

static bool scan_word(struct cursor *c, struct piece word)
{
    struct cursor look = *c;
    scan_blanks(&look);
    if (look.len - look.at < word.len || memcmp(look.s + look.at, word.s, word.len))
        return false;
    c->at = look.at + word.len;
    return true;
}

/* Behind `open`: up to the `close` that belongs to it, outside braces. */
static bool scan_between(struct piece *out, const struct argument *x, struct cursor *c)
{
    struct cursor look = *c;
    size_t depth = 0, inner = 0;
    if (!scan_word(&look, x->open))
        return false;
    size_t from = look.at;
    for (; !cursor_end(&look); look.at++) {
        char ch = look.s[look.at];
        bool closes = depth == 0 && ch == *x->close.s;
        if (closes && inner-- == 0) {
            *out = (struct piece){look.s + from, look.at - from};
            c->at = look.at + 1;
            return true;
        }
        inner += depth == 0 && !closes && ch == *x->open.s;
        if (ch == '\\')
            look.at++;
        depth += ch == '{';
        if (ch == '}' && depth-- == 0)
            break;
    }
    return false;
}

static bool take_one(struct piece *out, const struct argument *x, struct cursor *c)
{
    struct cursor look = *c;
    bool blank = !cursor_end(c) && strchr(" \t\n", c->s[c->at]), absent = x->at_once && blank;
    *out = x->initial;
    switch (x->kind) {
    case 'm': return scan_argument(out, c);
    case 's':
    case 't':
        *out = piece_of(scan_word(c, x->kind == 's' ? piece_of("*") : x->open) ? ARGUMENT_TRUE
                                                                               : ARGUMENT_FALSE);
        return true;
    case 'o':
    case 'O': return absent || scan_optional(out, c) || true;
    case 'g':
    case 'G': return absent || scan_group(out, c) || true;
    case 'd':
    case 'D': return absent || scan_between(out, x, c) || true;
    case 'r':
    case 'R': return scan_between(out, x, &look) ? (*c = look, true) : x->kind == 'R';
    default: return false;
    }
}

size_t arguments_take(struct piece *out, const char *spec, struct cursor *c)
{
    struct cursor s = cursor_of(piece_of(spec));
    struct argument x;
    size_t n = 0;
    while (n < ARGUMENTS_MAX && next_argument(&x, &s) && x.kind != 'b' && take_one(&out[n], &x, c))
        n++;
    return n;
}

char *arguments_plain(struct arena *a, unsigned n, const struct piece *initial)
{
    static const char ms[] = "mmmmmmmmm";
    if (n == 0 || !initial)
        return arena_strndup(a, ms, n);
    return arena_printf(a, "O{%.*s}%.*s", (int)initial->len, initial->s, (int)n - 1, ms);
}

struct piece arguments_substitute(struct arena *a, const char *body, const struct piece *args,
                                  size_t n)
{
    struct buf b = {0};
    for (const char *s = body; *s; s++) {
        if (*s != '#' || ((s[1] < '1' || s[1] > '9') && s[1] != '#')) {
            buf_putc(&b, *s);
            continue;
        }
        size_t k = (size_t)(*++s - '1');
        if (*s == '#')
            buf_putc(&b, '#');
        else if (k < n && b.len < TEXT_MAX)
            buf_add(&b, args[k].s, args[k].len);
    }
    size_t len = b.len;
    return (struct piece){buf_text(&b, a), len};
}
