/* eqloom why, for nodes of a job and for records, and eqloom lineage. For a record, `why` prints
 * its kind, the op and parameters that made it, its inputs, the run, and whether the job's last run
 * still makes it. */
#include "engine/cli/cmd/cmd_job.h"

#include "base/buf.h"
#include "base/os.h"
#include "engine/cache/label.h"
#include "engine/cache/witness_counts.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/provenance/lineage.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/resolve.h"
#include "engine/cli/records/runs.h"
#include "engine/export/reflect.h"

#include <string.h>

/* ---- records ---- */

enum { INPUTS_SHOWN = 4, PARAM_SHOWN = 60 };

struct why {
    struct buf b;
    struct cli *c;
    struct lineage *l;
};

static bool is_segment(const Eqloom__ActionKey *key)
{
    return key->n_params == 1 && !strcmp(key->params[0]->name, "@segment");
}

/* A segment has one parameter, a text of several lines: writes all but the key of the previous
 * segment. */
static void put_params(struct buf *b, const Eqloom__ActionKey *key)
{
    bool segment = is_segment(key);
    for (size_t i = 0; i < key->n_params; i++) {
        const char *value = key->params[i]->value;
        const char *after = segment ? strstr(value, "\nafter=") : NULL;
        size_t n = after ? (size_t)(after - value) : strlen(value);
        size_t shown = segment || n < PARAM_SHOWN ? n : PARAM_SHOWN;
        buf_puts(b, i ? "  " : segment ? "  segment   " : "  params    ");
        if (!segment)
            buf_printf(b, "%s=", key->params[i]->name);
        for (const char *at = value; at < value + shown; at++)
            if (*at != '\n')
                buf_putc(b, *at);
            else if (at + 1 < value + shown)
                buf_puts(b, segment ? "  " : ",");
    }
    buf_puts(b, key->n_params ? "\n" : "");
}

/* "3fa9c1d2  quickstart/rules" */
static const char *shown(struct why *w, const struct digest *id)
{
    struct arena *a = w->c->arena;
    const char *name = lineage_describe(a, w->l, id).name;
    return arena_printf(a, "%s%s%s", label_short_id(a, id), *name ? "  " : "", name);
}

static void put_inputs(struct why *w, const Eqloom__ActionKey *key)
{
    for (size_t i = 0; i < key->n_inputs; i++) {
        size_t n = key->inputs[i]->input_ids.len / DIGEST_SIZE;
        const char *role = key->inputs[i]->role;
        for (size_t k = 0; k < n && k < INPUTS_SHOWN; k++) {
            const struct digest *id = lineage_id(key->inputs[i]->input_ids, k);
            buf_printf(&w->b, "  from      %s: %s\n", role, shown(w, id));
        }
        if (n > INPUTS_SHOWN)
            buf_printf(&w->b, "  from      %s: ... and %zu more\n", role, n - INPUTS_SHOWN);
    }
}

/* ---- the job's last run ---- */

/* Whether the node has the op and the parameters of the action. The parameters of a segment cannot
 * be compared with those of a node. */
static bool is_alike(const Eqloom__RunNode *node, const Eqloom__ActionKey *key)
{
    const Eqloom__ActionKey *k = node->key;
    bool alike = k && !strcmp(k->op, key->op) && (is_segment(key) || k->n_params == key->n_params);
    for (size_t i = 0; alike && !is_segment(key) && i < key->n_params; i++)
        alike = !strcmp(k->params[i]->value, key->params[i]->value);
    return alike;
}

/* Whether the record is an output of the node or an element of one. */
static bool has_output(const struct lineage *l, const Eqloom__RunNode *node,
                       const struct digest *id)
{
    size_t n;
    const struct link *links = link_find(&n, &l->members, id);
    for (size_t i = 0; i < node->n_outputs; i++) {
        if (node->outputs[i]->output_ids.len != DIGEST_SIZE)
            continue;
        const struct digest *output = lineage_id(node->outputs[i]->output_ids, 0);
        bool found = digest_equal(output, id);
        for (size_t k = 0; k < n && !found; k++)
            found = digest_equal(output, &l->collections.ids[links[k].to]);
        if (found)
            return true;
    }
    return false;
}

/* Writes the state of the record in the run: "still current: node egraphs, cached". */
static void put_nodes(struct why *w, const Eqloom__Run *run, const Eqloom__ActionKey *key,
                      const struct digest *id, bool made_then)
{
    bool segment = is_segment(key), current = false, alike = false;
    for (size_t i = 0; i < run->n_nodes; i++) {
        current = current || has_output(w->l, run->nodes[i], id);
        alike = alike || is_alike(run->nodes[i], key);
    }
    buf_puts(&w->b, made_then ? "made in this run"
                    : current ? "still current"
                    : segment ? "an earlier step of a chain"
                    : alike   ? "not current: its inputs have changed"
                              : "not current: no node has this op and these parameters");
    for (size_t i = 0; i < run->n_nodes; i++) {
        const Eqloom__RunNode *node = run->nodes[i];
        if (is_alike(node, key) && (!current || has_output(w->l, node, id)))
            buf_printf(&w->b, "; node %s: %s%s%s", node->name, node->state, *node->why ? ", " : "",
                       node->why);
    }
}

static enum err_code put_last_run(struct why *w, const Eqloom__Action *action,
                                  const struct digest *id, struct err *e)
{
    const char *slash = strrchr(action->run, '/'), *name;
    const Eqloom__Run *run;
    enum err_code code = lineage_members(w->l, e);
    if (code || !slash)
        return err_up(e, code);
    char *job = arena_strndup(w->c->arena, action->run, (size_t)(slash - action->run));
    if (run_find(&run, &name, w->c, job, NULL)) {
        buf_printf(&w->b, "  last run  no run of job %s is stored\n", job);
        return OK;
    }
    buf_printf(&w->b, "  last run  %s (%s): ", name, run->state);
    put_nodes(w, run, action->key, id, !strcmp(name, action->run));
    buf_putc(&w->b, '\n');
    return OK;
}

/* ---- the record ---- */

static enum err_code put_action(struct why *w, uint32_t act, const struct digest *id, struct err *e)
{
    const Eqloom__Action *action, *later;
    enum err_code code = lineage_action(&action, w->c->arena, w->l, act, e);
    if (code)
        return err_up(e, code);
    const Eqloom__ActionKey *key = action->key;
    buf_printf(&w->b, "  made by   op %s version %u%s%s\n", key->op, key->version,
               *key->numerics ? ", " : "", key->numerics);
    put_params(&w->b, key);
    put_inputs(w, key);
    buf_printf(&w->b, "  made      in run %s, %s, at a cost of ", action->run,
               label_time(w->c->arena, action->finished_ns));
    label_put_duration(&w->b, action->cost_ns);
    buf_putc(&w->b, '\n');
    if (action->foreign)
        buf_puts(&w->b, "  claimed   by a pack; 'run --check' computes it here\n");
    if (*action->note && strncmp(action->note, "elements=", 9))
        buf_printf(&w->b, "  note      %s\n", action->note);
    uint32_t reuser = lineage_reuser(w->l, id);
    if (reuser != NO_ACT) {
        if ((code = lineage_action(&later, w->c->arena, w->l, reuser, e)))
            return err_up(e, code);
        buf_printf(&w->b, "  reused    in run %s: %s\n", later->run, witness_reason(later->note));
    }
    return err_up(e, put_last_run(w, action, id, e));
}

static enum err_code describe(struct why *w, const struct resolved *ref, struct err *e)
{
    const struct digest *made;
    uint32_t act;
    char hex[DIGEST_HEX];
    enum err_code code = lineage_maker(&act, &made, w->l, &ref->id, e);
    if (code)
        return err_up(e, code);
    const char *kind = lineage_describe(w->c->arena, w->l, &ref->id).kind;
    const char *label = resolve_label(w->c->arena, w->c, &ref->id);
    buf_printf(&w->b, "%s: %s%s%s\n", digest_hex(hex, &ref->id), kind, *label ? ", " : "", label);
    if (ref->name)
        buf_printf(&w->b, "  ref       %s\n", ref->name);
    if (made && !digest_equal(made, &ref->id)) /* made with its collection */
        buf_printf(&w->b, "  element   of collection %s\n", shown(w, made));
    if (act != NO_ACT)
        return err_up(e, put_action(w, act, made, e));
    buf_printf(&w->b, "  made by   %s\n",
               lineage_kind(w->l, &ref->id) == KIND_DICTIONARY
                   ? "the store, to compress small records"
                   : "no stored action");
    return OK;
}

static enum err_code why_record(char **out, struct cli *c, const char *text, struct err *e)
{
    struct resolved ref;
    struct why w = {.c = c};
    enum err_code code = resolve(&ref, c, text, e);
    if (!code)
        code = lineage_open(&w.l, c, e);
    if (!code)
        code = describe(&w, &ref, e);
    if (!code)
        *out = arena_strdup(c->arena, w.b.data);
    lineage_close(w.l);
    buf_free(&w.b);
    return err_up(e, code);
}

/* ---- nodes ---- */

enum { LABELS = 12 }; /* width in columns of the labels of lines */

/* `fields`: the field of the name, and "why:s". */
static void print_why(struct cli *c, const char *fields, const char *name, const char *why)
{
    if (c->json) {
        reflect_line(c->out, fields, name, why);
        return;
    }
    while (*why) {
        size_t len = strcspn(why, "\n");
        wrap_print(c->out, arena_strndup(c->arena, why, len), 0, LABELS, wrap_width(c->out));
        why += len + (why[len] == '\n');
    }
}

/* Resolves a single argument that is not a file: "JOB/NODE" of a job that was run (*path is the job
 * file of its last run), else a record (*path is NULL). */
static enum err_code find_job(const char **path, const char **node, struct cli *c, struct err *e)
{
    const char *text = c->arguments[0], *slash = strchr(text, '/'), *name;
    const Eqloom__Run *last = NULL;
    enum err_code code = place_open(c, NULL, CLI_STORE_READ, e);
    if (!code && slash)
        code = run_last(&last, &name, c->arena, c->store,
                        arena_strndup(c->arena, text, (size_t)(slash - text)), e);
    *path = last && *last->job_path ? last->job_path : NULL;
    *node = last ? slash + 1 : NULL;
    return err_up(e, code);
}

static enum err_code why_nodes(struct cli *c, const char *path, const char *name, struct err *e)
{
    struct job *job;
    struct plan_store p = {0};
    uint32_t *nodes = NULL;
    size_t n = 0;
    c->arguments = &path;
    enum err_code code = cmd_load_job(&job, c, e);
    if (!code && name)
        code = job_find(&nodes, &n, c->arena, job, name, e);
    if (!code)
        code = plan_store_open(&p, c, path, e);
    for (size_t i = 0; !code && i < (name ? n : job->n_nodes); i++) {
        uint32_t node = name ? nodes[i] : (uint32_t)i;
        char *why;
        code = job_why(&why, c->arena, job, node, p.store, e);
        if (!code && i && !c->json)
            fputc('\n', c->out);
        if (!code)
            print_why(c, "node:s why:s", job->nodes[node].name, why);
    }
    plan_store_close(&p);
    return err_up(e, code);
}

enum err_code cli_why(int *status, struct cli *c, struct err *e)
{
    struct os_stat st;
    const char *ref = c->arguments[0], *path = ref, *node = NULL;
    char *why = NULL;
    enum err_code code = OK;
    if (c->n_arguments > 1)
        node = c->arguments[1];
    else if (os_stat(&st, ref, NULL))
        code = find_job(&path, &node, c, e);
    if (!code && path)
        return err_up(e, why_nodes(c, path, node, e));
    if (!code)
        code = why_record(&why, c, ref, e);
    if (!code)
        print_why(c, "ref:s why:s", ref, why);
    return err_up(e, code);
}

/* ---- lineage ---- */

enum err_code cli_lineage(int *status, struct cli *c, struct err *e)
{
    struct resolved ref;
    struct lineage *l = NULL;
    enum err_code code = resolve(&ref, c, c->arguments[0], e);
    if (!code)
        code = lineage_open(&l, c, e);
    if (!code)
        code = lineage_print(c, l, &ref.id, cli_flag(c, "down"), e);
    lineage_close(l);
    return err_up(e, code);
}
