/* `eqloom simplify EXPR`: finds the cheapest equal term, and explains why it is equal. */
#include "base/buf.h"
#include "ops/egraph/derive/answer.h"
#include "ops/egraph/run/rewrite_options.h"
#include "ops/expr/normal/normal.h"
#include "ops/expr/syntax/expr_texts.h"
#include "ops/expr/undefined/undefined.h"
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

struct simplifying {
    const struct tool_args *args;
    struct rules rules;
    struct ruleset *set;
    struct standing_options options;
    struct latex_reader *latex;
};

static enum err_code simplify(void *arg, const char *name, const char *given, struct arena *a,
                              struct err *e)
{
    struct simplifying *s = arg;
    const struct tool_args *args = s->args;
    const struct rules *rules = &s->rules;
    const struct standing_options *options = &s->options;
    struct answer q = {.lang = rules->lang, .show = expr_shown(args)};
    struct buf text = {0};
    enum err_code code;
    const char *why;
    if ((code = expr_argument(&q.from, &s->latex, args, a, rules->lang, name, given, e)))
        return err_up(e, code);
    if (expr_is_undefined(&why, a, &q.from, NULL, 0))
        return err_fail(e, ERR_INPUT, "the expression has no value: %s", why);
    if ((code = find_simpler(&q.to, a, s->set, &q.from, &options->limits, e)) ||
        (code = standing_decide(&q.r, a, rules, s->set, &q.from, &q.to, options, e)))
        return err_up(e, code);
    if (q.r.standing == STANDING_REFUTED)
        return err_fail(e, ERR_FAILED, "the rules derive '%s', which is not equal: %s",
                        expr_infix(a, &q.to), q.r.witness);
    bool same = expr_equal(&q.from, &q.to);
    if (args->json) {
        answer_write_json(&text, a, &q, 0);
        buf_putc(&text, '\n');
    } else {
        buf_printf(&text, "%s\n", q.show(a, &q.to));
        if (!same && (tool_value(args, "steps") || q.r.standing == STANDING_UNDECIDED))
            answer_write_words(&text, a, &q);
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
    struct simplifying s = {.args = args,
                            .options = {.verdict_only = !tool_value(args, "steps"),
                                        .sampled = tool_value(args, "sampled") != NULL}};
    struct derive_options *limits = &s.options.limits;
    enum err_code code;
    if (args->n_positional != 1)
        return err_fail(e, ERR_INPUT, "simplify takes one expression, or - to read some");
    if ((code = tool_number(&limits->iterations, args, "iterations", 12, 1, MAX_BUDGET, e)) ||
        (code = tool_number(&limits->max_nodes, args, "max-nodes", 10000, 1, MAX_BUDGET, e)) ||
        (code = rewrite_read_rules(&s.rules, &s.options.own_rules, args, e)))
        return err_up(e, code);
    s.set = ruleset_new(&s.rules);
    code = expr_texts_each(exit_status, args, simplify, &s, e);
    ruleset_free(s.set);
    latex_reader_free(s.latex);
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
    .arguments = "EXPR|-",
    .summary = "Find the simplest equal form of an expression",
    .help = "Rewrites the expression with all rules, and prints the term with the fewest tokens "
            "among all that were found equal to it, preferably one without unevaluated "
            "derivatives. The equality is then decided again, like 'eqloom explain'. With '-' "
            "it reads expressions from standard input, one per line.",
    .example = "eqloom simplify 'sin²x + cos²x'\n"
               "eqloom simplify --steps 'd/dx ln(cosh x)'",
    .exit_codes = EXPR_TEXTS_EXIT_CODES,
    .options = options,
    .run = run,
};
