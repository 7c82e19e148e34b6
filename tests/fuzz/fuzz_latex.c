/* Papers and their equations. */
#include "tests/fuzz/fuzz.h"

#include "base/io/unpack.h"
#include "base/text/utf8.h"
#include "ops/images/tex/tex_source.h"
#include "ops/latex/graphs/graph_features.h"
#include "ops/latex/papers/citations.h"
#include "ops/latex/papers/document.h"
#include "ops/latex/read/latex.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Any bytes as a file of equations or of a bibliography: what is read is there, the rest is said.
 * The first byte chooses. */
static void check(const Eqloom__Paper *p)
{
    if (p->n_sections != 1 && !(p->n_sections == 0 && p->n_listings))
        abort();
    for (size_t i = 0; i < p->n_listings; i++)
        if (!p->listings[i]->paper || !p->listings[i]->categories)
            abort();
    for (size_t i = 0; p->n_sections && i < p->sections[0]->n_equations; i++) {
        const Eqloom__Equation *q = p->sections[0]->equations[i];
        if (!*q->latex && !*q->mathml && q->place->number != i)
            abort();
    }
    for (size_t i = 0; i < p->n_problems; i++)
        if (!*p->problems[i]->reason)
            abort();
}

FUZZ(labelled)
{
    struct citations c = {.a = a};
    if (size == 0)
        return;
    char *text = arena_strndup(a, (const char *)data + 1, size - 1);
    size_t len = size - 1;
    switch (data[0] % 4) {
    case 0: check(labelled_read(a, "f", text, len)); break;
    case 1: check(mathml_read(a, "f", text, strlen(text))); break;
    case 2: citations_id_of_name(a, text); break;
    default:
        citations_key(&c, (struct piece){"*", 1});
        citations_scan(&c, (struct piece){text, len});
        citations_scan_bib(&c, (struct piece){text, len});
        citations_sort(&c);
        citations_free(&c);
    }
}

/* Any text as LaTeX of an expression: refused, or read as something that infix reads again. */
FUZZ(latex)
{
    static struct latex_reader *reader; /* 0.2 s to make */
    struct source_text source = {"<fuzz>", (const char *)data, size};
    struct expr x, again;
    struct err e;
    if (size < 4096 &&
        latex_parse(&x, &reader, a, &lang_calculus, &source, 0, size, true, NULL, &e) == OK) {
        char *infix = expr_infix(a, &x);
        struct source_text written = {"<written>", infix, strlen(infix)};
        assert(expr_parse_infix(&again, a, &lang_calculus, &written, 0, written.len, true, &e) ==
               OK);
        assert(expr_equal(&x, &again));
    }
}

/* Any bytes as MathML: refused, or written in a form that is read and written as the same. */
FUZZ(mathml)
{
    struct mathml_tree t, again;
    if (!mathml_tree_parse(&t, a, (const char *)data, size)) {
        const char *text = mathml_tree_write(a, &t);
        struct graph_nodes g;
        assert(!mathml_tree_parse(&again, a, text, strlen(text)));
        assert(!strcmp(text, mathml_tree_write(a, &again)));
        assert(!graph_nodes_of(&g, a, text) && g.n > 0);
    }
}

/* Any bytes as a file of a paper, or as an archive: read or refused, within bounds. The first byte
 * chooses. */
static void take(void *arg, const char *name, struct span bytes, const char *reason)
{
    if (!reason)
        bundle_add(arg, name, bytes);
}

FUZZ(papers)
{
    struct bundle b = {.a = a, .name = "f"};
    bool used[2] = {false}, begins;
    if (size > 1 && data[0] == 'a') {
        unpack(take, &b, "f", span_of(data + 1, size - 1));
    } else if (size > 1) {
        bundle_add(&b, "f", span_of(data + 1, size - 1));
        if (b.n)
            document_read(a, &b, &b.files[0], 3, used, NULL, &begins);
    }
    bundle_free(&b);
}

/* Any bytes as TeX's log of three equations: outcomes whose texts are short and valid UTF-8. */
FUZZ(tex_log)
{
    struct tex_outcome out[3] = {{0}};
    tex_log_read(out, 3, a, span_of(data, size));
    for (size_t i = 0; i < 3; i++) {
        const char *error = out[i].error;
        assert(!error || (!strncmp(error, "! ", 2) && *tex_log_reason(error)));
        assert(!error || utf8_prefix((const uint8_t *)error, strlen(error)) == strlen(error));
        assert(!error || strlen(error) <= 300);
    }
}
