#include "engine/serve/runs_table.h"

#include <string.h>
#include <time.h>

/* Nanoseconds since 1970 as local time. */
static void runs_table_write_time(struct page *p, double ns)
{
    time_t s = (time_t)(ns / 1e9);
    struct tm t;
    char text[64], zone[64];
    if (!localtime_r(&s, &t) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &t) ||
        !strftime(zone, sizeof zone, "%Y-%m-%dT%H:%M:%S%z", &t))
        return;
    page_printf(p, "<time datetime=\"%s\">%s</time>", zone, text);
}

static void write_choice(struct page *p, const char *name, const char *run, bool chosen)
{
    page_printf(p, "<td><input type=\"radio\" name=\"%s\" value=\"", name);
    page_text(p, run);
    page_printf(p, "\" aria-label=\"%s: ", strcmp(name, "a") ? "second" : "first");
    page_text(p, run);
    page_printf(p, "\"%s></td>", chosen ? " checked" : "");
}

void runs_table_write(struct page *p, const json_t *runs)
{
    size_t n = json_array_size(runs);
    page_html(p, "<h2>Runs</h2>\n<form action=\"/runs\" method=\"get\">");
    page_begin_table(p, "Runs", "run|started|state|nodes ran|elements ran|failed|time|1st|2nd");
    for (size_t i = 0; i < n; i++) {
        const json_t *run = json_array_get(runs, i);
        const char *name = json_text(run, "run"), *state = json_text(run, "state");
        bool going = !strcmp(state, "running");
        p->live = p->live || going;
        page_html(p, "<tr><td>");
        page_link(p, "/run", "name", name, name);
        page_html(p, "</td><td>");
        runs_table_write_time(p, json_figure(run, "started_ns"));
        page_html(p, "</td>");
        page_element(p, "td", "state", state);
        page_printf(p, "<td>%.0f of %.0f</td><td>", json_figure(run, "nodes_ran"),
                    json_figure(run, "nodes"));
        page_count(p, json_figure(run, "elements_ran"));
        page_html(p, "</td><td>");
        page_count(p, json_figure(run, "failed"));
        page_html(p, "</td><td>");
        if (strcmp(state, "killed"))
            page_seconds(p, json_figure(run, "wall_s"));
        page_html(p, "</td>");
        write_choice(p, "a", name, i == 1);
        write_choice(p, "b", name, !i);
        page_html(p, "</tr>\n");
    }
    page_end_table(p);
    page_printf(p, "%s</form>\n", n > 1 ? "<button>Compare two runs</button>" : "");
}
