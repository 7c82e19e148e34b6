#include "ops/latex/source/bundle.h"

#include "ops/latex/source/decode.h"
#include "ops/latex/source/displays.h"

#include <stdarg.h>
#include <stdio.h>

enum { FILE_MAX = 16 << 20, WASTED_MAX = 64 << 20 };

void bundle_free(struct bundle *b)
{
    name_map_free(&b->index);
}

void bundle_problem(struct problems *p, struct arena *a, const char *file, unsigned line,
                    const char *reason, const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (p->n == PROBLEMS_MAX)
        return;
    Eqloom__Problem *m = arena_new(a, Eqloom__Problem);
    eqloom__problem__init(m);
    m->file = decode_utf8(a, file, strlen(file));
    m->line = line;
    m->reason = arena_strdup(a, reason);
    m->detail = decode_utf8(a, text, strlen(text));
    p->items = arena_grow(a, p->items, p->n, &p->cap, sizeof *p->items);
    p->items[p->n++] = m;
}

static void add_file(struct bundle *b, struct tex_file file)
{
    bool added;
    uint64_t *place = name_map_put(&b->index, file.name, b->n, &added);
    if (!added) { /* tar uses the later of two members with one name */
        b->files[*place] = file;
        return;
    }
    b->files = arena_grow(b->a, b->files, b->n, &b->cap, sizeof *b->files);
    b->files[b->n++] = file;
}

/* ---- decoding ---- */

/* Decodes bytes to text. Returns NULL, or the reason why they are not text. */
static const char *bundle_decode(const char **text, size_t *len, struct arena *a, struct span bytes)
{
    return bytes.len > FILE_MAX ? "too large" : decode_text(text, len, a, bytes);
}

void bundle_add(struct bundle *b, const char *name, struct span bytes)
{
    struct tex_file file = {.name = decode_utf8(b->a, name, strlen(name))};
    const char *why = bundle_decode(&file.text, &file.len, b->a, bytes);
    if (why) {
        bundle_problem(&b->problems, b->a, file.name, 0, why, "%zu bytes", bytes.len);
        return;
    }
    add_file(b, file);
}

void bundle_add_lazy(struct bundle *b, const char *name, size_t number, const struct digest *id,
                     unsigned displays)
{
    add_file(b, (struct tex_file){.name = decode_utf8(b->a, name, strlen(name)),
                                  .lazy = true,
                                  .number = number,
                                  .displays = displays,
                                  .id = *id});
}

struct tex_file *bundle_find(const struct bundle *b, const char *name)
{
    const uint64_t *place = name_map_get(&b->index, name);
    return place ? &b->files[*place] : NULL;
}

struct piece bundle_text(struct bundle *b, struct tex_file *file)
{
    if (!file->text && bundle_decode(&file->text, &file->len, b->a, b->load(b->arg, file->number)))
        file->text = "", file->len = 0;
    return (struct piece){file->text, file->len};
}

/* ---- stripping ---- */

static const char verbatims[] = "verbatim verbatim* Verbatim Verbatim* BVerbatim lstlisting minted "
                                "comment alltt filecontents filecontents* luacode luacode*";
static const char pictures[] =
    "tikzpicture pspicture pspicture* asy picture circuitikz forest pgfpicture quantikz";

/* Returns the position after "\end{name}", or the end of the text. */
static size_t find_end(const struct cursor *c, struct piece name)
{
    for (size_t at = c->at; at + 6 + name.len <= c->len; at++)
        if (c->s[at] == '\\' && !memcmp(c->s + at, "\\end{", 5) &&
            !memcmp(c->s + at + 5, name.s, name.len) && c->s[at + 5 + name.len] == '}')
            return at + 6 + name.len;
    return c->len;
}

/* \verb|x|; with options and a language before it, and in braces: \mintinline[..]{python}{x},
 * \url{x} */
static void skip_verb(struct cursor *c, struct piece word, size_t *wasted)
{
    struct piece ignored;
    scan_char(c, '*');
    scan_optional(&ignored, c);
    if (piece_in(word, "\\mintinline \\mint"))
        scan_group(&ignored, c);
    if (cursor_end(c) || *wasted >= WASTED_MAX ||
        (!piece_is(word, "\\verb") && scan_group(&ignored, c)))
        return;
    if (piece_is(word, "\\url"))
        return;
    const char *end = memchr(c->s + c->at + 1, c->s[c->at], c->len - c->at - 1);
    const char *line = memchr(c->s + c->at, '\n', c->len - c->at);
    if (end && (!line || end < line))
        c->at = (size_t)(end - c->s) + 1;
    else
        *wasted += c->len - c->at;
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

struct stripping {
    char *out;
    size_t n;
    size_t wasted;   /* bytes of the file that were searched for missing ends */
    unsigned hidden; /* what looks like displays in what is stripped */
};

static void put(struct stripping *x, const char *s, size_t n)
{
    memcpy(x->out + x->n, s, n);
    x->n += n;
}

/* At a backslash: skips material that is stripped; returns false if there is none. */
static bool skip_command(struct stripping *x, struct cursor *c)
{
    static const char verbs[] = "\\verb \\Verb \\lstinline \\mintinline \\mint \\url";
    struct cursor look = *c;
    struct piece word = scan_command(&look), name;
    if (piece_in(word, verbs)) {
        skip_verb(&look, word, &x->wasted);
        *c = look;
        return true;
    }
    if (!piece_is(word, "\\begin") || !scan_group(&name, &look))
        return false;
    bool picture = piece_in(name, pictures);
    if (!picture && !piece_in(name, verbatims))
        return false;
    size_t from = c->at, begun = look.at;
    c->at = find_end(&look, name);
    x->hidden += displays_count((struct piece){c->s + begun, c->at - begun}, NULL, NULL);
    if (picture) {
        put(x, c->s + from, begun - from);
        put(x, "\\end{", 5);
        put(x, name.s, name.len);
        put(x, "}", 1);
    }
    return true;
}

/* Removes what TeX does not typeset: comments and the content of verbatim environments, which would
 * be taken for mathematics. As in TeX, a comment includes the end of its line and the blanks that
 * follow; a line that is only a comment leaves nothing. */
static void strip(struct tex_file *file, struct arena *a, struct piece text)
{
    struct stripping x = {.out = arena_alloc(a, text.len + 64)};
    struct cursor c = cursor_of(text);
    while (!cursor_end(&c)) {
        if (c.s[c.at] == '%') {
            skip_comment(&c);
        } else if (c.s[c.at] != '\\') {
            x.out[x.n++] = c.s[c.at++];
        } else if (!skip_command(&x, &c)) {
            struct piece word = scan_command(&c);
            put(&x, word.s, word.len);
        }
    }
    x.out[x.n] = 0;
    file->stripped = (struct piece){x.out, x.n};
    file->hidden = x.hidden;
}

struct piece bundle_stripped(struct bundle *b, struct tex_file *file)
{
    struct piece text = bundle_text(b, file);
    if (!file->stripped.s)
        strip(file, b->a, text);
    return file->stripped;
}
