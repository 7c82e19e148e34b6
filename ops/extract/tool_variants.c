/* `eqloom variants EXPR`: other forms of an expression. */
#include "ops/egraph/derive/standing.h"
#include "ops/egraph/run/rewrite_options.h"
#include "ops/extract/extract_grammar.h"
#include "ops/extract/variants.h"

#include <jansson.h>
#include <stdlib.h>

enum { MAX_ITERATIONS = 10000, MAX_NODES = 100000000, MAX_FORMS = 100000, LONGER = 6, LEAST = 12 };

struct request {
    const struct tool_args *args;
    struct rules rules;
    struct expr x;
    struct variants_options options;
    struct saturate_options limits;
};

static enum err_code read_request(struct request *q, struct err *e)
{
    const struct tool_args *args = q->args;
    struct saturate_options *o = &q->limits;
    bool own_rules;
    enum err_code code;
    *o = (struct saturate_options){.match_limit = 1000, .ban_length = 5};
    if ((code = tool_number(&q->options.n, args, "count", 10, 1, MAX_FORMS, e)) ||
        (code = tool_number(&o->iterations, args, "iterations", 8, 1, MAX_ITERATIONS, e)) ||
        (code = tool_number(&o->max_nodes, args, "max-nodes", 10000, 1, MAX_NODES, e)) ||
        (code = rewrite_read_rules(&q->rules, &own_rules, args, e)) ||
        (code =
             rewrite_read_expr(&q->x, args, q->rules.lang, "<expression>", args->positional[0], e)))
        return err_up(e, code);
    uint32_t tokens = expr_tokens(&q->x) + LONGER, most = EXTRACT_MAX_TOKENS - 1;
    tokens = tokens < LEAST ? LEAST : tokens > most ? most : tokens;
    q->options.different = tool_value(args, "different") != NULL;
    return err_up(e, tool_number(&q->options.max_tokens, args, "max-tokens", tokens, 1, most, e));
}

static void print_form(const struct request *q, const struct expr *x)
{
    const char *text = expr_shown(q->args)(q->args->arena, x);
    if (!q->args->json) {
        fprintf(q->args->out, "%s\n", text);
        return;
    }
    json_t *o = json_pack("{s:s, s:s, s:i}", "expression", text, "prefix",
                          expr_prefix(q->args->arena, x), "tokens", (int)expr_tokens(x));
    char *line = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
    fprintf(q->args->out, "%s\n", line ? line : "");
    free(line);
    json_decref(o);
}

static enum err_code find(const struct request *q, struct egraph *g, const struct ruleset *set,
                          struct err *e)
{
    const struct tool_args *args = q->args;
    struct saturate_result run;
    struct variants found;
    struct standing_result value;
    const struct standing_options decide = {.verdict_only = true};
    enum err_code code =
        standing_decide(&value, args->arena, &q->rules, set, &q->x, &q->x, &decide, e);
    if (code)
        return err_up(e, code);
    if (value.standing == STANDING_NO_VALUE)
        return err_fail(e, ERR_INPUT, "the expression has no value at any point that was tried");
    eclass_id root = egraph_add_expr(g, &q->x);
    code = egraph_saturate(&run, g, set, &q->limits, args->arena, e);
    if (!code)
        code = variants_find(&found, args->arena, g, egraph_find(g, root), &q->x, &q->options, e);
    if (code)
        return err_up(e, code);
    for (uint32_t i = 0; i < found.n; i++)
        print_form(q, &found.forms[i]);
    fflush(args->out);
    fprintf(args->narration, "%u form%s among %s terms of at most %u tokens (%u e-nodes: %s)\n",
            found.n, found.n == 1 ? "" : "s", found.terms, q->options.max_tokens,
            egraph_count_nodes(g), rewrite_stop_text(run.stop));
    return OK;
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    struct request q = {.args = args};
    if (args->n_positional != 1)
        return err_fail(e, ERR_INPUT, "variants takes one expression");
    enum err_code code = read_request(&q, e);
    if (code)
        return err_up(e, code);
    struct ruleset *set = ruleset_new(&q.rules);
    struct egraph *g = egraph_new(q.rules.lang);
    code = find(&q, g, set, e);
    egraph_free(g);
    ruleset_free(set);
    *exit_status = 0;
    return err_up(e, code);
}

static const struct tool_option options[] = {
    {"count", "N", false, "so many forms, at most (default 10)", 'n'},
    {"different", NULL, false, "forms that look different, instead of the shortest"},
    {"max-tokens", "N", false, "length of a form (default 12, or 6 more than the expression)"},
    REWRITE_OPTION_RULES,
    {"language", "NAME", false, "calculus (default), boolean or polynomial"},
    OPERATORS_OPTION,
    EXPR_ARGUMENT_SYNTAX,
    EXPR_ARGUMENT_LATEX,
    {"iterations", "N", false, "iterations of rewriting, at most (default 8)"},
    {"max-nodes", "N", false, "e-nodes, at most (default 10000)"},
    TOOL_JSON,
    {0}};

const struct tool tool_variants = {
    .name = "variants",
    .arguments = "EXPR",
    .summary = "List equal forms of an expression",
    .help = "Rewrites the expression with all rules, and prints terms that are equal to it, the "
            "shortest first. Each has been compared with the expression, by normal forms or at "
            "points. Of forms that differ only in the order or grouping of sums and products or "
            "in the place of signs one is printed.\n\n"
            "With --different the first form is the one farthest from the expression, by tree edit "
            "distance, and each next one the farthest from those before.",
    .example = "eqloom variants 'sin(2x)' -n 5\n"
               "eqloom variants --different 'tan(x)'",
    .exit_codes = NULL,
    .options = options,
    .run = run,
};
