#include "base/io/file_pattern.h"

#include "base/buf.h"
#include "base/io/unpack.h"
#include "base/os.h"
#include "base/text/utf8.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_WILD_PARTS = 8 };

enum reason { HIDDEN, LINK, SPECIAL, OTHER_ENDING, REASONS };

struct search {
    struct arena *a;
    const char *const *parts; /* of the pattern, between slashes */
    size_t n_parts;
    const char *const *suffixes;
    char **found, **named;
    size_t n_found, n_named, cap_found, cap_named;
    struct {
        size_t n;
        const char *first;
    } left_out[REASONS];
    struct err *e;
};

static bool is_wild(const char *part)
{
    return part[strcspn(part, "*?[")];
}

static bool is_deep(const char *part)
{
    return !strcmp(part, "**");
}

static enum err_code check_part(const char *part, size_t *wild, bool *deep, const char *pattern,
                                struct err *e)
{
    if (*wild && !strcmp(part, ".."))
        return err_fail(e, ERR_INPUT, "'..' after a wildcard in the pattern '%.100s'", pattern);
    if (is_deep(part) && *deep)
        return err_fail(e, ERR_INPUT, "'**' twice in the pattern '%.100s'", pattern);
    if (!is_deep(part) && strstr(part, "**")) {
        enum err_code code = err_fail(
            e, ERR_INPUT, "'**' beside other characters in the pattern '%.100s'", pattern);
        err_hint(e, "it stands alone between slashes: '**/*.txt'");
        return code;
    }
    *deep |= is_deep(part);
    *wild += is_wild(part);
    return *wild <= MAX_WILD_PARTS
               ? OK
               : err_fail(e, ERR_INPUT, "more than %d parts with wildcards in the pattern '%.100s'",
                          MAX_WILD_PARTS, pattern);
}

static enum err_code split(struct search *s, const char *pattern)
{
    const char **parts = arena_array(s->a, const char *, strlen(pattern) + 1);
    size_t wild = 0;
    bool deep = false;
    for (const char *p = pattern; *p;) {
        size_t len = strcspn(p, "/");
        if (len)
            parts[s->n_parts++] = arena_strndup(s->a, p, len);
        p += len + (p[len] == '/');
    }
    s->parts = parts;
    for (size_t i = 0; i < s->n_parts; i++) {
        enum err_code code = check_part(parts[i], &wild, &deep, pattern, s->e);
        if (code)
            return err_up(s->e, code);
    }
    return OK;
}

/* ---- names ---- */

/* Matching compares characters, not bytes, whatever the locale of the process is; a C library
 * without C.UTF-8 leaves bytes. Of this thread only, until locale_leave. */
struct locale {
    locale_t utf8, before;
};

static struct locale locale_enter(void)
{
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    return (struct locale){utf8, uselocale(utf8)};
}

static void locale_leave(struct locale l)
{
    uselocale(l.before);
    if (l.utf8)
        freelocale(l.utf8);
}

static bool name_fits(const char *part, const char *name, int flags)
{
    struct arena a = {0};
    bool fits = fnmatch(utf8_nfc(&a, part), utf8_nfc(&a, name), flags) == 0;
    arena_free(&a);
    return fits;
}

static bool is_ascii(const char *name)
{
    while (*name && (unsigned char)*name < 0x80)
        name++;
    return !*name;
}

static bool ends_in_one(const char *path, const char *const *suffixes)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name), plain = unpack_name(name);
    if (!suffixes)
        return true;
    for (; *suffixes; suffixes++) {
        size_t m = strlen(*suffixes);
        if (m ? (n > m && !strcasecmp(name + n - m, *suffixes)) ||
                    (plain > m && !strncasecmp(name + plain - m, *suffixes, m))
              : !memchr(name, '.', plain))
            return true;
    }
    return false;
}

static char *below(struct search *s, const char *folder, const char *name)
{
    return os_join(s->a, folder, name);
}

/* ---- what is found ---- */

static void leave_out(struct search *s, enum reason why, const char *path)
{
    if (!s->left_out[why].n++)
        s->left_out[why].first = arena_strdup(s->a, path);
}

static void add(char ***all, size_t *n, size_t *cap, char *path)
{
    *all = vec_grow(*all, cap, *n + 1, sizeof **all);
    (*all)[(*n)++] = path;
}

static void take(struct search *s, char *path)
{
    add(&s->found, &s->n_found, &s->cap_found, path);
}

/* Returns the names in a folder, sorted; none if it is no folder. */
static enum err_code list(struct dirent ***names, int *n, struct search *s, const char *folder)
{
    *n = scandir(folder, names, NULL, alphasort);
    if (*n >= 0)
        return OK;
    *n = 0;
    return errno == ENOTDIR || errno == ENOENT
               ? OK
               : err_fail(s->e, ERR_IO, "cannot list %s: %s", folder, strerror(errno));
}

typedef enum err_code each_name(struct search *s, const char *folder, const char *name,
                                size_t part);

static enum err_code for_names(struct search *s, const char *folder, size_t part, each_name *each)
{
    struct dirent **names = NULL;
    int n;
    enum err_code code = list(&names, &n, s, folder);
    for (int i = 0; i < n; i++) {
        if (!code && strcmp(names[i]->d_name, ".") && strcmp(names[i]->d_name, ".."))
            code = each(s, folder, names[i]->d_name, part);
        free(names[i]);
    }
    free(names);
    return err_up(s->e, code);
}

/* ---- folders that are searched ---- */

/* Takes one name of such a folder; `part` is unused. */
static enum err_code take_below(struct search *s, const char *folder, const char *name, size_t part)
{
    char *path = below(s, folder, name);
    struct stat st;
    if (*name == '.')
        leave_out(s, HIDDEN, path);
    else if (lstat(path, &st) || S_ISLNK(st.st_mode))
        leave_out(s, LINK, path);
    else if (S_ISDIR(st.st_mode))
        return err_up(s->e, for_names(s, path, part, take_below));
    else if (!S_ISREG(st.st_mode))
        leave_out(s, SPECIAL, path);
    else if (!ends_in_one(path, s->suffixes))
        leave_out(s, OTHER_ENDING, path);
    else
        take(s, path);
    return OK;
}

/* ---- the pattern, part by part ---- */

static enum err_code visit(struct search *s, char *path, size_t part);

/* The whole pattern names this path. */
static enum err_code take_named(struct search *s, char *path)
{
    struct stat st;
    bool wild = s->n_parts && is_wild(s->parts[s->n_parts - 1]);
    if (stat(path, &st)) {
        if (!lstat(path, &st))
            leave_out(s, LINK, path);
        return OK;
    }
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
        leave_out(s, SPECIAL, path);
        return wild ? OK : err_fail(s->e, ERR_INPUT, "'%.200s' is a FIFO, socket or device", path);
    }
    add(&s->named, &s->n_named, &s->cap_named, path);
    if (S_ISDIR(st.st_mode))
        return err_up(s->e, for_names(s, path, 0, take_below));
    take(s, path);
    return OK;
}

static enum err_code visit_match(struct search *s, const char *folder, const char *name,
                                 size_t part)
{
    bool fits = name_fits(s->parts[part], name, FNM_PERIOD);
    if (!fits && *name == '.' && name_fits(s->parts[part], name, 0))
        leave_out(s, HIDDEN, below(s, folder, name));
    return fits ? err_up(s->e, visit(s, below(s, folder, name), part + 1)) : OK;
}

static enum err_code visit_folder(struct search *s, const char *folder, const char *name,
                                  size_t part)
{
    char *path = below(s, folder, name);
    struct stat st = {0};
    bool link = !lstat(path, &st) && S_ISLNK(st.st_mode) && !stat(path, &st);
    if (!S_ISDIR(st.st_mode))
        return OK;
    if (!link && *name != '.')
        return err_up(s->e, visit(s, path, part));
    leave_out(s, link ? LINK : HIDDEN, path);
    return OK;
}

/* Visits the part of the pattern that begins at `part`, below the path. */
static enum err_code visit(struct search *s, char *path, size_t part)
{
    if (part == s->n_parts)
        return err_up(s->e, take_named(s, path));
    const char *name = s->parts[part];
    struct stat st;
    enum err_code code = OK;
    if (is_deep(name)) {
        code = visit(s, path, part + 1);
        /* At the end it stands for all files below, which the folder does, too. */
        return code || part + 1 == s->n_parts
                   ? err_up(s->e, code)
                   : err_up(s->e, for_names(s, path, part, visit_folder));
    }
    char *exact = below(s, path, name);
    if (!is_wild(name) && !lstat(exact, &st))
        return err_up(s->e, visit(s, exact, part + 1));
    if (!is_wild(name) && is_ascii(name) && !strchr(name, '\\'))
        return OK;
    return err_up(s->e, for_names(s, path, part, visit_match));
}

/* ---- results ---- */

static char *describe(struct search *s)
{
    static const char *const words[REASONS][2] = {
        [HIDDEN] = {"hidden", "hidden"},
        [LINK] = {"link", "links"},
        [SPECIAL] = {"that is no file", "that are no files"},
        [OTHER_ENDING] = {"with another ending", "with other endings"}};
    struct buf text = {0};
    for (int i = 0; i < REASONS; i++)
        if (s->left_out[i].n)
            buf_printf(&text, "%s%zu %s (%s%s)", text.len ? ", " : "", s->left_out[i].n,
                       words[i][s->left_out[i].n > 1], s->left_out[i].first,
                       s->left_out[i].n > 1 ? ", ..." : "");
    return text.len ? buf_text(&text, s->a) : NULL;
}

static char **sorted(struct arena *a, char **paths, size_t *n)
{
    size_t kept = 0;
    if (*n)
        qsort(paths, *n, sizeof *paths, text_compare);
    for (size_t i = 0; i < *n; i++)
        if (!kept || strcmp(paths[kept - 1], paths[i]))
            paths[kept++] = paths[i];
    *n = kept;
    char **out = arena_memdup(a, paths, kept * sizeof *paths);
    free(paths);
    return out;
}

enum err_code file_pattern_match(struct file_matches *out, struct arena *a, const char *dir,
                                 const char *pattern, const char *const *suffixes, struct err *e)
{
    struct search s = {.a = a, .suffixes = suffixes, .e = e};
    char *start = arena_strdup(a, *pattern == '/' ? "/" : dir);
    enum err_code code = split(&s, pattern);
    struct locale locale = locale_enter();
    if (!code)
        code = visit(&s, start, 0);
    locale_leave(locale);
    out->named = sorted(a, s.named, &s.n_named);
    out->paths = sorted(a, s.found, &s.n_found);
    out->n = s.n_found;
    out->n_named = s.n_named;
    out->left_out = describe(&s);
    return err_up(e, code);
}

static bool fits(struct arena *a, const char *pattern, const char *path)
{
    size_t p = strcspn(pattern, "/"), n = strcspn(path, "/");
    if (!*pattern || !*path)
        return !*pattern;
    const char *rest = pattern + p + (pattern[p] == '/'), *deeper = path + n + (path[n] == '/');
    const char *part = arena_strndup(a, pattern, p);
    if (is_deep(part))
        return fits(a, rest, path) || fits(a, pattern, deeper);
    return name_fits(part, arena_strndup(a, path, n), FNM_PERIOD) && fits(a, rest, deeper);
}

bool file_pattern_fits(const char *pattern, const char *path)
{
    struct arena a = {0};
    struct locale locale = locale_enter();
    bool all = fits(&a, pattern, path);
    locale_leave(locale);
    arena_free(&a);
    return all;
}
