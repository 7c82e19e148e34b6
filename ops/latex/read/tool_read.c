/* `eqloom read EXPR`: shows how an expression is read. */
#include "base/text/html.h"
#include "ops/expr/own/operator_files.h"
#include "ops/expr/syntax/expr_texts.h"
#include "ops/expr/syntax/formula.h"
#include "ops/latex/read/expr_argument.h"

#include <jansson.h>
#include <string.h>

static json_t *lines_json(const struct buf *notes)
{
    json_t *lines = json_array();
    for (const char *s = notes->len ? notes->data : ""; *s;) {
        size_t n = strcspn(s, "\n");
        json_array_append_new(lines, json_stringn(s, n));
        s += n + (s[n] == '\n');
    }
    return lines;
}

static void print_json(const struct tool_args *args, struct arena *a, const struct expr *x,
                       const struct buf *notes)
{
    json_t *o = json_pack("{s:s, s:s, s:s, s:o}", "expression", expr_infix(a, x), "prefix",
                          expr_prefix(a, x), "latex", expr_latex(a, x), "notes", lines_json(notes));
    json_dumpf(o, args->out, JSON_COMPACT);
    fputc('\n', args->out);
    json_decref(o);
}

struct reading {
    const struct tool_args *args;
    const struct language *lang;
    struct latex_reader *latex;
};

static enum err_code read_one(void *arg, const char *name, const char *text, struct arena *a,
                              struct err *e)
{
    struct reading *r = arg;
    const struct tool_args *args = r->args;
    struct source_text *source = arena_new(a, struct source_text);
    struct buf notes = {0};
    struct expr x;
    *source = (struct source_text){name, text, strlen(text)};
    enum err_code code =
        expr_argument_part(&x, &r->latex, args, a, r->lang, source, 0, source->len, &notes, e);
    if (!code && args->json)
        print_json(args, a, &x, &notes);
    if (!code && !args->json) {
        fprintf(args->out, "infix   %s\nprefix  %s\nlatex   %s\n", expr_infix(a, &x),
                expr_prefix(a, &x), expr_latex(a, &x));
        expr_argument_say(args, name, &notes);
    }
    buf_free(&notes);
    return err_up(e, code);
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    const char *name = tool_value(args, "language");
    struct reading r = {.args = args};
    enum err_code code = expr_argument_check(args, e);
    if (!code && !args->n_positional)
        code = err_fail(e, ERR_INPUT, "no expressions are given");
    if (!code)
        code = lang_named(&r.lang, name ? name : "", e);
    if (!code)
        code = operator_options(&r.lang, args, e);
    if (!code)
        code = expr_texts_each(exit_status, args, read_one, &r, e);
    latex_reader_free(r.latex);
    return err_up(e, code);
}

static const struct tool_option options[] = {
    {"language", "NAME", false, "calculus (default), boolean or polynomial"},
    OPERATORS_OPTION,
    EXPR_ARGUMENT_SYNTAX,
    TOOL_JSON,
    {0}};

/* ---- the page ---- */

static void write_pair(struct buf *out, const char *name, const char *text)
{
    buf_printf(out, "<dt>%s</dt><dd><code>", name);
    html_text(out, text);
    buf_puts(out, "</code></dd>\n");
}

static void write_page(struct buf *out, struct arena *a, const json_t *answer)
{
    const char *prefix, *infix, *latex;
    json_t *notes, *note;
    size_t i;
    if (json_unpack((json_t *)answer, "{s:s, s:s, s:s, s:o}", "expression", &infix, "prefix",
                    &prefix, "latex", &latex, "notes", &notes))
        return;
    buf_puts(out, "<p class=\"formula\">");
    formula_write(out, a, infix);
    buf_puts(out, "</p>\n");
    json_array_foreach(notes, i, note)
    {
        buf_puts(out, "<p class=\"note\">");
        html_text(out, json_string_value(note));
        buf_puts(out, "</p>\n");
    }
    buf_puts(out, "<dl>");
    write_pair(out, "infix", infix);
    write_pair(out, "prefix", prefix);
    write_pair(out, "LaTeX", latex);
    buf_puts(out, "</dl>\n");
}

static const struct tool_argument arguments[] = {{"a", "Expression"}, {0}};
static const char *const page_options[] = {"language", "syntax", NULL};
static const struct tool_page page = {NULL,      "How it is read", "Read",
                                      arguments, page_options,     write_page};

const struct tool tool_read = {
    .name = "read",
    .arguments = "EXPR...",
    .summary = "Show how an expression is read",
    .help =
        "Prints the expression in infix, as the prefix tokens of the corpora, and as LaTeX. "
        "Where a text is ambiguous, prints a note with the reading that was chosen. An argument "
        "'-' reads expressions from standard input, one per line.",
    .exit_codes = EXPR_TEXTS_EXIT_CODES,
    .example = "eqloom read 'sin 2x'\n"
               "eqloom read '\\frac{1}{2}\\sin^2 x'",
    .options = options,
    .run = run,
    .page = &page,
};
