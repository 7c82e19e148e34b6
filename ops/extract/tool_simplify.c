/* `eqloom simplify EXPR`: the cheapest equal term, and why it is equal. */
#include "base/buf.h"
#include "ops/egraph/derive/answer.h"
#include "ops/egraph/record/egraph_arrays.h"
#include "ops/egraph/run/rewrite_options.h"
#include "ops/expr/normal/normal.h"

#include <string.h>

enum { MAX_BUDGET = 50000000 };

/* ---- the cheapest term of each class ---- */

struct cheapest {
    const Eqloom__EGraph *m;
    const struct language *lang;
    struct egraph_arrays x;
    uint32_t *cost, *best; /* by class: UINT32_MAX where there is none yet; its e-node */
};

/* Tokens above all. Functions cost more than arithmetic, inverse ones more still; x^2 less than
 * x*x. A derivative that was not worked out costs more than any term without one. */
static uint32_t token_cost(const struct language *lang, int op, const char *leaf)
{
    if (!leaf) {
        bool inverse = (op >= X_ASIN && op <= X_ACOT) || (op >= X_ASINH && op <= X_ACOTH);
        return op == X_D ? 10000 : inverse ? 25 : lang->ops[op].infix ? 10 : 15;
    }
    bool number = leaf[0] == '-' || (leaf[0] >= '0' && leaf[0] <= '9');
    return 10 + !number + (leaf[0] == '-') + (strchr(leaf, '/') ? 20 : 0);
}

static uint32_t node_cost(const struct cheapest *c, uint32_t node)
{
    uint32_t i = c->m->node_ops[node], n = (uint32_t)c->m->n_operators;
    if (i >= n)
        return token_cost(c->lang, -1, c->m->leaves[i - n]);
    const char *name = c->m->operators[i];
    return token_cost(c->lang, lang_find(c->lang, name, strlen(name)), NULL);
}

static uint64_t expr_cost(const struct expr *x)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < x->n; i++)
        sum += token_cost(x->lang, x->nodes[i].op, x->nodes[i].leaf);
    return sum;
}

/* A least fixed point; of e-nodes that cost the same the first stays. */
static void find_cheapest(struct cheapest *c)
{
    memset(c->cost, 0xff, c->x.n_classes * sizeof *c->cost);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t class = 0; class < c->x.n_classes; class ++)
            for (uint32_t n = c->x.class_begin[class]; n < c->x.class_begin[class + 1]; n++) {
                uint64_t sum = node_cost(c, n);
                for (uint32_t k = c->x.child_begin[n]; k < c->x.child_begin[n + 1]; k++)
                    sum += c->cost[c->x.child[k]];
                if (sum < c->cost[class]) {
                    c->cost[class] = (uint32_t)sum;
                    c->best[class] = n;
                    changed = true;
                }
            }
    }
}

static void write_term(struct buf *out, const struct cheapest *c, uint32_t class)
{
    uint32_t n = c->best[class], op = c->m->node_ops[n];
    buf_printf(out, "%s%s", out->len ? " " : "",
               op < c->m->n_operators ? c->m->operators[op] : c->m->leaves[op - c->m->n_operators]);
    for (uint32_t k = c->x.child_begin[n]; k < c->x.child_begin[n + 1]; k++)
        write_term(out, c, c->x.child[k]);
}

static enum err_code cheapest_term(struct expr *out, struct arena *a, const Eqloom__EGraph *m,
                                   const struct language *lang, struct err *e)
{
    struct cheapest c = {.m = m, .lang = lang};
    struct buf text = {0};
    enum err_code code = egraph_arrays_read(&c.x, a, m, e);
    if (code)
        return err_up(e, code);
    c.cost = arena_array(a, uint32_t, c.x.n_classes);
    c.best = arena_array(a, uint32_t, c.x.n_classes);
    find_cheapest(&c);
    write_term(&text, &c, m->root);
    code = expr_from_prefix(out, a, lang, text.data, e);
    buf_free(&text);
    return err_up(e, code);
}

/* ---- the command ---- */

/* x itself where nothing costs less. */
static enum err_code saturate(struct expr *out, const struct tool_args *args,
                              const struct language *lang, const struct ruleset *set,
                              const struct expr *x, const struct derive_options *limits,
                              struct err *e)
{
    struct saturate_options o = {.iterations = limits->iterations,
                                 .max_nodes = limits->max_nodes,
                                 .match_limit = 1000,
                                 .ban_length = 5};
    struct saturate_result run;
    Eqloom__EGraph message;
    struct egraph *g = egraph_new(lang);
    eclass_id root = egraph_add_expr(g, x);
    enum err_code code = egraph_saturate(&run, g, set, &o, args->arena, e);
    if (!code) {
        egraph_to_message(&message, args->arena, g, egraph_find(g, root));
        code = cheapest_term(out, args->arena, &message, lang, e);
        if (!code && expr_cost(out) >= expr_cost(x))
            *out = *x;
    }
    egraph_free(g);
    return err_up(e, code);
}

/* Zero is seen by normal forms, however long the way is. */
static enum err_code find_simpler(struct expr *out, const struct tool_args *args,
                                  const struct rules *rules, const struct ruleset *set,
                                  const struct expr *x, const struct derive_options *limits,
                                  struct err *e)
{
    const char *way;
    *out = expr_leaf(args->arena, x->lang, X_NUM, "0");
    if (lang_is(x->lang, &lang_calculus) && normal_equal(&way, x, out, NULL, 0))
        return OK;
    return err_up(e, saturate(out, args, rules->lang, set, x, limits, e));
}

static enum err_code simplify(const struct tool_args *args, const struct rules *rules,
                              const struct ruleset *set, const struct standing_options *options,
                              struct err *e)
{
    struct answer q = {.lang = rules->lang, .show = expr_shown(args)};
    struct buf text = {0};
    enum err_code code;
    if ((code = rewrite_read_expr(&q.from, args, rules->lang, "<expression>", args->positional[0],
                                  e)) ||
        (code = standing_decide(&q.r, args->arena, rules, set, &q.from, &q.from, options, e)))
        return err_up(e, code);
    if (q.r.standing == STANDING_NO_VALUE)
        return err_fail(e, ERR_INPUT, "the expression has no value at any point that was tried");
    if ((code = find_simpler(&q.to, args, rules, set, &q.from, &options->limits, e)) ||
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
    fflush(args->out);
    if (same)
        fprintf(args->narration, "no simpler form was found\n");
    buf_free(&text);
    return OK;
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    struct standing_options options = {.verdict_only = !tool_value(args, "steps")};
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
    {"steps", NULL, false, "say why the two are equal, with a rule for each step"},
    {"rules", "FILE", true, "use the rules of this file instead of the shipped ones"},
    {"language", "NAME", false, "calculus (default), boolean or polynomial"},
    EXPR_ARGUMENT_SYNTAX,
    EXPR_ARGUMENT_LATEX,
    {"iterations", "N", false, "iterations of rewriting, at most (default 12)"},
    {"max-nodes", "N", false, "e-nodes, at most (default 10000)"},
    TOOL_JSON,
    {0}};

const struct tool tool_simplify = {
    .name = "simplify",
    .arguments = "EXPR",
    .summary = "Find the simplest equal form of an expression",
    .help = "Rewrites the expression with all rules, and prints the one of the fewest tokens among "
            "all terms found equal to it; one whose derivatives are worked out, if there is such a "
            "term. That the two are equal is decided again, as 'eqloom explain' does.",
    .example = "eqloom simplify 'sin²x + cos²x'\n"
               "eqloom simplify --steps 'd/dx ln(cosh x)'",
    .exit_codes = NULL,
    .options = options,
    .run = run,
};
