/* See document.h. The reader passes through the text once, with the definitions made so far.
 * Outside displays it collects words. Within a display it copies everything but structural macros
 * (macros.h), which it expands, until the display ends. A blank line within a display, an error in
 * TeX too, ends it as unterminated. */
#include "ops/latex/papers/document.h"

#include "ops/latex/papers/reader.h"

enum { WASTED_MAX = 256 << 20 };

/* ---- commands ---- */

static void expand(struct reader *r, const struct macro *m, struct cursor *c)
{
    struct piece args[9], body;
    size_t n = 0;
    bool given = !m->m.optional || scan_optional(&args[0], c);
    if (m->m.optional) {
        if (!given)
            args[0] = piece_of(m->m.initial);
        n = 1;
    }
    if (!m->m.delimiters[0])
        while (n < m->m.arguments && n < 9 && scan_argument(&args[n], c))
            n++;
    body = macro_substitute(r->a, m->m.body, args, n);
    reader_push_text(r, body, m->m.body);
}

/* Expands \begin or \end of an environment that the paper has defined; returns false if it has
 * not. */
static bool expand_environment(struct reader *r, struct piece name, bool begin, struct cursor *c)
{
    const struct macro *m = macro_find(&r->macros, name);
    if (!m || !m->structural)
        return false;
    if (begin)
        expand(r, m, c);
    else
        reader_push_text(r, piece_of(m->m.end), m->m.end);
    return true;
}

/* \input and its variants. */
static bool read_input(struct reader *r, struct piece word, struct cursor *c)
{
    static const char one[] = "\\input \\include \\subfile \\InputIfFileExists \\subfileinclude";
    static const char two[] = "\\import \\subimport \\includefrom \\subincludefrom \\inputfrom";
    static const char styles[] = "\\usepackage \\RequirePackage \\documentclass \\LoadClass";
    struct piece folder = piece_of(""), name = folder;
    if (piece_in(word, one)) {
        if (!scan_group(&name, c)) { /* \input name */
            scan_blanks(c);
            name.s = c->s + c->at;
            while (!cursor_end(c) && !strchr(" \n\t\\{}", c->s[c->at]))
                c->at++, name.len++;
        }
        reader_input(r, folder, name, NULL);
        return true;
    }
    if (piece_in(word, two)) {
        scan_char(c, '*');
        if (scan_group(&folder, c) && scan_group(&name, c))
            reader_input(r, folder, name, NULL);
        return true;
    }
    if (!piece_in(word, styles))
        return false;
    scan_optional(&folder, c);
    if (!scan_group(&name, c))
        return true;
    const char *suffix =
        piece_is(word, "\\documentclass") || piece_is(word, "\\LoadClass") ? ".cls" : ".sty";
    for (struct cursor list = cursor_of(name); scan_item(&name, &list);)
        reader_input(r, piece_of(""), name, suffix);
    return true;
}

/* Handles environments that the reader knows, outside displays. */
static void begin_environment(struct reader *r, struct piece name, struct cursor *c)
{
    struct piece ignored;
    if (piece_is(name, "document")) {
        if (!r->in_body)
            buf_clear(&r->words);
        r->in_body = true;
    } else if (piece_is(name, "abstract")) {
        r->in_abstract = r->in_body;
    } else if (piece_is(name, "thebibliography")) {
        struct frame *f = reader_top(r);
        if (!f->scanned)
            citations_scan(&r->cites, (struct piece){c->s + c->at, c->len - c->at});
        f->scanned = true;
    } else if (r->in_body && macro_is_display(name)) {
        reader_begin_display(r, name);
    } else if (scan_optional(&ignored, c)) {
        reader_add_words(r, " ", 1);
    }
}

/* At the \end{document} of an included file, only that file ends. */
static void end_document(struct reader *r)
{
    while (r->n && !reader_top(r)->is_file)
        r->n--;
    if (r->n)
        r->n--;
}

static void end_environment(struct reader *r, struct piece name)
{
    if (piece_is(name, "document") && r->in_body)
        end_document(r);
    else if (piece_is(name, "abstract"))
        r->in_abstract = false;
}

/* Returns true if the command was one of these. */
static bool read_heading(struct reader *r, struct piece word, struct cursor *c)
{
    static const char sections[] = "\\part \\chapter \\section";
    struct piece short_title, title;
    bool is_title = piece_is(word, "\\title"), is_abstract = piece_is(word, "\\abstract");
    bool is_section = piece_in(word, sections);
    if (!is_title && !is_abstract && !is_section)
        return false;
    scan_char(c, '*');
    scan_optional(&short_title, c);
    if (!scan_group(&title, c))
        return true;
    if (is_section && r->in_body)
        reader_begin_section(r, reader_plain(r, title));
    else if (is_title && !r->paper->title[0])
        r->paper->title = reader_plain(r, title);
    else if (is_abstract && !r->abstract.len)
        buf_add(&r->abstract, title.s, title.len);
    return true;
}

static bool read_citation(struct reader *r, struct piece word, struct cursor *c)
{
    static const char bibliographies[] = "\\bibliography \\addbibresource";
    struct piece ignored, names;
    if (memmem(word.s, word.len, "cite", 4)) {
        scan_char(c, '*');
        while (scan_optional(&ignored, c))
            ;
        if (scan_group(&names, c))
            citations_key(&r->cites, names);
        return true;
    }
    if (!piece_in(word, bibliographies))
        return false;
    scan_optional(&ignored, c);
    if (!scan_group(&names, c))
        return true;
    for (struct cursor list = cursor_of(names); scan_item(&names, &list);) {
        struct tex_file *bib =
            names.len && names.len < 300
                ? reader_find(r, arena_strndup(r->a, names.s, names.len), ".bib|")
                : NULL;
        if (bib && r->wasted < WASTED_MAX) {
            struct piece text = bundle_text(r->lookup.bundle, bib);
            citations_scan_bib(&r->cites, text);
            r->wasted += text.len;
        }
    }
    return true;
}

/* Skips arguments that are not text; returns true if the command has one. */
static bool skip_argument(struct piece word, struct cursor *c)
{
    static const char skipped[] = "\\label \\ref \\eqref \\pageref \\includegraphics \\vspace "
                                  "\\hspace \\bibliographystyle \\pagestyle \\thispagestyle "
                                  "\\setcounter \\newtheorem \\url \\cref \\Cref \\autoref \\email";
    struct piece ignored;
    if (!piece_in(word, skipped))
        return false;
    scan_char(c, '*');
    scan_optional(&ignored, c);
    scan_group(&ignored, c);
    return true;
}

/* ---- the two states ---- */

/* At a backslash, outside displays. */
static void text_command(struct reader *r, struct frame *f)
{
    struct cursor *c = &f->c;
    size_t from = c->at;
    struct piece word = scan_command(c), name;
    const struct macro *m;
    if (macro_read(&r->macros, word, c) || read_input(r, word, c))
        return;
    if (f->definitions) {
        if (piece_is(word, "\\endinput"))
            c->at = c->len;
        return;
    }
    bool begin = piece_is(word, "\\begin"), end = piece_is(word, "\\end");
    if ((begin || end) && scan_group(&name, c)) {
        if (r->in_body && expand_environment(r, name, begin, c))
            return;
        if (begin)
            begin_environment(r, name, c);
        else
            end_environment(r, name);
        return;
    }
    m = r->in_body ? macro_find(&r->macros, word) : NULL;
    if (m && m->structural) {
        expand(r, m, c);
    } else if (piece_is(word, "\\[") && r->in_body) {
        reader_begin_display(r, word);
    } else if (piece_is(word, "\\(")) {
        size_t left = c->len - c->at;
        const char *close = r->wasted < WASTED_MAX ? memmem(c->s + c->at, left, "\\)", 2) : NULL;
        r->wasted += close ? 0 : left;
        c->at = close ? (size_t)(close - c->s) + 2 : c->at;
        reader_add_words(r, " ", 1);
    } else if (piece_is(word, "\\endinput")) {
        c->at = c->len;
    } else if (!read_heading(r, word, c) && !read_citation(r, word, c) && !skip_argument(word, c)) {
        reader_add_words(r, c->s + from, c->at - from);
    }
}

/* At a dollar sign, outside displays: a display, or mathematics in the line, which is left out. */
static void text_dollar(struct reader *r, struct cursor *c)
{
    if (c->at + 1 < c->len && c->s[c->at + 1] == '$') {
        if (r->in_body)
            reader_begin_display(r, piece_of("$$"));
        c->at += 2;
        return;
    }
    size_t end = c->at + 1;
    for (; end < c->len && c->s[end] != '$'; end++) {
        if (c->s[end] == '\n' && end + 1 < c->len && c->s[end + 1] == '\n')
            break;
        end += c->s[end] == '\\';
    }
    c->at = end < c->len && c->s[end] == '$' ? end + 1 : c->at + 1;
    reader_add_words(r, " ", 1);
}

/* At a backslash, within a display. */
static void display_command(struct reader *r, struct cursor *c)
{
    size_t from = c->at;
    struct piece word = scan_command(c), name;
    bool begin = piece_is(word, "\\begin"), end = piece_is(word, "\\end");
    const struct macro *m;
    if ((begin || end) && scan_group(&name, c)) {
        if (piece_is(name, r->environment) && end && r->nested-- == 0) {
            reader_end_display(r);
            return;
        }
        r->nested += begin && piece_is(name, r->environment);
        if (expand_environment(r, name, begin, c))
            return;
        if (end && piece_is(name, "document")) {
            reader_abandon_display(r);
            end_document(r);
            return;
        }
    } else if (piece_is(word, "\\]") && !strcmp(r->environment, "\\[")) {
        reader_end_display(r);
        return;
    } else if ((m = macro_find(&r->macros, word)) && m->structural) {
        expand(r, m, c);
        return;
    } else if (piece_is(word, "\\input") && read_input(r, word, c)) {
        return;
    }
    buf_add(&r->display, c->s + from, c->at - from);
}

static bool at_blank_line(const struct cursor *c)
{
    size_t at = c->at + 1;
    while (at < c->len && (c->s[at] == ' ' || c->s[at] == '\t'))
        at++;
    return c->s[c->at] == '\n' && at < c->len && c->s[at] == '\n';
}

static void display_step(struct reader *r, struct cursor *c)
{
    char ch = c->s[c->at];
    if (ch == '\\') {
        display_command(r, c);
        return;
    }
    if (ch == '$' && !strcmp(r->environment, "$$") && c->at + 1 < c->len &&
        c->s[c->at + 1] == '$') {
        c->at += 2;
        reader_end_display(r);
        return;
    }
    bool too_long = r->display.len > 4 * DISPLAY_MAX;
    if (too_long || (at_blank_line(c) && strncmp(r->environment, "mathpar", 7))) {
        reader_abandon_display(r);
        return;
    }
    buf_putc(&r->display, ch);
    c->at++;
}

static void text_step(struct reader *r, struct frame *f)
{
    struct cursor *c = &f->c;
    if (c->s[c->at] == '\\') {
        text_command(r, f);
    } else if (c->s[c->at] == '$' && !f->definitions) {
        text_dollar(r, c);
    } else {
        size_t n = 1;
        while (c->at + n < c->len && c->s[c->at + n] != '\\' && c->s[c->at + n] != '$')
            n++;
        if (!f->definitions)
            reader_add_words(r, c->s + c->at, n);
        c->at += n;
    }
}

/* The end of a file ends an open display. */
static void read_all(struct reader *r)
{
    while (r->n) {
        struct frame *f = reader_top(r);
        if (cursor_end(&f->c)) {
            bool file = f->is_file;
            if (file && r->environment)
                reader_abandon_display(r);
            r->n--;
        } else if (r->environment) {
            display_step(r, &f->c);
        } else {
            text_step(r, f);
        }
    }
    if (r->environment)
        reader_abandon_display(r);
}

/* ---- documents ---- */

/* Reads the .bbl of the root file, or else the only .bbl. */
static void read_bbl(struct reader *r, const struct tex_file *root)
{
    const char *slash = strrchr(root->name, '/'), *name = slash ? slash + 1 : root->name;
    const char *dot = strrchr(name, '.');
    size_t n = dot ? (size_t)(dot - name) : strlen(name);
    struct tex_file *bbl =
        lookup_find(&r->lookup, root->name, arena_strndup(r->a, name, n), ".bbl");
    if (!bbl)
        bbl = lookup_find(&r->lookup, "", "", ".bbl");
    if (bbl)
        citations_scan(&r->cites, bundle_text(r->lookup.bundle, bbl));
}

static void read_from(struct reader *r, struct tex_file *root, bool in_body)
{
    r->in_body = in_body;
    r->in_abstract = false;
    reader_begin_section(r, (char *)"");
    reader_push_file(r, root, false);
    read_all(r);
    reader_end_section(r);
}

Eqloom__Paper *document_read(struct arena *a, struct bundle *b, struct tex_file *root,
                             unsigned max_depth, bool *used, struct span *trace)
{
    Eqloom__Paper *p = arena_new(a, Eqloom__Paper);
    struct reader r = {.a = a,
                       .lookup = lookup_new(a, b, root),
                       .max_depth = max_depth,
                       .used = used,
                       .macros = {.a = a},
                       .cites = {.a = a},
                       .paper = p};
    eqloom__paper__init(p);
    struct piece text = bundle_stripped(b, root);
    bool has_class = memmem(text.s, text.len, "\\document", 9) != NULL;
    read_from(&r, root, !has_class);
    if (!r.in_body) { /* \begin{document} may be in a class that is missing */
        p->n_sections = 0;
        read_from(&r, root, true);
    }
    read_bbl(&r, root);
    citations_sort(&r.cites);
    p->cites = r.cites.ids;
    p->n_cites = r.cites.n;
    p->abstract = reader_plain(&r, (struct piece){r.abstract.data, r.abstract.len});
    p->problems = r.problems.items;
    p->n_problems = r.problems.n;
    if (trace)
        *trace =
            span_of(arena_memdup(a, r.lookup.trace.data, r.lookup.trace.len), r.lookup.trace.len);
    buf_free(&r.lookup.trace);
    name_map_free(&r.macros.index);
    citations_free(&r.cites);
    buf_free(&r.words);
    buf_free(&r.abstract);
    buf_free(&r.display);
    return p;
}
