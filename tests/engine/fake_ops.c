/* An op table for tests of the job file and the command line: the shapes of the real ops, doing
 * nothing. */
#include "engine/op.h"
#include "engine/tool.h"

#include <string.h>

static enum err_code check_train(struct op_ctx *ctx, struct err *e)
{
    if (op_int(ctx, "d_model") % op_int(ctx, "heads"))
        return err_fail(e, ERR_INPUT, "d_model must be a multiple of heads");
    return OK;
}

static const struct op_port rules_ports[] = {{"rules", KIND_RULE, OP_COLLECTION}, {0}};
static const struct op_port certified_ports[] = {
    {"rules", KIND_RULE, OP_COLLECTION, .property = "certified"}, {0}};
static const struct op_port exprs_out[] = {{"exprs", KIND_EXPR, OP_COLLECTION}, {0}};
static const struct op_port egraphs_out[] = {{"egraphs", KIND_EGRAPH, OP_ONE}, {0}};
static const struct op_port clusters_ports[] = {{"clusters", KIND_CLUSTER, OP_COLLECTION}, {0}};
static const struct op_port split_out[] = {
    {"train", KIND_CLUSTER, OP_COLLECTION}, {"test", KIND_CLUSTER, OP_COLLECTION}, {0}};
static const struct op_port checkpoint_out[] = {{"checkpoint", KIND_CHECKPOINT, OP_ONE}, {0}};
static const struct op_port vectors_ports[] = {{"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION},
                                               {0}};
static const struct op_port report_out[] = {
    {"report", KIND_REPORT, OP_ONE}, {"html", KIND_FILE, OP_ONE}, {0}};

static const struct op_port saturate_in[] = {
    {"exprs", KIND_EXPR, OP_COLLECTION}, {"rules", KIND_RULE, OP_COLLECTION}, {0}};
static const struct op_port egraphs_in[] = {{"egraphs", KIND_EGRAPH, OP_COLLECTION}, {0}};
static const struct op_port train_in[] = {
    {"clusters", KIND_CLUSTER, OP_COLLECTION}, {"start", KIND_CHECKPOINT, OP_ONE, true}, {0}};
static const struct op_port embed_in[] = {
    {"clusters", KIND_CLUSTER, OP_COLLECTION}, {"checkpoint", KIND_CHECKPOINT, OP_ONE}, {0}};
static const struct op_port report_in[] = {
    {"evaluations", KIND_REPORT, OP_LIST}, {"checkpoint", KIND_CHECKPOINT, OP_ONE, true}, {0}};

static const struct op_param rules_params[] = {
    {"groups", OP_STRINGS, "", .doc = "Only these groups."},
    {"words", OP_STRINGS, "", .doc = "Any text.", .any_text = true},
    {0}};
static const struct op_param saturate_params[] = {
    {"iterations", OP_INT, "8", .min = 0, .max = 1000, .doc = "At most this many."},
    {"max_nodes", OP_INT, "10000", .min = 1, .max = 1e9, .doc = "Stop at this size."},
    {"allow_unsound", OP_BOOL, "false", .doc = "Run refuted rules too."},
    {0}};
static const struct op_param extract_params[] = {
    {"seed", OP_INT, "0", .doc = "Of the draws."},
    {"max_tokens", OP_INT, NULL, .min = 1, .max = 1000, .doc = "Longest term."},
    {0}};
static const struct op_param split_params[] = {
    {"test", OP_REAL, "0.15", .min = 0, .max = 1, .doc = "Share held out."}, {0}};
static const struct op_param train_params[] = {
    {"steps", OP_INT, "100", .min = 0, .max = 1e9, .doc = "How long."},
    {"rate", OP_REAL, "1e-4", .min = 0, .max = 1, .doc = "Learning rate."},
    {"pool", OP_ENUM, "mean", "mean|max|first", .doc = "How tokens become one vector."},
    {"d_model", OP_INT, "64", .min = 1, .max = 4096, .doc = "Width."},
    {"heads", OP_INT, "4", .min = 1, .max = 64, .doc = "Attention heads."},
    {0}};
static const struct op_param evaluate_params[] = {
    {"label", OP_STRING, NULL, .doc = "Name in tables."}, {0}};
static const struct op_param report_params[] = {
    {"title", OP_STRING, "Report", .doc = "At the top."}, {0}};

#define FAKE(name_, node_, doc_, inputs_, outputs_, ...)                                           \
    static const struct op op_##name_ = {.name = #name_,                                           \
                                         .version = 1,                                             \
                                         .node = node_,                                            \
                                         .doc = doc_,                                              \
                                         .inputs = inputs_,                                        \
                                         .outputs = outputs_,                                      \
                                         __VA_ARGS__}
FAKE(certify, OP_MAP, "Checks rules.", rules_ports, certified_ports);
FAKE(derivations, OP_TASK, "Derives.", certified_ports, exprs_out);
FAKE(evaluate, OP_TASK, "Scores vectors.", vectors_ports, report_out, .params = evaluate_params);
FAKE(embed, OP_TASK, "Vectors of clusters.", embed_in, vectors_ports);
FAKE(extract, OP_MAP, "Draws terms.", egraphs_in, clusters_ports, .params = extract_params);
FAKE(report, OP_TASK, "A page.", report_in, report_out, .params = report_params);
FAKE(rules, OP_SOURCE, "Reads rules.", NULL, rules_ports, .params = rules_params);
FAKE(saturate, OP_MAP, "Saturates.", saturate_in, egraphs_out, .params = saturate_params);
FAKE(split, OP_TASK, "Holds out.", clusters_ports, split_out, .params = split_params);
FAKE(templates, OP_SOURCE, "Makes expressions.", NULL, exprs_out);
FAKE(train, OP_CHAIN, "Trains.", train_in, checkpoint_out, .params = train_params,
     .check = check_train);

const struct op *const op_table[] = {&op_certify, &op_derivations, &op_embed, &op_evaluate,
                                     &op_extract, &op_report,      &op_rules, &op_saturate,
                                     &op_split,   &op_templates,   &op_train, NULL};

const struct source_text op_builtins[] = {{"builtin:algebra.rules", "", 0},
                                          {"builtin:semvec/algebra.rules", "", 0},
                                          {"builtin:small.yaml", "", 0},
                                          {0}};

int op_value_sense(const char *name)
{
    return 0;
}

char *op_infix(struct arena *a, const char *prefix)
{
    return arena_printf(a, "<%s>", prefix);
}

char *op_latex(struct arena *a, const char *prefix)
{
    return arena_printf(a, "{%s}", prefix);
}

char *op_formula(struct arena *a, const char *prefix)
{
    return NULL;
}

const struct op *op_find(const char *name)
{
    for (size_t i = 0; op_table[i]; i++)
        if (!strcmp(op_table[i]->name, name))
            return op_table[i];
    return NULL;
}

const struct tool *const tool_table[] = {NULL};
