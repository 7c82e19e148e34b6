#include "ops/latex/papers/reader.h"

#include <ctype.h>

enum {
    DISPLAYS_MAX = 200000,
    WORDS_MAX = 8 << 20,
    TEXTS_MAX = 100000,
    BYTES_MAX = 64 << 20,
    NAME_MAX_LEN = 1000
};

/* ---- texts and files ---- */

const char *reader_here(const struct reader *r)
{
    return r->n ? r->stack[r->n - 1].file->name : "";
}

static bool room_for(struct reader *r, size_t len)
{
    r->texts++;
    r->bytes += len;
    if (r->n < FRAMES_MAX && r->texts <= TEXTS_MAX && r->bytes <= BYTES_MAX)
        return true;
    bundle_problem(&r->problems, r->a, reader_here(r), 0,
                   r->n == FRAMES_MAX ? "nested too deeply" : "too many expansions",
                   "after %zu texts of %zu bytes", r->texts, r->bytes);
    if (r->n < FRAMES_MAX)
        r->n = 0; /* read nothing more of this document */
    return false;
}

struct cursor *reader_rest(struct reader *r)
{
    while (r->n > 1 && !reader_top(r)->is_file && cursor_end(&reader_top(r)->c))
        r->n--;
    return &reader_top(r)->c;
}

void reader_push_text(struct reader *r, struct piece text, const void *of)
{
    const struct frame *top = r->n ? reader_top(r) : NULL;
    for (size_t i = 0; i < r->n; i++)
        if (r->stack[i].of == of)
            return;
    if (!room_for(r, text.len) || !top)
        return;
    struct frame x = {cursor_of(text), top->file, false, top->definitions, of};
    r->stack[r->n++] = x;
}

static unsigned depth_of(const struct reader *r)
{
    unsigned depth = 0;
    for (size_t i = 0; i < r->n; i++)
        depth += r->stack[i].is_file && !r->stack[i].definitions;
    return depth;
}

bool reader_push_file(struct reader *r, struct tex_file *file, bool definitions)
{
    struct piece text = bundle_stripped(r->lookup.bundle, file);
    for (size_t i = 0; i < r->n; i++)
        if (r->stack[i].is_file && r->stack[i].file == file) {
            bundle_problem(&r->problems, r->a, file->name, 0, "reads itself", "%s",
                           reader_top(r)->file->name);
            return false;
        }
    if (!definitions && depth_of(r) > r->max_depth) {
        bundle_problem(&r->problems, r->a, file->name, 0, "read too deeply", "more than %u deep",
                       r->max_depth);
        return false;
    }
    if (!room_for(r, text.len))
        return false;
    r->used[file - r->lookup.bundle->files] = true;
    reader_untaken(r, "in a listing, a comment or a picture", file->hidden);
    struct frame x = {cursor_of(text), file, true,
                      definitions || (r->n && reader_top(r)->definitions), NULL};
    r->stack[r->n++] = x;
    return true;
}

struct tex_file *reader_find(struct reader *r, const char *name, const char *suffixes)
{
    return lookup_find(&r->lookup, reader_here(r), name, suffixes);
}

/* Appends a name, expanding at most *commands macros in it. File names longer than NAME_MAX_LEN do
 * not exist. */
static void expand_name(struct buf *out, const struct reader *r, struct piece name,
                        unsigned *commands)
{
    struct cursor c = cursor_of(name);
    while (!cursor_end(&c) && out->len < NAME_MAX_LEN && *commands) {
        if (c.s[c.at] != '\\') {
            buf_putc(out, c.s[c.at++]);
            continue;
        }
        const struct macro *m = macro_find(&r->macros, scan_command(&c));
        --*commands;
        if (m)
            expand_name(out, r, piece_of(m->m.body), commands);
    }
}

/* Packages whose commands have other meanings than elsewhere, or two of them the same name. */
static const char packages[] = "braket commath derivative diffcoeff esdiff physics siunitx";
/* Packages that are known here: a copy of theirs beside the paper is not read. */
static const char known_packages[] =
    "amsmath amssymb amsfonts amsthm mathtools physics braket siunitx mhchem mathpartir bussproofs "
    "proof xy xypic tikz-cd stmaryrd wasysym cancel empheq cases breqn IEEEtrantools nicefrac "
    "xfrac "
    "units slashed tensor bbm bbold dsfont mathrsfs bm esint accents centernot xparse etoolbox "
    "environ xargs hyperref cleveref listings minted tikz pgf graphicx color xcolor natbib babel "
    "inputenc fontenc comment xspace enumitem booktabs multirow array upgreek "
    "ifthen xstring pstricks pst-node pgfplots";

static void add_package(struct reader *r, struct piece name)
{
    size_t i = 0;
    if (!piece_in(name, packages))
        return;
    while (i < r->n_packages && !piece_is(name, r->packages[i]) &&
           strncmp(r->packages[i], name.s, name.len) < 0)
        i++;
    if (i < r->n_packages && piece_is(name, r->packages[i]))
        return;
    memmove(r->packages + i + 1, r->packages + i, (r->n_packages++ - i) * sizeof *r->packages);
    r->packages[i] = arena_strndup(r->a, name.s, name.len);
}

void reader_input(struct reader *r, struct piece folder, struct piece name, const char *suffix)
{
    name = piece_trim(name);
    if (name.len == 0 || name.len > 300 || folder.len > 300)
        return;
    if (name.len > 1 && *name.s == '"')
        name = (struct piece){name.s + 1, name.len - 2};
    if (suffix)
        add_package(r, name);
    if (suffix && piece_in(name, known_packages))
        return;
    struct buf b = {0};
    unsigned commands = 100;
    expand_name(&b, r, piece_trim(folder), &commands);
    buf_puts(&b, folder.len ? "/" : "");
    expand_name(&b, r, name, &commands);
    const char *path = buf_text(&b, r->a);
    struct tex_file *file =
        *path ? reader_find(r, path, suffix ? suffix : ".tex||.ltx|.latex") : NULL;
    if (file && reader_push_file(r, file, suffix != NULL))
        lookup_mark_read(&r->lookup);
    else if (!file && !suffix)
        bundle_problem(&r->problems, r->a, reader_here(r), 0, "no such input", "%s", path);
}

/* ---- words ---- */

/* Accents as typed in TeX: \"a, \'e, \^o, \`a, \~n, \c c. */
static const char *accented(char accent, char letter)
{
    static const char *const table[] = {
        "\"aä", "\"oö", "\"uü", "\"AÄ", "\"OÖ", "\"UÜ", "\"iï", "\"eë", "'aá", "'eé", "'ií", "'oó",
        "'uú",  "'EÉ",  "`aà",  "`eè",  "`oò",  "`uù",  "^aâ",  "^eê",  "^iî", "^oô", "^uû", "~nñ"};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i][0] == accent && table[i][1] == letter)
            return table[i] + 2;
    return NULL;
}

static void blank(struct buf *out)
{
    if (out->len && out->data[out->len - 1] != ' ')
        buf_putc(out, ' ');
}

static void command(struct buf *out, struct cursor *c)
{
    struct piece word = scan_command(c);
    if (word.len == 2 && strchr("%&$#_{}", word.s[1])) {
        buf_putc(out, word.s[1]);
        return;
    }
    if (word.len == 2 && strchr("\"'`^~", word.s[1])) {
        struct cursor look = *c;
        struct piece letter;
        const char *text;
        if (scan_argument(&letter, &look) && letter.len == 1 &&
            (text = accented(word.s[1], *letter.s))) {
            buf_puts(out, text);
            *c = look;
        }
        return;
    }
    if (piece_is(word, "\\ss"))
        buf_puts(out, "ß");
    else if (word.len == 2 && !isalpha((unsigned char)word.s[1]) && word.s[1] != '-')
        blank(out);
    if (word.len > 2 || isalpha((unsigned char)word.s[1]))
        scan_blanks(c);
}

char *reader_plain(struct reader *r, struct piece latex)
{
    struct buf out = {0};
    struct cursor c = cursor_of(latex);
    while (!cursor_end(&c)) {
        char ch = c.s[c.at];
        if (ch == '\\') {
            command(&out, &c);
            continue;
        }
        c.at++;
        if (ch == '$') {
            const char *end = memchr(c.s + c.at, '$', c.len - c.at);
            c.at = end ? (size_t)(end - c.s) + 1 : c.at;
            blank(&out);
        } else if (ch == '~' || ch == '&' || ch == '\n' || ch == '\t' || ch == ' ') {
            blank(&out);
        } else if (ch != '{' && ch != '}' && ch != '[' && ch != ']') {
            buf_putc(&out, ch);
        }
    }
    while (out.len && out.data[out.len - 1] == ' ')
        out.len--;
    return buf_text(&out, r->a);
}

/* ---- sections ---- */

static Eqloom__Section *section(struct reader *r)
{
    return r->paper->sections[r->paper->n_sections - 1];
}

void reader_end_section(struct reader *r)
{
    if (r->paper->n_sections)
        section(r)->text = reader_plain(r, (struct piece){r->words.data, r->words.len});
    buf_clear(&r->words);
}

void reader_begin_section(struct reader *r, char *title)
{
    Eqloom__Section *s = arena_new(r->a, Eqloom__Section);
    reader_end_section(r);
    eqloom__section__init(s);
    s->title = title;
    r->paper->sections = arena_grow(r->a, r->paper->sections, r->paper->n_sections,
                                    &r->sections_cap, sizeof *r->paper->sections);
    r->paper->sections[r->paper->n_sections++] = s;
    r->equations_cap = 0;
}

void reader_add_words(struct reader *r, const char *s, size_t n)
{
    struct buf *to = r->in_abstract ? &r->abstract : &r->words;
    if (r->in_body && to->len < WORDS_MAX)
        buf_add(to, s, n);
}

/* ---- displays ---- */

Eqloom__Equation *equation_add(Eqloom__Section *s, struct arena *a, size_t *cap)
{
    Eqloom__Equation *q = arena_new(a, Eqloom__Equation);
    eqloom__equation__init(q);
    q->place = arena_new(a, Eqloom__Place);
    eqloom__place__init(q->place);
    q->place->number = (uint32_t)s->n_equations;
    s->equations = arena_grow(a, s->equations, s->n_equations, cap, sizeof *s->equations);
    return s->equations[s->n_equations++] = q;
}

void reader_untaken(struct reader *r, const char *reason, unsigned n)
{
    Eqloom__Paper *p = r->paper;
    size_t i = 0;
    while (i < p->n_untaken && strcmp(p->untaken[i]->reason, reason))
        i++;
    if (n == 0 || i == REASONS_MAX)
        return;
    if (i == p->n_untaken) {
        if (i == 0)
            p->untaken = arena_array(r->a, Eqloom__Untaken *, REASONS_MAX);
        Eqloom__Untaken *u = p->untaken[p->n_untaken++] = arena_new(r->a, Eqloom__Untaken);
        eqloom__untaken__init(u);
        u->reason = (char *)reason;
    }
    p->untaken[i]->count += n;
}

void reader_begin_display(struct reader *r, struct piece environment, struct piece closing)
{
    r->environment = arena_strndup(r->a, environment.s, environment.len);
    r->closing = arena_strndup(r->a, closing.s, closing.len);
    r->nested = 0;
    buf_clear(&r->display);
    reader_add_words(r, "\n", 1);
}

void reader_end_display(struct reader *r)
{
    struct piece latex = piece_trim((struct piece){r->display.data, r->display.len});
    const char *environment = r->environment;
    r->environment = NULL;
    if (latex.len == 0) {
        reader_untaken(r, "empty", 1);
        return;
    }
    if (latex.len > DISPLAY_MAX || r->number == DISPLAYS_MAX) {
        bundle_problem(&r->problems, r->a, reader_here(r), 0,
                       latex.len > DISPLAY_MAX ? "display too large" : "too many displays",
                       "%zu bytes", latex.len);
        reader_untaken(r, "too large or too many", 1);
        return;
    }
    Eqloom__Equation *q = equation_add(section(r), r->a, &r->equations_cap);
    q->place->section = (uint32_t)r->paper->n_sections - 1;
    q->place->number = r->number++;
    q->environment = (char *)environment;
    q->latex = arena_strndup(r->a, latex.s, latex.len);
    q->packages = arena_memdup(r->a, r->packages, r->n_packages * sizeof *r->packages);
    q->n_packages = r->n_packages;
    q->n_macros = macro_closure(&q->macros, r->a, &r->macros, latex);
}

void reader_abandon_display(struct reader *r)
{
    bundle_problem(&r->problems, r->a, reader_here(r), 0, "display without end", "%s %.60s",
                   r->environment, r->display.data ? r->display.data : "");
    reader_untaken(r, "without end", 1);
    r->environment = NULL;
}
