/* `eqloom explain A B`: are two expressions equal, and why. Refuted by a point at which ball
 * arithmetic shows different values; else proved by a derivation from the rules, which is replayed
 * before it is shown; else undecided, with how far the values agree. */
#include "base/os.h"
#include "engine/tool.h"
#include "ops/egraph/egraph.h"
#include "ops/expr/ball.h"
#include "ops/rules/library.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { PROVED = 0, REFUTED = 3, UNDECIDED = 4 };
enum { POINTS = 16, MAX_RULES_FILE = 16 << 20, LOOK_AROUND = 2000 };

struct question {
    const struct tool_args *args;
    struct arena *a;
    struct rules rules;
    struct expr from, to;
    uint32_t iterations, max_nodes;
    struct ball_compare compare;
    struct explanation proof;
    struct saturate_result run;
    uint32_t nodes;
    bool proved;
};

static enum err_code read_number(uint32_t *out, const struct tool_args *args, const char *option,
                                 uint32_t initial, struct err *e)
{
    const char *text = tool_value(args, option);
    *out = initial;
    if (!text)
        return OK;
    char *end;
    unsigned long v = strtoul(text, &end, 10);
    if (*end || end == text || text[0] == '-' || v < 1 || v > 50000000)
        return err_fail(e, ERR_INPUT, "--%s takes a number from 1 to 50000000, not '%s'", option,
                        text);
    *out = (uint32_t)v;
    return OK;
}

static enum err_code read_rules(struct question *q, struct err *e)
{
    size_t files = 0;
    q->rules.lang = &lang_calculus;
    for (size_t i = 0; i < q->args->n_values; i++) {
        if (strcmp(q->args->values[i].option, "rules") != 0)
            continue;
        const char *path = q->args->values[i].value;
        struct span text;
        if (err_up(e, os_read_file(&text, q->a, path, MAX_RULES_FILE, e)))
            return e->code;
        struct source_text *source = arena_new(q->a, struct source_text);
        *source = (struct source_text){path, (const char *)text.data, text.len};
        if (err_up(e, rules_parse(&q->rules, q->a, source, e)))
            return e->code;
        files++;
    }
    if (!files && err_up(e, rules_parse_library(&q->rules, q->a, e)))
        return e->code;
    if (err_up(e, rules_select(&q->rules, NULL, 0, NULL, 0, e)))
        return e->code;
    rules_sort(&q->rules);
    return OK;
}

static enum err_code read_expr(struct expr *out, struct question *q, const char *name,
                               const char *text, struct err *e)
{
    static const char *const syntaxes[] = {"infix", "prefix", "sexpr"};
    const char *syntax = tool_value(q->args, "syntax");
    struct source_text *source = arena_new(q->a, struct source_text);
    *source = (struct source_text){name, text, strlen(text)};
    const struct language *lang = q->rules.lang;
    if (!syntax || strcmp(syntax, "infix") == 0)
        return err_up(e, expr_parse_infix(out, q->a, lang, source, 0, source->len, false, e));
    if (strcmp(syntax, "prefix") == 0)
        return err_up(e, expr_parse_prefix(out, q->a, lang, source, 0, source->len, false, e));
    if (strcmp(syntax, "sexpr") == 0)
        return err_up(e, expr_parse_sexpr(out, q->a, lang, source, 0, source->len, false, e));
    err_fail(e, ERR_INPUT, "unknown syntax '%s': infix, prefix or sexpr", syntax);
    const char *near = err_nearest(syntax, syntaxes, 3);
    if (near)
        err_hint(e, "did you mean '%s'?", near);
    return ERR_INPUT;
}

/* Saturates both in one graph until they meet; a proof that does not survive its replay is none. */
static enum err_code look_for_proof(struct question *q, struct err *e)
{
    struct egraph *g = egraph_new(q->rules.lang);
    struct ruleset *set = ruleset_new(&q->rules);
    egraph_keep_proofs(g);
    eclass_id a = egraph_add_expr(g, &q->from), b = egraph_add_expr(g, &q->to);
    struct saturate_options o = {
        .iterations = q->iterations,
        .max_nodes = q->max_nodes,
        .match_limit = 1000,
        .ban_length = 5,
        .explain = true,
        .has_goal = true,
        .goal = {a, b},
    };
    enum err_code code = err_up(e, egraph_saturate(&q->run, g, set, &o, q->a, e));
    q->nodes = egraph_count_nodes(g);
    if (!code && egraph_find(g, a) == egraph_find(g, b)) {
        /* the first way to be found is seldom the shortest: one more look around */
        struct saturate_result again;
        o.iterations = 1;
        o.has_goal = false;
        o.max_nodes = 2 * q->nodes + LOOK_AROUND;
        code = err_up(e, egraph_saturate(&again, g, set, &o, q->a, e));
    }
    if (!code && egraph_find(g, a) == egraph_find(g, b)) {
        code = err_up(e, egraph_explain(&q->proof, q->a, g, set, &q->from, &q->to, e));
        if (!code)
            code = err_up(e, explanation_check(&q->proof, &q->from, &q->to, &q->rules, e));
        q->proved = !code;
    }
    ruleset_free(set);
    egraph_free(g);
    return code;
}

static const char *stop_words(Eqloom__StopReason stop)
{
    switch (stop) {
    case EQLOOM__STOP_REASON__SATURATED: return "the rules have nothing more to say";
    case EQLOOM__STOP_REASON__ITERATION_LIMIT: return "iteration limit";
    case EQLOOM__STOP_REASON__NODE_LIMIT: return "e-node limit";
    case EQLOOM__STOP_REASON__MATCH_LIMIT: return "match limit";
    case EQLOOM__STOP_REASON__GOAL_REACHED: return "proved";
    case EQLOOM__STOP_REASON__STOP_UNKNOWN: break;
    case _EQLOOM__STOP_REASON_IS_INT_SIZE: break;
    }
    return "unknown";
}

/* "rule~" is the other direction of "rule": for people it is the same one, read backwards. */
static void print_reason(FILE *out, const struct explain_step *s)
{
    size_t n = strlen(s->rule);
    bool other = n && s->rule[n - 1] == '~';
    fprintf(out, "    [%.*s%s]\n", (int)(other ? n - 1 : n), s->rule,
            s->backwards != other ? ", backwards" : "");
}

static void print_words(const struct question *q)
{
    FILE *out = q->args->out;
    if (q->compare.verdict == BALL_DIFFERENT) {
        fprintf(out, "refuted: at %s\n", q->compare.witness);
        return;
    }
    if (q->proved) {
        fprintf(out, "proved in %zu step%s\n", q->proof.n, q->proof.n == 1 ? "" : "s");
        fprintf(out, "    %s\n", expr_infix(q->a, &q->from));
        for (size_t i = 0; i < q->proof.n; i++) {
            const struct explain_step *s = &q->proof.steps[i];
            fprintf(out, "  = %s", expr_infix(q->a, &s->term));
            print_reason(out, s);
        }
        return;
    }
    if (q->compare.verdict == BALL_UNDEFINED)
        fprintf(out, "undecided: no point was found at which both are defined");
    else
        fprintf(out, "undecided: both agree to %d digits at %u points", q->compare.digits,
                q->compare.points);
    fprintf(out, "; no proof in %u iterations and %u e-nodes (%s)\n", q->run.iterations, q->nodes,
            stop_words(q->run.stop));
}

static void print_json(const struct question *q)
{
    json_t *o = json_object();
    bool refuted = q->compare.verdict == BALL_DIFFERENT;
    const char *verdict = refuted ? "refuted" : q->proved ? "proved" : "undecided";
    json_object_set_new(o, "verdict", json_string(verdict));
    json_object_set_new(o, "from", json_string(expr_infix(q->a, &q->from)));
    json_object_set_new(o, "to", json_string(expr_infix(q->a, &q->to)));
    if (refuted) {
        json_object_set_new(o, "witness", json_string(q->compare.witness));
    } else if (q->proved) {
        json_t *steps = json_array();
        for (size_t i = 0; i < q->proof.n; i++) {
            const struct explain_step *s = &q->proof.steps[i];
            json_t *step = json_object();
            json_object_set_new(step, "rule", json_string(s->rule));
            json_object_set_new(step, "direction",
                                json_string(s->backwards ? "backwards" : "forwards"));
            json_object_set_new(step, "position", json_integer(s->position));
            json_object_set_new(step, "term", json_string(expr_infix(q->a, &s->term)));
            json_array_append_new(steps, step);
        }
        json_object_set_new(o, "steps", steps);
    } else {
        json_object_set_new(o, "points", json_integer(q->compare.points));
        json_object_set_new(o, "digits", json_integer(q->compare.digits));
        json_object_set_new(o, "iterations", json_integer(q->run.iterations));
        json_object_set_new(o, "nodes", json_integer(q->nodes));
        json_object_set_new(o, "stop", json_string(stop_words(q->run.stop)));
    }
    char *line = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
    fprintf(q->args->out, "%s\n", line ? line : "");
    free(line);
    json_decref(o);
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    struct question q = {.args = args, .a = args->arena};
    if (args->n_positional != 2)
        return err_fail(e, ERR_INPUT, "explain takes two expressions, not %zu", args->n_positional);
    if (err_up(e, read_number(&q.iterations, args, "iterations", 12, e)) ||
        err_up(e, read_number(&q.max_nodes, args, "max-nodes", 50000, e)) ||
        err_up(e, read_rules(&q, e)) ||
        err_up(e, read_expr(&q.from, &q, "<first expression>", args->positional[0], e)) ||
        err_up(e, read_expr(&q.to, &q, "<second expression>", args->positional[1], e)))
        return e->code;
    struct ball_options points = {
        .points = POINTS, .seed = 1, .low = 0.0625, .high = 8, .precision = 128};
    ball_compare(&q.compare, &q.from, &q.to, &points);
    if (q.compare.verdict != BALL_DIFFERENT && err_up(e, look_for_proof(&q, e)))
        return e->code;
    if (args->json)
        print_json(&q);
    else
        print_words(&q);
    *exit_status = q.compare.verdict == BALL_DIFFERENT ? REFUTED : q.proved ? PROVED : UNDECIDED;
    return OK;
}

static const struct tool_option options[] = {
    {"rules", "FILE", true, "use the rules of this file instead of the shipped ones"},
    {"syntax", "NAME", false, "how the expressions are written: infix (default), prefix, sexpr"},
    {"iterations", "N", false, "rounds of rewriting, at most (default 12)"},
    {"max-nodes", "N", false, "e-nodes, at most (default 50000)"},
    {0}};

const struct tool tool_explain = {
    .name = "explain",
    .arguments = "A B",
    .summary = "Decide whether two expressions are equal, and say why",
    .help = "Two expressions are equal if they agree for all positive real values of their "
            "variables, except at isolated points; roots, logarithms and inverse functions have "
            "their principal values.\n\n"
            "The answer is `proved`, with a rewriting step a line and the rule of each; `refuted`, "
            "with a point and both values there; or `undecided`, when they agree as far as was "
            "looked but no proof was found. A proof is replayed before it is shown.",
    .example = "eqloom explain 'sin(x)^2' '1 - cos(x)^2'",
    .exit_codes = "0 proved, 3 refuted, 4 undecided, 2 the input is wrong",
    .options = options,
    .run = run,
};
