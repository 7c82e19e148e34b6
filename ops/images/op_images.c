/* The op `images`: a folder of PNG files -> pictures, and their papers.
 *
 * The layout is that of the first data set:
 *   ID/7.png       an equation of paper ID (an arXiv id without its version)
 *   ID/7.tex       its LaTeX
 *   ID/abstract.tex, ID/keywords.tex
 * With `folders: label`, a picture's folder is its label. Pictures are ordered by folder, then by
 * number. */
#include "base/io/picture.h"
#include "base/io/text_file.h"
#include "base/map.h"
#include "base/text/utf8.h"
#include "engine/op.h"
#include "image.pb-c.h"
#include "ops/latex/source/file_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 16 << 20 /* bytes of a file of text */ };

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

static enum err_code emit_refused(struct op_ctx *ctx, const Eqloom__Image *image, const char *why,
                                  const struct op_file *file, const struct err *detail,
                                  struct err *e)
{
    Eqloom__Image refused = *image;
    refused.refused = (char *)why;
    refused.detail = arena_printf(op_arena(ctx), "%s: %s", file->text.name, detail->message);
    return err_up(e, op_emit(NULL, ctx, "refused", &refused.base, e));
}

/* Reads a file's text, without trailing blanks; "" if there is no file, or if it is not text: it is
 * then among the refused files, with the rest of `image`. */
static enum err_code read_text(char **out, struct op_ctx *ctx, const struct op_file *f,
                               const Eqloom__Image *image, struct err *e)
{
    struct source_text text = {"", "", 0};
    struct err why = {0};
    enum err_code code = OK;
    if (f && (text_file_decode(&text, op_arena(ctx), &f->text, TEXT_MAX, &why) ||
              utf8_check(&text, &why))) {
        code = emit_refused(ctx, image, "not text", f, &why, e);
        text.len = 0;
    }
    while (text.len && isspace((unsigned char)text.text[text.len - 1]))
        text.len--;
    *out = arena_strndup(op_arena(ctx), text.text, text.len);
    return err_up(e, code);
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
    enum err_code code = read_text(&image.latex, ctx, x->tex, &image, e);
    if (code)
        return err_up(e, code);
    if (picture_read_png(&p, a, file, &why))
        return err_up(e, emit_refused(ctx, &image, "not a picture", x->png, &why, e));
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
    Eqloom__Image image = EQLOOM__IMAGE__INIT;
    Eqloom__Place place = EQLOOM__PLACE__INIT;
    paper.paper = (char *)without_version(a, x->folder);
    place.paper = paper.paper;
    image.place = &place;
    enum err_code code = read_text(
        &paper.abstract, ctx, find(f, beside(a, x->png->text.name, "abstract.tex")), &image, e);
    if (!code)
        code = read_text(&section.text, ctx,
                         find(f, beside(a, x->png->text.name, "keywords.tex")), &image, e);
    if (code)
        return err_up(e, code);
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
    .version = 2,
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
         "Files that are not pictures or, beside pictures, not text, with the reason."}),
    .folder_suffixes = suffixes,
    .run = run,
};
