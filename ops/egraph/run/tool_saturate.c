/* `eqloom saturate EXPR...`: shows people who write rules how saturation proceeds and what each
 * rule costs, in a table of iterations and one of rules. Counts are a function of the input; the
 * times of iterations are those of this run, including counting. */
#include "base/os.h"
#include "ops/egraph/run/rewrite_options.h"
#include "ops/expr/syntax/expr_texts.h"
#include "ops/expr/undefined/undefined.h"
#include "schemas/egraph/egraph_text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITERATIONS = 10000, MAX_NODES = 100000000, MAX_TOP = 1000000 };

/* The columns of the table of rules. */
enum column { SEARCHED, STEPS, MATCHED, APPLIED, EFFECTIVE, NODES, BANNED, N_COLUMNS };
static const char *const columns[N_COLUMNS] = {"searched",  "steps", "matched", "applied",
                                               "effective", "nodes", "banned"};

struct iteration {
    uint32_t nodes, classes; /* at the end of the iteration */
    uint32_t searched;       /* number of nodes searched */
    uint64_t matched, ns;
};

struct line {
    size_t rule;
    double value[N_COLUMNS];
};

struct session {
    const struct tool_args *args;
    struct arena *a;
    struct rules rules;
    struct expr *exprs;
    size_t n_exprs, cap_exprs;
    struct latex_reader *latex;
    struct saturate_options limits;
    enum column sort;
    size_t top;
    struct egraph *g;
    struct saturate_result run;
    struct rule_profile *profile; /* by rule */
    struct iteration *iterations;
    size_t n_iterations, cap_iterations;
    uint64_t begun;     /* start time of the iteration */
    uint64_t ns;        /* time of the run */
    struct line *lines; /* rules that were searched for or matched, sorted */
    size_t n_lines;
};

/* ---- options ---- */

static bool as_egraph(const struct tool_args *args)
{
    return tool_value(args, "dot") || tool_value(args, "grammar");
}

static enum err_code read_sort(struct session *s, struct err *e)
{
    const char *text = tool_value(s->args, "sort");
    s->sort = STEPS;
    for (size_t i = 0; text && i < N_COLUMNS; i++)
        if (strcmp(text, columns[i]) == 0) {
            s->sort = (enum column)i;
            return OK;
        }
    return text ? err_fail(e, ERR_INPUT,
                           "--sort takes searched, steps, matched, applied, effective, nodes or "
                           "banned, not '%s'",
                           text)
                : OK;
}

static enum err_code read_limits(struct session *s, struct err *e)
{
    struct saturate_options *o = &s->limits;
    uint32_t max_matches, top;
    enum err_code code;
    if ((code = tool_number(&o->iterations, s->args, "iterations", 8, !as_egraph(s->args),
                            MAX_ITERATIONS, e)) ||
        (code = tool_number(&o->max_nodes, s->args, "max-nodes", 10000, 1, MAX_NODES, e)) ||
        (code = tool_number(&max_matches, s->args, "max-matches", 0, 0, UINT32_MAX, e)) ||
        (code = tool_number(&o->match_limit, s->args, "match-limit", 1000, 1, 1000000000, e)) ||
        (code = tool_number(&o->ban_length, s->args, "ban-length", 5, 0, 10000, e)) ||
        (code = tool_number(&o->forms, s->args, "forms", 0, 0, 1000000000, e)) ||
        (code = tool_number(&top, s->args, "top", 20, 0, MAX_TOP, e)))
        return err_up(e, code);
    o->max_matches = max_matches;
    s->top = top;
    return err_up(e, read_sort(s, e));
}

static enum err_code read_one(void *arg, const char *name, const char *text, struct arena *a,
                              struct err *e)
{
    struct session *s = arg;
    struct expr x;
    const char *why;
    enum err_code code =
        expr_argument(&x, &s->latex, s->args, s->a, s->rules.lang, name, text, e);
    if (!code && expr_is_undefined(&why, a, &x, NULL, 0))
        code = err_fail(e, ERR_INPUT, "'%s' has no value: %s", text, why);
    if (code)
        return err_up(e, code);
    s->exprs = arena_grow(s->a, s->exprs, s->n_exprs, &s->cap_exprs, sizeof *s->exprs);
    s->exprs[s->n_exprs++] = x;
    return OK;
}

static enum err_code read_exprs(int *exit_status, struct session *s, struct err *e)
{
    enum err_code code = expr_texts_each(exit_status, s->args, read_one, s, e);
    latex_reader_free(s->latex);
    if (!code && !s->n_exprs)
        code = err_fail(e, ERR_INPUT, "there is no expression");
    return err_up(e, code);
}

/* ---- the run ---- */

static void record_iteration(void *arg, const struct saturate_iteration *i)
{
    struct session *s = arg;
    uint64_t now = os_monotonic_ns();
    s->iterations =
        vec_grow(s->iterations, &s->cap_iterations, s->n_iterations + 1, sizeof *s->iterations);
    s->iterations[s->n_iterations++] = (struct iteration){.nodes = egraph_count_nodes(s->g),
                                                          .classes = egraph_count_classes(s->g),
                                                          .searched = i->searched,
                                                          .matched = i->matches,
                                                          .ns = now - s->begun};
    s->begun = now;
}

static enum err_code saturate(struct session *s, const struct ruleset *set,
                              const struct saturate_options *o, struct err *e)
{
    for (size_t i = 0; i < s->n_exprs; i++)
        egraph_add_expr(s->g, &s->exprs[i]);
    uint64_t begun = s->begun = os_monotonic_ns();
    enum err_code code = err_up(e, egraph_saturate(&s->run, s->g, set, o, s->a, e));
    s->ns = os_monotonic_ns() - begun;
    return code;
}

static enum err_code run_profiled(struct session *s, struct err *e)
{
    s->profile = arena_array(s->a, struct rule_profile, s->rules.n);
    struct ruleset *set = ruleset_new(&s->rules);
    s->g = egraph_new(s->rules.lang);
    struct saturate_options o = s->limits;
    o.profile = s->profile;
    o.observe = record_iteration;
    o.observe_arg = s;
    enum err_code code = saturate(s, set, &o, e);
    if (code && egraph_contradicts(s->g)) { /* run again with proofs, for an explanation */
        egraph_clear(s->g);
        egraph_keep_proofs(s->g);
        o = s->limits;
        o.explain = true;
        code = saturate(s, set, &o, e);
    }
    ruleset_free(set);
    return code;
}

/* ---- rules in order ---- */

static int compare_lines(const void *x, const void *y, void *sort)
{
    const struct line *a = x, *b = y;
    double p = a->value[*(enum column *)sort], q = b->value[*(enum column *)sort];
    return p != q ? (p < q ? 1 : -1) : (a->rule > b->rule) - (a->rule < b->rule);
}

/* Sorts the largest first; equal ones stay in rule-set order. */
static void sort_rules(struct session *s)
{
    s->lines = arena_array(s->a, struct line, s->rules.n);
    for (size_t i = 0; i < s->rules.n; i++) {
        const struct rule_profile *p = &s->profile[i];
        if (p->searched || s->run.matched[i])
            s->lines[s->n_lines++] = (struct line){i,
                                                   {[SEARCHED] = (double)p->searched,
                                                    [STEPS] = p->steps,
                                                    [MATCHED] = (double)s->run.matched[i],
                                                    [APPLIED] = (double)p->applied,
                                                    [EFFECTIVE] = (double)s->run.applied[i],
                                                    [NODES] = (double)p->nodes,
                                                    [BANNED] = p->banned}};
    }
    qsort_r(s->lines, s->n_lines, sizeof *s->lines, compare_lines, &s->sort);
}

static const char *full_name(bool *backwards, const struct session *s, const struct rule *r)
{
    size_t n;
    *backwards = rule_is_reverse(&n, r->name);
    return arena_printf(s->a, "%s/%.*s", r->group, (int)n, r->name);
}

/* ---- text ---- */

static void print_iterations(const struct session *s)
{
    FILE *out = s->args->out;
    fprintf(out, "iteration    e-nodes    classes   searched      matched         ms\n");
    for (size_t i = 0; i < s->n_iterations; i++) {
        const struct iteration *x = &s->iterations[i];
        fprintf(out, "%9zu %10" PRIu32 " %10" PRIu32 " %10" PRIu32 " %12" PRIu64 " %10.3f\n", i + 1,
                x->nodes, x->classes, x->searched, x->matched, (double)x->ns * 1e-6);
    }
}

static void print_rules(const struct session *s)
{
    FILE *out = s->args->out;
    size_t n = s->n_lines < s->top ? s->n_lines : s->top;
    fprintf(out, "\n");
    for (size_t c = 0; c < N_COLUMNS; c++)
        fprintf(out, "%10s", columns[c]);
    fprintf(out, "  rule\n");
    for (size_t i = 0; i < n; i++) {
        bool backwards;
        const char *name = full_name(&backwards, s, &s->rules.rules[s->lines[i].rule]);
        for (size_t c = 0; c < N_COLUMNS; c++)
            fprintf(out, "%10.0f", s->lines[i].value[c]);
        fprintf(out, "  %s%s\n", name, backwards ? ", backwards" : "");
    }
    if (n < s->n_lines)
        fprintf(out, "%zu more rule%s (--top %zu shows all)\n", s->n_lines - n,
                s->n_lines - n == 1 ? "" : "s", s->n_lines);
    if (s->n_lines < s->rules.n)
        fprintf(out, "%zu of %zu rules were never searched for\n", s->rules.n - s->n_lines,
                s->rules.n);
}

static void print_words(const struct session *s)
{
    FILE *out = s->args->out;
    print_iterations(s);
    print_rules(s);
    fprintf(
        out, "\n%" PRIu32 " e-nodes, %" PRIu32 " classes, %" PRIu32 " iteration%s, %.3f ms: %s\n",
        egraph_count_nodes(s->g), egraph_count_classes(s->g), s->run.iterations,
        s->run.iterations == 1 ? "" : "s", (double)s->ns * 1e-6, rewrite_stop_text(s->run.stop));
}

/* ---- JSON ---- */

static json_t *iterations_json(const struct session *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_iterations; i++) {
        const struct iteration *x = &s->iterations[i];
        json_array_append_new(
            list, json_pack("{s:I, s:I, s:I, s:I, s:f}", "nodes", (json_int_t)x->nodes, "classes",
                            (json_int_t)x->classes, "searched", (json_int_t)x->searched, "matched",
                            (json_int_t)x->matched, "ms", (double)x->ns * 1e-6));
    }
    return list;
}

static json_t *rules_json(const struct session *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_lines; i++) {
        const struct line *l = &s->lines[i];
        bool backwards;
        const char *name = full_name(&backwards, s, &s->rules.rules[l->rule]);
        json_t *o = json_pack("{s:s, s:s}", "rule", name, "direction",
                              backwards ? "backwards" : "forwards");
        for (size_t c = 0; c < N_COLUMNS; c++)
            json_object_set_new(o, columns[c],
                                c == STEPS ? json_real(l->value[c])
                                           : json_integer((json_int_t)l->value[c]));
        json_array_append_new(list, o);
    }
    return list;
}

static void print_json(const struct session *s)
{
    json_t *exprs = json_array();
    for (size_t i = 0; i < s->n_exprs; i++)
        json_array_append_new(exprs, json_string(expr_shown(s->args)(s->a, &s->exprs[i])));
    json_t *o = json_pack(
        "{s:s, s:o, s:s, s:I, s:I, s:f, s:o, s:I, s:o}", "language", s->rules.lang->name,
        "expressions", exprs, "stop", rewrite_stop_text(s->run.stop), "nodes",
        (json_int_t)egraph_count_nodes(s->g), "classes", (json_int_t)egraph_count_classes(s->g),
        "ms", (double)s->ns * 1e-6, "iterations", iterations_json(s), "rules_in_all",
        (json_int_t)s->rules.n, "rules", rules_json(s));
    char *line = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(10));
    fprintf(s->args->out, "%s\n", line ? line : "");
    free(line);
    json_decref(o);
}

/* Prints the part of the e-graph that is reachable from the first expression's class. */
static enum err_code print_egraph(struct session *s, struct err *e)
{
    Eqloom__EGraph m;
    struct buf text = {0};
    egraph_to_message(&m, s->a, s->g, egraph_find(s->g, egraph_add_expr(s->g, &s->exprs[0])));
    enum err_code code =
        (tool_value(s->args, "dot") ? egraph_write_dot : egraph_write_grammar)(&text, &m, e);
    if (!code)
        fwrite(text.data, 1, text.len, s->args->out);
    buf_free(&text);
    return err_up(e, code);
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    struct session s = {.args = args, .a = args->arena};
    bool own_rules;
    enum err_code code;
    if (!args->n_positional)
        return err_fail(e, ERR_INPUT, "saturate takes one or more expressions");
    if ((code = read_limits(&s, e)) || (code = rewrite_read_rules(&s.rules, &own_rules, args, e)) ||
        (code = read_exprs(exit_status, &s, e)))
        return err_up(e, code);
    code = run_profiled(&s, e);
    if (!code) {
        sort_rules(&s);
        if (as_egraph(args))
            code = print_egraph(&s, e);
        else if (args->json)
            print_json(&s);
        else
            print_words(&s);
    }
    egraph_free(s.g);
    free(s.iterations);
    return err_up(e, code);
}

static const struct tool_option options[] = {
    REWRITE_OPTIONS,
    {"iterations", "N", false, "maximum number of iterations (default 8)"},
    {"max-nodes", "N", false, "maximum number of e-nodes (default 10000)"},
    {"max-matches", "N", false, "maximum number of applied matches; 0: no limit (default)"},
    {"match-limit", "N", false,
     "a rule with more matches in one iteration is banned (default 1000)"},
    {"ban-length", "N", false,
     "number of iterations that a ban lasts (default 5); 0: no rule is banned"},
    {"forms", "N", false,
     "maximum number of pairs of classes that normal forms compare and join (default 0)"},
    {"top", "N", false, "number of rules to list (default 20)"},
    {"sort", "COLUMN", false, "column to sort the rules by (default steps)"},
    TOOL_DOT,
    TOOL_GRAMMAR,
    TOOL_JSON,
    {0}};

const struct tool tool_saturate = {
    .name = "saturate",
    .arguments = "EXPR...",
    .summary = "Saturate expressions and show what each rule costs",
    .help =
        "Puts the expressions into one e-graph, rewrites with all rules like the op `saturate`, "
        "with the same budgets, and prints a table of iterations, a table of rules, and the reason "
        "why it stopped. Stores nothing. Rules need not be certified. With --dot or --grammar, "
        "prints the e-graph itself after --iterations iterations, which may be 0. An argument '-' "
        "reads expressions from standard input, one per line.\n\n"
        "All rules are searched for at once. `searched` counts the nodes at which a rule was "
        "searched for, together with all rules that begin with the same operator. `steps` counts "
        "the pattern tests and the candidate nodes that searches visited; each is divided equally "
        "among the rules that share it. So a rule that shares its beginning with others adds "
        "little cost. `matched` counts new matches, `applied` those whose conditions held, "
        "`effective` those that changed the e-graph, `nodes` the e-nodes that they added, and "
        "`banned` how often the rule had too many matches and was not searched for during some "
        "iterations.\n\n"
        "Counts are the same in every run. The times of iterations are those of this run; they "
        "include the counting, which makes it slower than a job.",
    .example = "eqloom saturate 'sin(2*x+5)^(-8)'\n"
               "eqloom saturate --rules my.rules --sort effective --top 5 'd(x, cot(5*x))'\n"
               "eqloom saturate --dot --iterations 1 '(x + 8) - 8' > egraph.dot",
    .exit_codes = EXPR_TEXTS_EXIT_CODES,
    .options = options,
    .run = run,
};
