/* eqloom ops: prints the table of ops as text, or as Markdown for docs/ops.md. */
#include "engine/cli/cmd/cmd.h"

#include "engine/cli/console/text_table.h"
#include "engine/op.h"

#include <string.h>

enum { MAX_OPS = 256 };

enum err_code find_op(const struct op **out, const char *name, struct err *e)
{
    const char *names[MAX_OPS];
    size_t n = 0;
    *out = op_find(name);
    if (*out)
        return OK;
    for (; op_table[n] && n < MAX_OPS; n++)
        names[n] = op_table[n]->name;
    enum err_code code = err_fail(e, ERR_INPUT, "there is no op '%.60s'", name);
    err_hint(e, "'eqloom ops' lists them");
    return err_suggest(code, name, names, n, e);
}

static const char *node_name(enum op_node node)
{
    switch (node) {
    case OP_SOURCE: return "source";
    case OP_EXEC: return "program";
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

/* Prints a table as aligned text or as Markdown. */
static void put_table(struct cli *c, struct table *t, bool markdown)
{
    if (t->n_rows == 1)
        return;
    fputc('\n', c->out);
    if (!markdown) {
        table_print(c->out, t);
        return;
    }
    for (size_t r = 0; r < t->n_rows; r++) {
        for (size_t i = 0; i < t->n_columns; i++)
            fprintf(c->out, r && !i ? "| `%s` " : "| %s ", t->cells[r * t->n_columns + i]);
        fputs("|\n", c->out);
        for (size_t i = 0; !r && i < t->n_columns; i++)
            fputs(i + 1 < t->n_columns ? "|---" : "|---|\n", c->out);
    }
}

static void put_ports(struct cli *c, const struct op *op, const struct op_port *p, bool input,
                      bool markdown)
{
    struct table *t = table_new(c->arena, input ? "input|kind|" : "output|kind|");
    for (; p && p->role; p++)
        table_add(t, (const char *const[]){p->role, port_type(c->arena, op, p, input), p->doc});
    put_table(c, t, markdown);
}

static void put_op(struct cli *c, const struct op *op, bool markdown)
{
    struct table *t = table_new(c->arena, "parameter|type|default|");
    fprintf(c->out, "%s%s%s%s, version %u%s%s", markdown ? "## " : "", op->name,
            markdown ? "\n\n" : ": ", node_name(op->node), op->version,
            op->numerics ? ", depends on the machine's arithmetic" : "", markdown ? ". " : "\n\n");
    wrap_print(c->out, op->doc ? op->doc : "", 0, 0, markdown ? WRAP_NEVER : wrap_width(c->out));
    put_ports(c, op, op->inputs, true, markdown);
    put_ports(c, op, op->outputs, false, markdown);
    for (const struct op_param *p = op->params; p && p->name; p++) {
        const char *type =
            arena_printf(c->arena, "%s%s", type_name(c->arena, p), range(c->arena, p));
        table_add(t, (const char *const[]){p->name, type,
                                           !p->initial   ? "required"
                                           : *p->initial ? p->initial
                                                         : "empty",
                                           p->doc});
    }
    put_table(c, t, markdown);
}

enum err_code cli_ops(int *status, struct cli *c, struct err *e)
{
    const struct op *one = NULL;
    bool markdown = cli_flag(c, "markdown");
    enum err_code code = c->n_arguments ? find_op(&one, c->arguments[0], e) : OK;
    if (code)
        return err_up(e, code);
    if (one) {
        put_op(c, one, markdown);
        return OK;
    }
    if (markdown)
        fputs("# Ops\n\n"
              "The ops that nodes of a job can use; generated by `eqloom ops --markdown`. A "
              "*source* reads files from disk or, with `from`, from a node; a *task* makes its "
              "outputs from all of its inputs at once; a *map* does so for each element of its "
              "first input; a *chain* makes one record after another, in segments; *program* is "
              "a task that runs another program.\n",
              c->out);
    struct table *t = table_new(c->arena, "op|node|");
    for (size_t i = 0; op_table[i]; i++) {
        const struct op *op = op_table[i];
        if (markdown) {
            fputc('\n', c->out);
            put_op(c, op, markdown);
        }
        table_add(t, (const char *const[]){op->name, node_name(op->node),
                                           first_sentence(c->arena, op->doc ? op->doc : "")});
    }
    if (!markdown)
        table_print(c->out, t);
    return OK;
}
