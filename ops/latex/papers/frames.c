/* See frames.h. */
#include "ops/latex/papers/frames.h"

#include <stdio.h>

enum { TEXTS_MAX = 100000, BYTES_MAX = 64 << 20, PATH_LEN = 512 };

static bool room_for(struct frames *f, size_t len)
{
    f->texts++;
    f->bytes += len;
    if (f->n < FRAMES_MAX && f->texts <= TEXTS_MAX && f->bytes <= BYTES_MAX)
        return true;
    bundle_problem(f->problems, f->a, f->n ? frames_top(f)->file->name : "", 0,
                   f->n == FRAMES_MAX ? "nested too deeply" : "too many expansions",
                   "after %zu texts of %zu bytes", f->texts, f->bytes);
    if (f->n < FRAMES_MAX)
        f->n = 0; /* nothing more of this document */
    return false;
}

void frames_push_text(struct frames *f, struct piece text, const void *of)
{
    const struct frame *top = f->n ? frames_top(f) : NULL;
    for (size_t i = 0; i < f->n; i++)
        if (f->stack[i].of == of)
            return;
    if (!room_for(f, text.len) || !top)
        return;
    struct frame x = {cursor_of(text), top->file, false, top->definitions, of};
    f->stack[f->n++] = x;
}

static unsigned depth_of(const struct frames *f)
{
    unsigned depth = 0;
    for (size_t i = 0; i < f->n; i++)
        depth += f->stack[i].is_file && !f->stack[i].definitions;
    return depth;
}

void frames_push_file(struct frames *f, struct tex_file *file, bool definitions)
{
    struct piece text = bundle_stripped(f->bundle, file);
    for (size_t i = 0; i < f->n; i++)
        if (f->stack[i].is_file && f->stack[i].file == file) {
            bundle_problem(f->problems, f->a, file->name, 0, "reads itself", "%s",
                           frames_top(f)->file->name);
            return;
        }
    if (!definitions && depth_of(f) > f->max_depth) {
        bundle_problem(f->problems, f->a, file->name, 0, "read too deeply", "more than %u deep",
                       f->max_depth);
        return;
    }
    if (!room_for(f, text.len))
        return;
    f->used[file - f->bundle->files] = true;
    struct frame x = {cursor_of(text), file, true,
                      definitions || (f->n && frames_top(f)->definitions), NULL};
    f->stack[f->n++] = x;
}

/* ---- names ---- */

/* Without "." and ".."; false if it leads out of the bundle. */
static bool normalize(char *path)
{
    char *out = path, *in = path;
    while (*in) {
        size_t n = strcspn(in, "/");
        bool up = n == 2 && in[0] == '.' && in[1] == '.', here = n == 0 || (n == 1 && *in == '.');
        if (up && out == path)
            return false;
        if (up)
            for (out--; out > path && out[-1] != '/';)
                out--;
        else if (!here) {
            memmove(out, in, n);
            out += n;
            if (in[n])
                *out++ = '/';
        }
        in += n + (in[n] == '/');
    }
    *out = 0;
    return true;
}

static struct tex_file *find_at(struct frames *f, const char *folder, size_t n, const char *name,
                                const char *const *suffixes)
{
    char path[PATH_LEN];
    for (; *suffixes; suffixes++) {
        int len = snprintf(path, sizeof path, "%.*s%s%s", (int)n, folder, name, *suffixes);
        if (len > 0 && len < PATH_LEN && normalize(path)) {
            struct tex_file *file = bundle_find(f->bundle, path);
            if (file)
                return file;
        }
    }
    return NULL;
}

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The one file below the root's folder that has this name: TeX may have been told where to look. */
static struct tex_file *find_below(struct frames *f, const char *name, const char *const *suffixes)
{
    size_t n = strlen(f->root_folder), len = strlen(name);
    struct tex_file *found = NULL;
    for (size_t i = 0; i < f->bundle->n; i++) {
        struct tex_file *x = &f->bundle->files[i];
        const char *slash = strrchr(x->name, '/'), *last = slash ? slash + 1 : x->name;
        if (strncmp(x->name, f->root_folder, n) || strncmp(last, name, len))
            continue;
        for (size_t k = 0; suffixes[k]; k++) {
            if (strcmp(last + len, suffixes[k]))
                continue;
            if (found)
                return NULL;
            found = x;
        }
    }
    return found;
}

struct tex_file *frames_find(struct frames *f, const char *name, const char *const *suffixes)
{
    const char *here = f->n ? frames_top(f)->file->name : "";
    struct tex_file *file = find_at(f, here, folder_length(here), name, suffixes);
    /* The root's folder, where TeX runs, and those above it. */
    for (size_t n = strlen(f->root_folder); !file; n--) {
        if (n == 0 || f->root_folder[n - 1] == '/')
            file = find_at(f, f->root_folder, n, name, suffixes);
        if (n == 0)
            break;
    }
    return file ? file : find_below(f, name, suffixes);
}

/* Macros without arguments stand for their bodies. */
static char *expand_name(struct arena *a, const struct macro_table *macros, struct piece name,
                         int depth)
{
    struct cursor c = cursor_of(name);
    char *out = arena_alloc(a, 1);
    *out = 0;
    while (!cursor_end(&c)) {
        if (c.s[c.at] == '\\') {
            struct piece word = scan_command(&c);
            const struct macro *m = macro_find(macros, word);
            struct piece body = {m ? m->m.body : "", m ? strlen(m->m.body) : 0};
            out = arena_printf(a, "%s%s", out,
                               depth < 5 ? expand_name(a, macros, body, depth + 1) : "");
            continue;
        }
        size_t n = 0;
        while (c.at + n < c.len && c.s[c.at + n] != '\\')
            n++;
        out = arena_printf(a, "%s%.*s", out, (int)n, c.s + c.at);
        c.at += n;
    }
    return out;
}

void frames_input(struct frames *f, const struct macro_table *macros, struct piece folder,
                  struct piece name, const char *suffix)
{
    static const char *const texts[] = {".tex", "", ".ltx", ".latex", NULL};
    const char *const only[] = {suffix, NULL};
    struct arena *a = f->a;
    name = piece_trim(name);
    if (name.len == 0 || name.len > 300 || folder.len > 300)
        return;
    if (name.len > 1 && *name.s == '"')
        name = (struct piece){name.s + 1, name.len - 2};
    char *path = arena_printf(a, "%s%s%s", expand_name(a, macros, piece_trim(folder), 0),
                              folder.len ? "/" : "", expand_name(a, macros, name, 0));
    struct tex_file *file = frames_find(f, path, suffix ? only : texts);
    if (file)
        frames_push_file(f, file, suffix != NULL);
    else if (!suffix)
        bundle_problem(f->problems, a, f->n ? frames_top(f)->file->name : "", 0, "no such input",
                       "%s", path);
}
