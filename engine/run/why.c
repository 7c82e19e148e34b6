/* The output of `why` for one node: its op, parameters and inputs, when its outputs were made, what
 * the last run did with it and why, what a run would do now, and which nodes depend on it. */
#include "engine/run/run.h"

#include "base/buf.h"
#include "engine/cache/action.h"
#include "engine/cache/label.h"
#include "engine/session/history.h"

#include <inttypes.h>
#include <string.h>

static const char *kind_of_node(enum op_node kind)
{
    switch (kind) {
    case OP_SOURCE: return "source";
    case OP_EXEC: return "program";
    case OP_TASK: return "task";
    case OP_MAP: return "map";
    case OP_CHAIN: return "chain";
    }
    return "?";
}

static void put_params(struct buf *b, const struct node *node)
{
    for (size_t i = 0; node->op->params && node->op->params[i].name; i++) {
        const char *value = node->params[i].value;
        buf_printf(b, "%s%s=", i ? "  " : "  params    ", node->params[i].param->name);
        for (const char *c = value; *c; c++)
            buf_putc(b, *c == '\n' ? ',' : *c);
    }
    if (node->op->params && node->op->params[0].name)
        buf_putc(b, '\n');
}

static void put_id(struct buf *b, struct arena *a, const struct digest *id)
{
    buf_puts(b, digest_is_zero(id) ? "not made yet" : label_short_id(a, id));
}

static void put_inputs(struct buf *b, struct arena *a, const struct job *job, uint32_t i,
                       const struct run_result *plan)
{
    const struct node *node = &job->nodes[i];
    for (size_t k = 0; k < node->n_files && k < 8; k++)
        buf_printf(b, "  file      %s\n", node->files[k]);
    if (node->n_files > 8)
        buf_printf(b, "  file      ... and %zu more\n", node->n_files - 8);
    for (size_t p = 0; p < op_count_inputs(node->op); p++)
        for (size_t k = 0; k < node->inputs[p].n_sources; k++) {
            struct node_source from = node->inputs[p].sources[k];
            const struct op *op = job->nodes[from.node].op;
            buf_printf(b, "  input     %s: %s", node->op->inputs[p].role,
                       job->nodes[from.node].name);
            if (from.output)
                buf_printf(b, ".%s", op->outputs[from.output].role);
            buf_puts(b, "  ");
            put_id(b, a, &plan->nodes[from.node].outputs[from.output]);
            buf_putc(b, '\n');
        }
}

/* Describes the action that made the current outputs. */
static void put_made(struct buf *b, struct arena *a, struct store *s, const struct node *node,
                     const struct node_result *now, const Eqloom__RunNode *before)
{
    struct digest key = now->key;
    struct action_result made;
    if (now->state != NODE_CACHED && now->state != NODE_READ && before &&
        before->action_key.len == DIGEST_SIZE)
        memcpy(key.bytes, before->action_key.data, DIGEST_SIZE);
    if (digest_is_zero(&key) || action_read(&made, a, s, node->op, &key, NULL)) {
        buf_puts(b, "  made      never\n");
        return;
    }
    for (size_t r = 0; r < op_count_outputs(node->op); r++)
        if (made.outputs[r].n)
            buf_printf(b, "  output    %s  %s%s\n", node->op->outputs[r].role,
                       label_short_id(a, made.outputs[r].ids),
                       store_has(s, made.outputs[r].ids) ? "" : "  (missing)");
    buf_printf(b, "  made      in run %s, %s, at a cost of ", made.run,
               label_time(a, made.finished_ns));
    label_put_duration(b, made.cost_ns);
    if (made.elements)
        buf_printf(b, ", %" PRIu64 " %ss", made.elements, node_unit(node->op));
    buf_putc(b, '\n');
    if (made.foreign)
        buf_puts(b, "  claimed   by a pack; 'run --check' computes it here\n");
}

static void put_last(struct buf *b, const Eqloom__Run *last, const struct node *node)
{
    if (!last) {
        buf_puts(b, "  last run  none\n");
        return;
    }
    const Eqloom__RunNode *n = history_node(last, node->name);
    buf_printf(b, "  last run  %s (%s): ", last->run, last->state);
    if (!n) {
        buf_puts(b, "not part of that run\n");
        return;
    }
    buf_puts(b, n->state);
    if (n->elements && (n->ran || n->failed))
        buf_printf(b, ", %" PRIu64 " of %" PRIu64 " %ss ran", n->ran, n->elements,
                   node_unit(node->op));
    if (n->reused)
        buf_printf(b, ", %" PRIu64 " reused", n->reused);
    if (n->cached && (n->ran || n->reused))
        buf_printf(b, ", %" PRIu64 " cached", n->cached);
    if (n->failed)
        buf_printf(b, ", %" PRIu64 " failed", n->failed);
    if (strcmp(n->why, "never made") == 0)
        buf_puts(b, ": it had never been made before");
    else if (*n->why)
        buf_printf(b, ": %s", n->why);
    else if (strcmp(n->state, "cached") == 0 || strcmp(n->state, "read") == 0)
        buf_puts(b, ": nothing that it depends on had changed");
    buf_putc(b, '\n');
}

/* Lists the upstream nodes that would run, and on which it depends whether this node runs, with
 * their reasons. */
static void put_causes(struct buf *b, struct arena *a, const struct job *job, uint32_t i,
                       const struct run_result *plan)
{
    bool *above = arena_array(a, bool, job->n_nodes);
    above[i] = true;
    for (uint32_t k = i + 1; k-- > 0;) {
        if (above[k] && (k == i || plan->nodes[k].state == NODE_WAITING))
            for (size_t m = 0; m < job->nodes[k].n_above; m++)
                above[job->nodes[k].above[m].node] = true;
    }
    size_t n = 0;
    for (uint32_t k = 0; k < i; k++) {
        const struct node_result *r = &plan->nodes[k];
        if (!above[k] || r->state != NODE_RAN || job->nodes[k].op->node == OP_SOURCE)
            continue;
        buf_printf(b, "%safter %s%s%s", n++ ? "; " : "", job->nodes[k].name, *r->why ? ": " : "",
                   r->why);
    }
    if (!n)
        buf_puts(b, plan->nodes[i].why);
}

static void put_now(struct buf *b, struct arena *a, const struct job *job, uint32_t i,
                    const struct run_result *plan)
{
    const struct node *node = &job->nodes[i];
    const struct node_result *now = &plan->nodes[i];
    buf_puts(b, "  now       ");
    const char *why = now->why ? now->why : "";
    bool source = node->op->node == OP_SOURCE;
    switch (now->state) {
    case NODE_READ:
        buf_puts(b, *why ? "would be read again with the same result: " : "up to date");
        buf_puts(b, why);
        break;
    case NODE_CACHED:
        buf_puts(b, *why ? "nothing would run: " : "up to date");
        buf_puts(b, why);
        break;
    case NODE_RAN:
        buf_puts(b, source ? "would be read again" : "would run");
        if (now->elements)
            buf_printf(b, " (%" PRIu64 " of %" PRIu64 " %ss)", now->ran, now->elements,
                       node_unit(node->op));
        buf_printf(b, ": %s", why);
        break;
    case NODE_WAITING:
        buf_puts(b, "would run, unless its inputs stay the same: ");
        put_causes(b, a, job, i, plan);
        break;
    case NODE_REUSED: buf_printf(b, "its elements would be reused: %s", why); break;
    case NODE_FAILED:
    case NODE_SKIPPED: buf_puts(b, node_state_name(now->state)); break;
    }
    buf_putc(b, '\n');
}

static void put_below(struct buf *b, struct arena *a, const struct job *job, uint32_t i,
                      const struct run_result *plan)
{
    bool *below = arena_array(a, bool, job->n_nodes);
    size_t n = 0;
    below[i] = true;
    buf_puts(b, "  below     ");
    for (size_t k = i + 1; k < job->n_nodes; k++) {
        for (size_t m = 0; m < job->nodes[k].n_above; m++)
            below[k] = below[k] || below[job->nodes[k].above[m].node];
        if (!below[k])
            continue;
        enum node_state state = plan->nodes[k].state;
        buf_printf(b, "%s%s%s", n++ ? ", " : "", job->nodes[k].name,
                   state == NODE_RAN       ? " (would run)"
                   : state == NODE_WAITING ? " (may run)"
                                           : "");
    }
    buf_puts(b, n ? "\n" : "nothing\n");
}

enum err_code job_why(char **out, struct arena *a, const struct job *job, uint32_t i,
                      struct store *s, struct err *e)
{
    const struct node *node = &job->nodes[i];
    struct run_options options = {0};
    struct run_result plan;
    struct history history;
    struct buf b = {0};
    enum err_code code = job_plan(&plan, a, job, s, &options, e);
    if (!code)
        code = history_load(&history, a, s, job, e);
    if (code)
        return err_up(e, code);
    buf_printf(&b, "%s/%s: %s, op %s version %u\n", job->name, node->name,
               kind_of_node(node->op->node), node->op->name, node->op->version);
    put_params(&b, node);
    put_inputs(&b, a, job, i, &plan);
    put_made(&b, a, s, node, &plan.nodes[i], history.made[i]);
    put_last(&b, history.last, node);
    put_now(&b, a, job, i, &plan);
    put_below(&b, a, job, i, &plan);
    *out = arena_strdup(a, b.data);
    buf_free(&b);
    return OK;
}
