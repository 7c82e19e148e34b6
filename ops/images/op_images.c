/* The op `images`: a folder of PNG files -> pictures, and their papers.
 *
 * The layout is that of the first data set:
 *   ID/7.png       an equation of paper ID (an arXiv id without its version)
 *   ID/7.tex       its LaTeX
 *   ID/abstract.tex, ID/keywords.tex
 * With `folders: label`, a picture's folder is its label. Pictures are ordered by folder, then by
 * number. */
#include "base/io/picture.h"
#include "base/map.h"
#include "base/text/utf8.h"
#include "engine/op.h"
#include "image.pb-c.h"
#include "ops/latex/source/file_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    const struct op_file *png, *tex;
    const char *folder;
    uint32_t number; /* of the file's name, or its position in the folder */
};

/* Returns the name of the innermost folder, or "". */
static const char *folder_of(struct arena *a, const char *path)
{
    const char *file = file_name_last(path);
    return file == path ? "" : file_name_last(arena_strndup(a, path, (size_t)(file - path) - 1));
}

/* 1711.11486v1 -> 1711.11486. */
static const char *without_version(struct arena *a, const char *id)
{
    size_t n = strlen(id), m = n;
    while (m && isdigit((unsigned char)id[m - 1]))
        m--;
    bool versioned = m > 1 && m < n && id[m - 1] == 'v' && isdigit((unsigned char)id[m - 2]);
    return versioned ? arena_strndup(a, id, m - 1) : id;
}

/* The files of the op, by name. */
struct folder {
    const struct op_file *files;
    size_t n;
    struct name_map index;
};

static const struct op_file *find(const struct folder *f, const char *name)
{
    const uint64_t *at = name_map_get(&f->index, name);
    return at ? &f->files[*at] : NULL;
}

/* Orders by folder; within one, numbers come first, by value. */
static int compare_entries(const void *x, const void *y)
{
    const struct entry *p = x, *q = y;
    int c = strcmp(p->folder, q->folder);
    if (c || p->number != q->number)
        return c ? c : p->number < q->number ? -1 : 1;
    return strcmp(p->png->text.name, q->png->text.name);
}

/* Returns the text without trailing blanks, or "" if there is no file or it is not UTF-8. */
static char *text_of(struct arena *a, const struct op_file *f)
{
    if (!f || utf8_prefix((const uint8_t *)f->text.text, f->text.len) < f->text.len ||
        memchr(f->text.text, 0, f->text.len))
        return arena_strdup(a, "");
    size_t n = f->text.len;
    while (n && isspace((unsigned char)f->text.text[n - 1]))
        n--;
    return arena_strndup(a, f->text.text, n);
}

static char *beside(struct arena *a, const char *path, const char *name)
{
    return arena_printf(a, "%.*s%s", (int)(file_name_last(path) - path), path, name);
}

static enum err_code emit_image(struct op_ctx *ctx, const struct entry *x, bool by_label,
                                uint32_t number, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct picture p;
    struct err why = {0};
    Eqloom__Image image = EQLOOM__IMAGE__INIT;
    Eqloom__Place place = EQLOOM__PLACE__INIT;
    struct span file = span_of(x->png->text.text, x->png->text.len);
    place.number = number;
    place.paper = (char *)(by_label ? "" : without_version(a, x->folder));
    place.label = (char *)(by_label ? x->folder : "");
    image.place = &place;
    image.latex = text_of(a, x->tex);
    if (picture_read_png(&p, a, file, &why)) {
        image.refused = "not a picture";
        image.detail = arena_printf(a, "%s: %s", x->png->text.name, why.message);
        return err_up(e, op_emit(NULL, ctx, "refused", &image.base, e));
    }
    image.width = p.width;
    image.height = p.height;
    image.pixels = (ProtobufCBinaryData){(size_t)p.width * p.height, (uint8_t *)p.pixels};
    return err_up(e, op_emit(NULL, ctx, "images", &image.base, e));
}

static enum err_code emit_paper(struct op_ctx *ctx, const struct folder *f, const struct entry *x,
                                struct err *e)
{
    struct arena *a = op_arena(ctx);
    Eqloom__Paper paper = EQLOOM__PAPER__INIT;
    Eqloom__Section section = EQLOOM__SECTION__INIT, *sections[] = {&section};
    paper.paper = (char *)without_version(a, x->folder);
    paper.abstract = text_of(a, find(f, beside(a, x->png->text.name, "abstract.tex")));
    section.text = text_of(a, find(f, beside(a, x->png->text.name, "keywords.tex")));
    paper.n_sections = section.text[0] != 0;
    paper.sections = sections;
    return err_up(e, op_emit(NULL, ctx, "papers", &paper.base, e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct folder folder = {0}, *f = &folder;
    size_t pictures = 0;
    f->n = op_files(&f->files, ctx);
    struct entry *entries = arena_array(a, struct entry, f->n + 1);
    bool by_label = !strcmp(op_string(ctx, "folders"), "label");
    enum err_code code = OK;
    for (size_t i = 0; i < f->n; i++)
        name_map_put(&f->index, f->files[i].text.name, i, NULL);
    for (size_t i = 0; i < f->n; i++) {
        const char *path = f->files[i].text.name, *name = file_name_last(path);
        const char *dot = strrchr(name, '.');
        char *end;
        if (!dot || strcasecmp(dot, ".png"))
            continue;
        struct entry *x = &entries[pictures++];
        size_t stem = (size_t)(dot - name);
        unsigned long number = strtoul(name, &end, 10);
        bool numbered = isdigit((unsigned char)*name) && end == name + stem && number < UINT32_MAX;
        x->png = &f->files[i];
        x->tex = find(f, beside(a, path, arena_printf(a, "%.*s.tex", (int)stem, name)));
        x->folder = folder_of(a, path);
        x->number = numbered ? (uint32_t)number : UINT32_MAX;
    }
    qsort(entries, pictures, sizeof *entries, compare_entries);
    for (size_t i = 0, first = 0; i < pictures && !code; i++) {
        struct arena_mark mark = arena_mark(a);
        bool begins = !i || strcmp(entries[i].folder, entries[i - 1].folder);
        first = begins ? i : first;
        if (begins && !by_label)
            code = emit_paper(ctx, f, &entries[i], e);
        uint32_t number =
            entries[i].number == UINT32_MAX ? (uint32_t)(i - first) : entries[i].number;
        if (!code)
            code = emit_image(ctx, &entries[i], by_label, number, e);
        arena_release(a, mark);
    }
    name_map_free(&f->index);
    return err_up(e, code);
}

static const char *const suffixes[] = {".png", ".tex", NULL};

const struct op op_images = {
    .name = "images",
    .version = 1,
    .node = OP_SOURCE,
    .doc =
        "Reads pictures of equations: a folder with one folder per paper, named by its arXiv id, "
        "which contains `7.png`, optionally `7.tex` with its LaTeX, and `abstract.tex`. A file "
        "that is not a picture does not affect others. Colours become grey, transparent pixels "
        "white.",
    .params = OP_PARAMS({"folders", OP_ENUM, "paper", "paper|label", 0, 0,
                         "What a picture's folder is named after: its paper, or its label."}),
    .outputs = OP_PORTS(
        {"images", KIND_IMAGE, OP_COLLECTION, false, "By folder, and by number within it."},
        {"papers", KIND_PAPER, OP_COLLECTION, false,
         "With their abstracts, where the folder has them."},
        {"refused", KIND_IMAGE, OP_COLLECTION, false,
         "Files that are not pictures, with the reason."}),
    .folder_suffixes = suffixes,
    .run = run,
};
