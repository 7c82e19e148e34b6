/* What is read of infix and LaTeX (reading_table.h):
 *
 *     2(x + 1)
 *         both    2*(x + 1)
 *
 *     sin 2x
 *         prompt  sin(2*x)
 *         note    read as sin(2*x)
 *         file    refused 1: this has several readings; the usual one is sin(2*x)
 *
 * At a prompt the usual reading is taken, with a note; files must not be ambiguous. A refusal has
 * its column, message and hint. */
#include "ops/expr/own/operator_files.h"
#include "ops/latex/read/expr_argument.h"
#include "tests/ops/latex/reading_table.h"
#include "tests/unit.h"

/* Reads as a prompt does, or with `notes` NULL as a file. */
typedef enum err_code reader(struct expr *out, struct arena *a, const struct source_text *source,
                             struct buf *notes, struct err *e);

static struct latex_reader *latex, *sympy;

/* The command line has no options. */
const char *tool_value(const struct tool_args *args, const char *option)
{
    (void)args, (void)option;
    return NULL;
}

static const struct language *language(struct arena *a)
{
    const struct language *lang = &lang_calculus;
    assert_int_equal(operators_shipped(&lang, a, NULL), OK);
    return lang;
}

/* As a command without --syntax: a text may turn out to be LaTeX. */
static enum err_code read_infix(struct expr *out, struct arena *a, const struct source_text *source,
                                struct buf *notes, struct err *e)
{
    struct tool_args none = {0};
    const struct language *lang = language(a);
    return notes ? expr_argument_part(out, &latex, &none, a, lang, source, 0, source->len, notes, e)
                 : expr_parse_infix(out, a, lang, source, 0, source->len, false, e);
}

static enum err_code read_latex(struct expr *out, struct arena *a, const struct source_text *source,
                                struct buf *notes, struct err *e)
{
    return latex_parse(out, &latex, a, language(a), source, 0, source->len, false, notes, e);
}

/* Infix or LaTeX, as a rules file reads its terms. */
static enum err_code read_either(struct expr *out, struct arena *a,
                                 const struct source_text *source, struct buf *notes, struct err *e)
{
    reader *read = latex_is(source->text, source->len) ? read_latex : read_infix;
    return read(out, a, source, notes, e);
}

/* What SymPy wrote has no notes. */
static enum err_code read_sympy(struct expr *out, struct arena *a, const struct source_text *source,
                                struct buf *notes, struct err *e)
{
    if (!sympy)
        sympy = latex_reader_sympy();
    return latex_parse(out, &sympy, a, language(a), source, 0, source->len, false, NULL, e);
}

static char *outcome(struct arena *a, reader *read, const char *input, struct buf *notes)
{
    struct source_text source = {"<test>", input, strlen(input)};
    struct err e = {0};
    struct expr x;
    if (!read(&x, a, &source, notes, &e))
        return expr_infix(a, &x);
    return arena_printf(a, "refused %d: %s%s%s", e.column, e.message, *e.hint ? "; " : "", e.hint);
}

/* Writes what is made of an input. */
static void write_outcomes(struct buf *out, struct arena *a, reader *read, const char *input)
{
    struct buf notes = {0};
    const char *prompt = outcome(a, read, input, &notes), *file = outcome(a, read, input, NULL);
    bool same = !notes.len && strcmp(prompt, file) == 0;
    buf_printf(out, "    %-7s %s\n", same ? "both" : "prompt", prompt);
    for (const char *s = notes.len ? notes.data : ""; *s; s += strcspn(s, "\n") + 1)
        buf_printf(out, "    note    %.*s\n", (int)strcspn(s, "\n"), s);
    if (!same)
        buf_printf(out, "    file    %s\n", file);
    buf_free(&notes);
}

static void write_infix(struct buf *out, struct arena *a, const char *input)
{
    write_outcomes(out, a, read_infix, input);
}

static void write_latex(struct buf *out, struct arena *a, const char *input)
{
    write_outcomes(out, a, read_latex, input);
}

TEST(infix)
{
    reading_table_check("infix", write_infix);
}

static void write_either(struct buf *out, struct arena *a, const char *input)
{
    write_outcomes(out, a, read_either, input);
}

TEST(operators)
{
    reading_table_check("operators", write_either);
}

TEST(latex)
{
    reading_table_check("latex", write_latex);
}

static void write_sympy(struct buf *out, struct arena *a, const char *input)
{
    write_outcomes(out, a, read_sympy, input);
}

TEST(sympy)
{
    reading_table_check("sympy", write_sympy);
}

static int end(void **state)
{
    latex_reader_free(latex);
    latex_reader_free(sympy);
    return 0;
}

TESTS_AROUND(NULL, end)
