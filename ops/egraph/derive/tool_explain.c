/* `eqloom explain A B`: are two expressions equal, and why. They are refuted by different values,
 * found in ball arithmetic, or by the normal forms of a language that has them; proved by a
 * derivation from the rules, which is replayed and compared with values before it is shown; else
 * undecided. */
#include "ops/egraph/derive/derive.h"
#include "ops/egraph/run/rewrite_options.h"
#include "ops/expr/equality/exact.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { PROVED = 0, REFUTED = 3, UNDECIDED = 4 };
enum { POINTS = 16, MAX_BUDGET = 50000000 };

struct question {
    const struct tool_args *args;
    struct arena *a;
    struct rules rules;
    bool own_rules; /* from files that the user named */
    struct expr from, to;
    struct derive_options limits;
    int verdict;
    const char *witness;         /* REFUTED */
    struct ball_compare compare; /* of the values */
    const char *undefined;       /* which of the two never has one, if no point was found */
    bool exact;                  /* decided by truth tables or expansion */
    struct exact_result table;
    struct derivation derivation;
    char *contradiction; /* of the rules with themselves, met on the way; or NULL */
};

static bool is_undefined(const struct expr *x, const struct ball_options *points)
{
    struct ball_compare self;
    ball_compare(&self, x, x, points);
    return self.verdict == BALL_UNDEFINED;
}

static const char *undefined_of(const struct question *q, const struct ball_options *points)
{
    bool from = is_undefined(&q->from, points), to = is_undefined(&q->to, points);
    return from && to ? "neither expression has"
           : from     ? "the first expression never has"
           : to       ? "the second expression never has"
                      : "the two never both have";
}

static void compare_values(struct question *q)
{
    struct ball_options points = {
        .points = POINTS, .seed = 1, .low = 0.0625, .high = 8, .precision = 128};
    q->exact =
        exact_applies(q->rules.lang) && !exact_compare(&q->table, q->a, &q->from, &q->to, NULL);
    if (exact_applies(q->rules.lang)) {
        q->witness = q->exact && !q->table.equal ? q->table.witness : NULL;
        return;
    }
    ball_compare(&q->compare, &q->from, &q->to, &points);
    if (q->compare.verdict == BALL_UNDEFINED)
        q->undefined = undefined_of(q, &points);
    q->witness = q->compare.verdict == BALL_DIFFERENT ? q->compare.witness : NULL;
}

/* With rules of the user's own a refuted equality is derived, too: the derivation has a false step.
 */
static enum err_code decide(struct question *q, struct err *e)
{
    struct derivation *d = &q->derivation;
    enum err_code code = OK;
    struct err failure = {0};
    compare_values(q);
    if (!q->witness || q->own_rules)
        code = derive_equality(d, q->a, &q->rules, &q->from, &q->to, &q->limits, &failure);
    if (code && failure.detail[0])
        q->contradiction = arena_printf(q->a, "%s\n%s", failure.message, failure.detail);
    if (code && !failure.detail[0]) {
        if (e)
            *e = failure;
        return err_up(e, code);
    }
    q->verdict = q->witness                              ? REFUTED
                 : q->exact && q->table.equal            ? PROVED
                 : d->found && !d->refuted.code && !code ? PROVED
                                                         : UNDECIDED;
    return OK;
}

static void print_derivation(const struct question *q)
{
    struct buf text = {0};
    const struct derivation *d = &q->derivation;
    buf_printf(&text, "    %s\n", expr_infix(q->a, &q->from));
    explanation_write(&text, q->a, &d->proof, "", d->refuted.code ? d->refuted_step : SIZE_MAX);
    fwrite(text.data, 1, text.len, q->args->out);
    buf_free(&text);
}

static void print_table(const struct question *q)
{
    if (lang_is(q->rules.lang, &lang_boolean))
        fprintf(q->args->out, "proved: all %llu rows of the truth table agree\n",
                (unsigned long long)q->table.points);
    else
        fprintf(q->args->out, "proved: both expand to the same polynomial\n");
}

static void print_undecided(const struct question *q)
{
    FILE *out = q->args->out;
    if (exact_applies(q->rules.lang))
        fprintf(out, "undecided: too large to compare");
    else if (q->undefined)
        fprintf(out, "undecided: %s a value, at any point that was tried", q->undefined);
    else
        fprintf(out, "undecided: both agree to %d digits at %u points", q->compare.digits,
                q->compare.points);
    if (q->contradiction && q->undefined && !q->own_rules)
        fprintf(out, "; the rules hold only where terms have values\n");
    else if (q->contradiction)
        fprintf(out, "; the rules contradict each other, so they prove nothing\n%s\n",
                q->contradiction);
    else if (q->derivation.refuted.code)
        fprintf(out, "; a derivation was found, but %s\n", q->derivation.refuted.message);
    else
        fprintf(out, "; no proof in %u iterations and %u e-nodes (%s)\n",
                q->derivation.run.iterations, q->derivation.nodes,
                rewrite_stop_text(q->derivation.run.stop));
}

static void print_words(const struct question *q)
{
    FILE *out = q->args->out;
    const struct derivation *d = &q->derivation;
    size_t n = d->proof.n;
    switch (q->verdict) {
    case REFUTED:
        /* "x = 1/2: 3 against 4"; constants have no place. */
        fprintf(out, "refuted: %s%s\n", strchr(q->witness, '=') ? "at " : "", q->witness);
        if (q->contradiction)
            fprintf(out, "%s\n", q->contradiction);
        if (!d->found)
            return;
        fprintf(out, "but the rules derive it%s%s\n", d->refuted.code ? ": " : "",
                d->refuted.code ? d->refuted.message : "");
        print_derivation(q);
        return;
    case PROVED:
        if (!d->found) {
            print_table(q);
            return;
        }
        fprintf(out, "proved in %zu step%s%s\n", n, n == 1 ? "" : "s",
                n > 1 && d->proof.shortest ? ", the fewest" : "");
        print_derivation(q);
        return;
    default: print_undecided(q);
    }
}

static json_t *steps_json(const struct question *q)
{
    json_t *steps = json_array();
    for (size_t i = 0; i < q->derivation.proof.n; i++) {
        const struct explain_step *s = &q->derivation.proof.steps[i];
        json_t *step = json_object();
        json_object_set_new(step, "rule", json_string(s->rule));
        json_object_set_new(step, "direction",
                            json_string(s->backwards ? "backwards" : "forwards"));
        json_object_set_new(step, "position", json_integer(s->position));
        json_object_set_new(step, "term", json_string(expr_infix(q->a, &s->term)));
        if (q->derivation.refuted.code && i == q->derivation.refuted_step)
            json_object_set_new(step, "false", json_string(q->derivation.refuted.message));
        json_array_append_new(steps, step);
    }
    return steps;
}

static void print_json(const struct question *q)
{
    json_t *o = json_object();
    const char *verdict = q->verdict == REFUTED  ? "refuted"
                          : q->verdict == PROVED ? "proved"
                                                 : "undecided";
    json_object_set_new(o, "verdict", json_string(verdict));
    json_object_set_new(o, "language", json_string(q->rules.lang->name));
    json_object_set_new(o, "from", json_string(expr_infix(q->a, &q->from)));
    json_object_set_new(o, "to", json_string(expr_infix(q->a, &q->to)));
    if (q->witness)
        json_object_set_new(o, "witness", json_string(q->witness));
    if (q->contradiction)
        json_object_set_new(o, "contradiction", json_string(q->contradiction));
    if (q->derivation.found) {
        json_object_set_new(o, "steps", steps_json(q));
        json_object_set_new(o, "shortest", json_boolean(q->derivation.proof.shortest));
    } else if (q->verdict == PROVED) {
        json_object_set_new(o, "compared", json_integer((json_int_t)q->table.points));
    }
    if (q->verdict == UNDECIDED) {
        json_object_set_new(o, "points", json_integer(q->compare.points));
        json_object_set_new(o, "digits", json_integer(q->compare.digits));
        json_object_set_new(o, "iterations", json_integer(q->derivation.run.iterations));
        json_object_set_new(o, "nodes", json_integer(q->derivation.nodes));
        json_object_set_new(o, "stop", json_string(rewrite_stop_text(q->derivation.run.stop)));
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
    const struct rewrite_number iterations = {"iterations", 12, 1, MAX_BUDGET},
                                max_nodes = {"max-nodes", 50000, 1, MAX_BUDGET};
    uint64_t n_iterations, n_nodes;
    enum err_code code;
    if ((code = rewrite_read_number(&n_iterations, args, &iterations, e)) ||
        (code = rewrite_read_number(&n_nodes, args, &max_nodes, e)) ||
        (code = rewrite_read_rules(&q.rules, &q.own_rules, args, e)) ||
        (code = rewrite_read_expr(&q.from, args, q.rules.lang, "<first expression>",
                                  args->positional[0], e)) ||
        (code = rewrite_read_expr(&q.to, args, q.rules.lang, "<second expression>",
                                  args->positional[1], e)))
        return err_up(e, code);
    q.limits.iterations = (uint32_t)n_iterations;
    q.limits.max_nodes = (uint32_t)n_nodes;
    if ((code = decide(&q, e)))
        return err_up(e, code);
    if (args->json)
        print_json(&q);
    else
        print_words(&q);
    *exit_status = q.verdict;
    return OK;
}

static const struct tool_option options[] = {
    {"rules", "FILE", true, "use the rules of this file instead of the shipped ones"},
    {"language", "NAME", false, "calculus (default), boolean or polynomial"},
    {"syntax", "NAME", false, "how the expressions are written: infix (default), prefix, sexpr"},
    {"iterations", "N", false, "at most so many iterations of rewriting (default 12)"},
    {"max-nodes", "N", false, "at most so many e-nodes (default 50000)"},
    {0}};

const struct tool tool_explain = {
    .name = "explain",
    .arguments = "A B",
    .summary = "Decide whether two expressions are equal, and say why",
    .help =
        "Two expressions are equal if they agree for all positive real values of their "
        "variables, except at isolated points; roots, logarithms and inverse functions have "
        "their principal values.\n\n"
        "The answer is `proved`, with a rewriting step a line and the rule of each; `refuted`, "
        "with a point and both values there; or `undecided`, when they agree at all points that "
        "were tried but no proof was found. A proof is replayed before it is shown, and both sides "
        "of each step are compared at points. `the fewest` says that no derivation has fewer "
        "steps, except those that guess a term.\n\n"
        "Boolean terms are decided by their truth tables, polynomials by expansion. With rules "
        "of your own, an equality that is false but follows from them is derived, too; the false "
        "step is marked with '?'.",
    .example = "eqloom explain 'sin(x)^2' '1 - cos(x)^2'\n"
               "eqloom explain --language boolean 'not(a & b)' 'not(a) | not(b)'",
    .exit_codes = "0 proved, 3 refuted, 4 undecided, 2 the input is wrong",
    .options = options,
    .run = run,
};
