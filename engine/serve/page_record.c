/* Names of the store, a record, and what it is from or what is from it. */
#include "engine/serve/serve_page.h"

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
        *prefix ? page_ask(p, false, WORDS("ls", "--", prefix)) : page_ask(p, false, WORDS("ls"));
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

/* A table of a report: its cells are texts. */
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
        value_write_curves(p, json_object_get(value, "metrics"), NULL);
    for (size_t i = 0; i < json_array_size(tables); i++)
        write_report_table(p, json_array_get(tables, i));
    json_object_del((json_t *)value, "tables");
    value_write(p, value);
}

static void write_why(struct page *p, const char *id)
{
    const json_t *why = page_ask(p, true, WORDS("why", "--", id));
    if (!why)
        return;
    page_printf(p,
                "<h2>Where it is from</h2>\n<pre class=\"why\">%s</pre>\n<p>%s · "
                "<a href=\"%s&amp;down=1\">All that was made with it</a></p>\n",
                page_linked(p, json_text(json_array_get(why, 0), "why")),
                page_link(p, "/lineage", "ref", id, "All it was made from"),
                page_address(p->arena, "/lineage", "ref", id));
}

void page_record(struct page *p)
{
    const char *ref = page_field(p, "ref");
    long limit = strtol(page_field(p, "limit"), NULL, 10);
    limit = limit > 0 && limit <= MOST ? limit : FIRST;
    p->title = *ref ? ref : "A record";
    const char *option = arena_printf(p->arena, "--limit=%ld", limit);
    const json_t *record = json_array_get(page_ask(p, false, WORDS("show", option, "--", ref)), 0);
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
    const json_t *items = page_ask(
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
