#include "ops/latex/papers/frames.h"

enum { TEXTS_MAX = 100000, BYTES_MAX = 64 << 20 };

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

bool frames_push_file(struct frames *f, struct tex_file *file, bool definitions)
{
    struct piece text = bundle_stripped(f->lookup.bundle, file);
    for (size_t i = 0; i < f->n; i++)
        if (f->stack[i].is_file && f->stack[i].file == file) {
            bundle_problem(f->problems, f->a, file->name, 0, "reads itself", "%s",
                           frames_top(f)->file->name);
            return false;
        }
    if (!definitions && depth_of(f) > f->max_depth) {
        bundle_problem(f->problems, f->a, file->name, 0, "read too deeply", "more than %u deep",
                       f->max_depth);
        return false;
    }
    if (!room_for(f, text.len))
        return false;
    f->used[file - f->lookup.bundle->files] = true;
    struct frame x = {cursor_of(text), file, true,
                      definitions || (f->n && frames_top(f)->definitions), NULL};
    f->stack[f->n++] = x;
    return true;
}

/* ---- names ---- */

struct tex_file *frames_find(struct frames *f, const char *name, const char *suffixes)
{
    return lookup_find(&f->lookup, f->n ? frames_top(f)->file->name : "", name, suffixes);
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
    struct arena *a = f->a;
    name = piece_trim(name);
    if (name.len == 0 || name.len > 300 || folder.len > 300)
        return;
    if (name.len > 1 && *name.s == '"')
        name = (struct piece){name.s + 1, name.len - 2};
    char *path = arena_printf(a, "%s%s%s", expand_name(a, macros, piece_trim(folder), 0),
                              folder.len ? "/" : "", expand_name(a, macros, name, 0));
    struct tex_file *file = frames_find(f, path, suffix ? suffix : ".tex||.ltx|.latex");
    if (file && frames_push_file(f, file, suffix != NULL))
        lookup_reads(&f->lookup);
    else if (!file && !suffix)
        bundle_problem(f->problems, a, f->n ? frames_top(f)->file->name : "", 0, "no such input",
                       "%s", path);
}
