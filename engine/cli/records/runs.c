/* Runs; see runs.h. */
#include "engine/cli/records/runs.h"

#include "base/os.h"
#include "schemas/canonical.h"

#include <stdlib.h>
#include <string.h>

struct loading {
    struct run_list *list;
    struct arena *arena, scratch;
};

static void sum_up(struct run_summary *out, struct arena *a, const char *name,
                   const Eqloom__Run *run)
{
    *out = (struct run_summary){.name = arena_strdup(a, name),
                                .job = arena_strdup(a, run->job),
                                .job_path = arena_strdup(a, run->job_path),
                                .state = arena_strdup(a, run->state),
                                .started_ns = run->started_ns,
                                .nodes = run->n_nodes};
    int64_t end = run->finished_ns ? run->finished_ns : os_wall_ns();
    out->wall_s = end > run->started_ns ? (double)(end - run->started_ns) / 1e9 : 0;
    for (size_t i = 0; i < run->n_nodes; i++) {
        const Eqloom__RunNode *n = run->nodes[i];
        out->nodes_ran += n->ran || !strcmp(n->state, "ran");
        out->elements += n->elements;
        out->ran += n->ran;
        out->cached += n->cached;
        out->reused += n->reused;
        out->failed += n->failed ? n->failed : !strcmp(n->state, "failed");
    }
}

static enum err_code load_run(void *arg, const char *name, struct span value, struct err *e)
{
    struct loading *l = arg;
    const Eqloom__Run *m;
    if (canonical_unpack(&m, &l->scratch, &eqloom__run__descriptor, value, NULL))
        return OK; /* damaged: fsck reports it */
    struct run_list *list = l->list;
    list->runs = arena_grow(l->arena, list->runs, list->n, &list->cap, sizeof *list->runs);
    sum_up(&list->runs[list->n++], l->arena, name, m);
    arena_reset(&l->scratch);
    return OK;
}

static int compare_runs(const void *a, const void *b)
{
    const struct run_summary *x = a, *y = b;
    if (x->sorted_ns != y->sorted_ns)
        return x->sorted_ns < y->sorted_ns ? 1 : -1;
    return strcmp(y->name, x->name);
}

/* Sets sorted_ns. Runs are grouped by job, newest first. */
static void set_order(struct run_list *l)
{
    for (size_t i = l->n; i--;) {
        struct run_summary *r = &l->runs[i];
        const struct run_summary *earlier = i + 1 < l->n ? r + 1 : NULL;
        r->sorted_ns = r->started_ns;
        if (earlier && !strcmp(earlier->job, r->job) && earlier->sorted_ns > r->sorted_ns)
            r->sorted_ns = earlier->sorted_ns;
    }
}

/* Returns the only run that may be running: the one that started nearest to now, whatever the clock
 * was before. */
static const struct run_summary *nearest_run(const struct run_list *l)
{
    const struct run_summary *nearest = NULL;
    int64_t now = os_wall_ns(), least = INT64_MAX;
    for (size_t i = 0; i < l->n; i++) {
        int64_t distance = now - l->runs[i].started_ns;
        distance = distance < 0 ? -distance : distance;
        if (distance < least) {
            least = distance;
            nearest = &l->runs[i];
        }
    }
    return nearest;
}

enum err_code runs_load(struct run_list *out, struct arena *a, struct store *s, const char *job,
                        struct err *e)
{
    *out = (struct run_list){0};
    struct loading l = {.list = out, .arena = a};
    enum err_code code = store_each_run(s, job, load_run, &l, e);
    arena_free(&l.scratch);
    if (code)
        return err_up(e, code);
    set_order(out);
    if (out->n)
        qsort(out->runs, out->n, sizeof *out->runs, compare_runs);
    const struct run_summary *alive = store_has_writer(s) ? nearest_run(out) : NULL;
    for (size_t i = 0; i < out->n; i++)
        if (!strcmp(out->runs[i].state, "running") && &out->runs[i] != alive) {
            out->runs[i].state = "killed";
            out->runs[i].wall_s = 0; /* unknown */
        }
    return OK;
}

static enum err_code refuse_run(struct cli *c, const char *text, struct err *e)
{
    struct run_list all;
    enum err_code code = runs_load(&all, c->arena, c->store, NULL, e);
    if (code)
        return err_up(e, code);
    const char **names = arena_array(c->arena, const char *, 2 * all.n);
    for (size_t i = 0; i < all.n; i++) {
        names[2 * i] = all.runs[i].job;
        names[2 * i + 1] = all.runs[i].name;
    }
    code =
        err_fail(e, ERR_INPUT, "no run is called '%.100s', and no job of this name was run", text);
    err_hint(e, "'eqloom log' lists runs");
    return err_suggest(code, text, names, 2 * all.n, e);
}

/* Returns "quickstart/000012" for "quickstart/12". */
static const char *full_name(struct arena *a, const char *text)
{
    const char *slash = strrchr(text, '/');
    char *end;
    if (!slash || slash == text || slash[1] < '0' || slash[1] > '9')
        return NULL;
    unsigned long number = strtoul(slash + 1, &end, 10);
    return *end ? NULL : arena_printf(a, "%.*s/%06lu", (int)(slash - text), text, number);
}

bool run_is_name(struct cli *c, const char *text)
{
    struct span value;
    const char *name = full_name(c->arena, text);
    return name && !store_run(&value, c->store, name, c->arena, NULL);
}

struct newest {
    struct arena *arena;
    const Eqloom__Run *run;
    const char *name;
};

static enum err_code take_newest(void *arg, const char *name, struct span value, struct err *e)
{
    struct newest *newest = arg;
    const Eqloom__Run *m;
    if (newest->run)
        return OK;
    enum err_code code = canonical_unpack(&m, newest->arena, &eqloom__run__descriptor, value, e);
    if (code)
        return err_up(e, code);
    newest->run = m;
    newest->name = arena_strdup(newest->arena, name);
    return OK;
}

enum err_code run_last(const Eqloom__Run **out, const char **name, struct arena *a, struct store *s,
                       const char *job, struct err *e)
{
    struct newest newest = {.arena = a};
    enum err_code code = store_each_run(s, job, take_newest, &newest, e);
    *out = newest.run;
    *name = newest.name;
    return err_up(e, code);
}

enum err_code run_find(const Eqloom__Run **out, const char **name, struct cli *c, const char *text,
                       struct err *e)
{
    struct span value;
    const Eqloom__Run *m = NULL;
    enum err_code code = OK;
    *name = full_name(c->arena, text);
    *out = NULL;
    if (!*name) {
        code = run_last(out, name, c->arena, c->store, text, e);
        return err_up(e, code || *out ? code : refuse_run(c, text, e));
    }
    code = store_run(&value, c->store, *name, c->arena, e);
    if (code == ERR_NOTFOUND)
        return err_up(e, refuse_run(c, text, e));
    if (!code)
        code = canonical_unpack(&m, c->arena, &eqloom__run__descriptor, value, e);
    *out = m;
    return err_up(e, code);
}
