/* LaTeX and HTML -> MathML (reading_table.h). An entry of displays.txt is the text of a document:
 * its last line the body, those before it the preamble; a line without a display is one. Below it
 * stand its displays, each as MathML or with the reason why it is refused, and what was not taken:
 *
 *     \usepackage{physics}
 *     \[\dv{x}\] \iffalse $$y$$ \fi
 *         <mfrac><mrow><mi mathvariant="normal">d</mi></mrow>...</mfrac>
 *         not taken: 1 in a branch that is not taken
 */
#include "ops/latex/katex/katex.h"
#include "ops/latex/mathml/mathml_tree.h"
#include "ops/latex/papers/document.h"
#include "tests/ops/latex/reading_table.h"
#include "tests/unit.h"

static struct katex *katex;

/* Without the outermost <math>. */
static void put_mathml(struct buf *out, struct arena *a, const char *mathml)
{
    struct mathml_tree t;
    const char *why = mathml_tree_parse(&t, a, mathml, strlen(mathml));
    const char *text = why ? why : mathml_tree_write(a, &t);
    size_t from = why ? 0 : strcspn(text, ">") + 1, n = strlen(text) - from;
    buf_printf(out, "    %s%.*s\n", why ? "refused: " : "", (int)(why ? n : n - strlen("</math>")),
               text + from);
}

static void put_equation(struct buf *out, struct arena *a, const Eqloom__Equation *q)
{
    struct katex_answer x;
    if (q->mathml[0]) {
        put_mathml(out, a, q->mathml);
        return;
    }
    assert_int_equal(katex_mathml(&x, a, katex, q, NULL), OK);
    if (x.text)
        put_mathml(out, a, x.text);
    else
        buf_printf(out, "    refused: %s: %s\n", x.refused, x.detail);
}

static void put_paper(struct buf *out, struct arena *a, const Eqloom__Paper *p)
{
    size_t before = out->len;
    for (size_t i = 0; i < p->n_sections; i++)
        for (size_t k = 0; k < p->sections[i]->n_equations; k++)
            put_equation(out, a, p->sections[i]->equations[k]);
    for (size_t i = 0; i < p->n_untaken; i++)
        buf_printf(out, "    not taken: %u %s\n", p->untaken[i]->count, p->untaken[i]->reason);
    for (size_t i = 0; i < p->n_problems; i++)
        buf_printf(out, "    problem: %s (%s)\n", p->problems[i]->reason, p->problems[i]->detail);
    if (out->len == before)
        buf_puts(out, "    nothing\n");
}

static bool has_display(const char *body)
{
    return strstr(body, "\\[") || strstr(body, "$$") || strstr(body, "\\begin{");
}

static void write_displays(struct buf *out, struct arena *a, const char *input)
{
    const char *newline = strrchr(input, '\n'), *body = newline ? newline + 1 : input;
    bool whole = strstr(input, "\\begin{document}") || has_display(body), begins, used = false;
    struct bundle b = {.a = a, .name = ""};
    const char *text = arena_printf(a, "\\documentclass{article}\n%.*s%s%s%s%s\\end{document}",
                                    (int)(body - input), input,
                                    strstr(input, "\\begin{document}") ? "" : "\\begin{document}\n",
                                    whole ? "" : "\\[", body, whole ? "" : "\\]");
    bundle_add(&b, "a.tex", span_str(text));
    put_paper(out, a, document_read(a, &b, b.files, 3, &used, NULL, &begins));
    bundle_free(&b);
}

/* A line of a labelled set if it begins with a brace, else HTML. */
static void write_html(struct buf *out, struct arena *a, const char *input)
{
    put_paper(out, a,
              *input == '{' ? labelled_read(a, "a.jsonl", input, strlen(input))
                            : mathml_read(a, "a.html", input, strlen(input)));
}

TEST(displays)
{
    reading_table_check("displays", write_displays);
}

TEST(html)
{
    reading_table_check("html", write_html);
}

static int begin(void **state)
{
    return katex_new(&katex, &katex_source.glue, NULL);
}

static int end(void **state)
{
    katex_free(katex);
    return 0;
}

TESTS_AROUND(begin, end)
