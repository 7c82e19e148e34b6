/* `eqloom explain A B`: decides whether two expressions are equal, and why; `eqloom explain -`: the
 * same for many pairs, in blocks of lines that all processors answer. See standing.h for the
 * decision. */
#include "base/os.h"
#include "base/pool.h"
#include "base/text/html.h"
#include "ops/egraph/derive/answer.h"
#include "ops/egraph/run/rewrite_options.h"
#include "ops/expr/syntax/formula.h"
#include "ops/latex/read/expr_argument.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BUDGET = 50000000 };

static const int exit_codes[] = {[STANDING_PROVED] = 0,
                                 [STANDING_REFUTED] = 3,
                                 [STANDING_UNDECIDED] = 4,
                                 [STANDING_NO_VALUE] = 5};

struct explain {
    const struct tool_args *args;
    struct rules rules;
    struct ruleset *set;
    struct standing_options options;
    const char *assumed;
    struct line *lines;          /* the lines of one block */
    struct latex_reader **latex; /* by worker */
};

/* ---- options ---- */

static enum err_code read_options(struct explain *x, struct err *e)
{
    const struct tool_args *args = x->args;
    struct derive_options *limits = &x->options.limits;
    struct domain_options given;
    uint32_t nodes = tool_value(args, "effort") ? 200000 : 10000;
    enum err_code code;
    if ((code = tool_number(&limits->iterations, args, "iterations", 12, 1, MAX_BUDGET, e)) ||
        (code = tool_number(&limits->max_nodes, args, "max-nodes", nodes, 1, MAX_BUDGET, e)) ||
        (code = rewrite_read_rules(&x->rules, &x->options.own_rules, args, e)) ||
        (code = expr_argument_check(args, e)) || (code = domain_options_read(&given, args, e)))
        return err_up(e, code);
    limits->domains = given.domains;
    limits->n_domains = given.n;
    limits->real_values = given.real_values;
    x->assumed = given.assumed;
    x->options.verdict_only = tool_value(args, "verdict") != NULL;
    x->options.sampled = tool_value(args, "sampled") != NULL;
    return OK;
}

static enum err_code decide(struct answer *q, struct arena *a, const struct explain *x,
                            struct err *e)
{
    q->lang = x->rules.lang;
    q->assumed = x->assumed;
    q->show = expr_shown(x->args);
    return err_up(e,
                  standing_decide(&q->r, a, &x->rules, x->set, &q->from, &q->to, &x->options, e));
}

/* ---- one pair ---- */

static enum err_code explain_pair(int *exit_status, const struct explain *x, struct err *e)
{
    const struct tool_args *args = x->args;
    struct answer q = {0};
    struct buf text = {0};
    enum err_code code;
    if ((code = rewrite_read_expr(&q.from, args, x->rules.lang, "<first expression>",
                                  args->positional[0], e)) ||
        (code = rewrite_read_expr(&q.to, args, x->rules.lang, "<second expression>",
                                  args->positional[1], e)) ||
        (code = decide(&q, args->arena, x, e)))
        return err_up(e, code);
    if (args->json) {
        answer_write_json(&text, args->arena, &q, 0);
        buf_putc(&text, '\n');
    } else {
        answer_write_words(&text, args->arena, &q);
    }
    fwrite(text.data, 1, text.len, args->out);
    buf_free(&text);
    *exit_status = exit_codes[q.r.standing];
    return OK;
}

/* ---- a stream of pairs ---- */

enum { BLOCK = 64 };

struct line {
    char *text;
    size_t number;
    struct buf answer, notes;
    int standing; /* -1: malformed */
};

struct reading {
    const struct explain *x;
    struct arena *a;
    struct latex_reader **latex;
    struct buf *notes;
};

static bool read_part(struct expr *out, const struct reading *r, const struct source_text *source,
                      size_t at, size_t len, struct err *e)
{
    return !expr_argument_part(out, r->latex, r->x->args, r->a, r->x->rules.lang, source, at, len,
                               r->notes, e);
}

static bool read_json(struct answer *q, const struct reading *r, const char *text, struct err *e)
{
    json_error_t unused;
    json_t *o = json_loads(text, 0, &unused);
    const char *from, *to;
    bool ok = o && !json_unpack(o, "{s:s, s:s}", "from", &from, "to", &to);
    if (!ok)
        err_fail(
            e, ERR_INPUT,
            "a line must be {\"from\": ..., \"to\": ...} or two expressions separated by a tab");
    struct source_text left = {"from", ok ? arena_strdup(r->a, from) : "", ok ? strlen(from) : 0};
    struct source_text right = {"to", ok ? arena_strdup(r->a, to) : "", ok ? strlen(to) : 0};
    json_decref(o);
    return ok && read_part(&q->from, r, &left, 0, left.len, e) &&
           read_part(&q->to, r, &right, 0, right.len, e);
}

static bool read_line(struct answer *q, const struct reading *r, const char *text, struct err *e)
{
    struct source_text source = {"line", text, strlen(text)};
    size_t tab = strcspn(text, "\t");
    if (!text[tab])
        return read_json(q, r, text, e);
    return read_part(&q->from, r, &source, 0, tab, e) &&
           read_part(&q->to, r, &source, tab + 1, source.len - tab - 1, e);
}

static void answer_line(void *arg, size_t i, unsigned worker)
{
    const struct explain *x = arg;
    struct line *line = &x->lines[i];
    struct arena a = {0};
    struct answer q = {0};
    struct err e = {0};
    struct reading r = {x, &a, &x->latex[worker], &line->notes};
    line->standing = -1;
    if (read_line(&q, &r, line->text, &e) && !decide(&q, &a, x, &e)) {
        line->standing = (int)q.r.standing;
        answer_write_json(&line->answer, &a, &q, line->number);
    } else {
        json_t *error =
            json_string(arena_printf(&a, "%s%s%s", e.message, e.hint[0] ? "; " : "", e.hint));
        json_t *o =
            json_pack("{s:I, s:s, s:o}", "line", (json_int_t)line->number, "verdict", "malformed",
                      "error", error ? error : json_string("the line is not UTF-8"));
        char *text = json_dumps(o, JSON_COMPACT);
        buf_puts(&line->answer, text ? text : "");
        free(text);
        json_decref(o);
    }
    arena_free(&a);
    ball_thread_cleanup();
}

/* Reads up to BLOCK nonempty lines. */
static size_t read_block(struct line *lines, size_t *number)
{
    size_t n = 0, cap = 0;
    char *text = NULL;
    while (n < BLOCK && getline(&text, &cap, stdin) >= 0) {
        ++*number;
        text[strcspn(text, "\r\n")] = 0;
        if (*text)
            lines[n++] = (struct line){.text = strdup(text), .number = *number};
    }
    free(text);
    return n;
}

static void explain_stream(struct explain *x)
{
    struct line lines[BLOCK];
    struct pool *pool = pool_new(os_cpus());
    unsigned n_threads = pool_threads(pool);
    size_t number = 0, counts[5] = {0};
    x->lines = lines;
    x->latex = arena_array(x->args->arena, struct latex_reader *, n_threads);
    x->options.verdict_only = true;
    for (size_t n; (n = read_block(lines, &number));) {
        pool_for(pool, n, answer_line, x);
        for (size_t i = 0; i < n; i++) {
            char name[40];
            snprintf(name, sizeof name, "line %zu", lines[i].number);
            expr_argument_say(x->args, name, &lines[i].notes);
            fprintf(x->args->out, "%s\n", lines[i].answer.data);
            counts[lines[i].standing + 1]++;
            buf_free(&lines[i].answer);
            buf_free(&lines[i].notes);
            free(lines[i].text);
        }
        fflush(x->args->out);
    }
    pool_free(pool);
    for (unsigned i = 0; i < n_threads; i++)
        latex_reader_free(x->latex[i]);
    fprintf(x->args->narration,
            "%zu proved, %zu refuted, %zu undecided, %zu without a value, %zu malformed\n",
            counts[STANDING_PROVED + 1], counts[STANDING_REFUTED + 1],
            counts[STANDING_UNDECIDED + 1], counts[STANDING_NO_VALUE + 1], counts[0]);
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    struct explain x = {.args = args};
    bool stream = args->n_positional == 1 && strcmp(args->positional[0], "-") == 0;
    if (args->n_positional != 2 && !stream)
        return err_fail(e, ERR_INPUT,
                        "explain takes two expressions, or - to read pairs from standard input");
    enum err_code code = err_up(e, read_options(&x, e));
    if (code)
        return code;
    x.set = ruleset_new(&x.rules);
    if (stream)
        explain_stream(&x);
    else
        code = explain_pair(exit_status, &x, e);
    ruleset_free(x.set);
    return err_up(e, code);
}

/* ---- the web page ---- */

static const char *field(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

static void write_line(struct buf *out, const char *before, const char *text)
{
    if (!*text)
        return;
    buf_printf(out, "<p>%s", before);
    html_text(out, text);
    buf_puts(out, "</p>\n");
}

static void write_steps(struct buf *out, struct arena *a, const json_t *answer)
{
    json_t *steps = json_object_get(answer, "steps"), *step;
    size_t i;
    if (!json_array_size(steps))
        return;
    buf_puts(out, "<h2>Derivation</h2>\n<ol class=\"steps\"><li>");
    formula_write(out, a, field(answer, "from"));
    buf_puts(out, "</li>\n");
    json_array_foreach(steps, i, step)
    {
        buf_puts(out, "<li><span class=\"relation\">=</span> ");
        formula_write(out, a, field(step, "term"));
        buf_puts(out, " <span class=\"rule\">");
        html_text(out, field(step, "rule"));
        buf_printf(out, "%s</span>\n",
                   !strcmp(field(step, "direction"), "backwards") ? ", backwards" : "");
        write_line(out, "<strong>false:</strong> ", field(step, "false"));
        buf_puts(out, "</li>\n");
    }
    buf_puts(out, "</ol>\n");
    if (json_is_true(json_object_get(answer, "shortest")))
        buf_puts(out, "<p class=\"note\">No derivation has fewer steps.</p>\n");
}

static void write_page(struct buf *out, struct arena *a, const json_t *answer)
{
    const char *verdict = field(answer, "verdict"), *assumed = field(answer, "assumed");
    buf_puts(out, "<p class=\"formula\">");
    formula_write(out, a, field(answer, "from"));
    buf_printf(out, " <span class=\"relation\">%s</span> ",
               !strcmp(verdict, "proved")    ? "="
               : !strcmp(verdict, "refuted") ? "≠"
                                             : "≟");
    formula_write(out, a, field(answer, "to"));
    buf_puts(out, "</p>\n<p><span class=\"verdict ");
    html_text(out, verdict);
    buf_puts(out, "\">");
    html_text(out, verdict);
    buf_puts(out, "</span>");
    html_text(out, *assumed ? ", for " : "");
    html_text(out, assumed);
    buf_puts(out, "</p>\n");
    write_line(out, "At a point they differ: ", field(answer, "witness"));
    write_line(out, "", field(answer, "reason"));
    write_line(out, "", field(answer, "contradiction"));
    if (!strcmp(verdict, "undecided"))
        buf_printf(out,
                   "<p>Both agree to %lld digits at %lld points; no proof was found in %lld "
                   "iterations.</p>\n",
                   (long long)json_integer_value(json_object_get(answer, "digits")),
                   (long long)json_integer_value(json_object_get(answer, "points")),
                   (long long)json_integer_value(json_object_get(answer, "iterations")));
    write_steps(out, a, answer);
    write_line(out, "Checked: ", field(answer, "checked"));
}

static const struct tool_argument page_arguments[] = {
    {"a", "Expression"}, {"b", "Is it equal to"}, {0}};
static const char *const page_options[] = {"domain", "real", "language", "effort", NULL};
static const struct tool_page page = {"Explain",    "Are two expressions equal, and why?",
                                      "Explain",    page_arguments,
                                      page_options, write_page};

static const struct tool_option options[] = {
    REWRITE_OPTIONS,
    {"iterations", "N", false, "maximum number of iterations of rewriting (default 12)"},
    {"max-nodes", "N", false, "maximum number of e-nodes (default 10000, with --effort 200000)"},
    {"effort", NULL, false, "search longer for a derivation"},
    {"verdict", NULL, false, "do not search for a derivation if normal forms prove the equality"},
    DOMAIN_OPTION,
    DOMAIN_OPTION_REAL,
    TOOL_JSON,
    {0}};

const struct tool tool_explain = {
    .name = "explain",
    .arguments = "A B|-",
    .summary = "Decide whether two expressions are equal, and explain why",
    .help =
        "Two expressions are equal if they agree for all values of their variables, except at "
        "isolated points. Variables are real and positive unless --domain states otherwise; roots, "
        "logarithms and inverse functions have their principal values.\n\n"
        "The answer is `proved`, by a normal form or by rewriting steps, one per line with its "
        "rule; `refuted`, with a point and both values there, which also differ around it; `no "
        "value`, if an expression is shown to have none anywhere, with the part that has none; or "
        "`undecided`, if neither a proof nor a point was found. A proof is replayed before it is "
        "shown, and both sides of each step are compared "
        "at points. `the fewest` means that no derivation has fewer steps, except derivations that "
        "guess a term.\n\n"
        "'explain -' reads pairs from standard input, one per line: two expressions separated by a "
        "tab, or {\"from\": ..., \"to\": ...}. The answers are JSON, one per line, in the order of "
        "the pairs; derivations are searched for only if normal forms do not decide.\n\n"
        "Boolean terms are decided by their truth tables, polynomials by expansion. With your own "
        "rules, a false equality that follows from them is also derived; the false step is marked "
        "with '?'.",
    .example = "eqloom explain 'sin(x)^2' '1 - cos(x)^2'\n"
               "eqloom explain --domain '-1<x<1' 'atanh(x)' 'ln((1+x)/(1-x))/2'\n"
               "eqloom explain --language boolean 'not(a & b)' 'not(a) | not(b)'",
    .exit_codes = "0 proved, 3 refuted, 4 undecided, 5 no value, 2 invalid input",
    .options = options,
    .run = run,
    .page = &page,
};
