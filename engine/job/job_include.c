/* Reads a job file and the files that it includes, depth first, into one draft. The entries of an
 * included file come first. A file that is included twice is read once. Duplicate names and cycles
 * of files are errors. */
#include "engine/job/job_draft.h"

#include "base/io/text_file.h"
#include "base/os.h"
#include "base/text/file_kind.h"

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

static const char *const top_keys[] = {"eqloom", "name",    "params", "include", "nodes",
                                       "refs",   "exports", "remote", "executor"};

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
    enum err_code code = yaml_fail(e, at, "'%.200s' is outside the job's directory", path);
    err_hint(e, "--allow-outside permits it");
    return code;
}

static enum err_code check_version(const struct yaml_node *root, struct err *e)
{
    const struct yaml_node *version = yaml_get(root, "eqloom");
    if (!version)
        return file_kind_hint(yaml_fail(e, root, "the file lacks 'eqloom: 1': not a job file?"),
                              FILE_JOB, root->source, e);
    if (version->type == YAML_SCALAR && !strcmp(version->text, "1"))
        return OK;
    return yaml_fail(e, version, "unknown job format '%.40s': this eqloom reads 'eqloom: 1'",
                     version->type == YAML_SCALAR ? version->text : yaml_type_name(version->type));
}

/* For each section: its key in the file, the noun for an entry, and the extra characters that names
 * may contain (NULL: names are checked where they are used). */
static const struct {
    const char *key, *what, *also;
    size_t most;
} sections[DRAFT_SECTIONS] = {
    [DRAFT_PARAMS] = {"params", "parameter", "", JOB_MAX_PARAMS},
    [DRAFT_NODES] = {"nodes", "node", "", JOB_MAX_NODES},
    [DRAFT_REFS] = {"refs", "ref", NULL, JOB_MAX_NODES},
    [DRAFT_EXPORTS] = {"exports", "export", NULL, JOB_MAX_NODES},
};

static enum err_code check_pair(enum draft_section k, const struct yaml_pair *pair, struct err *e)
{
    if (sections[k].also && !draft_is_name(pair->key->text, sections[k].also))
        return yaml_fail(e, pair->key,
                         "'%.100s' cannot be a %s's name: use letters, digits, '_' and '-'",
                         pair->key->text, sections[k].what);
    if (k == DRAFT_PARAMS && pair->value->type == YAML_MAPPING)
        return yaml_fail(e, pair->value, "a parameter must be a value or a list, not a mapping");
    return k == DRAFT_NODES ? err_up(e, yaml_expect(pair->value, YAML_MAPPING, "a node", e)) : OK;
}

/* Appends a file's entries; copies the array once per file. */
static enum err_code add_section(struct draft *d, const struct yaml_node *root,
                                 enum draft_section k, struct err *e)
{
    enum err_code code;
    struct draft_pairs *to = &d->sections[k];
    const struct yaml_node *from = yaml_get(root, sections[k].key);
    if (!from || yaml_is_null(from))
        return OK;
    if ((code = yaml_expect(from, YAML_MAPPING, sections[k].key, e)))
        return err_up(e, code);
    if (to->n + from->n > sections[k].most)
        return yaml_fail(e, from, "more than %zu %ss", sections[k].most, sections[k].what);
    struct draft_pair *items = arena_array(d->arena, struct draft_pair, to->n + from->n);
    if (to->n)
        memcpy(items, to->items, to->n * sizeof *items);
    to->items = items;
    for (size_t i = 0; i < from->n; i++) {
        const struct yaml_node *key = from->pairs[i].key;
        if ((code = check_pair(k, &from->pairs[i], e)))
            return err_up(e, code);
        for (size_t m = 0; m < to->n; m++)
            if (!strcmp(items[m].key->text, key->text))
                return yaml_fail(e, key, "%s '%.100s' is defined twice: already in %.150s",
                                 sections[k].what, key->text, items[m].key->source->name);
        items[to->n++] = (struct draft_pair){.key = key, .value = from->pairs[i].value};
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
    struct source_text *source = arena_new(d->arena, struct source_text);
    enum err_code code = text_file_read(source, d->arena, path, JOB_MAX_BYTES, e);
    if (code == ERR_NOTFOUND)
        return at ? yaml_fail(e, at, "there is no file '%.200s'", path)
                  : err_fail(e, ERR_INPUT, "there is no job file '%.300s'", path);
    if (code) {
        if (at)
            err_locate(e, at->source, at->offset);
        struct os_stat st;
        if (!os_stat(&st, path, NULL) && st.is_dir)
            err_hint(e, strstr(path, ".eqloom") ? "this is a store: 'eqloom ls' shows what it holds"
                                                : "a job is a file; 'eqloom init DIR' writes one");
        return err_up(e, code);
    }
    if ((code = yaml_parse(out, d->arena, source, e)) || !*out) {
        if (!code)
            code = err_fail_at(e, source, 0, "the file is empty");
    } else {
        code = yaml_expect(*out, YAML_MAPPING, "a job", e);
    }
    return code ? err_up(e, file_kind_hint(code, FILE_JOB, source, e)) : OK;
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
    for (enum draft_section k = 0; k < DRAFT_SECTIONS; k++)
        if ((code = add_section(d, root, k, e)))
            return err_up(e, code);
    if (me)
        me->open = false;
    if (at)
        return OK; /* the name of an included file is ignored */
    d->name_at = yaml_get(root, "name");
    if (!d->name_at)
        return yaml_fail(e, root, "the job has no name: add 'name: ...'");
    d->remote_at = yaml_get(root, "remote");
    if (d->remote_at && (code = yaml_expect(d->remote_at, YAML_SCALAR, "remote", e)))
        return err_up(e, code);
    d->executor_at = yaml_get(root, "executor");
    return err_up(e, yaml_expect(d->name_at, YAML_SCALAR, "name", e));
}

enum err_code draft_read(struct draft *d, struct err *e)
{
    struct includer *in = arena_new(d->arena, struct includer);
    in->d = d;
    return err_up(e, read_file(in, d->path, NULL, e));
}
