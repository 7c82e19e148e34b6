/* eqloom table prints the figures of a job's evaluations: a row for each variant, with parameters
 * of the node itself or of nodes above it. Only evaluations that are up to date have rows. */
#include "engine/cli/cmd/cmd_job.h"

#include "engine/cli/console/figure_table.h"
#include "report.pb-c.h"

#include <string.h>

enum { NOT_MADE_SHOWN = 3 };

struct tabulation {
    struct cli *c;
    const struct job *job;
    const struct run_result *result;
    const uint32_t *rows; /* nodes, in the order of the job */
    const Eqloom__Report **reports;
    size_t n_rows;
    struct figure_table f; /* the figures are the metrics */
};

/* ---- rows ---- */

static bool makes_report(const struct node *node)
{
    const struct op_port *first = &node->op->outputs[0];
    if (first->kind != KIND_REPORT || first->cardinality != OP_ONE)
        return false;
    for (const struct op_port *in = node->op->inputs; in && in->role; in++)
        if (in->kind == KIND_REPORT)
            return false; /* a report of reports */
    return true;
}

static bool is_made(const struct node_result *r)
{
    return (r->state == NODE_CACHED || r->state == NODE_REUSED) && r->outputs &&
           !digest_is_zero(&r->outputs[0]);
}

/* Reports why the evaluation has no row: the first node above that would run, and its reason. */
static void say_missing(const struct tabulation *t, uint32_t i)
{
    const struct node_result *nodes = t->result->nodes;
    const bool *above = cmd_nodes_above(t->c->arena, t->job, i);
    uint32_t k = 0;
    while (k < i && (!above[k] || (nodes[k].state != NODE_RAN && nodes[k].state != NODE_FAILED)))
        k++;
    fprintf(t->c->narration, "%s is not made, or out of date: ", t->job->nodes[i].name);
    if (k < i)
        fprintf(t->c->narration, "%s: ", t->job->nodes[k].name);
    fprintf(t->c->narration, "%s\n", nodes[k].why ? nodes[k].why : "it may have changed");
}

static enum err_code find_rows(struct tabulation *t, const struct plan_store *p,
                               const uint32_t *targets, size_t n_targets, struct err *e)
{
    struct arena *a = t->c->arena;
    const struct job *job = t->job;
    uint32_t *rows = arena_array(a, uint32_t, job->n_nodes);
    size_t missing = 0, n = targets ? n_targets : job->n_nodes;
    t->reports = arena_array(a, const Eqloom__Report *, job->n_nodes);
    for (size_t k = 0; k < n; k++) {
        uint32_t i = targets ? targets[k] : (uint32_t)k;
        const Eqloom__Report *m;
        if (!makes_report(&job->nodes[i])) {
            if (targets)
                return err_fail(e, ERR_INPUT, "node '%s' is not an evaluation", job->nodes[i].name);
            continue;
        }
        if (!is_made(&t->result->nodes[i])) {
            if (missing++ < NOT_MADE_SHOWN)
                say_missing(t, i);
            continue;
        }
        enum err_code code =
            store_get_message(&m, p->store, &t->result->nodes[i].outputs[0], KIND_REPORT, a, e);
        if (code)
            return err_up(e, code);
        t->reports[t->n_rows] = m;
        rows[t->n_rows++] = i;
    }
    t->rows = rows;
    if (missing > NOT_MADE_SHOWN)
        fprintf(t->c->narration, "... and %zu more\n", missing - NOT_MADE_SHOWN);
    if (t->n_rows)
        return OK;
    enum err_code code =
        err_fail(e, ERR_INPUT,
                 missing ? "no evaluation of job '%s' is up to date" : "job '%s' has no evaluation",
                 job->name);
    if (missing)
        err_hint(e, "'eqloom run %s' makes them", t->c->arguments[0]);
    return code;
}

/* ---- columns ---- */

/* Adds a name to a list unless the list has it. */
static void add_name(const char **names, size_t *n, const char *name)
{
    for (size_t i = 0; i < *n; i++)
        if (!strcmp(names[i], name))
            return;
    names[(*n)++] = name;
}

static const double *value_of(const Eqloom__Report *r, const char *name)
{
    for (size_t i = 0; i < r->n_values; i++)
        if (!strcmp(r->values[i]->name, name))
            return &r->values[i]->value;
    return NULL;
}

static enum err_code find_metrics(struct tabulation *t, struct err *e)
{
    size_t most = 1, n = 0;
    for (size_t i = 0; i < t->n_rows; i++)
        most += t->reports[i]->n_values;
    const char **all = arena_array(t->c->arena, const char *, most);
    for (size_t i = 0; i < t->n_rows; i++)
        for (size_t k = 0; k < t->reports[i]->n_values; k++)
            add_name(all, &n, t->reports[i]->values[k]->name);
    struct figure_table *f = &t->f;
    f->n_figures = cli_values(&f->figures, t->c, "metric");
    const char *best = cli_value(t->c, "best");
    if (!f->n_figures) {
        f->figures = all;
        f->n_figures = n;
    } else if (best && *best) { /* also shown */
        const char **shown = arena_array(t->c->arena, const char *, f->n_figures + 1);
        memcpy(shown, f->figures, f->n_figures * sizeof *shown);
        add_name(shown, &f->n_figures, best);
        f->figures = shown;
    }
    for (size_t i = 0; i <= f->n_figures; i++) {
        const char *name = i < f->n_figures ? f->figures[i] : best;
        size_t k = 0;
        while (name && k < n && strcmp(all[k], name))
            k++;
        if (name && *name && k == n) {
            enum err_code code = err_fail(e, ERR_INPUT, "no evaluation has a figure '%.60s'", name);
            err_hint(e, "without --metric, all are shown");
            return err_suggest(code, name, all, n, e);
        }
    }
    return OK;
}

/* Returns the value of an axis in a name such as "model@pooling=mean,d_model=64"; NULL if the name
 * has no such axis. */
static const char *axis_value(struct arena *a, const char *name, const char *key)
{
    const char *at = strchr(name, '@');
    size_t n = strlen(key);
    for (; at && *at; at = strpbrk(at + 1, ","))
        if (!strncmp(at + 1, key, n) && at[1 + n] == '=')
            return arena_strndup(a, at + n + 2, strcspn(at + n + 2, ","));
    return NULL;
}

static const char *own_value(const struct node *node, const char *key)
{
    const struct op_param *params = node->op->params;
    for (size_t i = 0; params && params[i].name; i++)
        if (!strcmp(params[i].name, key))
            return node->params[i].value;
    return NULL;
}

/* A parameter is written KEY or NODE.KEY. *value is "" if the row lacks it. ERR_INPUT if nodes with
 * different names have it with different values. */
static enum err_code param_of(const char **value, const struct tabulation *t, uint32_t row,
                              const char *name, struct err *e)
{
    struct arena *a = t->c->arena;
    const struct job *job = t->job;
    const struct node *from = NULL;
    const char *dot = strchr(name, '.');
    *value = dot ? NULL : axis_value(a, job->nodes[row].name, name);
    if (*value)
        return OK;
    const bool *above = cmd_nodes_above(a, job, row);
    for (uint32_t i = row + 1; i-- > 0;) {
        const struct node *node = &job->nodes[i];
        size_t n = strlen(node->base);
        bool named = dot && !strncmp(name, node->base, n) && name[n] == '.';
        const char *here =
            above[i] && (named || !dot) ? own_value(node, named ? name + n + 1 : name) : NULL;
        if (here && from && strcmp(here, *value))
            return err_fail(e, ERR_INPUT, "'%s' is a parameter of '%s' and of '%s': write %s.%s",
                            name, from->base, node->base, node->base, name);
        if (!here)
            continue;
        from = node;
        *value = here;
    }
    *value = *value ? *value : "";
    return OK;
}

/* Without --param, selects the axes in which rows differ. */
static void find_axes(struct tabulation *t)
{
    struct arena *a = t->c->arena;
    size_t n = 0, most = 1;
    for (size_t i = 0; i < t->n_rows; i++)
        for (const char *s = t->job->nodes[t->rows[i]].name; *s; s++)
            most += *s == '=';
    const char **axes = arena_array(a, const char *, most);
    for (size_t i = 0; i < t->n_rows; i++)
        for (const char *at = strchr(t->job->nodes[t->rows[i]].name, '@'); at && *at;
             at = strpbrk(at + 1, ","))
            add_name(axes, &n, arena_strndup(a, at + 1, strcspn(at + 1, "=")));
    t->f.params = axes;
    t->f.n_params = n;
}

static enum err_code fill_param(struct tabulation *t, size_t k, struct err *e)
{
    const char *name = t->f.params[k];
    bool found = false;
    for (size_t i = 0; i < t->n_rows; i++) {
        const char **value = &t->f.rows[i].params[k];
        enum err_code code = param_of(value, t, t->rows[i], name, e);
        if (code)
            return err_up(e, code);
        found |= **value != 0;
    }
    if (found)
        return OK;
    enum err_code code = err_fail(e, ERR_INPUT, "no node above has a parameter '%.60s'", name);
    err_hint(e, "write KEY, or NODE.KEY for that of a certain node");
    return code;
}

static enum err_code fill_rows(struct tabulation *t, struct err *e)
{
    struct arena *a = t->c->arena;
    struct figure_table *f = &t->f;
    enum err_code code = OK;
    f->arena = a;
    f->n_rows = t->n_rows;
    f->rows = arena_array(a, struct figure_row, t->n_rows);
    f->sense = arena_array(a, int, f->n_figures + 1);
    for (size_t k = 0; k < f->n_figures; k++)
        f->sense[k] = op_value_sense(f->figures[k]);
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct node *node = &t->job->nodes[t->rows[i]];
        struct figure_row *row = &f->rows[i];
        *row = (struct figure_row){node->name, node->base,
                                   arena_array(a, const char *, f->n_params + 1),
                                   arena_array(a, const double *, f->n_figures + 1)};
        for (size_t k = 0; k < f->n_figures; k++)
            row->values[k] = value_of(t->reports[i], f->figures[k]);
    }
    for (size_t k = 0; !code && k < f->n_params; k++)
        code = fill_param(t, k, e);
    return err_up(e, code);
}

/* ---- the best ---- */

/* Keeps the best row by --best=METRIC, or by the first --metric; with --param, the best of all rows
 * that agree in these parameters. */
static enum err_code keep_best(struct figure_table *f, const struct cli *c, struct err *e)
{
    const char *name = cli_value(c, "best");
    size_t at = 0, kept = 0, shown = f->n_params;
    if (!*name && !cli_flag(c, "metric"))
        return err_fail(e, ERR_INPUT, "--best needs a figure: --best=METRIC");
    while (*name && strcmp(f->figures[at], name)) /* find_metrics has added it */
        at++;
    if (!f->sense[at])
        return err_fail(e, ERR_INPUT,
                        "neither higher nor lower values of '%s' are better: --best needs a "
                        "score",
                        f->figures[at]);
    f->n_params = cli_flag(c, "param") ? shown : 0;
    for (size_t i = 0; i < f->n_rows; i++) {
        const struct figure_row *row = &f->rows[i];
        size_t k = 0;
        if (!row->values[at])
            continue;
        while (k < kept && !figure_rows_alike(f, &f->rows[k], row))
            k++;
        if (k == kept || f->sense[at] * (*row->values[at] - *f->rows[k].values[at]) > 0)
            f->rows[k] = *row;
        kept += k == kept;
    }
    f->n_rows = kept;
    f->n_params = shown;
    f->by_variant = true;
    return OK;
}

enum err_code cli_table(int *status, struct cli *c, struct err *e)
{
    struct tabulation t = {.c = c};
    struct job *job = NULL;
    struct run_options options = {.keep_going = true};
    struct run_result result = {0};
    struct plan_store p = {0};
    figure_writer *write;
    enum err_code code = figure_writer_find(&write, cli_value(c, "format"), c->json, e);
    if (!code)
        code = cmd_load_job(&job, c, e);
    if (!code)
        code = cmd_targets(&options.targets, &options.n_targets, c, job, e);
    if (!code)
        code = plan_store_open(&p, c, c->arguments[0], e);
    if (!code)
        code = job_plan(&result, c->arena, job, p.store, &options, e);
    t.job = job;
    t.result = &result;
    if (!code)
        code = find_rows(&t, &p, options.targets, options.n_targets, e);
    if (!code)
        code = find_metrics(&t, e);
    if (!code)
        t.f.n_params = cli_values(&t.f.params, c, "param");
    if (!code && !t.f.n_params)
        find_axes(&t);
    if (!code)
        code = fill_rows(&t, e);
    if (!code && cli_flag(c, "best"))
        code = keep_best(&t.f, c, e);
    if (!code)
        write(c->out, &t.f);
    plan_store_close(&p);
    return err_up(e, code);
}
