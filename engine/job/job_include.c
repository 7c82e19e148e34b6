/* Reads a job file and the files that it includes, depth first, into one draft. The entries of an
 * included file come first. A file that is included twice is read once. Duplicate names and cycles
 * of files are errors. */
#include "engine/job/job_include.h"

#include "base/os.h"

#include <string.h>

struct file {
    const char *real, *shown;
    bool open; /* being read: including it again is a cycle */
};

struct includer {
    struct draft *d;
    struct file files[JOB_MAX_FILES];
    size_t n_files;
};

static const char *const top_keys[] = {"eqloom", "name", "params", "include",
                                       "nodes",  "refs", "exports"};

bool draft_is_name(const char *s, const char *also)
{
    size_t n = strlen(s);
    if (!n || n > 100)
        return false;
    for (const char *p = s; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= '0' && *p <= '9') || *p == '_' || *p == '-';
        if (!plain && !strchr(also, *p))
            return false;
    }
    return *s != '-' && strcmp(s, ".") && strcmp(s, "..");
}

enum err_code draft_check_inside(const struct draft *d, const char *path,
                                 const struct yaml_node *at, struct err *e)
{
    if (d->options->allow_outside)
        return OK;
    char *real;
    if (os_realpath(&real, d->arena, path, NULL))
        return yaml_fail(e, at, "cannot follow '%.200s'", path);
    size_t n = strlen(d->real_dir);
    bool root = !strcmp(d->real_dir, "/");
    if (root || (!strncmp(real, d->real_dir, n) && real[n] == '/'))
        return OK;
    enum err_code code = yaml_fail(e, at, "'%.200s' lies outside the job's directory", path);
    err_hint(e, "--allow-outside permits it");
    return code;
}

static enum err_code check_version(const struct yaml_node *root, struct err *e)
{
    const struct yaml_node *version = yaml_get(root, "eqloom");
    if (!version) {
        enum err_code code =
            yaml_fail(e, root, "the file does not say 'eqloom: 1': not a job file?");
        return code;
    }
    if (version->type == YAML_SCALAR && !strcmp(version->text, "1"))
        return OK;
    return yaml_fail(e, version, "unknown job format '%.40s': this eqloom reads 'eqloom: 1'",
                     version->type == YAML_SCALAR ? version->text : yaml_type_name(version->type));
}

static enum err_code refuse_twice(const struct yaml_node *key, const struct yaml_node *before,
                                  const char *what, struct err *e)
{
    return yaml_fail(e, key, "%s '%.100s' is defined twice: already in %.150s", what, key->text,
                     before->source->name);
}

static enum err_code section(const struct yaml_node **out, const struct yaml_node *root,
                             const char *key, struct err *e)
{
    static const struct yaml_node empty = {.type = YAML_MAPPING};
    const struct yaml_node *node = yaml_get(root, key);
    *out = &empty;
    if (!node || yaml_is_null(node))
        return OK;
    *out = node;
    return err_up(e, yaml_expect(node, YAML_MAPPING, key, e));
}

/* Appends a file's entries; copies the array once per file. */
static void *extend(struct arena *a, const void *old, size_t n, size_t more, size_t size)
{
    void *p = arena_zalloc_array(a, n + more, size);
    if (n)
        memcpy(p, old, n * size);
    return p;
}

static enum err_code add_params(struct draft *d, const struct yaml_node *root, struct err *e)
{
    enum err_code code;
    const struct yaml_node *from;
    if ((code = section(&from, root, "params", e)))
        return err_up(e, code);
    d->params = extend(d->arena, d->params, d->n_params, from->n, sizeof *d->params);
    for (size_t i = 0; i < from->n; i++) {
        const struct yaml_node *key = from->pairs[i].key, *value = from->pairs[i].value;
        if (!draft_is_name(key->text, ""))
            return yaml_fail(e, key,
                             "'%.100s' cannot be a parameter's name: use letters, digits, "
                             "'_' and '-'",
                             key->text);
        if (value->type == YAML_MAPPING)
            return yaml_fail(e, value, "a parameter must be a value or a list, not a mapping");
        for (size_t k = 0; k < d->n_params; k++)
            if (!strcmp(d->params[k].name, key->text))
                return refuse_twice(key, d->params[k].value, "parameter", e);
        d->params[d->n_params++] = (struct draft_param){.name = key->text, .value = value};
    }
    return OK;
}

static enum err_code add_nodes(struct draft *d, const struct yaml_node *root, struct err *e)
{
    enum err_code code;
    const struct yaml_node *from;
    if ((code = section(&from, root, "nodes", e)))
        return err_up(e, code);
    if (d->n_nodes + from->n > JOB_MAX_NODES)
        return yaml_fail(e, from, "more than %d nodes", JOB_MAX_NODES);
    d->nodes = extend(d->arena, d->nodes, d->n_nodes, from->n, sizeof *d->nodes);
    for (size_t i = 0; i < from->n; i++) {
        const struct yaml_node *key = from->pairs[i].key, *body = from->pairs[i].value;
        if (!draft_is_name(key->text, ""))
            return yaml_fail(e, key,
                             "'%.100s' cannot be a node's name: use letters, digits, "
                             "'_' and '-'",
                             key->text);
        if ((code = yaml_expect(body, YAML_MAPPING, "a node", e)))
            return err_up(e, code);
        for (size_t k = 0; k < d->n_nodes; k++)
            if (!strcmp(d->nodes[k].name, key->text))
                return refuse_twice(key, d->nodes[k].key, "node", e);
        d->nodes[d->n_nodes++] = (struct draft_node){.name = key->text, .key = key, .body = body};
    }
    return OK;
}

static enum err_code add_pairs(struct draft_pair **pairs, size_t *n, struct draft *d,
                               const struct yaml_node *root, const char *key, struct err *e)
{
    enum err_code code;
    const struct yaml_node *from;
    if ((code = section(&from, root, key, e)))
        return err_up(e, code);
    *pairs = extend(d->arena, *pairs, *n, from->n, sizeof **pairs);
    for (size_t i = 0; i < from->n; i++) {
        for (size_t k = 0; k < *n; k++)
            if (!strcmp((*pairs)[k].key->text, from->pairs[i].key->text))
                return refuse_twice(from->pairs[i].key, (*pairs)[k].key,
                                    key[0] == 'r' ? "ref" : "export", e);
        (*pairs)[(*n)++] = (struct draft_pair){from->pairs[i].key, from->pairs[i].value};
    }
    return OK;
}

static enum err_code read_file(struct includer *in, const char *path, const struct yaml_node *at,
                               struct err *e);

static enum err_code read_includes(struct includer *in, const struct yaml_node *root,
                                   const char *path, struct err *e)
{
    enum err_code code;
    const struct yaml_node *list = yaml_get(root, "include");
    if (!list || yaml_is_null(list))
        return OK;
    const struct yaml_node *const one[] = {list};
    bool is_list = list->type == YAML_SEQUENCE;
    const struct yaml_node *const *items = is_list ? list->items : one;
    char *dir = os_dirname(in->d->arena, path);
    for (size_t i = 0; i < (is_list ? list->n : 1); i++) {
        if ((code = yaml_expect(items[i], YAML_SCALAR, "a file to include", e)))
            return err_up(e, code);
        char *file = os_join(in->d->arena, dir, items[i]->text);
        code = err_up(e, read_file(in, file, items[i], e));
        if (code)
            return code;
    }
    return OK;
}

static enum err_code parse(const struct yaml_node **out, struct draft *d, const char *path,
                           const struct yaml_node *at, struct err *e)
{
    struct span bytes;
    enum err_code code = os_read_file(&bytes, d->arena, path, JOB_MAX_BYTES, e);
    if (code == ERR_NOTFOUND)
        return at ? yaml_fail(e, at, "there is no file '%.200s'", path)
                  : err_fail(e, ERR_INPUT, "there is no job file '%.300s'", path);
    if (code) {
        if (at)
            err_locate(e, at->source, at->offset);
        return err_up(e, code);
    }
    struct source_text *source = arena_new(d->arena, struct source_text);
    *source = (struct source_text){path, (const char *)bytes.data, bytes.len};
    const struct yaml_options options = {.placeholders = true};
    code = err_up(e, yaml_parse(out, d->arena, source, &options, e));
    if (code)
        return code;
    if (!*out)
        return err_fail_at(e, source, 0, "the file is empty: a job begins with 'eqloom: 1'");
    return err_up(e, yaml_expect(*out, YAML_MAPPING, "a job", e));
}

static enum err_code refuse_cycle(struct includer *in, const struct file *again,
                                  const struct yaml_node *at, struct err *e)
{
    char *chain = "";
    for (const struct file *f = again; f < in->files + in->n_files; f++)
        if (f->open)
            chain = arena_printf(in->d->arena, "%s%s -> ", chain, f->shown);
    return yaml_fail(e, at, "files include each other: %.300s%.150s", chain, again->shown);
}

static enum err_code read_file(struct includer *in, const char *path, const struct yaml_node *at,
                               struct err *e)
{
    enum err_code code;
    struct draft *d = in->d;
    const struct yaml_node *root;
    char *real;
    if (!os_realpath(&real, d->arena, path, NULL)) {
        if (at && (code = draft_check_inside(d, path, at, e)))
            return err_up(e, code);
        for (struct file *f = in->files; f < in->files + in->n_files; f++)
            if (!strcmp(f->real, real))
                return f->open ? refuse_cycle(in, f, at, e) : OK;
        if (in->n_files == JOB_MAX_FILES)
            return yaml_fail(e, at, "more than %d files in one job", JOB_MAX_FILES);
        in->files[in->n_files++] = (struct file){real, path, true};
    }
    struct file *me = in->n_files ? &in->files[in->n_files - 1] : NULL;
    code = err_up(e, parse(&root, d, path, at, e));
    if (code)
        return code;
    const size_t n_keys = sizeof top_keys / sizeof *top_keys;
    if ((code = check_version(root, e)) ||
        (code = yaml_only_keys(root, top_keys, n_keys, "a job", e)))
        return err_up(e, code);
    if ((code = read_includes(in, root, path, e)))
        return err_up(e, code);
    if ((code = add_params(d, root, e)) || (code = add_nodes(d, root, e)) ||
        (code = add_pairs(&d->refs, &d->n_refs, d, root, "refs", e)) ||
        (code = add_pairs(&d->exports, &d->n_exports, d, root, "exports", e)))
        return err_up(e, code);
    if (me)
        me->open = false;
    if (at)
        return OK; /* an included file may have a name of its own */
    d->name_at = yaml_get(root, "name");
    if (!d->name_at)
        return yaml_fail(e, root, "the job has no name: add 'name: ...'");
    return err_up(e, yaml_expect(d->name_at, YAML_SCALAR, "name", e));
}

enum err_code draft_read(struct draft *d, struct err *e)
{
    struct includer *in = arena_new(d->arena, struct includer);
    in->d = d;
    return err_up(e, read_file(in, d->path, NULL, e));
}
