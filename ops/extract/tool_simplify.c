/* `eqloom simplify EXPR`: finds the cheapest equal term, and explains why it is equal. */
#include "base/buf.h"
#include "ops/egraph/derive/answer.h"
#include "ops/egraph/run/rewrite_options.h"
#include "ops/expr/normal/normal.h"
#include "ops/expr/normal/normal_undefined.h"
#include "ops/extract/cheapest_term.h"

enum { MAX_BUDGET = 50000000 };

/* Normal forms detect zero however long its derivation is. Returns x itself if no term costs
 * less. */
static enum err_code find_simpler(struct expr *out, struct arena *a, const struct ruleset *set,
                                  const struct expr *x, const struct derive_options *limits,
                                  struct err *e)
{
    const struct saturate_options o = {.iterations = limits->iterations,
                                       .max_nodes = limits->max_nodes,
                                       .match_limit = 1000,
                                       .ban_length = 5};
    const char *way;
    *out = expr_leaf(a, x->lang, X_NUM, "0");
    if (lang_is(x->lang, &lang_calculus) && normal_equal(&way, x, out, NULL, 0))
        return OK;
    enum err_code code = cheapest_term(out, a, x, set, &o, e);
    if (!code && expr_cost(out) >= expr_cost(x))
        *out = *x;
    return err_up(e, code);
}

static enum err_code simplify(const struct tool_args *args, const struct rules *rules,
                              const struct ruleset *set, const struct standing_options *options,
                              struct err *e)
{
    struct answer q = {.lang = rules->lang, .show = expr_shown(args)};
    struct buf text = {0};
    enum err_code code;
    const char *why;
    if ((code =
             rewrite_read_expr(&q.from, args, rules->lang, "<expression>", args->positional[0], e)))
        return err_up(e, code);
    if (expr_is_undefined(&why, args->arena, &q.from, NULL, 0))
        return err_fail(e, ERR_INPUT, "the expression has no value: %s", why);
    if ((code = find_simpler(&q.to, args->arena, set, &q.from, &options->limits, e)) ||
        (code = standing_decide(&q.r, args->arena, rules, set, &q.from, &q.to, options, e)))
        return err_up(e, code);
    if (q.r.standing == STANDING_REFUTED)
        return err_fail(e, ERR_FAILED, "the rules derive '%s', which is not equal: %s",
                        expr_infix(args->arena, &q.to), q.r.witness);
    bool same = expr_equal(&q.from, &q.to);
    if (args->json) {
        answer_write_json(&text, args->arena, &q, 0);
        buf_putc(&text, '\n');
    } else {
        buf_printf(&text, "%s\n", q.show(args->arena, &q.to));
        if (!same && (tool_value(args, "steps") || q.r.standing == STANDING_UNDECIDED))
            answer_write_words(&text, args->arena, &q);
    }
    fwrite(text.data, 1, text.len, args->out);
    if (q.r.standing == STANDING_PROVED && q.r.rests_on && !tool_value(args, "steps"))
        fprintf(args->narration, "where %s\n", q.r.rests_on);
    fflush(args->out);
    if (same)
        fprintf(args->narration, "no simpler form was found\n");
    buf_free(&text);
    return OK;
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    struct standing_options options = {.verdict_only = !tool_value(args, "steps"),
                                       .sampled = tool_value(args, "sampled") != NULL};
    struct rules rules;
    enum err_code code;
    if (args->n_positional != 1)
        return err_fail(e, ERR_INPUT, "simplify takes one expression");
    if ((code =
             tool_number(&options.limits.iterations, args, "iterations", 12, 1, MAX_BUDGET, e)) ||
        (code =
             tool_number(&options.limits.max_nodes, args, "max-nodes", 10000, 1, MAX_BUDGET, e)) ||
        (code = rewrite_read_rules(&rules, &options.own_rules, args, e)))
        return err_up(e, code);
    struct ruleset *set = ruleset_new(&rules);
    code = simplify(args, &rules, set, &options, e);
    ruleset_free(set);
    *exit_status = 0;
    return err_up(e, code);
}

static const struct tool_option options[] = {
    {"steps", NULL, false, "show why the two are equal, with the rule of each step"},
    REWRITE_OPTIONS,
    {"iterations", "N", false, "maximum number of iterations of rewriting (default 12)"},
    {"max-nodes", "N", false, "maximum number of e-nodes (default 10000)"},
    TOOL_JSON,
    {0}};

const struct tool tool_simplify = {
    .name = "simplify",
    .arguments = "EXPR",
    .summary = "Find the simplest equal form of an expression",
    .help = "Rewrites the expression with all rules, and prints the term with the fewest tokens "
            "among all that were found equal to it, preferably one without unevaluated "
            "derivatives. The equality is then decided again, like 'eqloom explain'.",
    .example = "eqloom simplify 'sin²x + cos²x'\n"
               "eqloom simplify --steps 'd/dx ln(cosh x)'",
    .exit_codes = NULL,
    .options = options,
    .run = run,
};
