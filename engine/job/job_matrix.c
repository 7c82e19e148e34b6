/* References between nodes and the expansion of matrices.
 *
 * A node has the axes of its own `matrix`. Before them come the axes of the nodes that it reads
 * through single inputs, except those that the reference fixes (model@pool=mean). Each combination
 * of values is a variant, named NODE@KEY=VALUE,... in the order of the axes; the last axis varies
 * fastest. Axes with the same key are one axis, so two inputs that share it vary together. An input
 * that takes a list receives every variant and passes no axis on. */
#include "engine/job/job_draft.h"

#include <string.h>

/* ---- references ---- */

static bool find_node(uint32_t *index, const struct draft *d, const char *name, size_t len)
{
    for (uint32_t i = 0; i < d->n_nodes; i++)
        if (strlen(d->nodes[i].name) == len && !strncmp(d->nodes[i].name, name, len)) {
            *index = i;
            return true;
        }
    return false;
}

static enum err_code refuse_node(struct draft *d, const struct yaml_node *at, const char *name,
                                 struct err *e)
{
    const char **names = arena_array(d->arena, const char *, d->n_nodes);
    for (size_t i = 0; i < d->n_nodes; i++)
        names[i] = d->nodes[i].name;
    return err_suggest(yaml_fail(e, at, "there is no node '%.100s'", name), name, names, d->n_nodes,
                       e);
}

static enum err_code refuse_role(struct draft *d, const struct yaml_node *at,
                                 const struct draft_node *node, const char *role, struct err *e)
{
    const char *names[64], *list = "";
    size_t n = 0;
    for (; node->op->outputs[n].role && n < 64; n++) {
        names[n] = node->op->outputs[n].role;
        list = arena_printf(d->arena, "%s%s%s", list, n ? ", " : "", names[n]);
    }
    enum err_code code =
        yaml_fail(e, at, "node '%s' (op %s) has no output '%.100s'; it has: %.200s", node->name,
                  node->op->name, role, list);
    const char *near = err_nearest(role, names, n);
    if (near)
        err_hint(e, "did you mean '%s.%s'?", node->name, near);
    return code;
}

/* Parses "k=v,k=v" into the reference. */
static enum err_code read_fixed(struct draft_reference *ref, struct draft *d, char *text,
                                struct err *e)
{
    size_t n = 1;
    for (const char *p = text; *p; p++)
        n += *p == ',';
    const char **keys = arena_array(d->arena, const char *, n);
    const char **texts = arena_array(d->arena, const char *, n);
    size_t i = 0;
    for (char *next = text; next; i++) {
        char *item = strsep(&next, ","), *equals = strchr(item, '=');
        if (!equals)
            return yaml_fail(e, ref->at, "a variant is named NODE@KEY=VALUE, not '@%.100s'", item);
        *equals = 0;
        keys[i] = item;
        texts[i] = equals + 1;
    }
    ref->keys = keys;
    ref->texts = texts;
    ref->n_fixed = i;
    return OK;
}

enum err_code draft_read_reference(struct draft_reference *out, struct draft *d,
                                   const struct yaml_node *at, struct err *e)
{
    enum err_code code;
    *out = (struct draft_reference){.at = at};
    if ((code = yaml_expect(at, YAML_SCALAR, "a reference to a node", e)))
        return err_up(e, code);
    char *text = arena_strdup(d->arena, at->text);
    size_t len = strcspn(text, "@.");
    if (!find_node(&out->node, d, text, len))
        return err_up(e, refuse_node(d, at, arena_strndup(d->arena, text, len), e));
    const struct draft_node *node = &d->nodes[out->node];
    char *dot = strrchr(text, '.');
    bool fixed = text[len] == '@';
    /* Axis values may contain dots: "0.1" in "model@lr=0.1" does not end in an output role. */
    const struct op_port *output = dot ? op_find_port(node->op->outputs, dot + 1) : NULL;
    if (dot && !fixed && !output)
        return err_up(e, refuse_role(d, at, node, dot + 1, e));
    if (output) {
        out->output = (uint32_t)(output - node->op->outputs);
        *dot = 0;
    }
    return fixed ? err_up(e, read_fixed(out, d, text + len + 1, e)) : OK;
}

/* ---- axes ---- */

/* Returns the op of a source that reads another node's output; see JOB_FROM. */
static const struct op *reading_op(struct arena *a, const struct op *source)
{
    static const struct op_port from[] = {
        {JOB_FROM, KIND_FILE, OP_COLLECTION, false, "The node whose files are read."}, {NULL}};
    static const struct op_param files = {.name = "files",
                                          .type = OP_STRINGS,
                                          .initial = "",
                                          .doc = "Patterns that the files' names must match."};
    struct op *op = arena_new(a, struct op);
    size_t n = 0;
    while (source->params && source->params[n].name)
        n++;
    struct op_param *params = arena_array(a, struct op_param, n + 2);
    if (n)
        memcpy(params, source->params, n * sizeof *params);
    params[n] = files;
    *op = *source;
    op->node = OP_TASK;
    op->params = params;
    op->inputs = from;
    return op;
}

static enum err_code find_op(struct draft *d, struct draft_node *node, struct err *e)
{
    enum err_code code;
    const struct yaml_node *name = yaml_get(node->body, "op");
    if (!name)
        return yaml_fail(e, node->key, "node '%s' has no 'op'", node->name);
    if ((code = yaml_expect(name, YAML_SCALAR, "op", e)))
        return err_up(e, code);
    node->op = op_find(name->text);
    if (node->op && node->op->node == OP_SOURCE && yaml_get(node->body, JOB_FROM))
        node->op = reading_op(d->arena, node->op);
    if (node->op)
        return OK;
    size_t n = 0;
    while (op_table[n])
        n++;
    const char **names = arena_array(d->arena, const char *, n);
    for (size_t i = 0; i < n; i++)
        names[i] = op_table[i]->name;
    code = yaml_fail(e, name, "there is no op '%.100s'", name->text);
    const char *near = err_nearest(name->text, names, n);
    if (near)
        err_hint(e, "did you mean '%s'?", near);
    else
        err_hint(e, "'eqloom ops' lists them");
    return code;
}

static enum err_code read_inputs(struct draft *d, struct draft_node *node, struct err *e)
{
    enum err_code code;
    size_t n = op_count_inputs(node->op);
    node->inputs = arena_array(d->arena, struct draft_reference *, n);
    node->n_inputs = arena_array(d->arena, size_t, n);
    for (size_t i = 0; i < n; i++) {
        const struct op_port *port = &node->op->inputs[i];
        const struct yaml_node *value = yaml_get(node->body, port->role);
        if (!value || (port->optional && yaml_is_null(value)))
            continue;
        const struct yaml_node *const one[] = {value};
        bool is_list = value->type == YAML_SEQUENCE;
        if (is_list && port->cardinality != OP_LIST)
            return yaml_fail(e, value, "input '%s' takes one node, not a list", port->role);
        node->n_inputs[i] = is_list ? value->n : 1;
        node->inputs[i] = arena_array(d->arena, struct draft_reference, node->n_inputs[i]);
        for (size_t k = 0; k < node->n_inputs[i]; k++)
            if ((code = draft_read_reference(&node->inputs[i][k], d,
                                             is_list ? value->items[k] : one[k], e)))
                return err_up(e, code);
    }
    return OK;
}

static struct draft_axis *find_axis(const struct draft_node *node, const char *key)
{
    for (size_t i = 0; i < node->n_axes; i++)
        if (!strcmp(node->axes[i].key, key))
            return &node->axes[i];
    return NULL;
}

static const char *fixed_text(const struct draft_reference *ref, const char *key)
{
    for (size_t i = 0; i < ref->n_fixed; i++)
        if (!strcmp(ref->keys[i], key))
            return ref->texts[i];
    return NULL;
}

static void add_axis(struct draft *d, struct draft_node *node, struct draft_axis axis)
{
    struct draft_axis *axes = arena_array(d->arena, struct draft_axis, node->n_axes + 1);
    if (node->n_axes)
        memcpy(axes, node->axes, node->n_axes * sizeof *axes);
    axes[node->n_axes++] = axis;
    node->axes = axes;
}

static enum err_code check_fixed(struct draft *d, const struct draft_reference *ref, struct err *e)
{
    const struct draft_node *target = &d->nodes[ref->node];
    for (size_t i = 0; i < ref->n_fixed; i++) {
        const struct draft_axis *axis = find_axis(target, ref->keys[i]);
        if (!axis)
            return yaml_fail(e, ref->at, "node '%s' has no axis '%.100s'", target->name,
                             ref->keys[i]);
        size_t k = 0;
        while (k < axis->n && strcmp(axis->texts[k], ref->texts[i]))
            k++;
        if (k < axis->n)
            continue;
        enum err_code code = yaml_fail(e, ref->at, "node '%s' has no variant with %s=%.100s",
                                       target->name, axis->key, ref->texts[i]);
        const char *near = err_nearest(ref->texts[i], axis->texts, axis->n);
        if (near)
            err_hint(e, "did you mean '%s@%s=%s'?", target->name, axis->key, near);
        return code;
    }
    return OK;
}

static void inherit_axes(struct draft *d, struct draft_node *node,
                         const struct draft_reference *ref)
{
    const struct draft_node *target = &d->nodes[ref->node];
    for (size_t i = 0; i < target->n_axes; i++) {
        struct draft_axis axis = target->axes[i];
        axis.values = NULL;
        if (!fixed_text(ref, axis.key) && !find_axis(node, axis.key))
            add_axis(d, node, axis);
    }
}

static enum err_code read_axis(struct draft *d, struct draft_node *node,
                               const struct yaml_pair *pair, struct err *e)
{
    enum err_code code;
    const struct yaml_node *list = pair->value;
    if ((code = yaml_expect(list, YAML_SEQUENCE, "an axis of a matrix", e)))
        return err_up(e, code);
    if (!list->n)
        return yaml_fail(e, list, "axis '%.100s' has no values", pair->key->text);
    if (!strcmp(pair->key->text, "op") || !strcmp(pair->key->text, "matrix"))
        return yaml_fail(e, pair->key, "'%s' cannot be an axis", pair->key->text);
    if (yaml_get(node->body, pair->key->text))
        return yaml_fail(e, pair->key, "'%.100s' is set by the matrix and by the node",
                         pair->key->text);
    if (list->n > JOB_MAX_NODES)
        return yaml_fail(e, list, "axis '%.100s' makes more than %d nodes", pair->key->text,
                         JOB_MAX_NODES);
    const char **texts = arena_array(d->arena, const char *, list->n);
    for (size_t i = 0; i < list->n; i++) {
        if ((code = yaml_expect(list->items[i], YAML_SCALAR, "a value of an axis", e)))
            return err_up(e, code);
        texts[i] = list->items[i]->text;
        if (!draft_is_name(texts[i], ".+-"))
            return yaml_fail(e, list->items[i],
                             "'%.60s' cannot be part of a variant's name: use letters, digits, "
                             "'.', '_', '+' and '-'",
                             texts[i]);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(texts[k], texts[i]))
                return yaml_fail(e, list->items[i], "value '%.60s' occurs twice", texts[i]);
    }
    struct draft_axis axis = {pair->key->text, list->items, texts, list->n};
    struct draft_axis *inherited = find_axis(node, axis.key);
    if (inherited)
        *inherited = axis;
    else
        add_axis(d, node, axis);
    return OK;
}

/* ---- variants ---- */

static enum err_code count_variants(uint32_t *n, struct draft *d, const struct draft_node *node,
                                    struct err *e)
{
    size_t total = 1;
    for (size_t i = 0; i < node->n_axes && total <= JOB_MAX_NODES; i++)
        total *= node->axes[i].n;
    *n = (uint32_t)total;
    if (d->n_variants + total <= JOB_MAX_NODES)
        return OK;
    return yaml_fail(e, node->key, "the matrix makes more than %d nodes", JOB_MAX_NODES);
}

static void add_variants(struct draft *d, uint32_t index)
{
    struct draft_node *node = &d->nodes[index];
    node->first_variant = (uint32_t)d->n_variants;
    for (uint32_t v = 0; v < node->n_variants; v++) {
        size_t *choice = arena_array(d->arena, size_t, node->n_axes);
        size_t rest = v;
        const char *name = node->name;
        for (size_t i = node->n_axes; i-- > 0; rest /= node->axes[i].n)
            choice[i] = rest % node->axes[i].n;
        for (size_t i = 0; i < node->n_axes; i++)
            name = arena_printf(d->arena, "%s%c%s=%s", name, i ? ',' : '@', node->axes[i].key,
                                node->axes[i].texts[choice[i]]);
        d->variants[d->n_variants++] = (struct draft_variant){index, name, choice};
    }
}

static enum err_code refuse_cycle(struct draft *d, const uint32_t *path, size_t n,
                                  const struct draft_reference *ref, struct err *e)
{
    const char *text = d->nodes[ref->node].name;
    for (size_t i = n; i-- > 0;) {
        text = arena_printf(d->arena, "%s -> %s", d->nodes[path[i]].name, text);
        if (path[i] == ref->node)
            break;
    }
    return yaml_fail(e, ref->at, "the nodes form a cycle: %.400s", text);
}

/* Expands the inputs first, then the node. `path` holds the nodes being expanded. */
static enum err_code visit(struct draft *d, uint32_t index, uint32_t *path, size_t depth,
                           struct err *e)
{
    enum err_code code;
    struct draft_node *node = &d->nodes[index];
    node->state = DRAFT_OPEN;
    path[depth++] = index;
    for (size_t i = 0; node->op->inputs && node->op->inputs[i].role; i++)
        for (size_t k = 0; k < node->n_inputs[i]; k++) {
            const struct draft_reference *ref = &node->inputs[i][k];
            struct draft_node *target = &d->nodes[ref->node];
            if (target->state == DRAFT_OPEN)
                return err_up(e, refuse_cycle(d, path, depth, ref, e));
            if (target->state == DRAFT_NEW && (code = visit(d, ref->node, path, depth, e)))
                return err_up(e, code);
            if ((code = check_fixed(d, ref, e)))
                return err_up(e, code);
            if (node->op->inputs[i].cardinality != OP_LIST)
                inherit_axes(d, node, ref);
        }
    const struct yaml_node *matrix = yaml_get(node->body, "matrix");
    if (matrix && (code = yaml_expect(matrix, YAML_MAPPING, "matrix", e)))
        return err_up(e, code);
    for (size_t i = 0; matrix && i < matrix->n; i++)
        if ((code = read_axis(d, node, &matrix->pairs[i], e)))
            return err_up(e, code);
    if ((code = count_variants(&node->n_variants, d, node, e)))
        return err_up(e, code);
    add_variants(d, index);
    node->state = DRAFT_DONE;
    return OK;
}

enum err_code draft_expand(struct draft *d, struct err *e)
{
    enum err_code code;
    const struct draft_pairs *in = &d->sections[DRAFT_NODES];
    d->nodes = arena_array(d->arena, struct draft_node, in->n);
    d->n_nodes = in->n;
    for (size_t i = 0; i < in->n; i++) {
        const struct draft_pair *pair = &in->items[i];
        d->nodes[i] =
            (struct draft_node){.name = pair->key->text, .key = pair->key, .body = pair->value};
        if ((code = find_op(d, &d->nodes[i], e)))
            return err_up(e, code);
    }
    for (size_t i = 0; i < d->n_nodes; i++)
        if ((code = read_inputs(d, &d->nodes[i], e)))
            return err_up(e, code);
    d->variants = arena_array(d->arena, struct draft_variant, JOB_MAX_NODES);
    uint32_t *path = arena_array(d->arena, uint32_t, d->n_nodes);
    for (uint32_t i = 0; i < d->n_nodes; i++)
        if (d->nodes[i].state == DRAFT_NEW && (code = visit(d, i, path, 0, e)))
            return err_up(e, code);
    return OK;
}

size_t draft_select(uint32_t *variants, size_t max, const struct draft *d,
                    const struct draft_reference *ref, const struct draft_variant *of)
{
    const struct draft_node *target = &d->nodes[ref->node];
    const struct draft_node *user = of ? &d->nodes[of->node] : NULL;
    size_t n = 0;
    for (uint32_t v = 0; v < target->n_variants; v++) {
        const struct draft_variant *variant = &d->variants[target->first_variant + v];
        bool fits = true;
        for (size_t i = 0; fits && i < target->n_axes; i++) {
            const struct draft_axis *axis = &target->axes[i];
            const char *wanted = fixed_text(ref, axis->key);
            const struct draft_axis *mine = user ? find_axis(user, axis->key) : NULL;
            if (!wanted && mine)
                wanted = mine->texts[of->choice[mine - user->axes]];
            fits = !wanted || !strcmp(wanted, axis->texts[variant->choice[i]]);
        }
        if (fits && n++ < max)
            variants[n - 1] = target->first_variant + v;
    }
    return n;
}

const struct yaml_node *draft_variant_value(const struct draft *d, const struct draft_variant *v,
                                            const char *key)
{
    const struct draft_node *node = &d->nodes[v->node];
    const struct draft_axis *axis = find_axis(node, key);
    if (axis && axis->values)
        return axis->values[v->choice[axis - node->axes]];
    return yaml_get(node->body, key);
}
