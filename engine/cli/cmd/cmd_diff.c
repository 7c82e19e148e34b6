/* eqloom diff compares two records, or two runs: their nodes side by side, and the parameters,
 * outputs and report values that differ. */
#include "engine/cli/cmd/cmd.h"

#include "base/buf.h"
#include "engine/cache/label.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/records/diff.h"
#include "engine/cli/records/resolve.h"
#include "engine/cli/records/runs.h"
#include "engine/export/reflect.h"
#include "engine/session/history.h"

#include <string.h>

/* Returns "steps: 20 -> 1000; op: train -> fit", or "" unless both keys are given. */
static char *differing_params(struct arena *a, const Eqloom__ActionKey *x,
                              const Eqloom__ActionKey *y)
{
    struct buf b = {0};
    if (x && y && strcmp(x->op, y->op))
        buf_printf(&b, "op: %s -> %s", x->op, y->op);
    else if (x && y && x->version != y->version)
        buf_printf(&b, "version of %s: %u -> %u", x->op, x->version, y->version);
    for (size_t i = 0; x && y && i < x->n_params; i++)
        for (size_t k = 0; k < y->n_params; k++) {
            const Eqloom__KeyParam *p = x->params[i], *q = y->params[k];
            if (!strcmp(p->name, q->name) && strcmp(p->value, q->value))
                buf_printf(&b, "%s%s: %.40s -> %.40s", b.len ? "; " : "", p->name, p->value,
                           q->value);
        }
    char *text = arena_strdup(a, b.data ? b.data : "");
    buf_free(&b);
    return text;
}

static bool same_outputs(const Eqloom__RunNode *x, const Eqloom__RunNode *y)
{
    if (x->n_outputs != y->n_outputs)
        return false;
    for (size_t i = 0; i < x->n_outputs; i++) {
        ProtobufCBinaryData p = x->outputs[i]->output_ids, q = y->outputs[i]->output_ids;
        if (!span_equal(span_of(p.data, p.len), span_of(q.data, q.len)))
            return false;
    }
    return true;
}

/* Returns NULL if there is no output. */
static const struct digest *first_output(const Eqloom__RunNode *n)
{
    bool made = n && n->n_outputs && n->outputs[0]->output_ids.len == DIGEST_SIZE;
    return made ? (const struct digest *)n->outputs[0]->output_ids.data : NULL;
}

static const char *id_text(struct arena *a, const Eqloom__RunNode *n)
{
    char hex[DIGEST_HEX];
    return first_output(n) ? arena_printf(a, "%.12s", digest_hex(hex, first_output(n))) : "-";
}

static const char *verdict_of(const Eqloom__RunNode *x, const Eqloom__RunNode *y)
{
    if (!x || !y)
        return x ? "only before" : "only after";
    if (!x->n_outputs || !y->n_outputs)
        return !x->n_outputs && !y->n_outputs ? "not made"
               : x->n_outputs                 ? "only before"
                                              : "only after";
    return same_outputs(x, y) ? "same" : "differs";
}

static const char *seconds(struct arena *a, const Eqloom__RunNode *n)
{
    return n ? arena_printf(a, "%.2f", (double)n->wall_ns / 1e9) : "-";
}

static void add_node(struct diff *d, struct table *t, const Eqloom__RunNode *x,
                     const Eqloom__RunNode *y)
{
    struct arena *a = d->c->arena;
    const Eqloom__RunNode *n = x ? x : y;
    const char *verdict = verdict_of(x, y);
    const char *params = x && y ? differing_params(a, x->key, y->key) : "";
    const struct digest *p = first_output(x), *q = first_output(y);
    size_t added = 0, removed = 0;
    const char *elements = "-";
    if (p && q && !digest_equal(p, q) && diff_count(&added, &removed, d->c, p, q))
        elements = arena_printf(a, "+%zu -%zu", added, removed);
    d->differ = d->differ || (strcmp(verdict, "same") && strcmp(verdict, "not made"));
    if (d->c->json)
        reflect_line(d->c->out,
                     "event:s node:s verdict:s before:s after:s params:s elements_before:u "
                     "elements_after:u added:u removed:u wall_s_before:f wall_s_after:f",
                     "node", n->name, verdict, id_text(a, x), id_text(a, y), params,
                     x ? x->elements : 0, y ? y->elements : 0, added, removed,
                     x ? (double)x->wall_ns / 1e9 : 0.0, y ? (double)y->wall_ns / 1e9 : 0.0);
    table_add(t, (const char *const[]){n->name, verdict, id_text(a, x), id_text(a, y), elements,
                                       seconds(a, x), seconds(a, y), params});
}

/* Prints how the values of reports differ. The table of nodes already shows whether the reports
 * do. */
static enum err_code compare_reports(struct diff *d, const Eqloom__RunNode *x,
                                     const Eqloom__RunNode *y, struct err *e)
{
    const struct digest *p = first_output(x), *q = first_output(y);
    ProtobufCMessage *m;
    if (!p || !q || digest_equal(p, q) ||
        store_get_message(&m, d->c->store, p, KIND_REPORT, d->c->arena, NULL) ||
        store_get_message(&m, d->c->store, q, KIND_REPORT, d->c->arena, NULL))
        return OK; /* not a report, or removed by gc */
    if (!d->c->json)
        fprintf(d->c->out, "\n%s\n", x->name);
    return err_up(e, diff_records(d, x->name, p, q, e));
}

static enum err_code diff_runs(struct diff *d, const char *name_before, const Eqloom__Run *before,
                               const char *name_after, const Eqloom__Run *after, struct err *e)
{
    struct cli *c = d->c;
    struct table *t =
        table_new(c->arena, "node||before|after|elements|s before|s after|parameters");
    for (size_t i = 0; i < before->n_nodes; i++)
        add_node(d, t, before->nodes[i], history_node(after, before->nodes[i]->name));
    for (size_t i = 0; i < after->n_nodes; i++)
        if (!history_node(before, after->nodes[i]->name))
            add_node(d, t, NULL, after->nodes[i]);
    if (!c->json) {
        fprintf(c->out, "%s (%s, %s) -> %s (%s, %s)\n", name_before, before->state,
                label_time(c->arena, before->started_ns), name_after, after->state,
                label_time(c->arena, after->started_ns));
        table_print(c->out, t);
    }
    enum err_code code = OK;
    for (size_t i = 0; !code && i < before->n_nodes; i++)
        code = compare_reports(d, before->nodes[i], history_node(after, before->nodes[i]->name), e);
    return err_up(e, code);
}

/* ---- the command ---- */

static void print_summary(struct diff *d, const char *what)
{
    if (d->c->json)
        reflect_line(d->c->out, "event:s same:b", "summary", !d->differ);
    else if (!d->differ)
        fprintf(d->c->out, "the same%s\n", what);
}

static enum err_code compare_runs(struct diff *d, struct err *e)
{
    const Eqloom__Run *runs[2];
    const char *names[2];
    enum err_code code = OK;
    for (size_t i = 0; i < 2 && !code; i++)
        code = run_find(&runs[i], &names[i], d->c, d->c->arguments[i], e);
    if (!code)
        code = diff_runs(d, names[0], runs[0], names[1], runs[1], e);
    if (!code)
        print_summary(d, ": all outputs of all nodes");
    return err_up(e, code);
}

static enum err_code compare_records(struct diff *d, struct err *e)
{
    struct resolved refs[2];
    enum err_code code = OK;
    for (size_t i = 0; i < 2 && !code; i++)
        code = resolve(&refs[i], d->c, d->c->arguments[i], e);
    if (!code && !digest_equal(&refs[0].id, &refs[1].id))
        code = diff_records(d, "", &refs[0].id, &refs[1].id, e);
    if (!code)
        print_summary(d, "");
    return err_up(e, code);
}

enum err_code cli_diff(int *status, struct cli *c, struct err *e)
{
    struct diff d = {.c = c};
    enum err_code code = cli_number(&d.limit, c, "limit", 20, 0, 1 << 30, e);
    if (!code && (run_is_name(c, c->arguments[0]) || run_is_name(c, c->arguments[1])))
        code = compare_runs(&d, e);
    else if (!code)
        code = compare_records(&d, e);
    if (!code && d.differ)
        *status = CLI_NEGATIVE;
    return err_up(e, code);
}
