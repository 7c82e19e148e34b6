#include "engine/cluster/slurm.h"

#include "base/os.h"
#include "base/process/process.h"
#include "base/text/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LIMIT_MS = 60000, CANCEL_AT_ONCE = 500, OUTPUT_BYTES = 1 << 28 };

/* Runs a program and returns its standard output in *out. */
static enum err_code run(char **out, struct arena *a, const char *const *argv, struct err *e)
{
    struct process_end end;
    struct span output;
    int fd = memfd_create("slurm", MFD_CLOEXEC);
    struct process p = {.argv = argv, .in = -1, .out = fd, .limit_ms = LIMIT_MS};
    enum err_code code =
        fd < 0 ? err_fail(e, ERR_IO, "cannot read Slurm's output: %s", strerror(errno))
               : process_run(&end, a, &p, e);
    if (!code && end.status)
        code =
            err_fail(e, ERR_IO, "%s ended with status %d: %.300s", argv[0], end.status, end.errors);
    if (!code)
        code = os_read_file(&output, a, arena_printf(a, "/proc/self/fd/%d", fd), OUTPUT_BYTES, e);
    if (!code)
        *out = (char *)output.data;
    if (fd >= 0)
        close(fd);
    return err_up(e, code);
}

/* Returns whether a job in this state never leaves it. */
static bool is_over(const char *state)
{
    static const char *const over[] = {"COMPLETED",     "FAILED",    "CANCELLED", "TIMEOUT",
                                       "NODE_FAIL",     "PREEMPTED", "BOOT_FAIL", "DEADLINE",
                                       "OUT_OF_MEMORY", "REVOKED"};
    for (size_t i = 0; i < sizeof over / sizeof *over; i++)
        if (!strcmp(state, over[i]))
            return true;
    return false;
}

enum err_code slurm_list(struct slurm_job **jobs, size_t *n, struct arena *a, const char *prefix,
                         struct err *e)
{
    static const char *const argv[] = {"squeue", "--me",     "--noheader",  "--array", "--states",
                                       "all",    "--format", "%i|%T|%r|%j", NULL};
    char *text;
    enum err_code code = run(&text, a, argv, e);
    *n = 0;
    if (code)
        return err_up(e, code);
    size_t lines = 1;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    *jobs = arena_array(a, struct slurm_job, lines);
    for (char *line = text; line && *line;) {
        char *row = strsep(&line, "\n");
        struct slurm_job job = {.id = strsep(&row, "|"), .state = strsep(&row, "|")};
        job.reason = strsep(&row, "|");
        job.name = row;
        if (!row || strncmp(row, prefix, strlen(prefix)))
            continue;
        job.over = is_over(job.state);
        (*jobs)[(*n)++] = job;
    }
    return OK;
}

enum err_code slurm_submit(char **id, struct arena *a, const char *const *argv, struct err *e)
{
    enum err_code code = run(id, a, argv, e);
    if (!code) /* "ID", or "ID;CLUSTER" */
        (*id)[strspn(*id, "0123456789")] = 0;
    if (!code && !**id)
        code = err_fail(e, ERR_IO, "sbatch did not print a job id");
    return err_up(e, code);
}

enum err_code slurm_cancel(const char *const *ids, size_t n, struct err *e)
{
    enum err_code code = OK;
    for (size_t from = 0; from < n && !code; from += CANCEL_AT_ONCE) {
        struct arena a = {0};
        const char *argv[CANCEL_AT_ONCE + 3] = {"scancel", "--quiet"};
        char *output;
        for (size_t i = from; i < n && i < from + CANCEL_AT_ONCE; i++)
            argv[2 + i - from] = ids[i];
        code = run(&output, &a, argv, e);
        arena_free(&a);
    }
    return err_up(e, code);
}

/* ---- the profile ---- */

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
