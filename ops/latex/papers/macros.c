#include "ops/latex/papers/macros.h"

#include "base/buf.h"

#include <stdlib.h>

enum { NAME_MAX_LEN = 100, BODY_MAX = 4096, TEXT_MAX = 1 << 20, TABLE_MAX = 64 << 20 };

struct macro *macro_find(const struct macro_table *t, struct piece name)
{
    char key[NAME_MAX_LEN + 1];
    if (name.len == 0 || name.len > NAME_MAX_LEN)
        return NULL;
    memcpy(key, name.s, name.len);
    key[name.len] = 0;
    const uint64_t *place = name_map_get(&t->index, key);
    return place && t->items[*place]->m.name ? t->items[*place] : NULL;
}

bool macro_is_display(struct piece environment)
{
    static const char displays[] = "equation displaymath align gather multline flalign eqnarray "
                                   "alignat dmath IEEEeqnarray mathpar xalignat";
    if (environment.len && environment.s[environment.len - 1] == '*')
        environment.len--;
    return piece_in(environment, displays);
}

/* ---- definitions ---- */

/* Finds the next command of the text, or the name in \begin{name}. */
static bool next_name(struct piece *out, struct cursor *c)
{
    while (!cursor_end(c)) {
        if (c->s[c->at] != '\\') {
            c->at++;
            continue;
        }
        *out = scan_command(c);
        struct cursor look = *c;
        struct piece name;
        if (piece_is(*out, "\\begin") && scan_group(&name, &look))
            *out = name;
        return true;
    }
    return false;
}

static bool names(struct piece body, const char *name)
{
    struct cursor c = cursor_of(body);
    struct piece found;
    while (next_name(&found, &c))
        if (piece_is(found, name))
            return true;
    return false;
}

/* Whether the body, directly or through other macros, contains something that the reader must
 * see. */
static bool is_structural(const struct macro_table *t, struct piece body)
{
    static const char commands[] = "\\[ \\] \\input \\include \\subfile \\import \\subimport "
                                   "\\section \\chapter \\title \\InputIfFileExists";
    struct cursor c = cursor_of(body);
    struct piece name;
    if (memmem(body.s, body.len, "$$", 2))
        return true;
    while (next_name(&name, &c)) {
        const struct macro *m = macro_find(t, name);
        if (piece_in(name, commands) || macro_is_display(name) || (m && m->structural))
            return true;
        struct cursor look = c;
        if (piece_is(name, "\\end") && scan_group(&name, &look) &&
            (macro_is_display(name) || ((m = macro_find(t, name)) && m->structural)))
            return true;
    }
    return false;
}

static char *copy(struct macro_table *t, struct piece p)
{
    return arena_strndup(t->a, p.s, p.len);
}

static void define(struct macro_table *t, Eqloom__Macro m, struct piece name, struct piece body,
                   struct piece end)
{
    bool added;
    m.name = copy(t, name);
    if (name.len > NAME_MAX_LEN || body.len > BODY_MAX || end.len > BODY_MAX ||
        names(body, m.name) || piece_is(name, "\\begin") || t->bytes > TABLE_MAX)
        return;
    t->bytes += body.len + end.len + sizeof(struct macro);
    m.body = copy(t, body);
    m.end = copy(t, end);
    uint64_t *place = name_map_put(&t->index, m.name, t->n, &added);
    if (added) {
        t->items = arena_grow(t->a, t->items, t->n, &t->cap, sizeof *t->items);
        t->n++;
    }
    struct macro *x = t->items[*place] = arena_new(t->a, struct macro);
    x->m = m;
    x->structural = is_structural(t, body) || is_structural(t, end);
}

/* Removes the definition of a name. */
static void undefine(struct macro_table *t, struct piece name)
{
    const struct macro *m = macro_find(t, name);
    if (m) /* earlier displays keep their definition */
        t->items[*name_map_get(&t->index, m->m.name)] = arena_new(t->a, struct macro);
}

/* Reads {\name} or \name, or {name} for an environment. */
static bool read_name(struct piece *out, struct cursor *c)
{
    if (!scan_argument(out, c))
        return false;
    *out = piece_trim(*out);
    return out->len > 0;
}

static unsigned read_count(struct cursor *c)
{
    struct piece n;
    if (!scan_optional(&n, c))
        return 0;
    n = piece_trim(n);
    return n.len == 1 && n.s[0] >= '0' && n.s[0] <= '9' ? (unsigned)(n.s[0] - '0') : 0;
}

/* [n][initial] */
static void read_arguments(Eqloom__Macro *m, struct macro_table *t, struct cursor *c)
{
    struct piece initial;
    m->arguments = read_count(c);
    if (m->arguments && scan_optional(&initial, c)) {
        m->optional = true;
        m->initial = copy(t, initial);
    }
}

/* Reads an xparse spec of "m" after an optional "o" or "O{initial}"; ignores stars. Returns false
 * for any other. */
static bool read_spec(Eqloom__Macro *m, struct macro_table *t, struct piece spec)
{
    struct cursor c = cursor_of(spec);
    struct piece initial;
    for (scan_blanks(&c); !cursor_end(&c); scan_blanks(&c)) {
        char kind = c.s[c.at++];
        if (kind == '+' || kind == '>')
            continue;
        if (kind != 'm' && !((kind == 'o' || kind == 'O') && m->arguments == 0))
            return false;
        if (kind != 'm')
            m->optional = true;
        if (kind == 'O' && scan_group(&initial, &c))
            m->initial = copy(t, initial);
        m->arguments++;
    }
    return m->arguments < 10;
}

/* \newcommand*{\x}[n][initial]{body}, \newenvironment{x}[n][initial]{begin}{end}, and xparse's
 * commands with {spec} in place of the brackets. `provide`: keeps an existing definition. */
static void read_new(struct macro_table *t, struct cursor *c, bool xparse, bool environment,
                     bool provide)
{
    Eqloom__Macro m = EQLOOM__MACRO__INIT;
    struct piece name, spec, body, end = piece_of("");
    bool known = true;
    scan_char(c, '*');
    if (!read_name(&name, c) || (xparse && !scan_group(&spec, c)))
        return;
    if (xparse)
        known = read_spec(&m, t, spec);
    else
        read_arguments(&m, t, c);
    if (!scan_argument(&body, c) || (environment && !scan_group(&end, c)))
        return;
    if (known && (*name.s == '\\') != environment && !(provide && macro_find(t, name)))
        define(t, m, name, body, end);
}

/* \def\x#1#2{body}, \def\x#1.#2;{body} */
static void read_def(struct macro_table *t, struct cursor *c)
{
    Eqloom__Macro m = EQLOOM__MACRO__INIT;
    struct piece name, body;
    scan_blanks(c);
    if (cursor_end(c) || c->s[c->at] != '\\')
        return;
    name = scan_command(c);
    size_t from = c->at;
    bool plain = true;
    while (!cursor_end(c) && c->s[c->at] != '{' && c->s[c->at] != '}') {
        if (c->s[c->at] == '#' && c->at + 1 < c->len && c->s[c->at + 1] == '1' + (char)m.arguments)
            m.arguments++, c->at++;
        else if (c->s[c->at] != ' ' && c->s[c->at] != '\n')
            plain = false;
        c->at++;
    }
    struct piece parameters = {c->s + from, c->at - from};
    if (!scan_group(&body, c) || m.arguments > 9)
        return;
    if (!plain)
        m.delimiters = copy(t, parameters);
    define(t, m, name, body, piece_of(""));
}

/* Variants that papers swap, which KaTeX also accepts as characters. */
static const struct {
    const char *command, *character;
} letters[] = {{"\\epsilon", "ϵ"}, {"\\varepsilon", "ε"}, {"\\phi", "ϕ"}, {"\\varphi", "φ"},
               {"\\theta", "θ"},   {"\\vartheta", "ϑ"},   {"\\rho", "ρ"}, {"\\varrho", "ϱ"},
               {"\\le", "≤"},      {"\\leq", "≤"},        {"\\ge", "≥"},  {"\\geq", "≥"},
               {"\\emptyset", "∅"}};

/* \let\x=\y. \x takes the paper's definition of \y if there is one, and otherwise means \y
 * itself. */
static void read_let(struct macro_table *t, struct cursor *c)
{
    struct piece name, value;
    if (!scan_argument(&name, c) || *name.s != '\\')
        return;
    scan_char(c, '=');
    if (!scan_argument(&value, c))
        return;
    const struct macro *same = macro_find(t, value);
    Eqloom__Macro m = EQLOOM__MACRO__INIT;
    struct piece end = piece_of("");
    if (piece_is(value, "\\relax") || piece_is(value, "\\undefined") ||
        piece_is(value, "\\@undefined")) {
        undefine(t, name);
        return;
    }
    for (size_t i = 0; !same && i < sizeof letters / sizeof *letters; i++)
        if (piece_is(value, letters[i].command))
            value = piece_of(letters[i].character);
    if (same) {
        m = same->m;
        value = piece_of(m.body);
        end = piece_of(m.end);
    }
    define(t, m, name, value, end);
}

/* \DeclareMathOperator*{\x}{text} */
static void read_operator(struct macro_table *t, struct cursor *c)
{
    struct piece name, text;
    bool star = scan_char(c, '*');
    if (!read_name(&name, c) || !scan_argument(&text, c) || *name.s != '\\')
        return;
    const char *body =
        arena_printf(t->a, "\\operatorname%s{%.*s}", star ? "*" : "", (int)text.len, text.s);
    define(t, (Eqloom__Macro)EQLOOM__MACRO__INIT, name, piece_of(body), piece_of(""));
}

/* \DeclarePairedDelimiter{\x}{left}{right}, by \eqloompaired, which glue.js defines. */
static void read_paired(struct macro_table *t, struct cursor *c)
{
    struct piece name, left, right;
    if (!read_name(&name, c) || !scan_argument(&left, c) || !scan_argument(&right, c) ||
        *name.s != '\\')
        return;
    const char *body = arena_printf(t->a, "\\eqloompaired{%.*s}{%.*s}", (int)left.len, left.s,
                                    (int)right.len, right.s);
    define(t, (Eqloom__Macro)EQLOOM__MACRO__INIT, name, piece_of(body), piece_of(""));
}

bool macro_read(struct macro_table *t, struct piece command, struct cursor *c)
{
    static const char newcommands[] = "\\newcommand \\renewcommand \\DeclareRobustCommand";
    static const char defs[] = "\\def \\gdef \\edef \\xdef";
    static const char environments[] = "\\newenvironment \\renewenvironment";
    static const char xcommands[] = "\\NewDocumentCommand \\RenewDocumentCommand "
                                    "\\DeclareDocumentCommand \\ProvideDocumentCommand";
    static const char xenvironments[] =
        "\\NewDocumentEnvironment \\RenewDocumentEnvironment \\DeclareDocumentEnvironment";
    if (piece_in(command, newcommands))
        read_new(t, c, false, false, false);
    else if (piece_is(command, "\\providecommand"))
        read_new(t, c, false, false, true);
    else if (piece_in(command, defs))
        read_def(t, c);
    else if (piece_is(command, "\\let"))
        read_let(t, c);
    else if (piece_in(command, environments))
        read_new(t, c, false, true, false);
    else if (piece_in(command, xcommands))
        read_new(t, c, true, false, false);
    else if (piece_in(command, xenvironments))
        read_new(t, c, true, true, false);
    else if (piece_is(command, "\\DeclareMathOperator"))
        read_operator(t, c);
    else if (piece_is(command, "\\DeclarePairedDelimiter"))
        read_paired(t, c);
    else
        return false;
    return true;
}

/* ---- closure ---- */

struct closure {
    struct arena *a;
    struct macro_table *t;
    Eqloom__Macro **items;
    size_t n, cap;
};

static void collect(struct closure *x, struct piece text)
{
    struct cursor c = cursor_of(text);
    struct piece name;
    while (next_name(&name, &c)) {
        struct macro *m = macro_find(x->t, name);
        if (!m || m->seen == x->t->closures)
            continue;
        m->seen = x->t->closures;
        x->items = arena_grow(x->a, x->items, x->n, &x->cap, sizeof *x->items);
        x->items[x->n++] = &m->m;
    }
}

static int by_name(const void *x, const void *y)
{
    const Eqloom__Macro *const *a = x, *const *b = y;
    return strcmp((*a)->name, (*b)->name);
}

size_t macro_closure(Eqloom__Macro ***out, struct arena *a, struct macro_table *t,
                     struct piece text)
{
    struct closure x = {.a = a, .t = t};
    t->closures++;
    collect(&x, text);
    for (size_t i = 0; i < x.n; i++) { /* x.n grows during the loop */
        const Eqloom__Macro *m = x.items[i];
        collect(&x, piece_of(m->body));
        collect(&x, piece_of(m->end));
        collect(&x, piece_of(m->initial));
    }
    if (x.n)
        qsort(x.items, x.n, sizeof *x.items, by_name);
    *out = x.items;
    return x.n;
}

struct piece macro_substitute(struct arena *a, const char *body, const struct piece *args, size_t n)
{
    struct buf b = {0};
    for (const char *s = body; *s; s++) {
        if (*s != '#' || s[1] < '1' || s[1] > '9') {
            buf_putc(&b, *s);
            continue;
        }
        size_t k = (size_t)(*++s - '1');
        if (k < n && b.len < TEXT_MAX)
            buf_add(&b, args[k].s, args[k].len);
    }
    size_t len = b.len;
    return (struct piece){buf_text(&b, a), len};
}
