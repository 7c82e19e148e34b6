/* See why_artifact.h. */
#include "engine/cli/provenance/why_artifact.h"

#include "base/buf.h"
#include "engine/cache/label.h"
#include "engine/cache/witness_counts.h"
#include "engine/cli/provenance/lineage_index.h"
#include "engine/cli/records/resolve.h"
#include "engine/cli/records/runs.h"

#include <inttypes.h>
#include <string.h>

enum { INPUTS_SHOWN = 4, PARAM_SHOWN = 60 };

struct why {
    struct buf b;
    struct cli *c;
    struct lineage *l;
};

static const char *kind_name(const struct lineage_item *item)
{
    const struct kind_info *kind = kind_info(item->kind);
    return kind ? kind->name : "not stored";
}

static bool is_segment(const Eqloom__ActionKey *key)
{
    return key->n_params == 1 && !strcmp(key->params[0]->name, "@segment");
}

/* Of a segment, whose one parameter is a text of several lines, the whole. */
static void put_params(struct buf *b, const Eqloom__ActionKey *key)
{
    bool segment = is_segment(key);
    for (size_t i = 0; i < key->n_params; i++) {
        const char *value = key->params[i]->value;
        size_t n = strlen(value), shown = segment || n < PARAM_SHOWN ? n : PARAM_SHOWN;
        buf_puts(b, i ? "  " : segment ? "  segment   " : "  params    ");
        if (!segment)
            buf_printf(b, "%s=", key->params[i]->name);
        for (const char *at = value; at < value + shown; at++)
            if (*at != '\n')
                buf_putc(b, *at);
            else if (at[1])
                buf_puts(b, segment ? "  " : ",");
    }
    buf_puts(b, key->n_params ? "\n" : "");
}

static void put_inputs(struct why *w, const struct lineage_item *item)
{
    const char *role = "";
    for (size_t i = 0, of_role = 0; i < item->n_items; i++) {
        const struct lineage_item *in = item->items[i];
        of_role = strcmp(in->role, role) ? 1 : of_role + 1;
        role = in->role;
        bool last = i + 1 == item->n_items || strcmp(item->items[i + 1]->role, role);
        if (of_role <= INPUTS_SHOWN)
            buf_printf(&w->b, "  from      %s: %s%s%s\n", role,
                       label_short_id(w->c->arena, in->ids), *in->name ? "  " : "", in->name);
        else if (last)
            buf_printf(&w->b, "  from      %s: ... and %zu more\n", role, of_role - INPUTS_SHOWN);
    }
}

/* ---- the job's last run ---- */

/* Whether the node does what the action did: the same op with the same parameters; a segment's are
 * not comparable to a node's. */
static bool is_alike(const Eqloom__RunNode *node, const Eqloom__ActionKey *key)
{
    const Eqloom__ActionKey *k = node->key;
    bool alike = k && !strcmp(k->op, key->op) && (is_segment(key) || k->n_params == key->n_params);
    for (size_t i = 0; alike && !is_segment(key) && i < key->n_params; i++)
        alike = !strcmp(k->params[i]->value, key->params[i]->value);
    return alike;
}

/* Whether a node gave the record, as an output or as an element of one. */
static bool gives(const struct lineage *l, const Eqloom__RunNode *node, const struct digest *id)
{
    size_t n;
    const struct link *links = link_find(&n, &l->members, id);
    for (size_t i = 0; i < node->n_outputs; i++) {
        if (node->outputs[i]->output_ids.len != DIGEST_SIZE)
            continue;
        struct digest output = lineage_id(node->outputs[i]->output_ids, 0);
        bool found = digest_equal(&output, id);
        for (size_t k = 0; k < n && !found; k++)
            found = digest_equal(&output, &l->collections.ids[links[k].to]);
        if (found)
            return true;
    }
    return false;
}

/* What became of the record in the run: "still current: node egraphs, cached". */
static void put_nodes(struct why *w, const Eqloom__Run *run, const Eqloom__ActionKey *key,
                      const struct digest *id, bool made_then)
{
    bool segment = is_segment(key), current = false, alike = false;
    for (size_t i = 0; i < run->n_nodes; i++) {
        current = current || gives(w->l, run->nodes[i], id);
        alike = alike || is_alike(run->nodes[i], key);
    }
    buf_puts(&w->b, made_then ? "made then"
                    : current ? "still current"
                    : segment ? "an earlier step of a chain"
                    : alike   ? "not current: its inputs have changed"
                              : "not current: no node has this op and these parameters");
    for (size_t i = 0; i < run->n_nodes; i++) {
        const Eqloom__RunNode *node = run->nodes[i];
        if (is_alike(node, key) && (!current || gives(w->l, node, id)))
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

static enum err_code put_action(struct why *w, const struct lineage_item *item, struct err *e)
{
    const Eqloom__Action *action = item->action, *later;
    const Eqloom__ActionKey *key = action->key;
    buf_printf(&w->b, "  made by   op %s version %u%s%s\n", key->op, key->version,
               *key->numerics ? ", " : "", key->numerics);
    put_params(&w->b, key);
    put_inputs(w, item);
    buf_printf(&w->b, "  made      in run %s, %s, at a cost of %.0f ms\n", action->run,
               run_time(w->c->arena, action->finished_ns), (double)action->cost_ns / 1e6);
    if (*action->note && strncmp(action->note, "elements=", 9))
        buf_printf(&w->b, "  note      %s\n", action->note);
    uint32_t reuser = lineage_reuser(w->l, item->ids);
    if (reuser != NO_ACT) {
        enum err_code code = lineage_action(&later, w->c->arena, w->l, reuser, e);
        if (code)
            return err_up(e, code);
        buf_printf(&w->b, "  reused    in run %s: %s\n", later->run, witness_reason(later->note));
    }
    return err_up(e, put_last_run(w, action, item->ids, e));
}

static enum err_code describe(struct why *w, const struct resolved *ref, struct err *e)
{
    struct lineage_item *item;
    char hex[DIGEST_HEX];
    enum err_code code = lineage_up(&item, w->c->arena, w->l, &ref->id, true, e);
    if (code)
        return err_up(e, code);
    const char *label = resolve_label(w->c->arena, w->c->store, &ref->id);
    buf_printf(&w->b, "%s: %s%s%s\n", digest_hex(hex, &ref->id), kind_name(item),
               *label ? ", " : "", label);
    if (ref->name)
        buf_printf(&w->b, "  ref       %s\n", ref->name);
    while (!item->action && item->n_items) { /* made with its collection */
        item = item->items[0];
        buf_printf(&w->b, "  element   of %s %s%s%s\n", kind_name(item),
                   label_short_id(w->c->arena, item->ids), *item->name ? "  " : "", item->name);
    }
    if (item->action)
        return err_up(e, put_action(w, item, e));
    buf_printf(&w->b, "  made by   %s\n",
               item->kind == KIND_DICTIONARY ? "the store, to compress small records"
                                             : "no action that is stored");
    return OK;
}

enum err_code why_artifact(char **out, struct cli *c, const char *text, struct err *e)
{
    struct resolved ref;
    struct why w = {.c = c};
    enum err_code code = resolve(&ref, c, text, e);
    if (!code)
        code = lineage_open(&w.l, c->store, e);
    if (!code)
        code = describe(&w, &ref, e);
    if (!code)
        *out = arena_strdup(c->arena, w.b.data);
    lineage_close(w.l);
    buf_free(&w.b);
    return err_up(e, code);
}
