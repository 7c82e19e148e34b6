/* Documents from files in memory: what is found of sections, displays, macros, inputs and
 * citations, and what is only a problem. */
#include "ops/latex/papers/document.h"
#include "tests/unit.h"

#include "base/buf.h"

struct file {
    const char *name, *text;
};

/* "[title] environment:latex{macro,...}; ... | cites | problems" of the first file. */
static char *summary(struct arena *a, const struct file *files, size_t n)
{
    struct bundle b = {.a = a, .name = ""};
    struct buf out = {0};
    bool used[8] = {false}, begins;
    for (size_t i = 0; i < n && files[i].name; i++)
        bundle_add(&b, files[i].name, span_str(files[i].text));
    const Eqloom__Paper *p = document_read(a, &b, &b.files[0], 3, used, NULL, &begins);
    for (size_t i = 0; i < p->n_sections; i++) {
        if (p->sections[i]->n_equations || p->sections[i]->title[0])
            buf_printf(&out, "[%s]", p->sections[i]->title);
        for (size_t k = 0; k < p->sections[i]->n_equations; k++) {
            const Eqloom__Equation *q = p->sections[i]->equations[k];
            assert_int_equal(q->place->section, i);
            buf_printf(&out, " %s:%s", q->environment, q->latex);
            for (size_t m = 0; m < q->n_macros; m++)
                buf_printf(&out, "{%s=%s}", q->macros[m]->name, q->macros[m]->body);
        }
    }
    for (size_t i = 0; i < p->n_cites; i++)
        buf_printf(&out, "|%s", p->cites[i]);
    for (size_t i = 0; i < p->n_problems; i++)
        buf_printf(&out, "!%s", p->problems[i]->reason);
    for (size_t i = 0; i < b.problems.n; i++)
        buf_printf(&out, "!%s", b.problems.items[i]->reason);
    char *text = arena_strndup(a, out.data ? out.data : "", out.len);
    buf_free(&out);
    bundle_free(&b);
    return text;
}

#define DOC(text) "\\documentclass{article}\\begin{document}" text "\\end{document}"

static const struct {
    struct file files[5];
    const char *expected;
} cases[] = {
    {{{"a", DOC("\\section{One}\\[x\\]\\section{T $y$wo}$$y$$")}}, "[One] \\[:x[T wo] $$:y"},
    {{{"a", DOC("\\begin{align*}a&=b\\end{align*} \\begin{tabular}c\\end{tabular}")}},
     "[] align*:a&=b"},
    {{{"a", DOC("x % \\[no\\]\n\\% \\[y %c\n z\\]")}}, "[] \\[:y z"},
    {{{"a", DOC("\\begin{verbatim}\\[x\\]\\end{verbatim}\\verb|$$|\\iffalse\\[y\\]\\fi")}}, ""},
    {{{"a", DOC("$a$$b$ $\\$$ \\(c\\) \\\\[2pt] $$d$$")}}, "[] $$:d"},
    /* macros: only those needed, with what they need */
    {{{"a", "\\newcommand\\R{\\B R}\\newcommand{\\B}[1]{\\mathbb{#1}}\\newcommand\\C{c}" DOC(
                "\\[\\R\\]")}},
     "[] \\[:\\R{\\B=\\mathbb{#1}}{\\R=\\B R}"},
    {{{"a", DOC("\\def\\x#1.{<#1>}\\let\\y\\x\\[\\y a.\\]\\def\\x{2}\\[\\x\\]")}},
     "[] \\[:\\y a.{\\y=<#1>} \\[:\\x{\\x=2}"},
    {{{"a", DOC("\\DeclareMathOperator*{\\am}{arg\\,min}\\[\\am\\]")}},
     "[] \\[:\\am{\\am=\\operatorname*{arg\\,min}}"},
    {{{"a", DOC("\\def\\x{a\\x}\\[\\x\\]")}}, "[] \\[:\\x{\\x=a\\x}"}, /* KaTeX will refuse it */
    /* displays that macros and environments open */
    {{{"a", DOC("\\def\\be{\\begin{equation}}\\def\\ee{\\end{equation}}\\be x\\ee")}},
     "[] equation:x"},
    {{{"a", DOC("\\newcommand\\eqn[1]{\\[#1\\]}\\eqn{x^{2}}")}}, "[] \\[:x^{2}"},
    {{{"a", DOC("\\newenvironment{eq}{\\begin{equation}}{\\end{equation}}\\begin{eq}x\\end{eq}")}},
     "[] equation:x"},
    {{{"a", DOC("\\def\\a{\\[\\b}\\def\\b{\\a\\]}\\a x")}},
     "[] \\[:\\["}, /* KaTeX will refuse it */
    /* inputs */
    {{{"a", DOC("\\input{b}\\include c")}, {"b.tex", "\\[b\\]"}, {"c.tex", "\\[c\\]"}},
     "[] \\[:b \\[:c"},
    {{{"a", DOC("\\input a")}}, "!reads itself"},
    {{{"a", DOC("\\input{../x}\\input{/etc/passwd}\\input{b}")}},
     "!no such input!no such input!no such input"},
    {{{"a", DOC("\\def\\d{d}\\input{\\d/b}")},
      {"d/b.tex", "\\[b\\]\\input{c}"},
      {"d/c.tex", "\\[c\\]"}},
     "[] \\[:b \\[:c"},
    {{{"a", DOC("\\input b")},
      {"b", "\\input c"},
      {"c", "\\input d"},
      {"d", "\\input e"},
      {"e", "\\[x\\]"}},
     "!read too deeply"},
    {{{"a", "\\usepackage{m,n}" DOC("\\[\\x\\]")}, {"m.sty", "\\[no\\]\\def\\x{1}"}},
     "[] \\[:\\x{\\x=1}"},
    {{{"a", "\\input h" DOC("")}, {"h", "\\def\\x{1}"}}, ""},
    {{{"a", "\\[x\\]\\bye"}}, "[] \\[:x"}, /* plain TeX */
    /* citations */
    {{{"a", DOC("\\cite{k}\\bibliography{r}")},
      {"r.bib", "@a{k, eprint={1501.00001}} @a{l, eprint={1501.00002}}"}},
     "|1501.00001"},
    {{{"a", DOC("\\begin{thebibliography}{9}arXiv:1502.00003v2, hep-th/9901001, math.AG/0301001, "
                "pp. 1503.0004\\end{thebibliography}")}},
     "|1502.00003|1503.0004|hep-th/9901001|math/0301001"},
    {{{"a", DOC("")}, {"a.bbl", "arXiv 1501.1234, 10.1103/1599.1234"}}, "|1501.1234"},
    /* what is wrong costs itself */
    {{{"a", DOC("\\[x\n\ny\\] \\[z\\]")}}, "[] \\[:z!display without end"},
    {{{"a", "\\documentclass{a}\\begin{document}\\[x"}}, "!display without end"},
    {{{"a", DOC("\\[x\\end{document}\\]")}}, "!display without end"},
    {{{"a", DOC("}}}{{{\\section{\\[x\\]")}}, "[] \\[:x"},
    {{{"a", "\\newcommand\\newcommand{\\x[\\def"}}, ""},
    {{{"a", ""}}, ""},
};

TEST_IN_ARENA(table)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *found = summary(a, cases[i].files, 5);
        if (strcmp(found, cases[i].expected))
            fail_msg("%zu: %s\n  gives %s\n  not   %s", i, cases[i].files[0].text, found,
                     cases[i].expected);
    }
}

/* Macros that double, files that read each other often: bounded in number and bytes. */
TEST(bombs)
{
    static const char *const bombs[] = {
        DOC("\\def\\a{\\[\\]\\b\\b}\\def\\b{\\[\\]\\c\\c}\\def\\c{\\[\\]\\d\\d}\\a\\a\\a"),
        DOC("\\def\\a#1{\\[\\]\\b{#1#1#1#1}}\\def\\b#1{\\[\\]\\c{#1#1#1#1}}\\def\\c#1{\\a{#1}}\\a{"
            "x}"),
        DOC("\\input b\\input b\\input b\\input b")};
    for (size_t i = 0; i < 3; i++) {
        struct arena a = {0};
        struct file files[] = {{"a", bombs[i]},
                               {"b", "\\input c\\input c\\input c"},
                               {"c", "\\input a\\input b\\[x\\]"}};
        summary(&a, files, 3);
        assert_true(a.used < 64u << 20);
        arena_free(&a);
    }
}

TEST_IN_ARENA(encodings)
{
    static const struct file texts[] = {{"\xef\xbb\xbf"
                                         "é",
                                         "é"},
                                        {"\xe9", "é"},
                                        {"a\r\nb\rc", "a\nb\nc"},
                                        {"[latin9]{inputenc}\xa4", "[latin9]{inputenc}€"},
                                        {"[koi8-r]{inputenc}\xc1", "[koi8-r]{inputenc}а"},
                                        {"\xc0\x80x", "À€x"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct bundle b = {.a = a, .name = ""};
        bundle_add(&b, "f", span_str(texts[i].name));
        assert_int_equal(b.n, 1);
        assert_string_equal(b.files[0].text, texts[i].text);
        bundle_add(&b, "g", span_of("a\0b", 3));
        assert_string_equal(b.problems.items[0]->reason, "binary");
        bundle_free(&b);
    }
}
