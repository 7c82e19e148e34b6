#include "ops/latex/source/tex_lookup.h"

#include <stdio.h>

enum { PATH_LEN = 512 };

struct lookup lookup_new(struct arena *a, struct bundle *b, const struct tex_file *root)
{
    const char *slash = strrchr(root->name, '/');
    size_t n = slash ? (size_t)(slash - root->name) + 1 : 0;
    return (struct lookup){.bundle = b, .root_folder = arena_strndup(a, root->name, n)};
}

/* Removes "." and ".."; returns false if the path leaves the bundle. */
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

/* Reads the next item of a list "a|b"; returns false after the last. */
static bool next_suffix(const char **out, size_t *n, const char **list)
{
    if (!*list)
        return false;
    *out = *list;
    *n = strcspn(*list, "|");
    *list = (*list)[*n] ? *list + *n + 1 : NULL;
    return true;
}

static struct tex_file *find_at(const struct lookup *l, const char *folder, size_t n,
                                const char *name, const char *suffixes)
{
    char path[PATH_LEN];
    const char *suffix;
    size_t m;
    while (next_suffix(&suffix, &m, &suffixes)) {
        int len = snprintf(path, sizeof path, "%.*s%s%.*s", (int)n, folder, name, (int)m, suffix);
        if (len > 0 && len < PATH_LEN && normalize(path)) {
            struct tex_file *file = bundle_find(l->bundle, path);
            if (file)
                return file;
        }
    }
    return NULL;
}

static bool ends_so(const char *text, const char *suffixes)
{
    const char *suffix;
    size_t n;
    while (next_suffix(&suffix, &n, &suffixes))
        if (strlen(text) == n && !memcmp(text, suffix, n))
            return true;
    return false;
}

/* Returns the only file of this name below the root's folder, as TeX may have a search path.
 * Without a name, returns the only one with this suffix. */
static struct tex_file *find_below(const struct lookup *l, const char *name, const char *suffixes)
{
    size_t n = strlen(l->root_folder), len = strlen(name), m = strlen(suffixes);
    struct tex_file *found = NULL;
    for (size_t i = 0; i < l->bundle->n; i++) {
        struct tex_file *x = &l->bundle->files[i];
        if (strncmp(x->name, l->root_folder, n))
            continue;
        const char *slash = strrchr(x->name, '/'), *last = slash ? slash + 1 : x->name;
        size_t all = strlen(x->name);
        bool fits = *name ? !strncmp(last, name, len) && ends_so(last + len, suffixes)
                          : all > m && !strcmp(x->name + all - m, suffixes);
        if (!fits)
            continue;
        if (found)
            return NULL;
        found = x;
    }
    return found;
}

static struct tex_file *find(const struct lookup *l, const char *here, const char *name,
                             const char *suffixes)
{
    const char *slash = strrchr(here, '/');
    if (!*name)
        return find_below(l, name, suffixes);
    struct tex_file *file =
        find_at(l, here, slash ? (size_t)(slash - here) + 1 : 0, name, suffixes);
    /* Search the root's folder, where TeX runs, and those above it. */
    for (size_t n = strlen(l->root_folder); !file; n--) {
        if (n == 0 || l->root_folder[n - 1] == '/')
            file = find_at(l, l->root_folder, n, name, suffixes);
        if (n == 0)
            break;
    }
    return file ? file : find_below(l, name, suffixes);
}

/* ---- recorded lookups ---- */

struct tex_file *lookup_find(struct lookup *l, const char *here, const char *name,
                             const char *suffixes)
{
    l->last = l->trace.len;
    buf_putc(&l->trace, 'f');
    buf_add(&l->trace, here, strlen(here) + 1);
    buf_add(&l->trace, name, strlen(name) + 1);
    buf_add(&l->trace, suffixes, strlen(suffixes) + 1);
    return find(l, here, name, suffixes);
}

void lookup_mark_read(struct lookup *l)
{
    l->trace.data[l->last] = 'r';
}

/* Returns a NUL-terminated text, or NULL if the data ends first. */
static const char *next_text(const char **at, const char *end)
{
    const char *s = *at, *zero = s < end ? memchr(s, 0, (size_t)(end - s)) : NULL;
    *at = zero ? zero + 1 : end;
    return zero ? s : NULL;
}

bool lookup_replay(struct digest *answers, bool *used, struct lookup *l, struct span trace)
{
    const char *at = (const char *)trace.data, *end = at + trace.len;
    struct buf text = {0};
    bool good = true;
    while (at < end && good) {
        bool reads = *at++ == 'r';
        const char *here = next_text(&at, end), *name = next_text(&at, end);
        const char *suffixes = next_text(&at, end);
        good = here && name && suffixes;
        struct tex_file *f = good ? find(l, here, name, suffixes) : NULL;
        if (f) {
            buf_add(&text, f->id.bytes, DIGEST_SIZE);
            buf_puts(&text, f->name);
            used[f - l->bundle->files] |= reads;
        }
        buf_putc(&text, 0);
    }
    struct span all = span_of(text.data, text.len);
    *answers = digest_of(&all, 1);
    buf_free(&text);
    return good;
}
