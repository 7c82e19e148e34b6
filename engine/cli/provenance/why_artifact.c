/* See why_artifact.h. */
#include "engine/cli/provenance/why_artifact.h"

#include "base/buf.h"
#include "checkpoint.pb-c.h"
#include "engine/cache/label.h"
#include "engine/cache/witness_counts.h"
#include "engine/cli/provenance/lineage_internal.h"
#include "engine/cli/records/resolve.h"
#include "engine/cli/records/runs.h"
#include "engine/run/history.h"

#include <inttypes.h>
#include <string.h>

enum { INPUTS_SHOWN = 4, PARAM_SHOWN = 60 };

/* What a record says of itself; of a collection, which says nothing, the node that gives it. */
static const char *label_of(struct cli *c, struct store *s, const struct lineage *l,
                            const struct digest *id)
{
    const uint64_t *name = digest_map_get(&l->names, id);
    const char *label = resolve_label(c->arena, s, id);
    return *label || !name ? label : l->name_list[*name];
}

/* The first collection that holds the record; NULL: none. */
static const struct digest *holder(struct lineage *l, const struct digest *id, struct err *e)
{
    size_t n = 0;
    if (err_up(e, lineage_members(l, e)))
        return NULL;
    const struct link *link = link_find(&n, &l->members, id);
    return n ? &l->collections[link->to] : NULL;
}

static void put_record(struct buf *b, struct cli *c, struct store *s, struct lineage *l,
                       const struct resolved *ref)
{
    const struct kind_info *kind = kind_info(lineage_kind(l, &ref->id));
    const char *label = resolve_label(c->arena, s, &ref->id);
    char hex[DIGEST_HEX];
    buf_printf(b, "%s: %s%s%s\n", digest_hex(hex, &ref->id), kind ? kind->name : "not stored",
               *label ? ", " : "", label);
    if (ref->name)
        buf_printf(b, "  ref       %s\n", ref->name);
}

static bool is_segment(const Eqloom__ActionKey *key)
{
    return key->n_params == 1 && strcmp(key->params[0]->name, "@segment") == 0;
}

/* A segment's text has what of the parameters it depends on, a line each. */
static void put_segment(struct buf *b, const char *text)
{
    buf_puts(b, "  segment   ");
    for (; *text; text++)
        if (*text != '\n')
            buf_putc(b, *text);
        else if (text[1])
            buf_puts(b, "  ");
    buf_putc(b, '\n');
}

static void put_action(struct buf *b, const Eqloom__Action *action)
{
    const Eqloom__ActionKey *key = action->key;
    buf_printf(b, "  made by   op %s version %u%s%s\n", key->op, key->version,
               *key->numerics ? ", " : "", key->numerics);
    if (is_segment(key)) {
        put_segment(b, key->params[0]->value);
        return;
    }
    if (key->n_params)
        buf_puts(b, "  params    ");
    for (size_t i = 0; i < key->n_params; i++) {
        buf_printf(b, "%s%s=", i ? "  " : "", key->params[i]->name);
        for (const char *at = key->params[i]->value;
             *at && at < key->params[i]->value + PARAM_SHOWN; at++)
            buf_putc(b, *at == '\n' ? ',' : *at);
    }
    if (key->n_params)
        buf_putc(b, '\n');
}

static void put_inputs(struct buf *b, struct cli *c, struct store *s, const struct lineage *l,
                       const Eqloom__ActionKey *key)
{
    for (size_t i = 0; i < key->n_inputs; i++) {
        size_t n = key->inputs[i]->input_ids.len / DIGEST_SIZE;
        for (size_t k = 0; k < n && k < INPUTS_SHOWN; k++) {
            struct digest id;
            memcpy(id.bytes, key->inputs[i]->input_ids.data + k * DIGEST_SIZE, DIGEST_SIZE);
            const char *label = label_of(c, s, l, &id);
            buf_printf(b, "  from      %s: %s%s%s\n", key->inputs[i]->role,
                       label_short_id(c->arena, &id), *label ? "  " : "", label);
        }
        if (n > INPUTS_SHOWN)
            buf_printf(b, "  from      %s: ... and %zu more\n", key->inputs[i]->role,
                       n - INPUTS_SHOWN);
    }
}

static void put_run(struct buf *b, struct cli *c, const Eqloom__Action *action)
{
    buf_printf(b, "  made      in run %s, %s, at a cost of %.0f ms\n", action->run,
               run_time(c->arena, action->finished_ns), (double)action->cost_ns / 1e6);
    if (*action->note && strncmp(action->note, "elements=", 9) != 0)
        buf_printf(b, "  note      %s\n", action->note);
}

static bool same_work(const Eqloom__ActionKey *a, const Eqloom__ActionKey *b)
{
    if (!a || strcmp(a->op, b->op) != 0 || a->n_params != b->n_params)
        return false;
    for (size_t i = 0; i < a->n_params; i++)
        if (strcmp(a->params[i]->value, b->params[i]->value) != 0)
            return false;
    return true;
}

/* Whether a node gave the record, as an output or as an element of one. */
static bool gives(const struct lineage *l, const Eqloom__RunNode *node, const struct digest *id)
{
    size_t n;
    const struct link *links = link_find(&n, &l->members, id);
    for (size_t i = 0; i < node->n_outputs; i++) {
        if (node->outputs[i]->output_ids.len != DIGEST_SIZE)
            continue;
        const uint8_t *output = node->outputs[i]->output_ids.data;
        if (!memcmp(output, id->bytes, DIGEST_SIZE))
            return true;
        for (size_t k = 0; k < n; k++)
            if (!memcmp(output, l->collections[links[k].to].bytes, DIGEST_SIZE))
                return true;
    }
    return false;
}

/* Whether a chain's last record came by way of another one. */
static bool came_by(struct store *s, const Eqloom__RunNode *node, const struct digest *id)
{
    struct arena a = {0};
    struct digest at;
    bool found = false;
    bool more = node->n_outputs && node->outputs[0]->output_ids.len == DIGEST_SIZE;
    if (more)
        memcpy(at.bytes, node->outputs[0]->output_ids.data, DIGEST_SIZE);
    while (more && !(found = digest_equal(&at, id))) {
        ProtobufCMessage *m;
        arena_reset(&a);
        more = !store_get_message(&m, s, &at, KIND_CHECKPOINT, &a, NULL) &&
               ((Eqloom__Checkpoint *)m)->parent_id.len == DIGEST_SIZE;
        if (more)
            memcpy(at.bytes, ((Eqloom__Checkpoint *)m)->parent_id.data, DIGEST_SIZE);
    }
    arena_free(&a);
    return found;
}

/* The nodes of a run that do what the action did, by op and parameters; where some of them gave the
 * record, those alone. */
struct nodes {
    const Eqloom__RunNode **list;
    size_t n;
    bool give;
};

static struct nodes nodes_of(struct arena *a, const struct lineage *l, const Eqloom__Run *run,
                             const Eqloom__ActionKey *key, const struct digest *id)
{
    struct nodes out = {.list = arena_array(a, const Eqloom__RunNode *, run->n_nodes + 1)};
    bool segment = is_segment(key);
    for (size_t i = 0; i < run->n_nodes; i++) {
        const Eqloom__RunNode *node = run->nodes[i];
        bool works = same_work(node->key, key) || (segment && strcmp(node->op, key->op) == 0);
        bool gave = works && (gives(l, node, id) || (segment && came_by(l->store, node, id)));
        if (gave && !out.give) {
            out.give = true;
            out.n = 0;
        }
        if (works && gave == out.give)
            out.list[out.n++] = node;
    }
    return out;
}

static void put_verdict(struct buf *b, const Eqloom__Run *run, const char *name,
                        const Eqloom__Action *action, bool then, const struct nodes *nodes)
{
    bool segment = is_segment(action->key);
    buf_printf(b, "  last run  %s (%s): ", name, run->state);
    if (then)
        buf_puts(b, "it was made then");
    else if (nodes->give)
        buf_puts(b, "not made again: it is still what comes of its inputs");
    else if (nodes->n && !segment)
        buf_puts(b, "not made: it is none of what comes of the inputs now");
    else if (nodes->n)
        buf_puts(b, "not made again, or on the way to what is");
    else
        buf_puts(b, "not made: no node works with this op and these parameters any more");
    for (size_t i = 0; i < nodes->n; i++) {
        const Eqloom__RunNode *node = nodes->list[i];
        buf_printf(b, "; node %s: %s%s%s", node->name, node->state, *node->why ? ", " : "",
                   strcmp(node->why, "never made") ? node->why : "never made before");
    }
    buf_putc(b, '\n');
}

/* `action` says what was done, `first` when it was done first. */
static enum err_code put_last(struct buf *b, struct cli *c, struct store *s, struct lineage *l,
                              const Eqloom__Action *action, const Eqloom__Action *first,
                              const struct digest *id, struct err *e)
{
    const char *slash = strrchr(action->run, '/'), *name;
    const Eqloom__Run *run;
    if (!slash)
        return OK;
    char *job = arena_strndup(c->arena, action->run, (size_t)(slash - action->run));
    enum err_code code = run_find(&run, &name, c, s, job, e);
    if (code) {
        err_clear(e);
        buf_printf(b, "  last run  none of job %s is known any more\n", job);
        return OK;
    }
    if ((code = lineage_members(l, e)))
        return err_up(e, code);
    struct nodes nodes = nodes_of(c->arena, l, run, action->key, id);
    put_verdict(b, run, name, action, strcmp(name, first->run) == 0, &nodes);
    return OK;
}

/* The last run that proved it to stand, and by what. */
static enum err_code put_reuse(struct buf *b, struct cli *c, struct lineage *l,
                               const struct digest *id, struct err *e)
{
    const uint64_t *reuser = digest_map_get(&l->reusers, id);
    const Eqloom__Action *action;
    if (!reuser)
        return OK;
    enum err_code code = lineage_action(&action, c->arena, l, (uint32_t)(*reuser - 1), e);
    if (!code)
        buf_printf(b, "  reused    in run %s, proved to stand: %s\n", action->run,
                   witness_reason(action->note));
    return err_up(e, code);
}

/* The action that stands for the record *id, or for what it is an element or a part of: then *id is
 * that, and *asked the whole of a part. NULL: none is known. */
static enum err_code find_action(const Eqloom__Action **out, struct buf *b, struct cli *c,
                                 struct store *s, struct lineage *l, struct digest *id,
                                 struct digest *asked, struct err *e)
{
    const uint64_t *maker;
    enum err_code code = OK;
    *out = NULL;
    while (!(maker = digest_map_get(&l->makers, id)) || !*maker) {
        const struct digest *list = holder(l, id, e);
        struct digest whole = list ? *list : *id;
        bool found = list != NULL;
        if (e->code || (!found && (code = lineage_whole(&whole, &found, l, id, e))))
            return err_up(e, e->code);
        if (!found)
            return OK;
        const struct kind_info *kind = kind_info(lineage_kind(l, &whole));
        const char *label = label_of(c, s, l, &whole);
        buf_printf(b, "  %s%s %s%s%s\n", list ? "element   of " : "part      of ",
                   kind ? kind->name : "?", label_short_id(c->arena, &whole), *label ? "  " : "",
                   label);
        *id = whole;
        if (!list)
            *asked = whole;
    }
    return err_up(e, lineage_action(out, c->arena, l, (uint32_t)(*maker - 1), e));
}

/* The action that gave it first: the one that stands for it may have found it done. */
static enum err_code find_first(const Eqloom__Action **out, struct cli *c, struct lineage *l,
                                const Eqloom__Action *action, const struct digest *id,
                                struct err *e)
{
    const uint64_t *first = digest_map_get(&l->firsts, id);
    *out = action;
    if (!first || !*first)
        return OK;
    enum err_code code = lineage_action(out, c->arena, l, (uint32_t)(*first - 1), e);
    if (!code && strcmp((*out)->run, action->run) == 0)
        *out = action;
    return err_up(e, code);
}

static enum err_code describe(struct buf *b, struct cli *c, struct store *s, struct lineage *l,
                              const struct resolved *ref, struct err *e)
{
    const Eqloom__Action *action, *first;
    struct digest id = ref->id, asked = ref->id;
    put_record(b, c, s, l, ref);
    enum err_code code = find_action(&action, b, c, s, l, &id, &asked, e);
    if (!code && !action) {
        bool dictionary = lineage_kind(l, &id) == KIND_DICTIONARY;
        buf_printf(b, "  made by   %s\n",
                   dictionary ? "the store, to give records of a kind a dense form"
                              : "nothing that the store knows: it was imported");
        return OK;
    }
    if (!code)
        code = find_first(&first, c, l, action, &id, e);
    if (code)
        return err_up(e, code);
    put_action(b, action);
    put_inputs(b, c, s, l, action->key);
    put_run(b, c, first);
    code = put_reuse(b, c, l, &asked, e);
    return code ? err_up(e, code) : err_up(e, put_last(b, c, s, l, action, first, &asked, e));
}

enum err_code why_artifact(char **out, struct cli *c, struct store *s, const char *text,
                           struct err *e)
{
    struct resolved ref;
    struct lineage *l = NULL;
    struct buf b = {0};
    enum err_code code = err_up(e, resolve(&ref, c, s, text, e));
    if (!code)
        code = err_up(e, lineage_open(&l, s, e));
    if (!code)
        code = describe(&b, c, s, l, &ref, e);
    if (!code)
        *out = arena_strdup(c->arena, b.data);
    lineage_close(l);
    buf_free(&b);
    return code;
}
