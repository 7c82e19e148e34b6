/* Names of the store, a record, and what it is from or what is from it. */
#include "engine/serve/pages.h"

#include "engine/serve/value.h"

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
    const json_t *names =
        *prefix ? page_ask_for(p, false, "ls", prefix, NULL) : page_ask_for(p, false, "ls", NULL);
    if (!names)
        return;
    page_begin_table(p, "Names", "name|kind|elements|id");
    for (size_t i = 0; i < json_array_size(names); i++) {
        const json_t *name = json_array_get(names, i);
        const char *id = json_text(name, "id");
        page_html(p, "<tr><th scope=\"row\">");
        page_link(p, "/record", "ref", json_text(name, "ref"), json_text(name, "ref"));
        page_html(p, "</th>");
        page_element(p, "td", "", json_text(name, "kind"));
        page_html(p, "<td>");
        page_count(p, json_figure(name, "count"));
        page_html(p, "</td><td>");
        page_link(p, "/record", "ref", id, arena_strndup(p->arena, id, 12));
        page_html(p, "</td></tr>\n");
    }
    page_end_table(p);
}

/* ---- a record ---- */

enum { FIRST = 50, MOST = 5000 };

static void write_collection(struct page *p, const json_t *list, const char *ref, long shown)
{
    const json_t *elements = json_object_get(list, "elements"),
                 *labels = json_object_get(list, "labels");
    size_t n = json_array_size(elements);
    page_html(p, "<p>");
    page_count(p, json_figure(list, "count"));
    page_html(p, " of ");
    page_text(p, json_text(list, "element_kind"));
    page_html(p, ".</p>\n");
    page_begin_table(p, "Elements", "|element|id");
    for (size_t i = 0; i < n; i++) {
        const char *id = json_string_value(json_array_get(elements, i));
        const char *label = json_string_value(json_array_get(labels, i));
        page_printf(p, "<tr><td>%zu</td><td>", i);
        page_link(p, "/record", "ref", id, label && *label ? label : "-");
        page_html(p, "</td>");
        page_element(p, "td", "id", arena_strndup(p->arena, id, 12));
        page_html(p, "</tr>\n");
    }
    page_end_table(p);
    if (json_figure(list, "count") > (double)n && shown < MOST)
        page_printf(p, "<p><a href=\"%s&amp;limit=%ld\">More</a></p>\n",
                    page_address(p->arena, "/record", "ref", ref),
                    10 * shown < MOST ? 10 * shown : MOST);
}

/* A table of a report: its cells are texts. */
static void write_report_table(struct page *p, const json_t *table)
{
    const json_t *columns = json_object_get(table, "columns"),
                 *rows = json_object_get(table, "rows");
    struct buf heads = {0};
    for (size_t i = 0; i < json_array_size(columns); i++)
        buf_printf(&heads, "%s%s", i ? "|" : "", json_string_value(json_array_get(columns, i)));
    page_element(p, "h2", "", json_text(table, "title"));
    page_begin_table(p, "Table", heads.data ? heads.data : "");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *cells = json_object_get(json_array_get(rows, i), "cells");
        if (!json_array_size(cells))
            continue;
        page_html(p, "<tr>");
        page_row_head(p, json_string_value(json_array_get(cells, 0)));
        for (size_t k = 1; k < json_array_size(cells); k++)
            page_element(p, "td", "", json_string_value(json_array_get(cells, k)));
        page_html(p, "</tr>\n");
    }
    page_end_table(p);
    page_element(p, "p", "note", json_text(table, "note"));
    buf_free(&heads);
}

static void write_record(struct page *p, const json_t *record)
{
    const json_t *value = json_object_get(record, "value"),
                 *tables = json_object_get(value, "tables");
    if (!strcmp(json_text(record, "kind"), "checkpoint"))
        value_write_curves(p, json_object_get(value, "metrics"), NULL);
    for (size_t i = 0; i < json_array_size(tables); i++)
        write_report_table(p, json_array_get(tables, i));
    json_object_del((json_t *)value, "tables");
    value_write(p, value);
}

static void write_why(struct page *p, const char *id)
{
    const json_t *why = page_ask_for(p, true, "why", id, NULL);
    if (!why)
        return;
    page_html(p, "<h2>Where it is from</h2>\n<pre class=\"why\">");
    page_linked(p, json_text(json_array_get(why, 0), "why"));
    page_html(p, "</pre>\n<p>");
    page_link(p, "/lineage", "ref", id, "All it was made from");
    page_printf(p, " · <a href=\"%s&amp;down=1\">All that was made with it</a></p>\n",
                page_address(p->arena, "/lineage", "ref", id));
}

void page_record(struct page *p)
{
    struct asked q = {0};
    const char *ref = page_field(p, "ref");
    long limit = strtol(page_field(p, "limit"), NULL, 10);
    limit = limit > 0 && limit <= MOST ? limit : FIRST;
    p->title = *ref ? ref : "A record";
    page_word(&q, "show");
    page_word(&q, arena_printf(p->arena, "--limit=%ld", limit));
    page_end_options(&q);
    page_word(&q, ref);
    const json_t *record = json_array_get(page_ask(p, &q, false), 0);
    if (!record)
        return;
    const char *id = json_text(record, "id"), *kind = json_text(record, "kind");
    p->title = strcmp(kind, "collection") ? arena_printf(p->arena, "%s %.12s", kind, id) : p->title;
    page_html(p, "<p class=\"id\"><code>");
    page_text(p, id);
    page_html(p, "</code></p>\n");
    if (!strcmp(kind, "collection"))
        write_collection(p, record, ref, limit);
    else
        write_record(p, record);
    write_why(p, id);
}

/* ---- lineage ---- */

void page_lineage(struct page *p)
{
    struct asked q = {0};
    const char *ref = page_field(p, "ref");
    bool down = *page_field(p, "down");
    p->title =
        arena_printf(p->arena, down ? "What is made with %.100s" : "What %.100s is made from",
                     *ref ? ref : "it");
    page_word(&q, "lineage");
    if (down)
        page_word(&q, "--down");
    page_end_options(&q);
    page_word(&q, ref);
    const json_t *items = page_ask(p, &q, false);
    if (!items)
        return;
    page_html(p, "<p>");
    page_link(p, "/record", "ref", ref, "The record");
    page_html(p, ". ");
    char *other = page_address(p->arena, "/lineage", "ref", ref);
    page_printf(p, "<a href=\"%s%s\">%s</a>.</p>\n", other, down ? "" : "&amp;down=1",
                down ? "What it is made from" : "What is made with it");
    int depth = -1;
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i),
                     *by = json_object_get(item, down ? "by" : "made_by");
        const char *id = json_string_value(json_array_get(json_object_get(item, "ids"), 0));
        int at = (int)json_figure(item, "depth");
        for (; depth < at; depth++)
            page_html(p, "<ul class=\"tree\">");
        for (; depth > at; depth--)
            page_html(p, "</li></ul>");
        page_html(p, "<li>");
        page_element(p, "span", "role", json_text(item, "role"));
        page_html(p, " ");
        const char *name = json_text(item, "name");
        page_link(p, "/record", "ref", id ? id : "",
                  *name
                      ? name
                      : arena_printf(p->arena, "%s %.12s", json_text(item, "kind"), id ? id : ""));
        if (json_array_size(json_object_get(item, "ids")) > 1)
            page_printf(p, " and %zu more", json_array_size(json_object_get(item, "ids")) - 1);
        if (*json_text(by, "op")) {
            page_html(p, " <span class=\"note\">by ");
            page_text(p, json_text(by, "op"));
            page_html(p, "</span>");
        }
        page_html(p, json_is_true(json_object_get(item, "above")) ? " (above)\n" : "\n");
    }
    for (; depth >= 0; depth--)
        page_html(p, "</li></ul>");
}
