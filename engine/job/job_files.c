/* Expands the file patterns of a node to paths; see job_draft.h. */
#include "engine/job/job_draft.h"

#include "base/buf.h"
#include "base/io/file_pattern.h"
#include "base/map.h"
#include "base/os.h"

#include <fnmatch.h>
#include <string.h>

/* The files of a node while its patterns are read. */
struct collected {
    struct node *out;
    struct draft *d;
    struct name_map seen;
    const char **all;
    size_t cap;
    struct buf left_out;
};

/* Adds the files that the node does not have yet. */
static void add_files(struct collected *c, char **matches, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool added;
        name_map_put(&c->seen, matches[i], 0, &added);
        if (!added)
            continue;
        c->all = arena_grow(c->d->arena, c->all, c->out->n_files, &c->cap, sizeof *c->all);
        c->all[c->out->n_files++] = matches[i];
    }
}

/* Matches "builtin:NAME", with or without its suffix; NAME may be a pattern. */
static enum err_code add_builtins(struct collected *c, const struct yaml_node *pattern,
                                  struct err *e)
{
    struct draft *d = c->d;
    size_t n = 0, all = 0;
    while (op_builtins[all].name)
        all++;
    const char **names = arena_array(d->arena, const char *, all);
    char **matches = arena_array(d->arena, char *, all);
    for (size_t i = 0; i < all; i++) {
        const char *name = op_builtins[i].name;
        names[i] = arena_strndup(d->arena, name, (size_t)(strrchr(name, '.') - name));
        if (fnmatch(pattern->text, name, FNM_PATHNAME) == 0 ||
            fnmatch(pattern->text, names[i], FNM_PATHNAME) == 0)
            matches[n++] = (char *)name;
    }
    if (!n) {
        enum err_code code =
            yaml_fail(e, pattern, "there is no built-in file '%.200s'", pattern->text);
        return err_suggest(code, pattern->text, names, all, e);
    }
    add_files(c, matches, n);
    return OK;
}

static enum err_code no_match(const struct node *node, struct draft *d,
                              const struct yaml_node *pattern, const struct file_matches *found,
                              struct err *e)
{
    enum err_code code =
        found->n_named ? yaml_fail(e, pattern, "the folder '%.200s' contains no file that %s reads",
                                   found->named[0], node->op->name)
                       : yaml_fail(e, pattern, "no file matches '%.200s'",
                                   os_join(d->arena, d->dir, pattern->text));
    if (found->left_out)
        err_hint(e, "left out: %s", found->left_out);
    return code;
}

static enum err_code add_matches(struct collected *c, const struct yaml_node *pattern,
                                 struct err *e)
{
    struct node *out = c->out;
    struct draft *d = c->d;
    enum err_code code;
    if ((code = yaml_expect(pattern, YAML_SCALAR, "a file pattern", e)))
        return err_up(e, code);
    if (!pattern->len)
        return yaml_fail(e, pattern, "an empty file pattern");
    if (strncmp(pattern->text, OP_BUILTIN, strlen(OP_BUILTIN)) == 0)
        return err_up(e, add_builtins(c, pattern, e));
    struct file_matches found;
    code = file_pattern_match(&found, d->arena, d->dir, pattern->text, out->op->folder_suffixes, e);
    if (!code && !found.n_named && pattern->by_user) /* from --set: as in the shell, too */
        code =
            file_pattern_match(&found, d->arena, ".", pattern->text, out->op->folder_suffixes, e);
    if (code && e)
        err_locate(e, pattern->source, pattern->offset);
    for (size_t i = 0; i < found.n_named && !code && !pattern->by_user; i++)
        code = draft_check_inside(d, found.named[i], pattern, e);
    if (code)
        return err_up(e, code);
    if (!found.n)
        return no_match(out, d, pattern, &found, e);
    if (found.left_out)
        buf_printf(&c->left_out, "%s: '%s' leaves out %s\n", out->base, pattern->text,
                   found.left_out);
    add_files(c, found.paths, found.n);
    return OK;
}

static bool is_reserved(const char *name)
{
    size_t n = strcspn(name, "/");
    return (n == 2 && !memcmp(name, "in", n)) || (n == 3 && !memcmp(name, "out", n));
}

/* Names each file as the program sees it: "scripts/plot.py", relative to the job's directory. */
static enum err_code name_files(struct node *out, struct draft *d, const struct yaml_node *at,
                                struct err *e)
{
    const char **names = arena_array(d->arena, const char *, out->n_files);
    size_t n = strcmp(d->dir, ".") ? strlen(d->dir) : 0;
    struct name_map seen = {0};
    enum err_code code = OK;
    for (size_t i = 0; !code && i < out->n_files; i++) {
        const char *path = out->files[i], *slash = strrchr(path, '/');
        bool below = n && !strncmp(path, d->dir, n) && path[n] == '/', added;
        names[i] = below ? path + n + 1 : *path == '/' || path[0] == '.' ? slash + 1 : path;
        name_map_put(&seen, names[i], 0, &added);
        if (!strncmp(path, OP_BUILTIN, strlen(OP_BUILTIN)))
            code = yaml_fail(e, at, "a program cannot read '%.60s': name a file", path);
        else if (!added)
            code = yaml_fail(e, at, "two files are called '%.200s'", names[i]);
        else if (is_reserved(names[i]))
            code = yaml_fail(
                e, at, "'%.200s': in/ and out/ are reserved for the program's inputs and outputs",
                names[i]);
    }
    name_map_free(&seen);
    out->file_names = names;
    return code;
}

enum err_code draft_read_files(struct node *out, struct draft *d, const struct draft_node *node,
                               struct err *e)
{
    enum err_code code = OK;
    bool exec = node->op->node == OP_EXEC;
    if (node->op->node != OP_SOURCE && !exec)
        return OK;
    const struct yaml_node *list = yaml_get(node->body, "files");
    if (exec && !list)
        return OK;
    if (!list || yaml_is_null(list) || (list->type == YAML_SEQUENCE && !list->n))
        return yaml_fail(e, list ? list : node->key,
                         "node '%s' (op %s) reads files: add 'files:', or 'from:' and a node",
                         node->name, node->op->name);
    struct collected c = {.out = out, .d = d};
    if (list->type == YAML_SCALAR)
        code = add_matches(&c, list, e);
    else
        code = yaml_expect(list, YAML_SEQUENCE, "files", e);
    for (size_t i = 0; !code && list->type == YAML_SEQUENCE && i < list->n; i++)
        code = add_matches(&c, list->items[i], e);
    out->files = c.all;
    if (c.left_out.len)
        out->left_out = arena_strndup(d->arena, c.left_out.data, c.left_out.len);
    name_map_free(&c.seen);
    buf_free(&c.left_out);
    if (!code && exec)
        code = name_files(out, d, list, e);
    return err_up(e, code);
}
