/* job_load: reads a job file in the stages of job_draft.h. Also finds nodes by name, for the
 * command line. */
#include "engine/job/job_draft.h"

#include "base/os.h"

#include <string.h>

enum err_code job_load(struct job **out, struct arena *a, const char *path,
                       const struct job_options *options, struct err *e)
{
    static const struct job_options none;
    struct draft *d = arena_new(a, struct draft);
    d->arena = a;
    d->options = options ? options : &none;
    d->path = arena_strdup(a, path);
    d->dir = os_dirname(a, path);
    char *real_dir;
    if (os_realpath(&real_dir, a, d->dir, NULL))
        return err_fail(e, ERR_INPUT, "there is no job file '%.300s'", path);
    d->real_dir = real_dir;
    enum err_code code = err_up(e, draft_read(d, e));
    if (code)
        return code;
    if ((code = draft_substitute(d, e)))
        return err_up(e, code);
    d->name = d->name_at->text;
    if (!draft_is_name(d->name, "."))
        return yaml_fail(e, d->name_at,
                         "'%.100s' cannot be a job's name: use letters, digits, '.', '_' and '-'",
                         d->name);
    if (!strcmp(d->name, "tag"))
        return yaml_fail(e, d->name_at,
                         "no job can be named 'tag': " JOB_TAGS "... is reserved for 'eqloom tag'");
    if (!d->sections[DRAFT_NODES].n)
        return yaml_fail(e, d->name_at, "job '%s' has no nodes", d->name);
    if ((code = draft_expand(d, e)))
        return err_up(e, code);
    return err_up(e, draft_wire(out, d, e));
}

static enum err_code refuse_name(struct arena *a, const struct job *job, const char *name,
                                 struct err *e)
{
    const char **names = arena_array(a, const char *, 2 * job->n_nodes);
    for (size_t i = 0; i < job->n_nodes; i++) {
        names[2 * i] = job->nodes[i].base;
        names[2 * i + 1] = job->nodes[i].name;
    }
    return err_suggest(err_fail(e, ERR_INPUT, "job '%s' has no node '%.100s'", job->name, name),
                       name, names, 2 * job->n_nodes, e);
}

/* Returns whether the comma-separated `list` contains `item`. */
static bool has_item(const char *list, const char *item, size_t n)
{
    for (; *list; list += *list == ',') {
        size_t m = strcspn(list, ",");
        if (m == n && !memcmp(list, item, n))
            return true;
        list += m;
    }
    return false;
}

bool job_name_fits(const char *name, const char *wanted)
{
    size_t n = strcspn(name, "@");
    if (strcspn(wanted, "@") != n || memcmp(name, wanted, n))
        return false;
    const char *have = name[n] ? name + n + 1 : "";
    for (wanted += n; *wanted;) {
        size_t m = strcspn(++wanted, ",");
        if (!has_item(have, wanted, m))
            return false;
        wanted += m;
    }
    return true;
}

enum err_code job_find(uint32_t **nodes, size_t *n, struct arena *a, const struct job *job,
                       const char *name, struct err *e)
{
    *nodes = arena_array(a, uint32_t, job->n_nodes);
    *n = 0;
    for (uint32_t i = 0; i < job->n_nodes; i++)
        if (job_name_fits(job->nodes[i].name, name))
            (*nodes)[(*n)++] = i;
    const char *dot = strrchr(name, '.');
    if (*n || !dot)
        return *n ? OK : err_up(e, refuse_name(a, job, name, e));
    char *stem = arena_strndup(a, name, (size_t)(dot - name));
    for (uint32_t i = 0; i < job->n_nodes; i++)
        for (const struct op_port *p = job->nodes[i].op->outputs; p->role; p++)
            if (!strcmp(p->role, dot + 1) && job_name_fits(job->nodes[i].name, stem))
                (*nodes)[(*n)++] = i;
    return *n ? OK : err_up(e, refuse_name(a, job, name, e));
}
