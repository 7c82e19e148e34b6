#include "engine/serve/value.h"

#include "base/text/chart.h"
#include "engine/op.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH = 8, TEXT = 4000 };

static bool is_id(const char *text)
{
    return strlen(text) == DIGEST_HEX - 1 && strspn(text, "0123456789abcdef") == DIGEST_HEX - 1;
}

static bool is_expression(const char *key)
{
    return !strcmp(key, "prefix") || !strcmp(key, "lhs") || !strcmp(key, "rhs");
}

/* "infix" says once more what "prefix" does. */
static bool is_repeated(const json_t *object, const char *key)
{
    return !strcmp(key, "infix") && json_object_get(object, "prefix");
}

static bool is_empty(const json_t *v)
{
    return json_is_null(v) || (json_is_string(v) && !*json_string_value(v)) ||
           (json_is_array(v) && !json_array_size(v));
}

static void write_value(struct page *p, const char *key, const json_t *v, int depth);

static void write_string(struct page *p, const char *key, const char *text)
{
    if (is_expression(key)) {
        const char *math = op_formula(p->arena, text);
        page_printf(p, math ? "%s" : "<code>%s</code>", math ? math : page_text(p, text));
    } else if (is_id(text)) {
        page_html(p, page_link(p, "/record", "ref", text, arena_strndup(p->arena, text, 12)));
    } else {
        page_printf(p, "%s%s", page_text(p, arena_strndup(p->arena, text, TEXT)),
                    strlen(text) > TEXT ? " ..." : "");
    }
}

static void write_members(struct page *p, const json_t *object, int depth)
{
    const char *key;
    json_t *v;
    page_html(p, "<dl>");
    json_object_foreach((json_t *)object, key, v)
    {
        if (is_empty(v) || is_repeated(object, key))
            continue;
        page_printf(p, "<dt>%s</dt><dd>", page_text(p, key));
        write_value(p, key, v, depth + 1);
        page_html(p, "</dd>\n");
    }
    page_html(p, "</dl>\n");
}

/* A column for each member of the first object. */
static void write_rows(struct page *p, const char *label, const json_t *list, int depth)
{
    const json_t *first = json_array_get(list, 0);
    struct buf columns = {0};
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)first, key, v) if (!is_repeated(first, key))
        buf_printf(&columns, "%s%s", columns.len ? "|" : "", key);
    page_begin_table(p, label, columns.data ? columns.data : "");
    for (size_t i = 0; i < json_array_size(list) && i < VALUE_ROWS; i++) {
        page_html(p, "<tr>");
        json_object_foreach((json_t *)first, key, v)
        {
            if (is_repeated(first, key))
                continue;
            page_html(p, "<td>");
            write_value(p, key, json_object_get(json_array_get(list, i), key), depth + 1);
            page_html(p, "</td>");
        }
        page_html(p, "</tr>\n");
    }
    page_end_table(p);
    buf_free(&columns);
}

static void write_list(struct page *p, const char *key, const json_t *list, int depth)
{
    size_t n = json_array_size(list);
    if (json_is_object(json_array_get(list, 0)) && depth < 3) {
        write_rows(p, key, list, depth);
    } else {
        page_html(p, "<span class=\"list\">");
        for (size_t i = 0; i < n && i < VALUE_ROWS; i++) {
            page_html(p, i ? ", " : "");
            write_value(p, key, json_array_get(list, i), depth + 1);
        }
        page_html(p, "</span>");
    }
    if (n > VALUE_ROWS)
        page_printf(p, "<p class=\"note\">The first %d of %s.</p>\n", VALUE_ROWS,
                    page_count(p, (double)n));
}

static void write_value(struct page *p, const char *key, const json_t *v, int depth)
{
    if (depth > DEPTH)
        page_html(p, "...");
    else if (json_is_object(v))
        write_members(p, v, depth);
    else if (json_is_array(v))
        write_list(p, key, v, depth);
    else if (json_is_string(v))
        write_string(p, key, json_string_value(v));
    else if (json_is_integer(v))
        page_html(p, page_count(p, (double)json_integer_value(v)));
    else if (json_is_real(v))
        page_printf(p, "%.6g", json_real_value(v));
    else if (json_is_boolean(v))
        page_html(p, json_is_true(v) ? "yes" : "no");
}

void value_write(struct page *p, const json_t *object)
{
    write_members(p, object, 0);
}

/* ---- curves ---- */

static size_t take_points(double **x, double **y, struct arena *a, const json_t *metrics,
                          const char *name)
{
    size_t n = 0, most = json_array_size(metrics);
    *x = arena_array(a, double, most + 1);
    *y = arena_array(a, double, most + 1);
    for (size_t i = 0; i < most; i++) {
        const json_t *m = json_array_get(metrics, i);
        if (!strcmp(json_text(m, "name"), name) && json_is_number(json_object_get(m, "value"))) {
            (*x)[n] = json_figure(m, "step");
            (*y)[n++] = json_figure(m, "value");
        }
    }
    return n;
}

static bool came_before(const json_t *metrics, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(json_text(json_array_get(metrics, k), "name"),
                    json_text(json_array_get(metrics, i), "name")))
            return true;
    return false;
}

void value_write_curves(struct page *p, const json_t *metrics, const json_t *others)
{
    enum { FEW = 64 }; /* names come within the first so many */
    page_html(p, "<div class=\"charts\">\n");
    for (size_t i = 0; i < json_array_size(metrics) && i < FEW; i++) {
        const char *name = json_text(json_array_get(metrics, i), "name");
        struct chart_curve curves[2] = {{.name = "first"}, {.name = "second"}};
        double *x, *y;
        if (came_before(metrics, i))
            continue;
        for (size_t k = 0; k < 2; k++) {
            curves[k].n = take_points(&x, &y, p->arena, k ? others : metrics, name);
            curves[k].x = x;
            curves[k].y = y;
        }
        if (curves[0].n > 1) {
            page_html(p, "<figure>");
            chart_lines(&p->out, name, curves, curves[1].n ? 2 : 1);
            page_html(p, "</figure>\n");
        }
    }
    page_html(p, "</div>\n");
}
