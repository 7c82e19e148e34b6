#include "ops/latex/source/bundle.h"

#include "base/buf.h"
#include "ops/latex/source/decode.h"
#include "ops/latex/source/strip.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FILE_MAX = 16 << 20 };

void bundle_free(struct bundle *b)
{
    name_map_free(&b->index);
    free(b->files);
    free(b->problems.items);
    *b = (struct bundle){0};
}

void bundle_problem(struct problems *p, struct arena *a, const char *file, unsigned line,
                    const char *reason, const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (p->n == PROBLEMS_MAX) {
        p->more++;
        return;
    }
    Eqloom__Problem *m = arena_new(a, Eqloom__Problem);
    eqloom__problem__init(m);
    m->file = (char *)decode_utf8(a, file, strlen(file));
    m->line = line;
    m->reason = arena_strdup(a, reason);
    m->detail = (char *)decode_utf8(a, text, strlen(text));
    p->items = vec_grow(p->items, &p->cap, p->n + 1, sizeof *p->items);
    p->items[p->n++] = m;
}

static void add_file(struct bundle *b, struct tex_file file)
{
    bool added;
    uint64_t *place = name_map_put(&b->index, file.name, b->n, &added);
    if (!added) { /* tar takes the later of two members with one name */
        b->files[*place] = file;
        return;
    }
    b->files = vec_grow(b->files, &b->cap, b->n + 1, sizeof *b->files);
    b->files[b->n++] = file;
}

/* Bytes as text: NULL, or the reason why they are none. */
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

void bundle_add_later(struct bundle *b, const char *name, size_t number, const struct digest *id)
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

struct piece bundle_stripped(struct bundle *b, struct tex_file *file)
{
    struct piece text = bundle_text(b, file);
    if (!file->stripped.s)
        file->stripped = strip(b->a, text.s, text.len);
    return file->stripped;
}
