/* See document.h. The reader passes through the text once, with the definitions made so far.
 * Outside displays it collects words. Within a display it copies everything but structural macros
 * (macros.h), which it expands, until the display ends. A blank line within a display, an error in
 * TeX too, ends it as unterminated. */
#include "ops/latex/papers/document.h"

#include "ops/latex/papers/conditionals.h"
#include "ops/latex/papers/definitions.h"
#include "ops/latex/papers/expansion.h"
#include "ops/latex/papers/reader.h"
#include "ops/latex/source/displays.h"

#include <ctype.h>

/* ---- commands ---- */

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

static void begin_display(struct reader *r, struct piece environment, struct piece closing)
{
    if (r->in_body)
        reader_begin_display(r, environment, closing);
    else
        reader_untaken(r, "before the document begins", 1);
}

/* Skips an environment that is a listing or a comment. */
static void skip_hidden(struct reader *r, struct piece name, struct cursor *c)
{
    struct piece body;
    if (expansion_body(&body, name, c))
        reader_untaken(r, "in a listing, a comment or a picture",
                       macro_count_displays(&r->macros, body));
}

/* Handles environments that the reader knows, outside displays. */
static void begin_environment(struct reader *r, struct piece name, struct cursor *c)
{
    struct piece ignored, other;
    if (name.len < 100 && name_map_get(&r->hidden, arena_strndup(r->a, name.s, name.len))) {
        skip_hidden(r, name, c);
        return;
    }
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
    } else if (display_is(name)) {
        begin_display(r, name, name);
    } else if (expansion_same_as_display(&other, r, name)) {
        begin_display(r, other, name);
    } else if (scan_optional(&ignored, c)) {
        reader_add_words(r, " ", 1);
    }
}

/* At the \end{document} of an included file, only that file ends. */
static void end_document(struct reader *r)
{
    while (r->n && !reader_top(r)->is_file)
        r->n--;
    if (!r->n)
        return;
    const struct cursor *c = &reader_top(r)->c;
    reader_untaken(r, "behind the end of the document",
                   macro_count_displays(&r->macros, (struct piece){c->s + c->at, c->len - c->at}));
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

/* \excludecomment{x}, \lstnewenvironment{x}[..]{..}{..}, \newminted{python}{..} (pythoncode), ...:
 * what is in the environment x is no text. \DeclareOption: what an option would do is not done. */
static bool read_hidden(struct reader *r, struct piece word, struct cursor *c)
{
    static const char declaring[] =
        "\\excludecomment \\includecomment \\lstnewenvironment \\newminted "
        "\\DefineVerbatimEnvironment \\newtcblisting \\NewTCBListing "
        "\\RecustomVerbatimEnvironment \\NewListingEnvironment";
    struct piece name, given, ignored;
    if (piece_is(word, "\\DeclareOption")) {
        if (!scan_char(c, '*'))
            scan_group(&ignored, c);
        scan_group(&ignored, c);
        return true;
    }
    if (!piece_in(word, declaring))
        return false;
    bool minted = piece_is(word, "\\newminted"), named = scan_optional(&given, c);
    if (!scan_group(&name, c) || name.len > 80)
        return true;
    char *key = minted && named ? arena_strndup(r->a, given.s, given.len)
                : minted        ? arena_printf(r->a, "%.*scode", (int)name.len, name.s)
                                : arena_strndup(r->a, name.s, name.len);
    if (piece_is(word, "\\includecomment"))
        return true;
    name_map_put(&r->hidden, key, 0, NULL);
    while (scan_optional(&ignored, c) || scan_group(&ignored, c))
        ;
    return true;
}

/* \expandafter before a definition of \csname x\endcsname, or before a macro behind which a
 * conditional ends, is nothing else than that: the end comes first. */
static void read_expandafter(struct reader *r, struct cursor *c)
{
    struct cursor look = *c;
    scan_blanks(&look);
    if (cursor_end(&look) || look.s[look.at] != '\\')
        return;
    struct piece word = scan_command(&look), end;
    scan_blanks(&look);
    if (definition_begins(word) || cursor_end(&look) || look.s[look.at] != '\\')
        return;
    end = scan_command(&look);
    if (!piece_in(end, "\\fi \\else"))
        return;
    *c = look;
    conditional_read(r, end, c);
    reader_push_text(r, word, word.s);
}

/* At a backslash, outside displays. */
static void text_command(struct reader *r, struct frame *f)
{
    struct piece word = scan_command(&f->c), name;
    if (definition_begins(word) && !piece_is(word, "\\DeclareMathOperator"))
        scan_char(&f->c, '*'); /* the name may stand behind a macro for \newcommand* */
    struct cursor *c = reader_rest(r);
    if (piece_is(word, "\\expandafter")) {
        read_expandafter(r, c);
        return;
    }
    if (definition_read(&r->macros, word, c) || conditional_read(r, word, c) ||
        read_hidden(r, word, c) || read_input(r, word, c))
        return;
    if (piece_is(word, "\\endinput")) {
        c->at = c->len;
        return;
    }
    if (reader_top(r)->definitions) {
        expansion_of_command(r, word);
        return;
    }
    bool begin = piece_is(word, "\\begin"), end = piece_is(word, "\\end");
    if ((begin || end) && scan_group(&name, c)) {
        if (r->in_body && expansion_of_environment(r, name, begin))
            return;
        if (begin)
            begin_environment(r, name, c);
        else
            end_environment(r, name);
        return;
    }
    if (expansion_of_command(r, word))
        return;
    size_t from = c->at;
    if (piece_is(word, "\\[")) {
        begin_display(r, word, word);
    } else if (piece_is(word, "\\(")) {
        size_t left = c->len - c->at;
        const char *close = r->wasted < WASTED_MAX ? memmem(c->s + c->at, left, "\\)", 2) : NULL;
        r->wasted += close ? 0 : left;
        c->at = close ? (size_t)(close - c->s) + 2 : c->at;
        reader_add_words(r, " ", 1);
    } else if (!read_heading(r, word, c) && !read_citation(r, word, c) && !skip_argument(word, c)) {
        reader_add_words(r, word.s, word.len);
        reader_add_words(r, c->s + from, c->at - from);
    }
}

/* At a dollar sign, outside displays: a display, or mathematics in the line, which is left out. */
static void text_dollar(struct reader *r, struct cursor *c)
{
    if (c->at + 1 < c->len && c->s[c->at + 1] == '$') {
        begin_display(r, piece_of("$$"), piece_of("$$"));
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

/* What is left out between a command and a letter is as good as a blank. */
static void end_word(struct buf *b)
{
    size_t at = b->len;
    while (at && isalpha((unsigned char)b->data[at - 1]))
        at--;
    if (at && at < b->len && b->data[at - 1] == '\\')
        buf_putc(b, ' ');
}

/* At a backslash, within a display. */
static void display_command(struct reader *r, struct frame *f)
{
    struct piece word = scan_command(&f->c), name;
    struct cursor *c = reader_rest(r);
    size_t from = c->at;
    bool begin = piece_is(word, "\\begin"), end = piece_is(word, "\\end");
    const struct macro *m;
    if ((begin || end) && scan_group(&name, c)) {
        if (piece_is(name, r->closing) && end && r->nested-- == 0) {
            reader_end_display(r);
            return;
        }
        r->nested += begin && piece_is(name, r->closing);
        if (expansion_of_environment(r, name, begin))
            return;
        if (end && piece_is(name, "document")) {
            reader_abandon_display(r);
            end_document(r);
            return;
        }
    } else if (piece_is(word, "\\]") && !strcmp(r->environment, "\\[")) {
        reader_end_display(r);
        return;
    } else if ((m = macro_find(&r->macros, word)) && m->sets) {
        struct cursor body = cursor_of(piece_of(m->m.body));
        struct piece let = scan_command(&body);
        definition_read(&r->macros, let, &body);
        return;
    } else if (m && !m->m.let && m->structural) {
        expansion_push(r, m);
        return;
    } else if (conditional_read(r, word, c) ||
               (piece_is(word, "\\input") && read_input(r, word, c))) {
        end_word(&r->display);
        return;
    }
    buf_add(&r->display, word.s, word.len);
    buf_add(&r->display, c->s + from, c->at - from);
}

static bool at_blank_line(const struct cursor *c)
{
    size_t at = c->at + 1;
    while (at < c->len && (c->s[at] == ' ' || c->s[at] == '\t'))
        at++;
    return c->s[c->at] == '\n' && at < c->len && c->s[at] == '\n';
}

static void display_step(struct reader *r, struct frame *f)
{
    struct cursor *c = &f->c;
    char ch = c->s[c->at];
    if (ch == '\\') {
        display_command(r, f);
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
            display_step(r, f);
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

/* Reads a text that is all body: plain TeX, or a document whose class begins it and is missing. */
static void read_again(struct reader *r, struct tex_file *root)
{
    r->paper->n_sections = r->paper->n_untaken = 0;
    r->problems.n = r->n_ifs = 0;
    read_from(r, root, true);
}

Eqloom__Paper *document_read(struct arena *a, struct bundle *b, struct tex_file *root,
                             unsigned max_depth, bool *used, struct span *trace, bool *begins)
{
    Eqloom__Paper *p = arena_new(a, Eqloom__Paper);
    struct reader *r = arena_new(a, struct reader);
    *r = (struct reader){.a = a,
                         .lookup = lookup_new(a, b, root),
                         .max_depth = max_depth,
                         .used = used,
                         .macros = {.a = a, .begins_definition = definition_begins},
                         .cites = {.a = a},
                         .paper = p};
    eqloom__paper__init(p);
    const char *text = bundle_stripped(b, root).s;
    read_from(r, root, false);
    *begins = r->in_body || strstr(text, "\\end{document}") || strstr(text, "\\bye");
    if (!r->in_body && (*begins || !strstr(text, "\\documentclass")))
        read_again(r, root);
    read_bbl(r, root);
    citations_sort(&r->cites);
    p->cites = r->cites.ids;
    p->n_cites = r->cites.n;
    p->abstract = reader_plain(r, (struct piece){r->abstract.data, r->abstract.len});
    p->problems = r->problems.items;
    p->n_problems = r->problems.n;
    if (trace)
        *trace = span_of(arena_memdup(a, r->lookup.trace.data, r->lookup.trace.len),
                         r->lookup.trace.len);
    buf_free(&r->lookup.trace);
    name_map_free(&r->macros.index);
    name_map_free(&r->hidden);
    citations_free(&r->cites);
    buf_free(&r->words);
    buf_free(&r->abstract);
    buf_free(&r->display);
    return p;
}
