/* The op `papers`: folders, archives and files of LaTeX -> one record for each document. What
 * cannot be read costs just that: a file, a member of an archive, a line; it is a problem of the
 * paper, or of a record without sections where there is no paper. */
#include "engine/op.h"
#include "ops/latex/papers/citations.h"
#include "ops/latex/papers/document.h"
#include "ops/latex/papers/labelled.h"
#include "ops/latex/source/decode.h"
#include "ops/latex/source/unpack.h"

#include <stdlib.h>

enum { NESTED_MAX = 3, ROOTS_MAX = 10000 };

struct papers {
    struct op_ctx *ctx;
    struct err *e;
    enum err_code code;
    struct arena a; /* of one bundle */
};

static bool ends_in(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n >= m && !strcasecmp(name + n - m, suffix);
}

/* Without folders and the suffixes of archives. */
static char *short_name(struct arena *a, const char *path)
{
    static const char *const suffixes[] = {".gz",  ".tgz", ".tar", ".bz2", ".xz",
                                           ".zst", ".zip", ".tex", NULL};
    const char *slash = strrchr(path, '/');
    char *name = (char *)decode_utf8(a, slash ? slash + 1 : path, strlen(slash ? slash + 1 : path));
    for (size_t i = 0; suffixes[i]; i++)
        if (ends_in(name, suffixes[i]) && strlen(name) > strlen(suffixes[i])) {
            name[strlen(name) - strlen(suffixes[i])] = 0;
            i = (size_t)-1;
        }
    return name;
}

static void emit(struct papers *x, Eqloom__Paper *p)
{
    if (!x->code)
        x->code = op_emit(NULL, x->ctx, "papers", &p->base, x->e);
}

/* The archive of an old id is a subject. */
static void add_subject(struct arena *a, Eqloom__Paper *p)
{
    const char *slash = strchr(p->paper, '/');
    if (!slash || strlen(slash) != 8 ||
        !citations_id_of_name(
            a, arena_printf(a, "%.*s%s", (int)(slash - p->paper), p->paper, slash + 1)))
        return;
    p->subjects = arena_array(a, char *, 1);
    p->subjects[p->n_subjects++] = arena_strndup(a, p->paper, (size_t)(slash - p->paper));
}

/* ---- roots ---- */

static bool holds(struct bundle *b, struct tex_file *f, const char *word)
{
    struct piece text = bundle_stripped(b, f);
    return memmem(text.s, text.len, word, strlen(word)) != NULL;
}

/* What begins a document, here or in a file that it reads; of an archive without one the largest
 * file. */
static size_t find_roots(struct tex_file **out, struct bundle *b)
{
    static const char *const not_roots[] = {".sty", ".cls", ".bbl", ".bib", ".def", ".cfg", NULL};
    size_t n = 0;
    struct tex_file *largest = NULL;
    for (size_t i = 0; i < b->n && n < ROOTS_MAX; i++) {
        struct tex_file *f = &b->files[i];
        bool style = false;
        for (size_t j = 0; not_roots[j]; j++)
            style |= ends_in(f->name, not_roots[j]);
        if (style)
            continue;
        if (!largest || f->len > largest->len)
            largest = f;
        if (holds(b, f, "\\documentclass") || holds(b, f, "\\documentstyle") ||
            holds(b, f, "\\begin{document}") || holds(b, f, "\\end{document}"))
            out[n++] = f;
    }
    if (n == 0 && largest && *b->name)
        out[n++] = largest;
    return n;
}

static int by_name(const void *x, const void *y)
{
    const struct tex_file *const *a = x, *const *b = y;
    return strcmp((*a)->name, (*b)->name);
}

static void name_paper(struct papers *x, struct bundle *b, Eqloom__Paper *p,
                       const struct tex_file *root, bool alone)
{
    const char *of_archive = *b->name ? b->name : root->name;
    const char *id = citations_id_of_name(&x->a, of_archive);
    if (id && (alone || !*b->name))
        p->paper = (char *)id;
    else if (!*b->name)
        p->paper = (char *)root->name;
    else
        p->paper = alone ? short_name(&x->a, b->name)
                         : arena_printf(&x->a, "%s/%s", short_name(&x->a, b->name), root->name);
    add_subject(&x->a, p);
}

static void join_problems(struct arena *a, Eqloom__Paper *p, const struct problems *more)
{
    size_t n = p->n_problems + more->n;
    Eqloom__Problem **all = arena_array(a, Eqloom__Problem *, n + 1);
    if (more->n)
        memcpy(all, more->items, more->n * sizeof *all);
    if (p->n_problems)
        memcpy(all + more->n, p->problems, p->n_problems * sizeof *all);
    p->problems = all;
    p->n_problems = n;
}

/* A document that another reads is part of that. */
static void read_bundle(struct papers *x, struct bundle *b)
{
    bool *used = arena_array(&x->a, bool, b->n + 1), *now = arena_array(&x->a, bool, b->n + 1);
    struct tex_file **roots = arena_array(&x->a, struct tex_file *, b->n + 1);
    size_t n = find_roots(roots, b), kept = 0;
    Eqloom__Paper **papers = arena_array(&x->a, Eqloom__Paper *, n + 1);
    unsigned depth = (unsigned)op_int(x->ctx, "depth");
    qsort(roots, n, sizeof *roots, by_name);
    for (size_t i = 0; i < n && !x->code; i++) {
        size_t place = (size_t)(roots[i] - b->files);
        if (used[place])
            continue;
        memset(now, 0, b->n * sizeof *now);
        papers[i] = document_read(&x->a, b, roots[i], depth, now);
        now[place] = false;
        for (size_t k = 0; k < b->n; k++)
            used[k] |= now[k];
        if (op_cancelled(x->ctx))
            x->code = err_fail(x->e, ERR_CANCELLED, "papers was interrupted");
    }
    for (size_t i = 0; i < n; i++)
        kept += papers[i] && !used[roots[i] - b->files];
    if (kept != 1 && (b->problems.n || (kept == 0 && *b->name))) {
        Eqloom__Paper *none = arena_new(&x->a, Eqloom__Paper);
        eqloom__paper__init(none);
        none->paper = short_name(&x->a, b->name);
        if (kept == 0 && b->problems.n == 0)
            bundle_problem(&b->problems, &x->a, b->name, 0, "no document", "%zu files", b->n);
        join_problems(&x->a, none, &b->problems);
        emit(x, none);
    }
    for (size_t i = 0; i < n && !x->code; i++) {
        if (!papers[i] || used[roots[i] - b->files])
            continue;
        name_paper(x, b, papers[i], roots[i], kept == 1);
        if (kept == 1)
            join_problems(&x->a, papers[i], &b->problems);
        emit(x, papers[i]);
    }
}

/* ---- files ---- */

struct opened {
    struct papers *x;
    struct bundle *bundle;
    unsigned depth;
    size_t len;  /* of the archive */
    bool nested; /* holds archives */
};

static void read_archive(struct papers *x, const char *name, struct span bytes, unsigned depth);

static bool is_tex(const char *name)
{
    static const char *const suffixes[] = {".tex", ".ltx", ".latex", ".sty", ".cls", ".bbl", ".bib",
                                           ".def", ".cfg", ".txt",   ".clo", ".fd",  NULL};
    const char *slash = strrchr(name, '/');
    if (!strchr(slash ? slash : name, '.') || citations_id_of_name(&(struct arena){0}, name))
        return true;
    for (size_t i = 0; suffixes[i]; i++)
        if (ends_in(name, suffixes[i]))
            return true;
    return false;
}

static void take_member(void *arg, const char *name, struct span bytes, const char *reason)
{
    struct opened *o = arg;
    struct bundle *b = o->bundle;
    if (reason)
        bundle_problem(&b->problems, b->a, name, 0, reason, "in %s", b->name);
    else if (unpack_is_archive(bytes) && bytes.len >= o->len) /* it was no such archive */
        bundle_problem(&b->problems, b->a, name, 0, "damaged archive", "in %s", b->name);
    else if (unpack_is_archive(bytes) && o->depth + 1 < NESTED_MAX)
        o->nested = true,
        read_archive(o->x, name, span_of(arena_memdup(b->a, bytes.data, bytes.len), bytes.len),
                     o->depth + 1);
    else if (unpack_is_archive(bytes))
        bundle_problem(&b->problems, b->a, name, 0, "archive in archive", "in %s", b->name);
    else if (is_tex(name) || strlen(name) == strlen(b->name))
        bundle_add(b, name, bytes);
}

/* Archives within archives are papers of their own: a bulk tar of arXiv's. Its arena outlives them:
 * what is read is emitted at once. */
static void read_archive(struct papers *x, const char *name, struct span bytes, unsigned depth)
{
    struct arena outer = x->a;
    x->a = (struct arena){0};
    struct bundle b = {.a = &x->a, .name = name};
    struct opened o = {x, &b, depth, bytes.len, false};
    unpack(take_member, &o, name, bytes);
    if (!x->code && (b.n || b.problems.n || !o.nested))
        read_bundle(x, &b);
    bundle_free(&b);
    arena_free(&x->a);
    x->a = outer;
}

/* The folder that all loose files lie in: names are counted from there. */
static size_t common_folder(const struct op_file *files, size_t n, const bool *loose)
{
    const char *first = NULL;
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        if (!loose[i])
            continue;
        const char *name = files[i].text.name;
        if (!first) {
            const char *slash = strrchr(name, '/');
            len = slash ? (size_t)(slash - name) + 1 : 0;
        }
        first = first ? first : name;
        while (len && (strncmp(first, name, len) || first[len - 1] != '/'))
            len--;
    }
    return len;
}

enum form { FORM_LOOSE, FORM_ARCHIVE, FORM_JSONL, FORM_XML };

/* By its name: archives and files of equations stand alone; loose files may read each other. */
static enum form form_of(const char *name)
{
    static const struct {
        const char *suffix;
        enum form form;
    } forms[] = {{".gz", FORM_ARCHIVE},  {".tgz", FORM_ARCHIVE}, {".tar", FORM_ARCHIVE},
                 {".zip", FORM_ARCHIVE}, {".jsonl", FORM_JSONL}, {".json", FORM_JSONL},
                 {".mml", FORM_XML},     {".xml", FORM_XML},     {".html", FORM_XML}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (ends_in(name, forms[i].suffix))
            return forms[i].form;
    return FORM_LOOSE;
}

static void read_equations(struct papers *x, const struct source_text *t, enum form form)
{
    const char *text = "", *why;
    size_t len = 0;
    char *name = short_name(&x->a, t->name);
    why = decode_text(&text, &len, &x->a, span_of(t->text, t->len));
    if (why)
        text = "", len = 0;
    emit(x, form == FORM_JSONL ? labelled_read(&x->a, name, text, len)
                               : mathml_read(&x->a, name, text, len));
    arena_reset(&x->a);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct papers x = {.ctx = ctx, .e = e};
    const struct op_file *files;
    size_t n = op_files(&files, ctx);
    bool *loose = arena_array(op_arena(ctx), bool, n + 1), any = false;
    for (size_t i = 0; i < n && !x.code; i++) {
        const struct source_text *t = &files[i].text;
        struct span bytes = span_of(t->text, t->len);
        enum form form = form_of(t->name);
        op_progress(ctx, i, n, "read");
        if (form == FORM_ARCHIVE || (form == FORM_LOOSE && unpack_is_archive(bytes))) {
            const char *slash = strrchr(t->name, '/');
            read_archive(&x, slash ? slash + 1 : t->name, bytes, 0);
        } else if (form != FORM_LOOSE) {
            read_equations(&x, t, form);
        } else {
            any = loose[i] = true;
        }
    }
    struct bundle folder = {.a = &x.a, .name = ""};
    size_t skip = common_folder(files, n, loose);
    for (size_t i = 0; i < n && !x.code; i++)
        if (loose[i])
            bundle_add(&folder, files[i].text.name + skip,
                       span_of(files[i].text.text, files[i].text.len));
    if (any && !x.code)
        read_bundle(&x, &folder);
    bundle_free(&folder);
    arena_free(&x.a);
    return err_up(e, x.code);
}

static const struct op_param params[] = {
    {"depth", OP_INT, "3", NULL, 0, 20,
     "How deep \\input, \\include and their kin are followed; what lies deeper is a problem."},
    {NULL},
};
static const struct op_port outputs[] = {
    {"papers", KIND_PAPER, OP_COLLECTION, false,
     "One for each document, and those without sections that only list problems."},
    {NULL},
};
static const char *const suffixes[] = {".tex", ".ltx", ".latex", ".sty", ".cls", ".bbl",
                                       ".bib", ".gz",  ".tgz",   ".tar", ".zip", ".jsonl",
                                       ".mml", ".xml", ".html",  "",     NULL};

const struct op op_papers = {
    .name = "papers",
    .version = 4,
    .node = OP_SOURCE,
    .doc = "Reads papers: folders and files of LaTeX, archives as arXiv gives them (tar, gz, "
           "tar.gz, tars of these), JSONL with LaTeX or MathML and perhaps labels, and files with "
           "<math> elements. One bad file costs that file (docs/papers.md).",
    .params = params,
    .outputs = outputs,
    .folder_suffixes = suffixes,
    .run = run,
};
