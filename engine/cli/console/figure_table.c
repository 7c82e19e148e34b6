/* See figure_table.h. Text and LaTeX round to four digits; TSV and JSON do not round. In LaTeX the
 * best of each score is bold; the table needs the package booktabs. */
#include "engine/cli/console/figure_table.h"

#include "engine/cli/console/text_table.h"
#include "engine/export/reflect.h"

#include <math.h>
#include <string.h>

bool figure_rows_alike(const struct figure_table *f, const struct figure_row *a,
                       const struct figure_row *b)
{
    for (size_t i = 0; i < f->n_params; i++)
        if (strcmp(a->params[i], b->params[i]))
            return false;
    return true;
}

/* Names form the first column if parameters alone do not distinguish the rows. */
static bool has_names(const struct figure_table *f)
{
    for (size_t i = 0; i < f->n_rows; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(f->rows[k].base, f->rows[i].base) ||
                figure_rows_alike(f, &f->rows[k], &f->rows[i]))
                return true;
    return f->by_variant || !f->n_params;
}

static const char *name_of(const struct figure_table *f, size_t i)
{
    const struct figure_row *row = &f->rows[i];
    bool alone = !f->by_variant;
    for (size_t k = 0; k < f->n_rows && alone; k++)
        alone =
            k == i || strcmp(f->rows[k].base, row->base) || !figure_rows_alike(f, &f->rows[k], row);
    return alone ? row->base : row->node;
}

static const char *number(struct arena *a, const double *v)
{
    if (!v)
        return "-";
    if (*v == floor(*v) && fabs(*v) < 1e15)
        return arena_printf(a, "%.0f", *v);
    return arena_printf(a, fabs(*v) >= 0.001 && fabs(*v) < 100 ? "%.4f" : "%.4g", *v);
}

static bool is_best(const struct figure_table *f, size_t figure, const double *v)
{
    if (!v || !f->sense[figure] || f->n_rows < 2)
        return false;
    for (size_t i = 0; i < f->n_rows; i++) {
        const double *other = f->rows[i].values[figure];
        if (other && f->sense[figure] * (*other - *v) > 0)
            return false;
    }
    return true;
}

/* ---- text, tab-separated ---- */

static void write_text(FILE *to, const struct figure_table *f)
{
    bool names = has_names(f);
    struct table t = {.arena = f->arena, .n_columns = names + f->n_params + f->n_figures};
    const char **cells = arena_array(f->arena, const char *, t.n_columns);
    const char **rest = cells + names;
    if (names)
        cells[0] = "node";
    memcpy(rest, f->params, f->n_params * sizeof *rest);
    memcpy(rest + f->n_params, f->figures, f->n_figures * sizeof *rest);
    table_add(&t, cells);
    for (size_t i = 0; i < f->n_rows; i++) {
        if (names)
            cells[0] = name_of(f, i);
        for (size_t k = 0; k < f->n_params; k++)
            rest[k] = *f->rows[i].params[k] ? f->rows[i].params[k] : "-";
        for (size_t k = 0; k < f->n_figures; k++)
            rest[f->n_params + k] = number(f->arena, f->rows[i].values[k]);
        table_add(&t, cells);
    }
    table_print(to, &t);
}

static void write_tsv(FILE *to, const struct figure_table *f)
{
    fputs("node", to);
    for (size_t k = 0; k < f->n_params; k++)
        fprintf(to, "\t%s", f->params[k]);
    for (size_t k = 0; k < f->n_figures; k++)
        fprintf(to, "\t%s", f->figures[k]);
    fputc('\n', to);
    for (size_t i = 0; i < f->n_rows; i++) {
        fputs(f->rows[i].node, to);
        for (size_t k = 0; k < f->n_params; k++) {
            fputc('\t', to);
            for (const char *s = f->rows[i].params[k]; *s; s++)
                *s == '\t' || *s == '\n' ? fputs(*s == '\t' ? "\\t" : "\\n", to) : fputc(*s, to);
        }
        for (size_t k = 0; k < f->n_figures; k++)
            f->rows[i].values[k] ? fprintf(to, "\t%.17g", *f->rows[i].values[k]) : fputc('\t', to);
        fputc('\n', to);
    }
}

/* ---- JSON ---- */

/* Returns a number or Boolean if the text is one, else a string. */
static json_t *typed(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    if (json_is_number(value) || json_is_boolean(value))
        return value;
    json_decref(value);
    return json_string(text);
}

static void write_jsonl(FILE *to, const struct figure_table *f)
{
    for (size_t i = 0; i < f->n_rows; i++) {
        json_t *params = json_object(), *figures = json_object();
        for (size_t k = 0; k < f->n_params; k++)
            if (*f->rows[i].params[k])
                json_object_set_new(params, f->params[k], typed(f->rows[i].params[k]));
        for (size_t k = 0; k < f->n_figures; k++)
            if (f->rows[i].values[k])
                json_object_set_new(figures, f->figures[k], json_real(*f->rows[i].values[k]));
        reflect_line(to, "node:s params:o metrics:o", f->rows[i].node, params, figures);
    }
}

/* ---- LaTeX ---- */

static void put_latex(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (strchr("_%&#${}", *text))
            fprintf(to, "\\%c", *text);
        else if (strchr("\\~^", *text))
            fputs(*text == '\\'  ? "\\textbackslash{}"
                  : *text == '~' ? "\\textasciitilde{}"
                                 : "\\textasciicircum{}",
                  to);
        else
            fputc(*text, to);
    }
}

static void write_latex(FILE *to, const struct figure_table *f)
{
    bool names = has_names(f);
    const char *separator = "";
    fputs("% \\usepackage{booktabs}\n\\begin{tabular}{", to);
    for (size_t k = 0; k < names + f->n_params; k++)
        fputc('l', to);
    for (size_t k = 0; k < f->n_figures; k++)
        fputc('r', to);
    fprintf(to, "}\n\\toprule\n%s", names ? "node" : "");
    separator = names ? " & " : "";
    for (size_t k = 0; k < f->n_params + f->n_figures; k++, separator = " & ") {
        fputs(separator, to);
        put_latex(to, k < f->n_params ? f->params[k] : f->figures[k - f->n_params]);
    }
    fputs(" \\\\\n\\midrule\n", to);
    for (size_t i = 0; i < f->n_rows; i++) {
        separator = names ? " & " : "";
        if (names)
            put_latex(to, name_of(f, i));
        for (size_t k = 0; k < f->n_params; k++, separator = " & ") {
            fputs(separator, to);
            put_latex(to, f->rows[i].params[k]);
        }
        for (size_t k = 0; k < f->n_figures; k++, separator = " & ") {
            bool bold = is_best(f, k, f->rows[i].values[k]);
            fprintf(to, bold ? "%s\\textbf{%s}" : "%s%s", separator,
                    number(f->arena, f->rows[i].values[k]));
        }
        fputs(" \\\\\n", to);
    }
    fputs("\\bottomrule\n\\end{tabular}\n", to);
}

enum err_code figure_writer_find(figure_writer **out, const char *format, bool json, struct err *e)
{
    static const char *const names[] = {"text", "tsv", "jsonl", "latex"};
    static figure_writer *const writers[] = {write_text, write_tsv, write_jsonl, write_latex};
    if (!format)
        format = json ? "jsonl" : "text";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], format)) {
            *out = writers[i];
            return OK;
        }
    return err_fail(e, ERR_INPUT, "--format is text, tsv, jsonl or latex, not '%.40s'", format);
}
