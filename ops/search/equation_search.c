#include "ops/search/equation_search.h"

#include "base/os.h"
#include "base/text/html.h"
#include "ops/search/corpus_index.h"
#include "ops/search/models.h"
#include "ops/search/queries.h"
#include "paper.pb-c.h"

#include <ctype.h>
#include <string.h>

enum { SHOWN_LENGTH = 70 };

struct equation_query {
    const struct tool_args *args;
    const Eqloom__Index *record;
    uint32_t k;
    struct corpus_index index;
    struct equation_model model;
};

bool equation_search_is(const Eqloom__Index *index)
{
    return index->mathml_ids.len > 0;
}

/* Rejects options that apply only to expressions. */
static enum err_code check_options(const struct tool_args *args, const char *name, struct err *e)
{
    static const char *const others[] = {"domain", "real", "max-nodes", "per-cluster"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (tool_value(args, others[i]))
            return err_fail(e, ERR_INPUT,
                            "--%s cannot be used: %s is an index of equations, which are not "
                            "checked for equality",
                            others[i], name);
    return OK;
}

static enum err_code load(struct equation_query *x, struct err *e)
{
    const Eqloom__Index *r = x->record;
    enum err_code code =
        equation_model_load(&x->model, x->args, (const struct digest *)r->checkpoint_id.data, e);
    if (!code)
        code = corpus_index_load(&x->index, x->args, r, e);
    if (code)
        return err_up(e, code);
    if (x->index.v.dim != x->model.dim)
        return err_fail(e, ERR_CORRUPT, "the vectors have %u dimensions, the network has %u",
                        x->index.v.dim, x->model.dim);
    if (r->mathml_ids.len != (size_t)x->index.v.n * DIGEST_SIZE)
        return err_fail(e, ERR_CORRUPT, "the index has %u vectors but names %zu equations",
                        x->index.v.n, r->mathml_ids.len / DIGEST_SIZE);
    return OK;
}

/* Returns the LaTeX on one line. */
static char *one_line(struct arena *a, const char *latex, bool cut)
{
    char *out = arena_strdup(a, latex);
    size_t n = 0;
    for (const char *s = latex; *s; s++)
        if (!isspace((unsigned char)*s))
            out[n++] = *s;
        else if (n && out[n - 1] != ' ')
            out[n++] = ' ';
    out[n] = 0;
    if (!cut || n <= SHOWN_LENGTH)
        return out;
    for (n = SHOWN_LENGTH - 3; n && (out[n] & 0xc0) == 0x80;)
        n--;
    return arena_printf(a, "%.*s...", (int)n, out);
}

/* An equation that was found, with its place. */
struct found {
    const Eqloom__MathML *m;
    const Eqloom__Place *place;
    const char *title, *section; /* "" if the index does not have the paper */
};

/* Prints a title in parentheses, if there is one. */
static void print_title(FILE *out, const char *title)
{
    if (*title)
        fprintf(out, " (%s)", title);
}

static void print_words(const struct equation_query *x, const char *latex,
                        const struct neighbour *near, const struct found *found, size_t n,
                        struct arena *a)
{
    FILE *out = x->args->out;
    fprintf(out, "%s\n", one_line(a, latex, false));
    for (size_t i = 0; i < n; i++) {
        const struct found *f = &found[i];
        fprintf(out, "  %.4f  %-*s  %s", (double)near[i].similarity, SHOWN_LENGTH,
                one_line(a, f->m->latex, true), f->place->paper);
        print_title(out, one_line(a, f->title, true));
        fprintf(out, ", section %u", f->place->section + 1);
        print_title(out, one_line(a, f->section, true));
        fprintf(out, ", equation %u\n", f->place->number + 1);
    }
    fflush(out);
}

static void print_json(const struct equation_query *x, const struct formula *query,
                       const struct neighbour *near, const struct found *found, size_t n, double ms)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct found *f = &found[i];
        const Eqloom__Place *p = f->place;
        json_array_append_new(
            list,
            json_pack("{s:f, s:s, s:s, s:s, s:s*, s:i, s:s*, s:i, s:s*}", "similarity",
                      (double)near[i].similarity, "latex", f->m->latex, "mathml", f->m->mathml,
                      "paper", p->paper, "title", *f->title ? f->title : NULL, "section",
                      (int)p->section + 1, "section_title", *f->section ? f->section : NULL,
                      "equation", (int)p->number + 1, "label", *p->label ? p->label : NULL));
    }
    queries_print_json(x->args->out,
                       json_pack("{s:s, s:s, s:o, s:f}", "question", query->latex, "mathml",
                                 query->mathml, "neighbours", list, "ms", ms));
}

/* Sets the titles of the paper and of the section, if the index has the paper. */
static enum err_code find_titles(struct found *f, const struct equation_query *x, struct arena *a,
                                 struct err *e)
{
    const Eqloom__Index *r = x->record;
    const Eqloom__Paper *p;
    size_t i = 0;
    while (i < r->n_papers && strcmp(r->papers[i], f->place->paper))
        i++;
    if (i == r->n_papers || r->paper_ids.len != r->n_papers * DIGEST_SIZE)
        return OK;
    const struct digest *id = (const struct digest *)r->paper_ids.data + i;
    enum err_code code = tool_get(&p, x->args, id, KIND_PAPER, a, e);
    if (code)
        return err_up(e, code);
    f->title = p->title;
    if (f->place->section < p->n_sections)
        f->section = p->sections[f->place->section]->title;
    return OK;
}

static enum err_code find_equation(struct found *f, const struct equation_query *x, uint32_t row,
                                   struct arena *a, struct err *e)
{
    static const Eqloom__Place nowhere = EQLOOM__PLACE__INIT;
    const struct digest *id = (const struct digest *)x->record->mathml_ids.data + row;
    enum err_code code = tool_get(&f->m, x->args, id, KIND_MATHML, a, e);
    if (code)
        return err_up(e, code);
    f->place = f->m->place ? f->m->place : &nowhere;
    f->title = f->section = "";
    return err_up(e, find_titles(f, x, a, e));
}

static enum err_code answer(void *arg, const char *name, const char *text, struct arena *a,
                            struct err *e)
{
    struct equation_query *x = arg;
    uint64_t start = os_monotonic_ns();
    struct neighbour *near = arena_array(a, struct neighbour, x->k);
    struct found *found = arena_array(a, struct found, x->k);
    struct formula query;
    float *vector;
    enum err_code code = equation_model_embed(&query, &vector, &x->model, name, text, true, a, e);
    if (code)
        return err_up(e, code);
    size_t n = corpus_index_nearest(near, x->k, 0, &x->index, vector, a);
    for (size_t i = 0; i < n && !code; i++)
        code = find_equation(&found[i], x, near[i].row, a, e);
    if (code)
        return err_up(e, code);
    double ms = (double)(os_monotonic_ns() - start) * 1e-6;
    if (x->args->json)
        print_json(x, &query, near, found, n, ms);
    else
        print_words(x, query.latex, near, found, n, a);
    fprintf(x->args->narration, "%zu of %u equations, in %.1f ms\n", n, x->index.v.n, ms);
    return OK;
}

enum err_code equation_search(int *exit_status, const struct tool_args *args, const char *name,
                              const Eqloom__Index *index, uint32_t k, struct err *e)
{
    struct equation_query x = {.args = args, .record = index, .k = k};
    uint64_t start = os_monotonic_ns();
    enum err_code code;
    if (!(code = check_options(args, name, e)) && !(code = load(&x, e))) {
        fprintf(args->narration, "%s: %u equations, loaded in %.0f ms\n", name, x.index.v.n,
                (double)(os_monotonic_ns() - start) * 1e-6);
        code = expr_texts_each(exit_status, args, answer, &x, e);
    }
    equation_model_free(&x.model);
    corpus_index_free(&x.index);
    return err_up(e, code);
}

/* ---- the page ---- */

static void write_place(struct buf *out, const char *name, const char *title)
{
    buf_puts(out, "<td>");
    html_text(out, title ? title : name);
    if (title) {
        buf_puts(out, " <small>");
        html_text(out, name);
        buf_puts(out, "</small>");
    }
    buf_puts(out, "</td>");
}

static void write_neighbour(struct buf *out, struct arena *a, const json_t *x)
{
    struct formula f;
    const char *paper, *title = NULL, *section_title = NULL;
    double similarity;
    int section, number;
    if (json_unpack((json_t *)x, "{s:F, s:s, s:s, s:s, s?s, s:i, s?s, s:i}", "similarity",
                    &similarity, "latex", &f.latex, "mathml", &f.mathml, "paper", &paper, "title",
                    &title, "section", &section, "section_title", &section_title, "equation",
                    &number))
        return;
    buf_printf(out, "<tr><td>%.4f</td><td>", similarity);
    study_page_formula(out, a, &f);
    buf_puts(out, "</td>");
    write_place(out, paper, title);
    write_place(out, arena_printf(a, "%d", section), section_title);
    buf_printf(out, "<td>%d</td></tr>\n", number);
}

bool equation_search_page(struct buf *out, struct arena *a, const json_t *answer)
{
    struct formula query;
    json_t *neighbours, *x;
    size_t i;
    if (json_unpack((json_t *)answer, "{s:s, s:s, s:o}", "question", &query.latex, "mathml",
                    &query.mathml, "neighbours", &neighbours))
        return false;
    buf_puts(out, "<h2>Nearest to ");
    study_page_formula(out, a, &query);
    buf_puts(out, "</h2>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
                  "aria-label=\"Neighbours\"><table class=\"sorts\"><thead><tr>"
                  "<th scope=\"col\">similarity</th><th scope=\"col\">equation</th>"
                  "<th scope=\"col\">paper</th><th scope=\"col\">section</th>"
                  "<th scope=\"col\">number</th></tr></thead><tbody>\n");
    json_array_foreach(neighbours, i, x) write_neighbour(out, a, x);
    buf_puts(out, "</tbody></table></div>\n");
    return true;
}
