/* eqloom ops: the op table for people, machines and docs/ops.md. */
#include "engine/cli/cmd/cmd.h"

#include "engine/cli/console/naming.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/console/wrap.h"
#include "engine/cli/records/reflect.h"
#include "engine/op.h"

#include <string.h>

static const char *node_name(enum op_node node)
{
    switch (node) {
    case OP_SOURCE: return "source";
    case OP_TASK: return "task";
    case OP_MAP: return "map";
    case OP_CHAIN: return "chain";
    }
    return "?";
}

static const char *type_name(struct arena *a, const struct op_param *p)
{
    switch (p->type) {
    case OP_INT: return "integer";
    case OP_REAL: return "number";
    case OP_BOOL: return "true or false";
    case OP_STRING: return "text";
    case OP_STRINGS: return "list of texts";
    case OP_ENUM: {
        char *text = arena_printf(a, "one of %s", p->values);
        for (char *s = text; *s; s++)
            if (*s == '|')
                *s = ' ';
        return text;
    }
    }
    return "?";
}

static const char *range(struct arena *a, const struct op_param *p)
{
    bool bounded = (p->type == OP_INT || p->type == OP_REAL) && (p->min != 0 || p->max != 0);
    return bounded ? arena_printf(a, ", %.10g to %.10g", p->min, p->max) : "";
}

static const char *port_type(struct arena *a, const struct op *op, const struct op_port *p,
                             bool input)
{
    const struct kind_info *kind = kind_info(p->kind);
    bool collection = p->cardinality == OP_COLLECTION || (!input && op->node == OP_MAP);
    return arena_printf(a, "%s%s%s",
                        collection                  ? "collection of "
                        : p->cardinality == OP_LIST ? "list of nodes, each "
                                                    : "",
                        kind ? kind->name : "any record", p->optional ? " (optional)" : "");
}

static const char *first_sentence(struct arena *a, const char *doc)
{
    const char *end = strstr(doc, ". ");
    return end ? arena_strndup(a, doc, (size_t)(end - doc) + 1) : doc;
}

/* ---- Markdown ---- */

static void mark_ports(struct cli *c, const struct op *op, const struct op_port *p, bool input)
{
    if (!p || !p->role)
        return;
    fprintf(c->out, "| %s | kind | |\n|---|---|---|\n", input ? "input" : "output");
    for (; p->role; p++)
        fprintf(c->out, "| `%s` | %s | %s |\n", p->role, port_type(c->arena, op, p, input),
                p->doc ? p->doc : "");
    fputc('\n', c->out);
}

static void mark_op(struct cli *c, const struct op *op)
{
    fprintf(c->out, "## %s\n\n%s, version %u%s. %s\n\n", op->name, node_name(op->node), op->version,
            op->numerics ? ", depends on the machine's arithmetic" : "", op->doc ? op->doc : "");
    mark_ports(c, op, op->inputs, true);
    mark_ports(c, op, op->outputs, false);
    const struct op_param *p = op->params;
    if (!p || !p->name)
        return;
    fputs("| parameter | type | default | |\n|---|---|---|---|\n", c->out);
    for (; p->name; p++)
        fprintf(c->out, "| `%s` | %s%s | %s%s%s | %s |\n", p->name, type_name(c->arena, p),
                range(c->arena, p), p->initial && *p->initial ? "`" : "",
                !p->initial   ? "required"
                : *p->initial ? p->initial
                              : "empty",
                p->initial && *p->initial ? "`" : "", p->doc ? p->doc : "");
    fputc('\n', c->out);
}

/* ---- text ---- */

static void print_ports(struct cli *c, const struct op *op, const struct op_port *p, bool input)
{
    if (!p || !p->role)
        return;
    struct table *t = table_new(c->arena, input ? "input|kind|" : "output|kind|");
    for (; p->role; p++)
        table_add(t, (const char *const[]){p->role, port_type(c->arena, op, p, input), p->doc});
    fputc('\n', c->out);
    table_print(c->out, t);
}

static void print_op(struct cli *c, const struct op *op)
{
    fprintf(c->out, "%s: %s, version %u%s\n\n", op->name, node_name(op->node), op->version,
            op->numerics ? ", depends on the machine's arithmetic" : "");
    if (op->doc)
        wrap_print(c->out, op->doc, 0, 0, wrap_width(c->out));
    print_ports(c, op, op->inputs, true);
    print_ports(c, op, op->outputs, false);
    if (!op->params || !op->params->name)
        return;
    struct table *t = table_new(c->arena, "parameter|default|type|");
    for (const struct op_param *p = op->params; p->name; p++) {
        const char *type =
            arena_printf(c->arena, "%s%s", type_name(c->arena, p), range(c->arena, p));
        table_add(t, (const char *const[]){p->name,
                                           !p->initial   ? "required"
                                           : *p->initial ? p->initial
                                                         : "empty",
                                           type, p->doc});
    }
    fputc('\n', c->out);
    table_print(c->out, t);
}

/* ---- JSON ---- */

static json_t *ports_json(struct cli *c, const struct op *op, const struct op_port *p, bool input)
{
    static const char *const cardinalities[] = {"one", "collection", "list"};
    json_t *list = json_array();
    for (; p && p->role; p++) {
        const struct kind_info *kind = kind_info(p->kind);
        bool collection = !input && op->node == OP_MAP;
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:b, s:s}", "role", p->role, "kind",
                                        kind ? kind->name : "any", "cardinality",
                                        cardinalities[collection ? OP_COLLECTION : p->cardinality],
                                        "optional", p->optional, "doc", p->doc ? p->doc : ""));
    }
    return list;
}

static void dump_op(struct cli *c, const struct op *op)
{
    json_t *params = json_array();
    for (const struct op_param *p = op->params; p && p->name; p++)
        json_array_append_new(params, json_pack("{s:s, s:s, s:s?, s:s}", "name", p->name, "type",
                                                type_name(c->arena, p), "default", p->initial,
                                                "doc", p->doc ? p->doc : ""));
    reflect_dump(c->out,
                 json_pack("{s:s, s:i, s:s, s:s, s:o, s:o, s:o}", "op", op->name, "version",
                           (int)op->version, "node", node_name(op->node), "doc",
                           op->doc ? op->doc : "", "inputs", ports_json(c, op, op->inputs, true),
                           "outputs", ports_json(c, op, op->outputs, false), "params", params));
}

enum err_code cli_ops(int *status, struct cli *c, struct err *e)
{
    const struct op *one = NULL;
    bool markdown = cli_flag(c, "markdown");
    enum err_code code = c->n_arguments ? naming_op(&one, c->arguments[0], e) : OK;
    if (code)
        return err_up(e, code);
    if (markdown && !one)
        fputs("# Ops\n\nWhat nodes of a job may be: made by `eqloom ops --markdown`. A *source* "
              "reads files; a *task* makes its outputs from its inputs at once; a *map* does so "
              "for each element of its first input; a *chain* goes on from record to record in "
              "segments.\n\n",
              c->out);
    struct table *t = table_new(c->arena, "op|node|");
    for (size_t i = 0; op_table[i]; i++) {
        const struct op *op = op_table[i];
        if (one && op != one)
            continue;
        if (c->json)
            dump_op(c, op);
        else if (markdown)
            mark_op(c, op);
        else if (one)
            print_op(c, op);
        else
            table_add(t, (const char *const[]){op->name, node_name(op->node),
                                               first_sentence(c->arena, op->doc ? op->doc : "")});
    }
    if (!one && !markdown && !c->json)
        table_print(c->out, t);
    return OK;
}
