/* eqloom schema and init. The JSON Schema (2020-12) of job files is generated from the op table,
 * for completion and checks in editors; eqloom itself checks more (references, kinds, files). init
 * writes the schema and a small job, from the files of jobs/start. */
#include "engine/cli/cmd/cmd.h"

#include "base/io/out_file.h"
#include "base/os.h"
#include "engine/job/job.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t *name_pattern(const char *more)
{
    char pattern[80];
    snprintf(pattern, sizeof pattern, "^[A-Za-z0-9_%s][A-Za-z0-9_%s-]*$", more, more);
    return json_pack("{s:s, s:s}", "type", "string", "pattern", pattern);
}

/* Accepts the type or a string that contains ${name}. */
static json_t *or_placeholder(json_t *type)
{
    return json_pack("{s:[o, {s:s, s:s}]}", "anyOf", type, "type", "string", "pattern",
                     "\\$\\{[A-Za-z0-9_-]+\\}");
}

static json_t *enum_schema(const char *values)
{
    json_t *list = json_array();
    for (const char *v = values; *v;) {
        size_t n = strcspn(v, "|");
        json_array_append_new(list, json_stringn(v, n));
        v += n + (v[n] == '|');
    }
    return json_pack("{s:o}", "enum", list);
}

static json_t *number_schema(const struct op_param *p, const char *type)
{
    json_t *schema = json_pack("{s:s}", "type", type);
    if (p->min != 0 || p->max != 0) {
        json_object_set_new(schema, "minimum", json_real(p->min));
        json_object_set_new(schema, "maximum", json_real(p->max));
    }
    return schema;
}

static json_t *value_schema(const struct op_param *p)
{
    switch (p->type) {
    case OP_INT: return or_placeholder(number_schema(p, "integer"));
    case OP_REAL: return or_placeholder(number_schema(p, "number"));
    case OP_BOOL: return or_placeholder(json_pack("{s:s}", "type", "boolean"));
    case OP_ENUM: return or_placeholder(enum_schema(p->values));
    case OP_STRING: return json_pack("{s:[s, s, s]}", "type", "string", "number", "boolean");
    case OP_STRINGS:
        return json_pack("{s:[s, s], s:{s:[s, s, s]}}", "type", "array", "string", "items", "type",
                         "string", "number", "boolean");
    }
    return json_object();
}

static json_t *param_schema(const struct op_param *p)
{
    json_t *schema = value_schema(p);
    if (p->doc)
        json_object_set_new(schema, "description", json_string(p->doc));
    if (p->initial)
        json_object_set_new(schema, "$comment",
                            json_sprintf("default: %s", *p->initial ? p->initial : "empty"));
    return schema;
}

static json_t *strings_schema(void)
{
    return json_pack("{s:[s, s], s:{s:s}}", "type", "array", "string", "items", "type", "string");
}

static json_t *resources_schema(void)
{
    json_t *properties = json_object();
    static const char *const names[] = {"cpus", "gpus", "memory", "time"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_object_set_new(properties, names[i],
                            json_pack("{s:[s, s]}", "type", "string", "integer"));
    return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
                     "additionalProperties", 0);
}

/* Returns the schema of a node of this op. */
static json_t *op_schema(const struct op *op)
{
    json_t *properties = json_object(), *axes = json_object(), *required = json_array();
    json_object_set_new(properties, "op", json_pack("{s:s}", "const", op->name));
    json_array_append_new(required, json_string("op"));
    if (op->node == OP_SOURCE || op->node == OP_EXEC)
        json_object_set_new(properties, "files", strings_schema());
    if (op->node == OP_SOURCE)
        json_object_set_new(properties, JOB_FROM, json_pack("{s:s}", "type", "string"));
    for (const struct op_port *p = op->inputs; p && p->role; p++) {
        json_t *input =
            p->cardinality == OP_LIST ? strings_schema() : json_pack("{s:s}", "type", "string");
        if (p->doc)
            json_object_set_new(input, "description", json_string(p->doc));
        json_object_set_new(properties, p->role, input);
        if (!p->optional)
            json_array_append_new(required, json_string(p->role));
    }
    for (const struct op_param *p = op->params; p && p->name; p++) {
        json_object_set_new(properties, p->name, param_schema(p));
        json_object_set_new(axes, p->name, json_pack("{s:[s, s]}", "type", "array", "string"));
    }
    json_object_set_new(properties, "executor", json_pack("{s:s}", "$ref", "#/$defs/@executor"));
    json_object_set_new(properties, "resources", json_pack("{s:s}", "$ref", "#/$defs/@resources"));
    json_object_set_new(properties, "matrix",
                        json_pack("{s:s, s:o, s:b}", "type", "object", "properties", axes,
                                  "additionalProperties", 0));
    json_t *schema = json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties,
                               "required", required, "additionalProperties", 0);
    if (op->node == OP_SOURCE)
        json_object_set_new(
            schema, "anyOf",
            json_pack("[{s:[s]}, {s:[s]}]", "required", "files", "required", JOB_FROM));
    if (op->doc)
        json_object_set_new(schema, "description", json_string(op->doc));
    return schema;
}

static json_t *node_schema(void)
{
    json_t *names = json_array(), *cases = json_array();
    for (size_t i = 0; op_table[i]; i++) {
        json_array_append_new(names, json_string(op_table[i]->name));
        json_array_append_new(cases, json_pack("{s:{s:{s:{s:s}}}, s:{s:s+}}", "if", "properties",
                                               "op", "const", op_table[i]->name, "then", "$ref",
                                               "#/$defs/", op_table[i]->name));
    }
    return json_pack("{s:s, s:[s], s:{s:{s:o}}, s:o}", "type", "object", "required", "op",
                     "properties", "op", "enum", names, "allOf", cases);
}

static json_t *texts_by_name(const char *description)
{
    return json_pack("{s:s, s:s, s:{s:s}}", "type", "object", "description", description,
                     "additionalProperties", "type", "string");
}

/* The caller frees the text. */
static char *schema_text(void)
{
    json_t *ops = json_object();
    for (size_t i = 0; op_table[i]; i++)
        json_object_set_new(ops, op_table[i]->name, op_schema(op_table[i]));
    json_object_set_new(ops, "@executor",
                        json_pack("{s:[s, s], s:s}", "enum", "slurm", "here", "description",
                                  "Where it runs: docs/slurm.md."));
    json_object_set_new(ops, "@resources", resources_schema());
    json_t *properties = json_object();
    json_object_set_new(properties, "eqloom", json_pack("{s:i}", "const", 1));
    json_object_set_new(properties, "name", or_placeholder(name_pattern(".")));
    json_object_set_new(properties, "params",
                        json_pack("{s:s, s:{s:[s, s, s, s]}}", "type", "object",
                                  "additionalProperties", "type", "string", "number", "boolean",
                                  "array"));
    json_object_set_new(properties, "include", strings_schema());
    json_object_set_new(properties, "nodes",
                        json_pack("{s:s, s:o, s:o}", "type", "object", "propertyNames",
                                  name_pattern(""), "additionalProperties", node_schema()));
    json_object_set_new(properties, "refs", texts_by_name("Names for outputs of nodes."));
    json_object_set_new(properties, "remote",
                        json_pack("{s:s, s:s}", "type", "string", "description",
                                  "A shared cache: a folder, ssh://HOST/PATH or s3://BUCKET."));
    json_object_set_new(properties, "executor", json_pack("{s:s}", "$ref", "#/$defs/@executor"));
    json_object_set_new(properties, "exports",
                        texts_by_name("Files written after a run: path -> NODE.ROLE."));
    json_t *schema = json_pack("{s:s, s:s, s:s, s:[s], s:o, s:b, s:o}", "$schema",
                               "https://json-schema.org/draft/2020-12/schema", "title",
                               "eqloom job", "type", "object", "required", "eqloom", "properties",
                               properties, "additionalProperties", 0, "$defs", ops);
    char *text = json_dumps(schema, JSON_INDENT(2));
    json_decref(schema);
    if (!text)
        abort();
    return text;
}

enum err_code cli_schema(int *status, struct cli *c, struct err *e)
{
    const char *what = c->n_arguments ? c->arguments[0] : "jobs";
    if (!strcmp(what, "templates")) {
        const struct source_text *f = op_builtins;
        while (strcmp(f->name, OP_BUILTIN "templates.schema.json"))
            f++;
        fwrite(f->text, 1, f->len, c->out);
        return OK;
    }
    if (strcmp(what, "jobs"))
        return err_fail(e, ERR_INPUT, "there are schemas of jobs and of templates, not of '%.40s'",
                        what);
    char *text = schema_text();
    fprintf(c->out, "%s\n", text);
    free(text);
    return OK;
}

/* ---- init ---- */

#define START OP_BUILTIN "start/"
static const char schema_name[] = "eqloom.schema.json";

/* Returns the file's path relative to the directory; NULL if it is not a part of the job. */
static const char *inner_path(const struct source_text *f)
{
    if (strncmp(f->name, START, strlen(START)) == 0)
        return f->name + strlen(START);
    return strcmp(f->name, OP_BUILTIN "templates.schema.json") ? NULL
                                                               : f->name + strlen(OP_BUILTIN);
}

static enum err_code refuse_existing(const char *path, struct err *e)
{
    struct os_stat st;
    if (os_stat(&st, path, NULL))
        return OK;
    enum err_code code = err_fail(e, ERR_INPUT, "%s already exists", path);
    err_hint(e, "name a directory for the job: eqloom init DIR");
    return code;
}

static enum err_code write_new(struct cli *c, const char *path, const char *text, size_t n,
                               struct err *e)
{
    enum err_code code = os_mkdirs(os_dirname(c->arena, path), e);
    if (!code)
        code = out_file_write(path, text, n, e);
    if (!code)
        fprintf(c->out, "%s\n", path);
    return err_up(e, code);
}

enum err_code cli_init(int *status, struct cli *c, struct err *e)
{
    const char *dir = c->n_arguments ? c->arguments[0] : ".";
    enum err_code code = refuse_existing(os_join(c->arena, dir, schema_name), e);
    for (const struct source_text *f = op_builtins; !code && f->name; f++)
        if (inner_path(f))
            code = refuse_existing(os_join(c->arena, dir, inner_path(f)), e);
    if (code)
        return err_up(e, code);
    for (const struct source_text *f = op_builtins; !code && f->name; f++)
        if (inner_path(f))
            code = write_new(c, os_join(c->arena, dir, inner_path(f)), f->text, f->len, e);
    if (code)
        return err_up(e, code);
    char *schema = schema_text();
    code = write_new(c, os_join(c->arena, dir, schema_name), schema, strlen(schema), e);
    free(schema);
    if (!code)
        fprintf(c->narration, "'eqloom run %s' runs it\n", os_join(c->arena, dir, "job.yaml"));
    return err_up(e, code);
}
