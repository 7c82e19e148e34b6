#include "engine/cluster/profile.h"

#include "base/os.h"
#include "base/text/yaml.h"

#include <stdlib.h>

enum { MAX_BYTES = 1 << 16, OPTIONS_MAX = 64 };

struct field {
    const char *name;
    const char **text;
    uint64_t *number;
    double scale;
};

static enum err_code read_field(const struct field *f, const struct yaml_node *value, struct err *e)
{
    char *end;
    enum err_code code = yaml_expect(value, YAML_SCALAR, f->name, e);
    if (code)
        return err_up(e, code);
    if (f->text) {
        *f->text = value->text;
        return OK;
    }
    double number = strtod(value->text, &end);
    if (*end || end == value->text || !(number > 0 && number <= 1e6))
        return yaml_fail(e, value, "'%s' must be between 0 and 1000000, not '%.40s'", f->name,
                         value->text);
    *f->number = (uint64_t)(number * f->scale);
    return OK;
}

static enum err_code read_options(struct profile *out, struct arena *a,
                                  const struct yaml_node *list, struct err *e)
{
    enum err_code code = list ? yaml_expect(list, YAML_SEQUENCE, "options", e) : OK;
    const char **options = arena_array(a, const char *, OPTIONS_MAX + 1);
    for (size_t i = 0; list && !code && i < list->n && i < OPTIONS_MAX; i++) {
        code = yaml_expect(list->items[i], YAML_SCALAR, "an option of sbatch", e);
        options[i] = list->items[i]->text;
    }
    out->options = options;
    return err_up(e, code);
}

static enum err_code read_all(struct profile *out, struct arena *a, const struct yaml_node *root,
                              struct err *e)
{
    const struct field fields[] = {{"partition", &out->partition},
                                   {"gpu-partition", &out->gpu_partition},
                                   {"cpus", &out->resources.cpus},
                                   {"memory", &out->resources.memory},
                                   {"time", &out->resources.time},
                                   {"spool", &out->spool},
                                   {"program", &out->program},
                                   {"block", NULL, &out->block, 1},
                                   {"attempts", NULL, &out->attempts, 1},
                                   {"most", NULL, &out->most, 1},
                                   {"poll", NULL, &out->poll_ms, 1000}};
    enum { N = sizeof fields / sizeof *fields };
    const char *names[N + 1] = {"options"};
    for (size_t i = 0; i < N; i++)
        names[i + 1] = fields[i].name;
    enum err_code code = yaml_expect(root, YAML_MAPPING, "a profile of Slurm", e);
    if (!code)
        code = yaml_only_keys(root, names, N + 1, "a profile of Slurm", e);
    for (size_t i = 0; !code && i < N; i++) {
        const struct yaml_node *value = yaml_get(root, fields[i].name);
        if (value)
            code = read_field(&fields[i], value, e);
    }
    return err_up(e, code ? code : read_options(out, a, yaml_get(root, "options"), e));
}

enum err_code profile_load(struct profile *out, struct arena *a, const struct job *job,
                           struct err *e)
{
    const char *named = getenv("EQLOOM_SLURM");
    const char *path = named && *named ? named : os_join(a, job->dir, "slurm.yaml");
    const struct yaml_node *root = NULL;
    struct source_text *source = arena_new(a, struct source_text);
    struct span text;
    *out = (struct profile){.attempts = 5, .most = 1000, .poll_ms = 2000};
    out->options = arena_array(a, const char *, 1);
    enum err_code code = os_read_file(&text, a, path, MAX_BYTES, e);
    if (code == ERR_NOTFOUND && path != named)
        return OK;
    if (code)
        return err_up(e, code);
    *source = (struct source_text){.name = path, .text = (const char *)text.data, .len = text.len};
    code = yaml_parse(&root, a, source, e);
    return err_up(e, code || !root ? code : read_all(out, a, root, e));
}
