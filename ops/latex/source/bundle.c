#include "ops/latex/source/bundle.h"

#include "ops/latex/source/decode.h"

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

void bundle_add_lazy(struct bundle *b, const char *name, size_t number, const struct digest *id)
{
    add_file(b, (struct tex_file){
                    .name = decode_utf8(b->a, name, strlen(name)), .number = number, .id = *id});
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

static const char verbatims[] = "verbatim verbatim* Verbatim lstlisting minted comment alltt "
                                "filecontents filecontents* tikzpicture pspicture asy";

/* Returns the position after "\end{name}", or the end of the text. */
static size_t find_end(const struct cursor *c, struct piece name)
{
    for (size_t at = c->at; at + 6 + name.len <= c->len; at++)
        if (c->s[at] == '\\' && !memcmp(c->s + at, "\\end{", 5) &&
            !memcmp(c->s + at + 5, name.s, name.len) && c->s[at + 5 + name.len] == '}')
            return at + 6 + name.len;
    return c->len;
}

/* Returns the position after the \fi of an \iffalse. An \else at its level ends it too, as what
 * follows is typeset. *wasted counts bytes of the file that were searched for missing ends. */
static size_t find_fi(const struct cursor *from, size_t *wasted)
{
    struct cursor c = *from;
    size_t depth = 0;
    while (!cursor_end(&c) && *wasted < WASTED_MAX) {
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
    *wasted += c.at - from->at;
    return from->at; /* unterminated: not skipped */
}

static void skip_verb(struct cursor *c, size_t *wasted)
{
    scan_char(c, '*');
    if (cursor_end(c) || *wasted >= WASTED_MAX)
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

/* At a backslash: skips material that is stripped; returns false if there is none. */
static bool skip_command(struct cursor *c, size_t *wasted)
{
    struct cursor look = *c;
    struct piece word = scan_command(&look), name;
    if (piece_is(word, "\\iffalse")) {
        c->at = find_fi(&look, wasted);
        return true;
    }
    if (piece_is(word, "\\verb") || piece_is(word, "\\lstinline")) {
        skip_verb(&look, wasted);
        *c = look;
        return true;
    }
    if (piece_is(word, "\\begin") && scan_group(&name, &look) && piece_in(name, verbatims)) {
        c->at = find_end(&look, name);
        return true;
    }
    return false;
}

/* Removes what TeX does not typeset: comments, \iffalse ... \fi, and the content of verbatim
 * environments, which would be taken for mathematics. As in TeX, a comment includes the end of its
 * line and the blanks that follow; a line that is only a comment leaves nothing. */
static struct piece strip(struct arena *a, const char *text, size_t len)
{
    char *out = arena_alloc(a, len + 1);
    size_t n = 0, wasted = 0;
    struct cursor c = {text, 0, len};
    while (!cursor_end(&c)) {
        char ch = c.s[c.at];
        if (ch == '%') {
            skip_comment(&c);
        } else if (ch != '\\') {
            out[n++] = ch;
            c.at++;
        } else if (!skip_command(&c, &wasted)) {
            struct piece word = scan_command(&c);
            memcpy(out + n, word.s, word.len);
            n += word.len;
        }
    }
    out[n] = 0;
    return (struct piece){out, n};
}

struct piece bundle_stripped(struct bundle *b, struct tex_file *file)
{
    struct piece text = bundle_text(b, file);
    if (!file->stripped.s)
        file->stripped = strip(b->a, text.s, text.len);
    return file->stripped;
}
