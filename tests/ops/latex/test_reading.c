/* What is read: the tables in tests/reading, a file for each notation. An entry is an input, of one
 * line or more, and below it, indented, what is made of it:
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
 * its column, message and hint. Entries are separated by blank lines; a line with # is a comment.
 * EQLOOM_UPDATE_GOLDEN=1 rewrites what stands below the inputs. */
#include "base/os.h"
#include "ops/expr/own/operator_files.h"
#include "ops/latex/read/expr_argument.h"
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
    return latex_parse(out, &sympy, a, &lang_calculus, source, 0, source->len, false, NULL, e);
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

static size_t line_length(const char *s)
{
    size_t n = strcspn(s, "\n");
    return n + (s[n] == '\n');
}

static bool is_outcome(const char *s)
{
    return strncmp(s, "    ", 4) == 0;
}

/* The table as it should be, and the number of entries that differ, which are printed. */
static size_t rewrite(struct buf *out, struct arena *a, reader *read, const char *table,
                      const char *path)
{
    size_t wrong = 0;
    for (const char *s = table; *s;) {
        const char *begin = s, *below;
        if (*s == '#' || *s == '\n') {
            s += line_length(s);
            buf_add(out, begin, (size_t)(s - begin));
            continue;
        }
        while (*s && *s != '\n' && !is_outcome(s))
            s += line_length(s);
        for (below = s; is_outcome(s);)
            s += line_length(s);
        size_t n = (size_t)(below - begin), at = out->len + n;
        buf_add(out, begin, n);
        write_outcomes(out, a, read, arena_strndup(a, begin, n - (begin[n - 1] == '\n')));
        if (out->len - at == (size_t)(s - below) && !memcmp(out->data + at, below, out->len - at))
            continue;
        print_error("%s: is now\n%s", path, out->data + at - n);
        wrong++;
    }
    return wrong;
}

static void check_table(const char *notation, reader *read)
{
    struct arena a = {0};
    struct buf now = {0};
    struct span table;
    const char *update = getenv("EQLOOM_UPDATE_GOLDEN");
    const char *path = arena_printf(&a, "%s/%s.txt", READING, notation);
    assert_int_equal(os_read_file(&table, &a, path, 1 << 20, NULL), OK);
    size_t wrong =
        rewrite(&now, &a, read, arena_strndup(&a, (const char *)table.data, table.len), path);
    if (update && *update) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fwrite(now.data, 1, now.len, f);
        assert_int_equal(fclose(f), 0);
        wrong = 0;
    }
    buf_free(&now);
    arena_free(&a);
    assert_int_equal(wrong, 0);
}

TEST(infix)
{
    check_table("infix", read_infix);
}

TEST(operators)
{
    check_table("operators", read_either);
}

TEST(latex)
{
    check_table("latex", read_latex);
}

TEST(sympy)
{
    check_table("sympy", read_sympy);
}

static int end(void **state)
{
    latex_reader_free(latex);
    latex_reader_free(sympy);
    return 0;
}

TESTS_AROUND(NULL, end)
