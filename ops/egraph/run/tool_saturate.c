/* `eqloom saturate EXPR...`: what saturation does with expressions and which rule costs what, for
 * people who write rules: a table of iterations, and one of rules. Counts are a function of the
 * input; times are of this run, counting included. */
#include "base/os.h"
#include "ops/egraph/run/rewrite_options.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITERATIONS = 10000, MAX_NODES = 100000000, MAX_TOP = 1000000 };

enum sort_key { BY_TIME, BY_SEARCHED, BY_STEPS, BY_MATCHED, BY_EFFECTIVE };
static const char *const sort_names[] = {"time", "searched", "steps", "matched", "effective"};
enum { N_SORT_KEYS = sizeof sort_names / sizeof *sort_names };

struct iteration {
    uint32_t nodes, classes; /* when it was over */
    uint32_t searched;       /* nodes */
    uint64_t matched, ns;
};

struct line {
    size_t rule;
    double ns, key;
};

struct session {
    const struct tool_args *args;
    struct arena *a;
    struct rules rules;
    struct expr *exprs;
    struct saturate_options limits;
    enum sort_key sort;
    size_t top;
    struct egraph *g;
    struct saturate_result run;
    struct rule_profile *profile; /* by rule */
    struct iteration *iterations;
    size_t n_iterations, cap_iterations;
    uint64_t begun;     /* the iteration */
    uint64_t ns;        /* of the run */
    struct line *lines; /* rules that were searched for, or matched, sorted */
    size_t n_lines;
    double search_ns, apply_ns;
};

static uint64_t read_clock(void *arg)
{
    (void)arg;
    return os_monotonic_ns();
}

/* ---- what was asked ---- */

static enum err_code read_sort(struct session *s, struct err *e)
{
    const char *text = tool_value(s->args, "sort");
    s->sort = BY_TIME;
    for (size_t i = 0; text && i < N_SORT_KEYS; i++)
        if (strcmp(text, sort_names[i]) == 0) {
            s->sort = (enum sort_key)i;
            return OK;
        }
    return text ? err_fail(e, ERR_INPUT,
                           "--sort takes time, searched, steps, matched or effective, not '%s'",
                           text)
                : OK;
}

static enum err_code read_limits(struct session *s, struct err *e)
{
    enum err_code code;
    enum { ITERATIONS, NODES, MATCHES, LIMIT, BAN, TOP, N };
    static const struct rewrite_number numbers[N] = {
        [ITERATIONS] = {"iterations", 8, 1, MAX_ITERATIONS},
        [NODES] = {"max-nodes", 10000, 1, MAX_NODES},
        [MATCHES] = {"max-matches", 0, 0, 1000000000000000},
        [LIMIT] = {"match-limit", 1000, 1, 1000000000},
        [BAN] = {"ban-length", 5, 0, 10000},
        [TOP] = {"top", 20, 0, MAX_TOP},
    };
    uint64_t v[N];
    for (size_t i = 0; i < N; i++)
        if ((code = rewrite_read_number(&v[i], s->args, &numbers[i], e)))
            return err_up(e, code);
    s->limits = (struct saturate_options){.iterations = (uint32_t)v[ITERATIONS],
                                          .max_nodes = (uint32_t)v[NODES],
                                          .max_matches = v[MATCHES],
                                          .match_limit = (uint32_t)v[LIMIT],
                                          .ban_length = (uint32_t)v[BAN]};
    s->top = v[TOP];
    return err_up(e, read_sort(s, e));
}

static enum err_code read_exprs(struct session *s, struct err *e)
{
    enum err_code code;
    size_t n = s->args->n_positional;
    s->exprs = arena_array(s->a, struct expr, n);
    for (size_t i = 0; i < n; i++) {
        const char *name = n > 1 ? arena_printf(s->a, "<expression %zu>", i + 1) : "<expression>";
        if ((code = rewrite_read_expr(&s->exprs[i], s->args, s->rules.lang, name,
                                      s->args->positional[i], e)))
            return err_up(e, code);
    }
    return OK;
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
    for (size_t i = 0; i < s->args->n_positional; i++)
        egraph_add_expr(s->g, &s->exprs[i]);
    uint64_t begun = s->begun = os_monotonic_ns();
    enum err_code code = err_up(e, egraph_saturate(&s->run, s->g, set, o, s->a, e));
    s->ns = os_monotonic_ns() - begun;
    return code;
}

static enum err_code run_profiled(struct session *s, struct err *e)
{
    s->profile = arena_array(s->a, struct rule_profile, s->rules.n);
    const struct saturate_profile profile = {.rules = s->profile, .clock_ns = read_clock};
    struct ruleset *set = ruleset_new(&s->rules);
    s->g = egraph_new(s->rules.lang);
    struct saturate_options o = s->limits;
    o.profile = &profile;
    o.observe = record_iteration;
    o.observe_arg = s;
    enum err_code code = saturate(s, set, &o, e);
    if (code && egraph_contradicts(s->g)) { /* the same again, to say how it came about */
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

static double key_of(const struct session *s, size_t rule)
{
    const struct rule_profile *p = &s->profile[rule];
    switch (s->sort) {
    case BY_TIME: return p->search_ns + (double)p->apply_ns;
    case BY_SEARCHED: return (double)p->searched;
    case BY_STEPS: return p->steps;
    case BY_MATCHED: return (double)s->run.matched[rule];
    case BY_EFFECTIVE: return (double)s->run.applied[rule];
    }
    return 0;
}

/* The largest first; equal ones in rule-set order. */
static int compare_lines(const void *x, const void *y)
{
    const struct line *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? 1 : -1;
    return (a->rule > b->rule) - (a->rule < b->rule);
}

static void sort_rules(struct session *s)
{
    s->lines = arena_array(s->a, struct line, s->rules.n);
    for (size_t i = 0; i < s->rules.n; i++) {
        const struct rule_profile *p = &s->profile[i];
        s->search_ns += p->search_ns;
        s->apply_ns += (double)p->apply_ns;
        if (p->searched || s->run.matched[i])
            s->lines[s->n_lines++] = (struct line){
                .rule = i, .ns = p->search_ns + (double)p->apply_ns, .key = key_of(s, i)};
    }
    qsort(s->lines, s->n_lines, sizeof *s->lines, compare_lines);
}

static const char *full_name(bool *backwards, const struct session *s, const struct rule *r)
{
    size_t n;
    *backwards = rule_is_reverse(&n, r->name);
    return arena_printf(s->a, "%s/%.*s", r->group, (int)n, r->name);
}

/* ---- words ---- */

static double ms(double ns)
{
    return ns * 1e-6;
}

static void print_iterations(const struct session *s)
{
    FILE *out = s->args->out;
    fprintf(out, "iteration    e-nodes    classes   searched      matched         ms\n");
    for (size_t i = 0; i < s->n_iterations; i++) {
        const struct iteration *x = &s->iterations[i];
        fprintf(out, "%9zu %10" PRIu32 " %10" PRIu32 " %10" PRIu32 " %12" PRIu64 " %10.3f\n", i + 1,
                x->nodes, x->classes, x->searched, x->matched, ms((double)x->ns));
    }
}

static void print_rule(const struct session *s, const struct line *l)
{
    bool backwards;
    const char *name = full_name(&backwards, s, &s->rules.rules[l->rule]);
    const struct rule_profile *p = &s->profile[l->rule];
    fprintf(s->args->out,
            "%9.3f %9.3f %9.3f %9" PRIu64 " %9.0f %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %8" PRIu64
            " %6" PRIu32 "  %s%s\n",
            ms(l->ns), ms(p->search_ns), ms((double)p->apply_ns), p->searched, p->steps,
            s->run.matched[l->rule], p->applied, s->run.applied[l->rule], p->nodes, p->banned, name,
            backwards ? ", backwards" : "");
}

static void print_rules(const struct session *s)
{
    FILE *out = s->args->out;
    size_t n = s->n_lines < s->top ? s->n_lines : s->top;
    double rest = 0;
    fprintf(out,
            "\n       ms    search     apply  searched     steps   matched   applied effective "
            " e-nodes banned  rule\n");
    for (size_t i = 0; i < n; i++)
        print_rule(s, &s->lines[i]);
    for (size_t i = n; i < s->n_lines; i++)
        rest += s->lines[i].ns;
    if (n < s->n_lines)
        fprintf(out, "%9.3f  in %zu more rule%s (--top %zu shows all)\n", ms(rest), s->n_lines - n,
                s->n_lines - n == 1 ? "" : "s", s->n_lines);
    if (s->n_lines < s->rules.n)
        fprintf(out, "           %zu of %zu rules were searched for nowhere\n",
                s->rules.n - s->n_lines, s->rules.n);
}

static void print_words(const struct session *s)
{
    FILE *out = s->args->out;
    print_iterations(s);
    print_rules(s);
    fprintf(out,
            "\n%" PRIu32 " e-nodes, %" PRIu32 " classes, %" PRIu32 " iteration%s: %s\n"
            "%.3f ms: search %.3f, application %.3f, the rest (rebuilding, counting) %.3f\n",
            egraph_count_nodes(s->g), egraph_count_classes(s->g), s->run.iterations,
            s->run.iterations == 1 ? "" : "s", rewrite_stop_text(s->run.stop), ms((double)s->ns),
            ms(s->search_ns), ms(s->apply_ns), ms((double)s->ns - s->search_ns - s->apply_ns));
}

/* ---- JSON ---- */

static void set_count(json_t *o, const char *name, uint64_t n)
{
    json_object_set_new(o, name, json_integer((json_int_t)n));
}

static void set_ms(json_t *o, const char *name, double ns)
{
    json_object_set_new(o, name, json_real(ms(ns)));
}

static json_t *iterations_json(const struct session *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_iterations; i++) {
        const struct iteration *x = &s->iterations[i];
        json_t *o = json_object();
        set_count(o, "nodes", x->nodes);
        set_count(o, "classes", x->classes);
        set_count(o, "searched", x->searched);
        set_count(o, "matched", x->matched);
        set_ms(o, "ms", (double)x->ns);
        json_array_append_new(list, o);
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
        const struct rule_profile *p = &s->profile[l->rule];
        json_t *o = json_object();
        json_object_set_new(o, "rule", json_string(name));
        json_object_set_new(o, "direction", json_string(backwards ? "backwards" : "forwards"));
        set_count(o, "searched", p->searched);
        json_object_set_new(o, "steps", json_real(p->steps));
        set_count(o, "matched", s->run.matched[l->rule]);
        set_count(o, "applied", p->applied);
        set_count(o, "effective", s->run.applied[l->rule]);
        set_count(o, "nodes", p->nodes);
        set_count(o, "banned", p->banned);
        set_ms(o, "search_ms", p->search_ns);
        set_ms(o, "apply_ms", (double)p->apply_ns);
        json_array_append_new(list, o);
    }
    return list;
}

static void print_json(const struct session *s)
{
    json_t *o = json_object(), *exprs = json_array();
    for (size_t i = 0; i < s->args->n_positional; i++)
        json_array_append_new(exprs, json_string(expr_infix(s->a, &s->exprs[i])));
    json_object_set_new(o, "language", json_string(s->rules.lang->name));
    json_object_set_new(o, "expressions", exprs);
    json_object_set_new(o, "stop", json_string(rewrite_stop_text(s->run.stop)));
    set_count(o, "nodes", egraph_count_nodes(s->g));
    set_count(o, "classes", egraph_count_classes(s->g));
    set_ms(o, "ms", (double)s->ns);
    set_ms(o, "search_ms", s->search_ns);
    set_ms(o, "apply_ms", s->apply_ns);
    json_object_set_new(o, "iterations", iterations_json(s));
    set_count(o, "rules_in_all", s->rules.n);
    json_object_set_new(o, "rules", rules_json(s));
    char *line = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(10));
    fprintf(s->args->out, "%s\n", line ? line : "");
    free(line);
    json_decref(o);
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    struct session s = {.args = args, .a = args->arena};
    bool own_rules;
    enum err_code code;
    if (!args->n_positional)
        return err_fail(e, ERR_INPUT, "saturate takes an expression, or several");
    if ((code = read_limits(&s, e)) || (code = rewrite_read_rules(&s.rules, &own_rules, args, e)) ||
        (code = read_exprs(&s, e)))
        return err_up(e, code);
    code = run_profiled(&s, e);
    if (!code) {
        sort_rules(&s);
        if (args->json)
            print_json(&s);
        else
            print_words(&s);
        *exit_status = 0;
    }
    egraph_free(s.g);
    free(s.iterations);
    return code;
}

static const struct tool_option options[] = {
    {"rules", "FILE", true, "use the rules of this file instead of the shipped ones"},
    {"language", "NAME", false, "calculus (default), boolean or polynomial"},
    {"syntax", "NAME", false, "how the expressions are written: infix (default), prefix, sexpr"},
    {"iterations", "N", false, "iterations of searching and applying, at most (default 8)"},
    {"max-nodes", "N", false, "e-nodes, at most (default 10000)"},
    {"max-matches", "N", false, "matches applied in all; 0: no limit (default)"},
    {"match-limit", "N", false,
     "a rule with more matches in one iteration is banned (default 1000)"},
    {"ban-length", "N", false, "for so many iterations (default 5); 0: no rule is banned"},
    {"top", "N", false, "rules to list (default 20)"},
    {"sort", "KEY", false, "time (default), searched, steps, matched or effective"},
    {0}};

const struct tool tool_saturate = {
    .name = "saturate",
    .arguments = "EXPR...",
    .summary = "Saturate expressions and say which rule costs what",
    .help =
        "Puts the expressions into one e-graph, rewrites with all rules as the op `saturate` does, "
        "with the same budgets, and prints a table of iterations, a table of rules, and why it "
        "stopped. Nothing is stored. Rules need not be certified.\n\n"
        "All rules are searched for at once. `searched` counts the nodes at which a rule was "
        "looked "
        "for, together with all that begin with the same operator. `steps` are the tests of "
        "patterns and the candidate nodes that searches looked at; each is divided equally among "
        "the rules that wait behind it, and the time of a search among its rules in proportion. So "
        "a rule that begins as others do costs little beside them. `matched` are new matches, "
        "`applied` those whose conditions held, `effective` those that changed the e-graph, "
        "`e-nodes` what they made, and `banned` how often the rule had too many matches and was "
        "not searched for a while.\n\n"
        "Counts are the same in every run; times are those of this one, with the counting in "
        "them, which makes it slower than a job.",
    .example = "eqloom saturate 'sin(2*x+5)^(-8)'\n"
               "eqloom saturate --rules my.rules --sort effective --top 5 'd(x, cot(5*x))'",
    .exit_codes = NULL,
    .options = options,
    .run = run,
};
