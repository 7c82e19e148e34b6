/* The pages of names, of a record, and of its lineage. The JSON of a record is shown by its
 * structure: objects as lists of names and values, lists of objects as tables, ids as links,
 * expressions as formulas. */
#include "engine/serve/serve_page.h"

#include "base/text/chart.h"
#include "engine/op.h"

#include <stdlib.h>
#include <string.h>

void page_names(struct page *p)
{
    const char *prefix = page_field(p, "prefix");
    p->title = "Records";
    page_html(
        p, "<form action=\"/record\" method=\"get\" role=\"search\"><label for=\"ref\">A name, or "
           "the first digits of an id</label>\n<input type=\"text\" id=\"ref\" name=\"ref\" "
           "maxlength=\"400\" autocomplete=\"off\" autocapitalize=\"off\" spellcheck=\"false\" "
           "required><button>Show</button></form>\n");
    const json_t *names = *prefix ? page_command(p, false, WORDS("ls", "--", prefix))
                                  : page_command(p, false, WORDS("ls"));
    if (!names)
        return;
    page_begin_table(p, "Names", "name|kind|elements|id");
    for (size_t i = 0; i < json_array_size(names); i++) {
        const json_t *name = json_array_get(names, i);
        const char *id = json_text(name, "id"), *ref = json_text(name, "ref");
        page_printf(p, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td><td>%s</td></tr>\n",
                    page_link(p, "/record", "ref", ref, ref), page_member(p, name, "kind"),
                    page_count(p, json_figure(name, "count")),
                    page_link(p, "/record", "ref", id, arena_strndup(p->arena, id, 12)));
    }
    page_end_table(p);
}

/* ---- values ---- */

enum { DEPTH = 8, TEXT = 4000, VALUE_ROWS = 200 };

static bool is_id(const char *text)
{
    return strlen(text) == DIGEST_HEX - 1 && strspn(text, "0123456789abcdef") == DIGEST_HEX - 1;
}

static bool is_expression(const char *key)
{
    return !strcmp(key, "prefix") || !strcmp(key, "lhs") || !strcmp(key, "rhs");
}

/* Whether the member is shown in another form: "infix" is the same expression as "prefix". */
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

/* Writes a table with a column for each member of the first object. */
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

void page_curves(struct page *p, const json_t *metrics, const json_t *others)
{
    enum { FEW = 64 }; /* every name occurs among the first so many points */
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

/* ---- a record ---- */

enum { FIRST = 50, MOST = 5000 };

static void write_collection(struct page *p, const json_t *list, const char *ref, long shown)
{
    const json_t *elements = json_object_get(list, "elements"),
                 *labels = json_object_get(list, "labels");
    size_t n = json_array_size(elements);
    page_printf(p, "<p>%s of %s.</p>\n", page_count(p, json_figure(list, "count")),
                page_member(p, list, "element_kind"));
    page_begin_table(p, "Elements", "|element|id");
    for (size_t i = 0; i < n; i++) {
        const char *id = json_string_value(json_array_get(elements, i));
        const char *label = json_string_value(json_array_get(labels, i));
        page_printf(p, "<tr><td>%zu</td><td>%s</td><td class=\"id\">%.12s</td></tr>\n", i,
                    page_link(p, "/record", "ref", id, label && *label ? label : "-"), id);
    }
    page_end_table(p);
    if (json_figure(list, "count") > (double)n && shown < MOST)
        page_printf(p, "<p><a href=\"%s&amp;limit=%ld\">More</a></p>\n",
                    page_address(p->arena, "/record", "ref", ref),
                    10 * shown < MOST ? 10 * shown : MOST);
}

/* Writes a table of a report, whose cells are strings. */
static void write_report_table(struct page *p, const json_t *table)
{
    const json_t *columns = json_object_get(table, "columns"),
                 *rows = json_object_get(table, "rows");
    struct buf heads = {0};
    for (size_t i = 0; i < json_array_size(columns); i++)
        buf_printf(&heads, "%s%s", i ? "|" : "", json_string_value(json_array_get(columns, i)));
    page_printf(p, "<h2>%s</h2>", page_member(p, table, "title"));
    page_begin_table(p, "Table", heads.data ? heads.data : "");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *cells = json_object_get(json_array_get(rows, i), "cells");
        if (!json_array_size(cells))
            continue;
        for (size_t k = 0; k < json_array_size(cells); k++)
            page_printf(p, k ? "<td>%s</td>" : "<tr><th scope=\"row\">%s</th>",
                        page_text(p, json_string_value(json_array_get(cells, k))));
        page_html(p, "</tr>\n");
    }
    page_end_table(p);
    page_printf(p, "<p class=\"note\">%s</p>", page_member(p, table, "note"));
    buf_free(&heads);
}

static void write_record(struct page *p, const json_t *record)
{
    const json_t *value = json_object_get(record, "value"),
                 *tables = json_object_get(value, "tables");
    if (!strcmp(json_text(record, "kind"), "checkpoint"))
        page_curves(p, json_object_get(value, "metrics"), NULL);
    for (size_t i = 0; i < json_array_size(tables); i++)
        write_report_table(p, json_array_get(tables, i));
    json_object_del((json_t *)value, "tables");
    write_members(p, value, 0);
}

static void write_why(struct page *p, const char *id)
{
    const json_t *why = page_command(p, true, WORDS("why", "--", id));
    if (!why)
        return;
    page_printf(p,
                "<h2>Where it is from</h2>\n<pre class=\"why\">%s</pre>\n<p>%s · "
                "<a href=\"%s&amp;down=1\">All that was made with it</a></p>\n",
                page_linked(p, json_text(json_array_get(why, 0), "why")),
                page_link(p, "/lineage", "ref", id, "Everything it was made from"),
                page_address(p->arena, "/lineage", "ref", id));
}

void page_record(struct page *p)
{
    const char *ref = page_field(p, "ref");
    long limit = strtol(page_field(p, "limit"), NULL, 10);
    limit = limit > 0 && limit <= MOST ? limit : FIRST;
    p->title = *ref ? ref : "A record";
    const char *option = arena_printf(p->arena, "--limit=%ld", limit);
    const json_t *record =
        json_array_get(page_command(p, false, WORDS("show", option, "--", ref)), 0);
    if (!record)
        return;
    const char *id = json_text(record, "id"), *kind = json_text(record, "kind");
    p->title = strcmp(kind, "collection") ? arena_printf(p->arena, "%s %.12s", kind, id) : p->title;
    page_printf(p, "<p class=\"id\"><code>%s</code></p>\n", page_text(p, id));
    if (!strcmp(kind, "collection"))
        write_collection(p, record, ref, limit);
    else
        write_record(p, record);
    write_why(p, id);
}

/* ---- lineage ---- */

void page_lineage(struct page *p)
{
    const char *ref = page_field(p, "ref");
    bool down = *page_field(p, "down");
    p->title =
        arena_printf(p->arena, down ? "What is made with %.100s" : "What %.100s is made from",
                     *ref ? ref : "it");
    const json_t *items = page_command(
        p, false, down ? WORDS("lineage", "--down", "--", ref) : WORDS("lineage", "--", ref));
    if (!items)
        return;
    page_printf(p, "<p>%s. <a href=\"%s%s\">%s</a>.</p>\n",
                page_link(p, "/record", "ref", ref, "The record"),
                page_address(p->arena, "/lineage", "ref", ref), down ? "" : "&amp;down=1",
                down ? "What it is made from" : "What is made with it");
    int depth = -1;
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i),
                     *by = json_object_get(item, down ? "by" : "made_by"),
                     *ids = json_object_get(item, "ids");
        const char *id = json_string_value(json_array_get(ids, 0)), *name = json_text(item, "name");
        int at = (int)json_figure(item, "depth");
        for (; depth < at; depth++)
            page_html(p, "<ul class=\"tree\">");
        for (; depth > at; depth--)
            page_html(p, "</li></ul>");
        if (!*name)
            name = arena_printf(p->arena, "%s %.12s", json_text(item, "kind"), id);
        page_printf(p, "<li><span class=\"role\">%s</span> %s", page_member(p, item, "role"),
                    page_link(p, "/record", "ref", id, name));
        if (json_array_size(ids) > 1)
            page_printf(p, " and %zu more", json_array_size(ids) - 1);
        if (by)
            page_printf(p, " <span class=\"note\">by %s</span>", page_member(p, by, "op"));
        page_html(p, json_is_true(json_object_get(item, "above")) ? " (above)\n" : "\n");
    }
    for (; depth >= 0; depth--)
        page_html(p, "</li></ul>");
}
