/* A job: its graph, which nodes are up to date and why the others are not; and one of its nodes. */
#include "engine/serve/pages.h"

#include "engine/serve/graph.h"
#include "engine/serve/runs_table.h"

#include <string.h>

static void write_nodes(struct page *p, const json_t *nodes, const char *job)
{
    page_begin_table(p, "Nodes", "node|up to date|why not|op|last run|elements");
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        const char *name = json_text(node, "node");
        bool current = json_is_true(json_object_get(node, "current"));
        page_html(p, "<tr><th scope=\"row\">");
        page_link(p, "/node", "ref", arena_printf(p->arena, "%s/%s", job, name), name);
        page_html(p, "</th>");
        page_element(p, "td", current ? "state current" : "state stale", current ? "yes" : "no");
        page_element(p, "td", "why", current ? "" : json_text(node, "why"));
        page_element(p, "td", "", json_text(node, "op"));
        page_element(p, "td", "", json_text(node, "last"));
        page_html(p, "<td>");
        if (json_figure(node, "elements") > 0)
            page_count(p, json_figure(node, "elements"));
        page_html(p, "</td></tr>\n");
    }
    page_end_table(p);
}

void page_job(struct page *p)
{
    const char *job = page_field(p, "name");
    p->title = *job ? job : "A job";
    const char *path = page_job_path(p, job);
    const json_t *runs = path ? page_ask_for(p, false, "log", job, NULL) : NULL;
    if (!runs)
        return;
    page_html(p, "<p class=\"note\">");
    page_text(p, path);
    page_html(p, "</p>\n");
    const json_t *nodes = page_ask_for(p, false, "status", path, NULL);
    if (nodes) {
        size_t stale = 0;
        for (size_t i = 0; i < json_array_size(nodes); i++)
            stale += !json_is_true(json_object_get(json_array_get(nodes, i), "current"));
        page_printf(
            p, stale ? "<p>%zu of %zu nodes would run again.</p>\n" : "<p>All is up to date.</p>\n",
            stale, json_array_size(nodes));
        graph_write(p, nodes, job);
        write_nodes(p, nodes, job);
    }
    runs_table_write(p, runs);
}

void page_node(struct page *p)
{
    const char *ref = page_field(p, "ref");
    p->title = *ref ? ref : "A node";
    size_t n = strcspn(ref, "/");
    const char *path = page_job_path(p, arena_strndup(p->arena, ref, n));
    const char *node = ref[n] ? ref + n + 1 : "";
    const json_t *why = path ? page_ask_for(p, false, "why", path, node, NULL) : NULL;
    if (why) {
        page_html(p, "<pre class=\"why\">");
        page_linked(p, json_text(json_array_get(why, 0), "why"));
        page_html(p, "</pre>\n");
    }
    const json_t *names = why ? page_ask_for(p, true, "ls", ref, NULL) : NULL;
    page_html(p, json_array_size(names) ? "<h2>What it made</h2>\n<ul>" : "");
    for (size_t i = 0; i < json_array_size(names); i++) {
        const json_t *name = json_array_get(names, i);
        page_html(p, "<li>");
        page_link(p, "/record", "ref", json_text(name, "id"), json_text(name, "ref"));
        page_html(p, ": ");
        page_text(p, json_text(name, "kind"));
        page_html(p, "</li>\n");
    }
    page_html(p, json_array_size(names) ? "</ul>\n" : "");
}
