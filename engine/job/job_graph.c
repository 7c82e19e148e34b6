/* Builds the graph from the variants. Checks every node's keys, parameters, files and inputs
 * against its op, and resolves refs and exports. */
#include "engine/job/job_draft.h"

#include "base/os.h"

#include <string.h>

/* ---- keys ---- */

static enum err_code check_keys(struct draft *d, const struct draft_node *node, struct err *e)
{
    enum err_code code;
    const char *names[128] = {"op", "matrix", "executor", "resources"};
    size_t n = 4, first_param;
    if (node->op->node == OP_SOURCE || node->op->node == OP_EXEC)
        names[n++] = "files";
    if (node->op->node == OP_SOURCE)
        names[n++] = JOB_FROM;
    for (const struct op_port *p = node->op->inputs; p && p->role && n < 128; p++)
        names[n++] = p->role;
    first_param = n;
    for (const struct op_param *p = node->op->params; p && p->name && n < 128; p++)
        names[n++] = p->name;
    char *what = arena_printf(d->arena, "a node of op '%s'", node->op->name);
    if ((code = yaml_only_keys(node->body, names, n, what, e)))
        return err_up(e, code);
    const struct yaml_node *matrix = yaml_get(node->body, "matrix");
    for (size_t i = 0; matrix && i < matrix->n; i++)
        if (op_find_port(node->op->inputs, matrix->pairs[i].key->text))
            return yaml_fail(e, matrix->pairs[i].key,
                             "'%s' is an input: a matrix varies parameters",
                             matrix->pairs[i].key->text);
    if (!matrix)
        return OK;
    what = arena_printf(d->arena, "the matrix of op '%s'", node->op->name);
    return err_up(e, yaml_only_keys(matrix, names + first_param, n - first_param, what, e));
}

/* ---- parameters ---- */

/* A label such as "encoder pooling=mean d_model=64": the axis values distinguish the variants. */
static char *with_axes(struct draft *d, const struct draft_variant *v, const char *label,
                       const char *key)
{
    const struct draft_node *node = &d->nodes[v->node];
    char *text = arena_strdup(d->arena, label);
    for (size_t i = 0; i < node->n_axes; i++)
        if (strcmp(node->axes[i].key, key))
            text = arena_printf(d->arena, "%s%s%s=%s", text, *text ? " " : "", node->axes[i].key,
                                node->axes[i].texts[v->choice[i]]);
    return text;
}

static enum err_code read_params(struct node *out, struct draft *d, const struct draft_variant *v,
                                 struct err *e)
{
    enum err_code code;
    const struct draft_node *node = &d->nodes[v->node];
    size_t n = 0;
    while (node->op->params && node->op->params[n].name)
        n++;
    struct node_param *params = arena_array(d->arena, struct node_param, n);
    for (size_t i = 0; i < n; i++) {
        const struct op_param *param = &node->op->params[i];
        const struct yaml_node *value = draft_variant_value(d, v, param->name);
        params[i].param = param;
        if (value && (code = job_param_text(&params[i].value, d->arena, param, value, e)))
            return err_up(e, code);
        if (!value)
            params[i].value = job_param_initial(d->arena, param);
        if (params[i].value && param->names_variant)
            params[i].value = with_axes(d, v, params[i].value, param->name);
        if (params[i].value)
            continue;
        code = yaml_fail(e, node->key, "node '%s' (op %s) lacks its parameter '%s'", node->name,
                         node->op->name, param->name);
        err_hint(e, "%s", param->doc ? param->doc : "");
        return code;
    }
    out->params = params;
    return OK;
}

/* ---- inputs ---- */

/* The output of a map is always a collection. */
static bool outputs_collection(const struct op *op, uint32_t output)
{
    return op->node == OP_MAP || op->outputs[output].cardinality == OP_COLLECTION;
}

static const char *describe(struct arena *a, enum record_kind kind, bool collection)
{
    const struct kind_info *info = kind_info(kind);
    return arena_printf(a, "%s %s", collection ? "a collection of" : "one",
                        info ? info->name : "record of any kind");
}

static enum err_code check_kind(struct draft *d, const struct draft_node *user,
                                const struct op_port *port, const struct draft_reference *ref,
                                struct err *e)
{
    const struct draft_node *target = &d->nodes[ref->node];
    enum record_kind kind = target->op->outputs[ref->output].kind;
    bool given = outputs_collection(target->op, ref->output);
    bool wanted = port->cardinality == OP_COLLECTION;
    if (port->kind == KIND_NONE && port->cardinality == OP_LIST)
        return OK; /* the input takes any record */
    if (given == wanted && (port->kind == kind || port->kind == KIND_NONE))
        return OK;
    enum err_code code =
        yaml_fail(e, ref->at, "input '%s' of op '%s' takes %s%s, but '%.60s' outputs %s",
                  port->role, user->op->name, describe(d->arena, port->kind, wanted),
                  port->cardinality == OP_LIST ? " from each node of a list" : "", ref->at->text,
                  describe(d->arena, kind, given));
    for (uint32_t i = 0; target->op->outputs[i].role; i++)
        if (outputs_collection(target->op, i) == wanted &&
            target->op->outputs[i].kind == port->kind) {
            err_hint(e, "did you mean '%s.%s'?", target->name, target->op->outputs[i].role);
            break;
        }
    return code;
}

/* Returns, for a hint, the op that turns such records into ones with the property. */
static const char *op_producing(const struct op_port *port)
{
    for (size_t i = 0; op_table[i]; i++)
        for (const struct op_port *o = op_table[i]->outputs; o && o->role; o++)
            if (o->kind == port->kind && o->property && !strcmp(o->property, port->property))
                return op_table[i]->name;
    return NULL;
}

static enum err_code check_property(const struct draft *d, const struct draft_node *user,
                                    const struct op_port *port, const struct draft_reference *ref,
                                    struct err *e)
{
    const struct draft_node *target = &d->nodes[ref->node];
    const char *given = target->op->outputs[ref->output].property;
    if (!port->property || (given && !strcmp(given, port->property)))
        return OK;
    enum err_code code =
        yaml_fail(e, ref->at, "input '%s' of op '%s' takes %s records; those of '%.60s' are not %s",
                  port->role, user->op->name, port->property, ref->at->text, port->property);
    const char *op = op_producing(port);
    if (op)
        err_hint(e, "put a node of op '%s' between them", op);
    return code;
}

/* Fails with ERR_INPUT unless the reference selects exactly one variant. */
static enum err_code draft_select_one(uint32_t *variant, struct draft *d,
                                      const struct draft_reference *ref,
                                      const struct draft_variant *of, struct err *e)
{
    uint32_t found[4];
    size_t n = draft_select(found, 4, d, ref, of);
    if (n == 1) {
        *variant = found[0];
        return OK;
    }
    if (!n)
        return yaml_fail(e, ref->at, "no variant of '%s' matches '%s'", d->nodes[ref->node].name,
                         of ? of->name : ref->at->text);
    enum err_code code = yaml_fail(e, ref->at, "'%.100s' names %zu variants", ref->at->text, n);
    err_hint(e, "name one of them: %s, %s%s", d->variants[found[0]].name,
             d->variants[found[1]].name, n > 2 ? ", ..." : "");
    return code;
}

static enum err_code wire_list(struct node_input *out, struct draft *d,
                               const struct draft_reference *refs, size_t n_refs, struct err *e)
{
    uint32_t *found = arena_array(d->arena, uint32_t, JOB_MAX_NODES);
    struct node_source *sources = NULL;
    size_t total = 0;
    for (size_t i = 0; i < n_refs; i++)
        total += draft_select(found, 0, d, &refs[i], NULL);
    if (total > JOB_MAX_NODES)
        return yaml_fail(e, refs[0].at, "more than %d inputs", JOB_MAX_NODES);
    sources = arena_array(d->arena, struct node_source, total);
    for (size_t i = 0; i < n_refs; i++) {
        size_t n = draft_select(found, JOB_MAX_NODES, d, &refs[i], NULL);
        for (size_t k = 0; k < n; k++)
            sources[out->n_sources++] = (struct node_source){found[k], refs[i].output};
    }
    out->sources = sources;
    return OK;
}

static enum err_code wire_inputs(struct node *out, struct draft *d, const struct draft_variant *v,
                                 struct err *e)
{
    enum err_code code;
    const struct draft_node *node = &d->nodes[v->node];
    size_t n = op_count_inputs(node->op);
    struct node_input *inputs = arena_array(d->arena, struct node_input, n);
    for (size_t i = 0; i < n; i++) {
        const struct op_port *port = &node->op->inputs[i];
        inputs[i].port = port;
        if (!node->n_inputs[i] && !port->optional)
            return yaml_fail(e, node->key, "node '%s' (op %s) lacks its input '%s': %s%s",
                             node->name, node->op->name, port->role,
                             port->cardinality == OP_LIST ? "a list of nodes, each " : "",
                             describe(d->arena, port->kind, port->cardinality == OP_COLLECTION));
        for (size_t k = 0; k < node->n_inputs[i]; k++)
            if ((code = check_kind(d, node, port, &node->inputs[i][k], e)) ||
                (code = check_property(d, node, port, &node->inputs[i][k], e)))
                return err_up(e, code);
        if (!node->n_inputs[i])
            continue;
        if (port->cardinality == OP_LIST) {
            if ((code = wire_list(&inputs[i], d, node->inputs[i], node->n_inputs[i], e)))
                return err_up(e, code);
            continue;
        }
        struct node_source *source = arena_new(d->arena, struct node_source);
        source->output = node->inputs[i][0].output;
        if ((code = draft_select_one(&source->node, d, &node->inputs[i][0], v, e)))
            return err_up(e, code);
        inputs[i].sources = source;
        inputs[i].n_sources = 1;
    }
    out->inputs = inputs;
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += inputs[i].n_sources;
    struct node_source *above = arena_array(d->arena, struct node_source, total);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < inputs[i].n_sources; k++)
            above[out->n_above++] = inputs[i].sources[k];
    out->above = above;
    return OK;
}

/* ---- executor and resources ---- */

static enum err_code read_executor(enum executor *out, const struct yaml_node *at, struct err *e)
{
    *out = EXECUTOR_ANY;
    enum err_code code = at ? yaml_expect(at, YAML_SCALAR, "executor", e) : OK;
    if (code || !at)
        return err_up(e, code);
    *out = !strcmp(at->text, "slurm") ? EXECUTOR_SLURM : EXECUTOR_HERE;
    if (*out == EXECUTOR_HERE && strcmp(at->text, "here"))
        return yaml_fail(e, at, "'executor' must be slurm or here, not '%.60s'", at->text);
    return OK;
}

/* The values become arguments of sbatch. */
static enum err_code read_resources(struct node_resources *out, const struct yaml_node *at,
                                    struct err *e)
{
    static const char *const names[] = {"cpus", "gpus", "memory", "time"};
    const char **places[] = {&out->cpus, &out->gpus, &out->memory, &out->time};
    enum err_code code = at ? yaml_expect(at, YAML_MAPPING, "resources", e) : OK;
    if (!code && at)
        code = yaml_only_keys(at, names, 4, "resources", e);
    for (size_t i = 0; at && !code && i < 4; i++) {
        const struct yaml_node *value = yaml_get(at, names[i]);
        if (!value)
            continue;
        if ((code = yaml_expect(value, YAML_SCALAR, names[i], e)))
            return err_up(e, code);
        if (!draft_is_name(value->text, ".:"))
            return yaml_fail(e, value, "'%.60s' is not a valid %s for sbatch", value->text,
                             names[i]);
        *places[i] = value->text;
    }
    return err_up(e, code);
}

static enum err_code make_node(struct node *out, struct draft *d, const struct draft_variant *v,
                               struct err *e)
{
    enum err_code code;
    const struct draft_node *node = &d->nodes[v->node];
    *out = (struct node){.name = v->name,
                         .base = node->name,
                         .op = node->op,
                         .source = node->key->source,
                         .offset = node->key->offset};
    if ((code = read_params(out, d, v, e)) || (code = wire_inputs(out, d, v, e)) ||
        (code = draft_read_files(out, d, node, e)) ||
        (code = read_executor(&out->executor, yaml_get(node->body, "executor"), e)) ||
        (code = read_resources(&out->resources, yaml_get(node->body, "resources"), e)))
        return err_up(e, code);
    code = OK;
    if (node->op->check)
        code = err_up(e, node->op->check(op_ctx_for_params(d->arena, out), e));
    if (code && e)
        err_locate(e, out->source, out->offset);
    if (!code && node->op->units)
        out->units = node->op->units(op_ctx_for_params(d->arena, out));
    if (!code && node->op->cards)
        out->cards = node->op->cards(op_ctx_for_params(d->arena, out));
    return code;
}

/* ---- refs and exports ---- */

static bool is_relative_path(const char *path, const char *also)
{
    char part[128];
    for (const char *p = path;; p++) {
        size_t n = strcspn(p, "/");
        if (n >= sizeof part)
            return false;
        memcpy(part, p, n);
        part[n] = 0;
        if (!draft_is_name(part, also))
            return false;
        p += n;
        if (!*p)
            return true;
    }
}

static enum err_code find_target(struct node_source *out, struct draft *d,
                                 const struct yaml_node *at, struct draft_reference *ref,
                                 struct err *e)
{
    enum err_code code;
    if ((code = draft_read_reference(ref, d, at, e)))
        return err_up(e, code);
    out->output = ref->output;
    return err_up(e, draft_select_one(&out->node, d, ref, NULL, e));
}

static enum err_code wire_refs(struct job *job, struct draft *d, struct err *e)
{
    enum err_code code;
    const struct draft_pairs *in = &d->sections[DRAFT_REFS];
    struct job_ref *refs = arena_array(d->arena, struct job_ref, in->n);
    for (size_t i = 0; i < in->n; i++) {
        struct draft_reference ref;
        refs[i].name = in->items[i].key->text;
        if (!is_relative_path(refs[i].name, "._@=,+"))
            return yaml_fail(e, in->items[i].key, "'%.100s' cannot be a ref's name", refs[i].name);
        if (!strncmp(refs[i].name, JOB_TAGS, strlen(JOB_TAGS)))
            return yaml_fail(e, in->items[i].key,
                             "'%.100s' cannot be a ref's name: " JOB_TAGS
                             "... is reserved for 'eqloom tag'",
                             refs[i].name);
        if ((code = find_target(&refs[i].target, d, in->items[i].value, &ref, e)))
            return err_up(e, code);
    }
    job->refs = refs;
    job->n_refs = in->n;
    return OK;
}

static enum err_code wire_exports(struct job *job, struct draft *d, struct err *e)
{
    enum err_code code;
    const struct draft_pairs *in = &d->sections[DRAFT_EXPORTS];
    struct job_export *exports = arena_array(d->arena, struct job_export, in->n);
    for (size_t i = 0; i < in->n; i++) {
        struct draft_reference ref;
        exports[i].path = in->items[i].key->text;
        if (!is_relative_path(exports[i].path, "._@=,+ "))
            return yaml_fail(e, in->items[i].key,
                             "'%.100s' cannot be an export's path: it must be "
                             "relative to out/%s and without '..'",
                             exports[i].path, d->name);
        if ((code = find_target(&exports[i].target, d, in->items[i].value, &ref, e)))
            return err_up(e, code);
        const struct op *op = d->nodes[ref.node].op;
        if (op->outputs[ref.output].kind == KIND_FILE && !outputs_collection(op, ref.output))
            continue;
        code = yaml_fail(
            e, in->items[i].value, "only a file can be exported, but '%.60s' outputs %s",
            ref.at->text,
            describe(d->arena, op->outputs[ref.output].kind, outputs_collection(op, ref.output)));
        for (uint32_t k = 0; op->outputs[k].role; k++)
            if (op->outputs[k].kind == KIND_FILE)
                err_hint(e, "did you mean '%s.%s'?", d->nodes[ref.node].name, op->outputs[k].role);
        return code;
    }
    job->exports = exports;
    job->n_exports = in->n;
    return OK;
}

static void list_params(struct job *job, struct draft *d)
{
    const struct draft_pairs *in = &d->sections[DRAFT_PARAMS];
    struct job_param *params = arena_array(d->arena, struct job_param, in->n + d->options->n_sets);
    for (size_t i = 0; i < in->n; i++) {
        const struct yaml_node *value = in->items[i].value;
        char *text = arena_strdup(d->arena, value->type == YAML_SCALAR ? value->text : "");
        for (size_t k = 0; value->type == YAML_SEQUENCE && k < value->n; k++)
            if (value->items[k]->type == YAML_SCALAR)
                text = arena_printf(d->arena, "%s%s%s", text, k ? " " : "", value->items[k]->text);
        params[job->n_params++] = (struct job_param){in->items[i].key->text, text};
    }
    for (size_t i = 0; i < d->options->n_sets; i++) {
        const char *set = d->options->sets[i];
        size_t n = strcspn(set, "=");
        if (set[n] && memchr(set, '.', n))
            params[job->n_params++] =
                (struct job_param){arena_strndup(d->arena, set, n), set + n + 1};
    }
    job->params = params;
}

enum err_code draft_wire(struct job **out, struct draft *d, struct err *e)
{
    enum err_code code;
    struct job *job = arena_new(d->arena, struct job);
    job->nodes = arena_array(d->arena, struct node, d->n_variants);
    job->n_nodes = d->n_variants;
    for (size_t i = 0; i < d->n_nodes; i++) {
        const struct draft_node *node = &d->nodes[i];
        if ((code = check_keys(d, node, e)))
            return err_up(e, code);
        for (uint32_t v = node->first_variant; v < node->first_variant + node->n_variants; v++) {
            code = err_up(e, make_node(&job->nodes[v], d, &d->variants[v], e));
            if (code)
                return code;
        }
    }
    if ((code = wire_refs(job, d, e)) || (code = wire_exports(job, d, e)) ||
        (code = read_executor(&job->executor, d->executor_at, e)))
        return err_up(e, code);
    list_params(job, d);
    job->name = d->name;
    char *real;
    job->path = os_realpath(&real, d->arena, d->path, NULL) ? d->path : real;
    job->dir = d->dir;
    job->remote = d->remote_at ? d->remote_at->text : NULL;
    *out = job;
    return OK;
}
