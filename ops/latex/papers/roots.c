#include "ops/latex/papers/roots.h"

#include "ops/latex/source/displays.h"
#include "ops/latex/source/file_names.h"

#include <stdlib.h>

char roots_kind(struct bundle *b, struct tex_file *f)
{
    static const char *const begin[] = {"\\documentclass", "\\documentstyle", "\\begin{document}",
                                        "\\end{document}", "\\bye",           NULL};
    static const char *const read[] = {"\\input", "\\include{", "\\subfile", "\\import{", NULL};
    struct piece text = bundle_stripped(b, f); /* NUL-terminated, without other NULs */
    for (size_t i = 0; begin[i]; i++)
        if (strstr(text.s, begin[i]))
            return 'd';
    for (size_t i = 0; read[i]; i++)
        if (strstr(text.s, read[i]))
            return 'i';
    return 't';
}

size_t roots_find(struct root *out, struct bundle *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->n && n < ROOTS_MAX; i++) {
        struct tex_file *f = &b->files[i];
        char kind = file_name_is_style(f->name) ? 't' : roots_kind(b, f);
        if (kind != 't')
            out[n++] = (struct root){f, kind};
    }
    return n;
}

struct tex_file *roots_largest(struct bundle *b)
{
    struct tex_file *found = NULL;
    for (size_t i = 0; i < b->n; i++)
        if (!file_name_is_style(b->files[i].name) && (!found || b->files[i].len > found->len))
            found = &b->files[i];
    return found;
}

/* Those in which a document begins come first: they say which of the others they read. */
static int by_kind_and_name(const void *x, const void *y)
{
    const struct root *a = x, *b = y;
    return a->kind != b->kind ? a->kind - b->kind : strcmp(a->file->name, b->file->name);
}

unsigned roots_unread(struct bundle *b, const bool *used)
{
    unsigned n = 0;
    for (size_t i = 0; i < b->n; i++) {
        struct tex_file *f = &b->files[i];
        if (!used[i] && !file_name_is_style(f->name) && file_name_is_tex(f->name))
            n += f->lazy ? f->displays : displays_count(bundle_stripped(b, f), NULL, NULL);
    }
    return n;
}

void roots_sort(struct root *roots, size_t n)
{
    if (n)
        qsort(roots, n, sizeof *roots, by_kind_and_name);
}
