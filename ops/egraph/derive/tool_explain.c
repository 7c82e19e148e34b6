/* `eqloom explain A B`: decides whether two expressions are equal, and why; `eqloom explain -`: the
 * same for many pairs, in blocks of lines that all processors answer. See standing.h for the
 * decision. */
#include "base/io/columns.h"
#include "base/os.h"
#include "base/pool.h"
#include "base/text/html.h"
#include "base/text/utf8.h"
#include "ops/egraph/derive/answer.h"
#include "ops/egraph/run/rewrite_options.h"
#include "ops/expr/syntax/expr_texts.h"
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
    const char *names[2];        /* of --columns; or NULL */
    struct columns columns;      /* of the table that standard input is */
    struct line *lines;          /* the lines of one block */
    struct latex_reader **latex; /* by worker */
};

/* ---- options ---- */

/* --columns A,B */
static enum err_code read_names(struct explain *x, struct err *e)
{
    const char *given = tool_value(x->args, "columns"), *comma = given ? strchr(given, ',') : NULL;
    if (!given)
        return OK;
    if (!comma || comma == given || !comma[1] || strchr(comma + 1, ','))
        return err_fail(e, ERR_INPUT, "--columns takes two names, such as answer,key, not '%.100s'",
                        given);
    if (!expr_texts_are_lines(x->args))
        return err_fail(e, ERR_INPUT, "--columns is for pairs from standard input: explain -");
    x->names[0] = arena_strndup(x->args->arena, given, (size_t)(comma - given));
    x->names[1] = comma + 1;
    return OK;
}

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
    return err_up(e, read_names(x, e));
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
    struct text_line text;
    struct buf answer, notes;
    int standing; /* -1: malformed */
};

struct reading {
    const struct explain *x;
    struct arena *a;
    struct latex_reader **latex;
    struct buf *notes;
};

static enum err_code read_part(struct expr *out, const struct reading *r,
                               const struct source_text *source, size_t at, size_t len,
                               struct err *e)
{
    return err_up(e, expr_argument_part(out, r->latex, r->x->args, r->a, r->x->rules.lang, source,
                                        at, len, r->notes, e));
}

static enum err_code read_json(struct answer *q, const struct reading *r,
                               const struct source_text *line, struct err *e)
{
    const char *const *names = r->x->names;
    const char *keys[] = {names[0] ? names[0] : "from", names[0] ? names[1] : "to"};
    json_error_t unused;
    json_t *o = json_loadb(line->text, line->len, JSON_REJECT_DUPLICATES, &unused);
    enum err_code code = OK;
    for (int i = 0; i < 2 && !code; i++) {
        const char *text = json_string_value(json_object_get(o, keys[i]));
        struct source_text *part = arena_new(r->a, struct source_text);
        *part = (struct source_text){keys[i], arena_strdup(r->a, text ? text : ""), 0};
        part->len = strlen(part->text);
        code = text ? read_part(i ? &q->to : &q->from, r, part, 0, part->len, e)
                    : err_fail_at(e, line, 0,
                                  "a line must be {\"%s\": ..., \"%s\": ...} or two expressions "
                                  "separated by a tab",
                                  keys[0], keys[1]);
    }
    json_decref(o);
    return err_up(e, code);
}

static enum err_code read_columns(struct answer *q, const struct reading *r,
                                  const struct text_line *line, struct err *e)
{
    struct column_cell *cells;
    size_t n;
    enum err_code code = columns_row(&cells, &n, r->a, &r->x->columns, line, e);
    if (code && !r->x->columns.header)
        err_hint(e, "of a table with a header, name two columns: --columns answer,key");
    if (!code && !n)
        code = err_fail_at(e, &line->text, 0, "all columns are empty");
    for (size_t i = 0; i < n && !code; i++)
        code = read_part(i ? &q->to : &q->from, r, &line->text, cells[i].at, cells[i].len, e);
    return err_up(e, code);
}

/* Whether the line begins as an object of JSON; LaTeX may begin with a brace, too. */
static bool is_object(const char *line)
{
    line += strspn(line, " \t");
    return *line == '{' && strchr("\"}", line[1 + strspn(line + 1, " \t")]);
}

static enum err_code read_line(struct answer *q, const struct reading *r,
                               const struct text_line *line, struct err *e)
{
    enum err_code code = utf8_check(&line->text, e);
    if (!code)
        code = is_object(line->text.text) ? read_json(q, r, &line->text, e)
                                          : read_columns(q, r, line, e);
    return err_up(e, code);
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
    if (!read_line(&q, &r, &line->text, &e) && !decide(&q, &a, x, &e)) {
        line->standing = (int)q.r.standing;
        answer_write_json(&line->answer, &a, &q, line->text.number);
    } else {
        buf_puts(&line->answer, expr_texts_malformed(&a, line->text.number, "malformed", &e));
    }
    arena_free(&a);
    ball_thread_cleanup();
}

/* Reads the header of a table. */
static enum err_code read_header(struct explain *x, const struct text_line *line,
                                 struct text_lines *input, struct err *e)
{
    enum err_code code = utf8_check(&line->text, e);
    if (!code)
        code = columns_header(&x->columns, x->args->arena, line, x->names, 2, e);
    input->separator = code ? 0 : x->columns.separator;
    return err_up(e, text_line_up(code, line, e));
}

/* Reads up to BLOCK lines that are not empty; ERR_NOTFOUND at the end. */
static enum err_code read_block(size_t *n, struct line *lines, struct text_lines *input,
                                struct explain *x, struct err *e)
{
    enum err_code code = OK;
    struct text_line line;
    for (*n = 0; *n < BLOCK && !code;) {
        if ((code = text_lines_next(&line, input, e)) || !line.text.len)
            continue;
        char *text = must_calloc(line.text.len + 1, 1); /* the input goes on */
        line.text.text = memcpy(text, line.text.text, line.text.len);
        if (x->names[0] && !x->columns.header && !is_object(text)) {
            code = read_header(x, &line, input, e);
            free(text);
        } else {
            lines[(*n)++] = (struct line){.text = line};
        }
    }
    return code == ERR_NOTFOUND ? code : err_up(e, code);
}

static void print_block(const struct explain *x, struct line *lines, size_t n, size_t *counts)
{
    for (size_t i = 0; i < n; i++) {
        char name[40];
        snprintf(name, sizeof name, "line %zu", lines[i].text.number);
        expr_argument_say(x->args, name, &lines[i].notes);
        fprintf(x->args->out, "%s\n", lines[i].answer.data);
        counts[lines[i].standing + 1]++;
        buf_free(&lines[i].answer);
        buf_free(&lines[i].notes);
        free((char *)lines[i].text.text.text);
    }
    fflush(x->args->out);
}

static enum err_code explain_stream(int *exit_status, struct explain *x, struct err *e)
{
    struct line lines[BLOCK];
    struct pool *pool = pool_new(os_cpus());
    unsigned n_threads = pool_threads(pool);
    size_t counts[5] = {0}, n;
    struct text_lines input = text_lines_input(x->args->arena);
    enum err_code code = OK;
    x->lines = lines;
    x->latex = arena_array(x->args->arena, struct latex_reader *, n_threads);
    x->options.verdict_only = true;
    x->columns = columns_plain(x->args->arena, 2);
    while (!code) {
        code = read_block(&n, lines, &input, x, e);
        pool_for(pool, n, answer_line, x);
        print_block(x, lines, n, counts);
    }
    text_lines_free(&input);
    pool_free(pool);
    for (unsigned i = 0; i < n_threads; i++)
        latex_reader_free(x->latex[i]);
    fprintf(x->args->narration,
            "%zu proved, %zu refuted, %zu undecided, %zu without a value, %zu malformed\n",
            counts[STANDING_PROVED + 1], counts[STANDING_REFUTED + 1],
            counts[STANDING_UNDECIDED + 1], counts[STANDING_NO_VALUE + 1], counts[0]);
    *exit_status = counts[0] > 0;
    return code == ERR_NOTFOUND ? OK : err_up(e, code);
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    struct explain x = {.args = args};
    bool stream = expr_texts_are_lines(args);
    if (args->n_positional != 2 && !stream)
        return err_fail(e, ERR_INPUT,
                        "explain takes two expressions, or - to read pairs from standard input");
    enum err_code code = err_up(e, read_options(&x, e));
    if (code)
        return code;
    x.set = ruleset_new(&x.rules);
    if (stream)
        code = explain_stream(exit_status, &x, e);
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
    {"columns", "A,B", false,
     "with -: the two columns to compare, by their names in the header of a table (tabs, commas or "
     "semicolons) or the keys of JSON objects"},
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
        "tab, or {\"from\": ..., \"to\": ...}; with --columns it reads a table (CSV). The answers are "
        "JSON, one per line, in the order of the pairs; derivations are searched for only if normal "
        "forms do not decide. A line that cannot be read is answered as `malformed`.\n\n"
        "Boolean terms are decided by their truth tables, polynomials by expansion. With your own "
        "rules, a false equality that follows from them is also derived; the false step is marked "
        "with '?'.",
    .example = "eqloom explain 'sin(x)^2' '1 - cos(x)^2'\n"
               "eqloom explain --domain '-1<x<1' 'atanh(x)' 'ln((1+x)/(1-x))/2'\n"
               "eqloom explain --language boolean 'not(a & b)' 'not(a) | not(b)'",
    .exit_codes = "0 proved, 3 refuted, 4 undecided, 5 no value, 2 invalid input; with -: 0 all lines "
                  "were read, 1 some were malformed",
    .options = options,
    .run = run,
    .page = &page,
};
