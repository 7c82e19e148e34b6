/* The op `papers`: folders, archives and files of LaTeX -> one record per document. Input
 * that cannot be read (a file, a member of an archive, a line) is skipped and listed as a problem
 * of the paper, or of a record without sections if there is no paper. */
#include "base/io/unpack.h"
#include "engine/op.h"
#include "ops/latex/papers/citations.h"
#include "ops/latex/papers/document.h"
#include "ops/latex/papers/roots.h"
#include "ops/latex/source/decode.h"
#include "ops/latex/source/displays.h"
#include "ops/latex/source/file_names.h"
#include "ops/latex/source/tex_lookup.h"

#include <stdlib.h>

enum { EQUATIONS_MAX = 1 << 30 /* bytes of an unpacked file of equations */ };
enum { NESTED_MAX = 3, LISTINGS_MAX = 1000 /* of a record */ };

struct papers {
    struct op_ctx *ctx;
    struct err *e;
    enum err_code code;
    struct arena a; /* of one bundle */
};

/* A document, by its root file. */
struct document {
    struct tex_file *root;
    bool *reads;          /* by file of the bundle */
    Eqloom__Paper *paper; /* NULL if not read */
    struct span trace;    /* lookups, see tex_lookup.h */
    bool begins;          /* it is a document */
    struct op_part part;  /* of an earlier run */
    bool reused;          /* the part is reused as the result */
};

static void emit(struct papers *x, Eqloom__Paper *p)
{
    if (!x->code)
        x->code = op_emit(NULL, x->ctx, "papers", &p->base, x->e);
}

/* The archive of an old-style id is its subject. */
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

static void name_paper(struct papers *x, struct bundle *b, Eqloom__Paper *p,
                       const struct tex_file *root, bool alone)
{
    bool in_folder = !*b->name;
    const char *id = citations_id_of_name(&x->a, in_folder ? root->name : b->name);
    char *of = file_name_short(&x->a, b->name);
    p->paper = id && (alone || in_folder) ? (char *)id
               : in_folder                ? (char *)root->name
               : alone                    ? of
                                          : arena_printf(&x->a, "%s/%s", of, root->name);
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

/* ---- documents ---- */

static void read_document(struct papers *x, struct bundle *b, struct document *d)
{
    memset(d->reads, 0, b->n * sizeof *d->reads);
    d->paper = document_read(&x->a, b, d->root, (unsigned)op_int(x->ctx, "depth"), d->reads,
                             &d->trace, &d->begins);
    d->reads[d->root - b->files] = false;
    if (!x->code && op_cancelled(x->ctx))
        x->code = err_fail(x->e, ERR_CANCELLED, "papers was interrupted");
}

/* The key of a folder's document. */
static struct span part_key(struct arena *a, char kind, const char *name, const struct digest *id)
{
    size_t n = strlen(name);
    char *key = arena_alloc(a, 1 + n + DIGEST_SIZE);
    *key = kind;
    memcpy(key + 1, name, n);
    memcpy(key + 1 + n, id->bytes, DIGEST_SIZE);
    return span_of(key, 1 + n + DIGEST_SIZE);
}

/* Whether an earlier run read it and its lookups would find the same files now. The part's note
 * holds whether it is a document, a digest of the results, and the lookups. */
static bool find_document(struct papers *x, struct bundle *b, struct document *d)
{
    struct span key = part_key(&x->a, 'd', d->root->name, &d->root->id);
    struct lookup l = lookup_new(&x->a, b, d->root);
    struct digest answers;
    if (!op_part_find(&d->part, x->ctx, key) || d->part.note.len < 1 + DIGEST_SIZE)
        return false;
    const uint8_t *note = d->part.note.data;
    struct span trace = span_of(note + 1 + DIGEST_SIZE, d->part.note.len - 1 - DIGEST_SIZE);
    d->begins = note[0] == 'd';
    d->reused = lookup_replay(&answers, d->reads, &l, trace) &&
                !memcmp(answers.bytes, note + 1, DIGEST_SIZE);
    return d->reused;
}

static void note_document(struct papers *x, struct bundle *b, const struct document *d)
{
    struct lookup l = lookup_new(&x->a, b, d->root);
    char *note = arena_alloc(&x->a, 1 + DIGEST_SIZE + d->trace.len);
    struct digest answers;
    lookup_replay(&answers, d->reads, &l, d->trace);
    *note = d->begins ? 'd' : 'n';
    memcpy(note + 1, answers.bytes, DIGEST_SIZE);
    memcpy(note + 1 + DIGEST_SIZE, d->trace.data, d->trace.len);
    if (!x->code)
        x->code = op_part_end(x->ctx, part_key(&x->a, 'd', d->root->name, &d->root->id),
                              span_of(note, 1 + DIGEST_SIZE + d->trace.len), x->e);
}

/* Emits a document; of what is none, only notes that. In an archive (`alone`), all documents are
 * new; in a folder, which has no name, parts of an earlier run are reused where possible. */
static void emit_document(struct papers *x, struct bundle *b, struct document *d, bool alone)
{
    bool in_folder = !*b->name;
    if (d->reused) {
        op_part_again(x->ctx, &d->part);
        return;
    }
    if (in_folder)
        op_part_begin(x->ctx);
    if (d->begins) {
        name_paper(x, b, d->paper, d->root, alone);
        if (alone)
            join_problems(&x->a, d->paper, &b->problems);
        emit(x, d->paper);
    }
    if (in_folder)
        note_document(x, b, d);
}

/* Emits what belongs to no document: problems, and the count of displays that are not read. */
static void emit_rest(struct papers *x, struct bundle *b, bool empty, unsigned unread)
{
    Eqloom__Paper *none = arena_new(&x->a, Eqloom__Paper);
    Eqloom__Untaken u = EQLOOM__UNTAKEN__INIT, *one = &u;
    eqloom__paper__init(none);
    none->paper = file_name_short(&x->a, b->name);
    if (empty && b->problems.n == 0)
        bundle_problem(&b->problems, &x->a, b->name, 0, "no document", "%zu files", b->n);
    join_problems(&x->a, none, &b->problems);
    u.reason = (char *)"in a file that no document reads";
    u.count = unread;
    none->untaken = &one;
    none->n_untaken = unread > 0;
    emit(x, none);
}

/* Reads the documents that may begin in these files. One that another one includes is part of
 * that. Returns their number. */
static size_t read_roots(struct document *out, struct papers *x, struct bundle *b, bool *used,
                         const struct root *roots, size_t n)
{
    bool in_folder = !*b->name;
    size_t read = 0;
    for (size_t i = 0; i < n && !x->code; i++) {
        struct document *d = &out[read];
        if (used[roots[i].file - b->files])
            continue;
        *d = (struct document){.root = roots[i].file, .reads = arena_array(&x->a, bool, b->n + 1)};
        if (!in_folder || !find_document(x, b, d))
            read_document(x, b, d);
        for (size_t k = 0; k < b->n; k++)
            used[k] |= d->begins && d->reads[k];
        read++;
    }
    return read;
}

static void read_bundle(struct papers *x, struct bundle *b, struct root *roots, size_t n)
{
    bool *used = arena_array(&x->a, bool, b->n + 1), in_folder = !*b->name;
    struct document *documents = arena_array(&x->a, struct document, n + 1);
    size_t kept = 0;
    roots_sort(roots, n);
    size_t read = read_roots(documents, x, b, used, roots, n);
    for (size_t i = 0; i < read; i++)
        kept += documents[i].begins && !used[documents[i].root - b->files];
    struct tex_file *only = in_folder || kept ? NULL : roots_largest(b);
    if (only && !x->code) { /* an archive without a document is one itself */
        struct root root = {only, 'd'};
        used[only - b->files] = false;
        read = read_roots(documents, x, b, used, &root, 1);
        documents[0].begins = true;
        kept = 1;
    }
    bool alone = kept == 1 && !in_folder;
    for (size_t i = 0; i < read && !x->code; i++)
        if (!used[documents[i].root - b->files])
            emit_document(x, b, &documents[i], alone);
    for (size_t i = 0; i < read; i++)
        used[documents[i].root - b->files] |= documents[i].begins;
    unsigned unread = x->code ? 0 : roots_unread(b, used);
    if (unread || (!alone && (b->problems.n || (kept == 0 && !in_folder))))
        emit_rest(x, b, kept == 0 && !in_folder, unread);
}

/* ---- files ---- */

struct opened {
    struct papers *x;
    struct bundle *bundle;
    unsigned depth;
    size_t len;  /* of the archive */
    bool nested; /* contains archives */
};

static void read_archive(struct papers *x, const char *name, struct span bytes, unsigned depth);

/* Whether TeX may read it: accepts 1501.00001, but not 1501.00001.pdf. */
static bool is_tex(struct arena *a, const char *name)
{
    const char *dot = strrchr(file_name_last(name), '.');
    return file_name_is_tex(name) ||
           (dot && strpbrk(dot, "0123456789") && citations_id_of_name(a, name));
}

static void take_member(void *arg, const char *name, struct span bytes, const char *reason)
{
    struct opened *o = arg;
    struct bundle *b = o->bundle;
    bool archive = !reason && unpack_is_archive(bytes);
    if (archive && bytes.len >= o->len)
        reason = "damaged archive"; /* libarchive took it for raw data */
    else if (archive && o->depth + 1 == NESTED_MAX)
        reason = "archive in archive";
    if (reason)
        bundle_problem(&b->problems, b->a, name, 0, reason, "in %s", b->name);
    else if (archive)
        o->nested = true,
        read_archive(o->x, name, span_of(arena_memdup(b->a, bytes.data, bytes.len), bytes.len),
                     o->depth + 1);
    else if (is_tex(b->a, name) || strlen(name) == strlen(b->name))
        bundle_add(b, name, bytes);
}

/* Archives within archives are separate papers, as in arXiv's bulk tars. The arena is freed on
 * return, so papers are emitted at once. */
static void read_archive(struct papers *x, const char *name, struct span bytes, unsigned depth)
{
    struct arena outer = x->a;
    x->a = (struct arena){0};
    struct bundle b = {.a = &x->a, .name = name};
    struct opened o = {x, &b, depth, bytes.len, false};
    unpack(take_member, &o, name, bytes);
    if (!x->code && (b.n || b.problems.n || !o.nested)) {
        struct root *roots = arena_array(&x->a, struct root, b.n + 1);
        read_bundle(x, &b, roots, roots_find(roots, &b));
    }
    bundle_free(&b);
    arena_free(&x->a);
    x->a = outer;
}

/* Returns the length of the folder common to all loose files; names are relative to it. */
static size_t common_folder(const struct op_file *files, size_t n, const char *const *kind)
{
    const char *first = NULL;
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        const char *name = files[i].text.name;
        if (!kind[i])
            continue;
        len = first ? len : strlen(name);
        first = first ? first : name;
        while (len && (strncmp(first, name, len) || first[len - 1] != '/'))
            len--;
    }
    return len;
}

static void read_equations(struct papers *x, const char *path, struct span bytes,
                           enum file_form form)
{
    const char *text, *name = file_name_short(&x->a, path), *why = NULL;
    size_t len;
    struct buf plain = {0};
    if (unpack_is_archive(bytes)) {
        why = unpack_single(&plain, bytes, EQUATIONS_MAX);
        bytes = span_of(plain.data, plain.len);
    }
    if (!why)
        why = decode_text(&text, &len, &x->a, bytes);
    buf_free(&plain);
    if (why) {
        struct bundle b = {.a = &x->a, .name = path};
        bundle_problem(&b.problems, &x->a, path, 0, why, "not read");
        emit_rest(x, &b, false, 0);
        return;
    }
    Eqloom__Paper *p = form == FORM_JSONL ? labelled_read(&x->a, name, text, len)
                                          : mathml_read(&x->a, name, text, len);
    size_t listings = p->n_listings;
    do { /* the rest of a long list of metadata goes to separate records */
        p->n_listings = listings < LISTINGS_MAX ? listings : LISTINGS_MAX;
        emit(x, p);
        p->n_sections = p->n_problems = 0;
        p->listings += p->n_listings;
        listings -= p->n_listings;
    } while (listings);
}

static struct span file_bytes(void *arg, size_t number)
{
    struct papers *x = arg;
    struct span bytes = {0};
    if (!x->code)
        x->code = op_file_text(&bytes, x->ctx, number, &x->a, x->e);
    return bytes;
}

/* Reads an archive or a file of equations as a part that depends on this file alone. */
static void read_alone(struct papers *x, const struct op_file *f, size_t number,
                       enum file_form form)
{
    struct arena *a = op_arena(x->ctx);
    const char *name = file_name_last(f->text.name);
    struct span key = part_key(a, 'a', name, &f->id);
    struct op_part part;
    if (op_part_find(&part, x->ctx, key)) {
        op_part_again(x->ctx, &part);
        return;
    }
    struct span bytes = file_bytes(x, number);
    if (x->code)
        return;
    op_part_begin(x->ctx);
    if (form == FORM_ARCHIVE)
        read_archive(x, name, bytes, 0);
    else
        read_equations(x, name, bytes, form);
    if (!x->code)
        x->code = op_part_end(x->ctx, key, (struct span){0}, x->e);
}

/* Classifies a loose file before it is needed: 'a' for an archive under another name; of a text its
 * root_kind and the number of displays in it, "d12"; otherwise the reason why it is not text. */
static const char *kind_of(struct papers *x, const struct op_file *f, size_t number)
{
    struct span key = part_key(&x->a, 'k', "", &f->id);
    struct op_part part;
    if (op_part_find(&part, x->ctx, key))
        return arena_strndup(&x->a, (const char *)part.note.data, part.note.len);
    struct span bytes = file_bytes(x, number);
    struct bundle alone = {.a = &x->a, .name = ""};
    const char *kind = "a";
    if (!unpack_is_archive(bytes)) {
        bundle_add(&alone, "", bytes);
        kind = alone.n
                   ? arena_printf(&x->a, "%c%u", roots_kind(&alone, alone.files),
                                  displays_count(bundle_stripped(&alone, alone.files), NULL, NULL))
                   : alone.problems.items[0]->reason;
    }
    bundle_free(&alone);
    op_part_begin(x->ctx);
    if (!x->code)
        x->code = op_part_end(x->ctx, key, span_str(kind), x->e);
    return kind;
}

/* kind: by file; NULL if it is not a loose file. */
static void read_folder(struct papers *x, const struct op_file *files, size_t n,
                        const char *const *kind)
{
    struct bundle folder = {.a = &x->a, .name = "", .load = file_bytes, .arg = x};
    struct root *roots = arena_array(&x->a, struct root, n + 1);
    size_t skip = common_folder(files, n, kind), n_roots = 0;
    for (size_t i = 0; i < n; i++) {
        const char *name = files[i].text.name + skip;
        if (!kind[i])
            continue;
        if (strspn(kind[i] + 1, "0123456789") == strlen(kind[i] + 1))
            bundle_add_lazy(&folder, name, i, &files[i].id,
                            (unsigned)strtoul(kind[i] + 1, NULL, 10));
        else
            bundle_problem(&folder.problems, &x->a, name, 0, kind[i], "not read");
    }
    for (size_t i = 0; i < folder.n && n_roots < ROOTS_MAX; i++) {
        char letter = *kind[folder.files[i].number];
        if (letter != 't' && !file_name_is_style(folder.files[i].name))
            roots[n_roots++] = (struct root){&folder.files[i], letter};
    }
    if (!x->code)
        read_bundle(x, &folder, roots, n_roots);
    bundle_free(&folder);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct papers x = {.ctx = ctx, .e = e};
    const struct op_file *files;
    size_t n = op_files(&files, ctx);
    struct arena *a = op_arena(ctx);
    const char **kind = arena_array(a, const char *, n + 1);
    for (size_t i = 0; i < n && !x.code; i++) {
        enum file_form form = file_form_of(files[i].text.name);
        op_progress(ctx, i, n, "read");
        const char *loose = form == FORM_LOOSE ? kind_of(&x, &files[i], i) : "a";
        if (*loose != 'a')
            kind[i] = arena_strdup(a, loose);
        else
            read_alone(&x, &files[i], i, form == FORM_LOOSE ? FORM_ARCHIVE : form);
        arena_reset(&x.a);
    }
    if (!x.code)
        read_folder(&x, files, n, kind);
    arena_free(&x.a);
    return err_up(e, x.code);
}

static const char *const suffixes[] = {".tex", ".ltx", ".latex", ".sty", ".cls", ".bbl",
                                       ".bib", ".gz",  ".tgz",   ".tar", ".zip", ".jsonl",
                                       ".mml", ".xml", ".html",  "",     NULL};

const struct op op_papers = {
    .name = "papers",
    .version = 9,
    .node = OP_SOURCE,
    .doc = "Reads papers: folders and files of LaTeX, archives as distributed by arXiv (tar, gz, "
           "tar.gz, tars of these), JSONL with LaTeX or MathML and optional labels, or with "
           "arXiv's metadata, and files with <math> elements. An unreadable file is reported as a "
           "problem and does not affect others (docs/papers.md).",
    .params = OP_PARAMS(
        {"depth", OP_INT, "3", NULL, 0, 20,
         "Maximum depth of \\input, \\include and similar commands; deeper files are problems."}),
    .outputs =
        OP_PORTS({"papers", KIND_PAPER, OP_COLLECTION, false,
                  "One per document, and records without sections that only list problems."}),
    .folder_suffixes = suffixes,
    .reads_files = true,
    .run = run,
};
