/* The home page, with the jobs and last runs of the store; the page of a job, with its graph, the
 * nodes that are up to date and why the others are not; and the page of a node. */
#include "engine/serve/serve_page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- runs, as `log --json` lists them, with a form to compare two ---- */

/* Formats nanoseconds since 1970 as local time. */
static const char *local_time(struct page *p, double ns)
{
    time_t s = (time_t)(ns / 1e9);
    struct tm t;
    char text[120] = "";
    if (localtime_r(&s, &t))
        strftime(text, sizeof text,
                 "<time datetime=\"%Y-%m-%dT%H:%M:%S%z\">%Y-%m-%d %H:%M:%S</time>", &t);
    return arena_strdup(p->arena, text);
}

static void write_runs(struct page *p, const json_t *runs)
{
    size_t n = json_array_size(runs);
    page_html(p, "<h2>Runs</h2>\n<form action=\"/runs\" method=\"get\">");
    page_begin_table(p, "Runs", "run|started|state|nodes ran|elements ran|failed|time|1st|2nd");
    for (size_t i = 0; i < n; i++) {
        const json_t *run = json_array_get(runs, i);
        const char *name = json_text(run, "run"), *state = json_text(run, "state");
        bool going = !strcmp(state, "running");
        p->live = p->live || going;
        page_printf(p,
                    "<tr><td>%s</td><td>%s</td><td class=\"state\">%s</td><td>%.0f of %.0f</td>"
                    "<td>%s</td><td>%s</td><td>%s</td>",
                    page_link(p, "/run", "name", name, name),
                    local_time(p, json_figure(run, "started_ns")), page_text(p, state),
                    json_figure(run, "nodes_ran"), json_figure(run, "nodes"),
                    page_count(p, json_figure(run, "elements_ran")),
                    page_count(p, json_figure(run, "failed")),
                    strcmp(state, "killed") ? page_seconds(p, json_figure(run, "wall_s")) : "");
        for (size_t k = 0; k < 2; k++) /* at first the last two runs are chosen */
            page_printf(p,
                        "<td><input type=\"radio\" name=\"%s\" value=\"%s\" "
                        "aria-label=\"%s: %s\"%s></td>",
                        k ? "b" : "a", page_text(p, name), k ? "second" : "first",
                        page_text(p, name), i + k == 1 ? " checked" : "");
        page_html(p, "</tr>\n");
    }
    page_end_table(p);
    page_printf(p, "%s</form>\n", n > 1 ? "<button>Compare two runs</button>" : "");
}

/* ---- the first page ---- */

static bool is_first_of_job(const json_t *runs, size_t i)
{
    const char *job = json_text(json_array_get(runs, i), "job");
    for (size_t k = 0; k < i; k++)
        if (!strcmp(json_text(json_array_get(runs, k), "job"), job))
            return false;
    return true;
}

void page_home(struct page *p)
{
    p->title = "eqloom";
    page_html(p,
              "<form action=\"/search\" method=\"get\" role=\"search\"><label for=\"q\">Search for "
              "an expression</label>\n<input type=\"text\" id=\"q\" name=\"q\" maxlength=\"2000\" "
              "autocomplete=\"off\" autocapitalize=\"off\" spellcheck=\"false\" "
              "placeholder=\"sin(x)^2 or \\frac{1}{2}\" data-reads=\"q-read\" "
              "aria-describedby=\"q-read\"><output id=\"q-read\" for=\"q\" class=\"reading\">"
              "</output><button>Search</button></form>\n");
    const json_t *runs = page_command(p, false, WORDS("log"));
    if (!runs)
        return;
    page_html(p, "<h2>Jobs</h2>\n<ul class=\"jobs\">");
    for (size_t i = 0; i < json_array_size(runs); i++)
        if (is_first_of_job(runs, i)) {
            const char *job = json_text(json_array_get(runs, i), "job");
            page_printf(p, "<li>%s</li>\n", page_link(p, "/job", "name", job, job));
        }
    page_html(p, "</ul>\n");
    if (!json_array_size(runs))
        page_html(p, "<p>Nothing was run in this store yet.</p>\n");
    else
        write_runs(p, runs);
}

/* ---- a job's graph as SVG: nodes from left to right, each a link ----
 *
 * A node is in the column after that of its last input; within a column nodes are ordered by the
 * mean row of their inputs. */

enum { WIDTH = 150, HEIGHT = 40, GAP_X = 40, GAP_Y = 14, LETTERS = 19 };

struct vertex {
    const json_t *node;
    size_t column, row;
    double wish; /* preferred row */
};

static size_t find_vertex(const struct vertex *v, size_t n, const char *name)
{
    size_t i = 0;
    while (i < n && strcmp(json_text(v[i].node, "node"), name))
        i++;
    return i;
}

static int by_wish(const void *a, const void *b)
{
    const struct vertex *x = *(const struct vertex *const *)a,
                        *y = *(const struct vertex *const *)b;
    if (x->wish != y->wish)
        return x->wish < y->wish ? -1 : 1;
    return x < y ? -1 : 1;
}

/* Sets the rows of a column; returns how many it has. */
static size_t place_column(struct vertex *v, size_t n, size_t column, struct arena *a)
{
    struct vertex **members = arena_array(a, struct vertex *, n);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const json_t *inputs = json_object_get(v[i].node, "inputs");
        double sum = 0;
        if (v[i].column != column)
            continue;
        for (size_t k = 0; k < json_array_size(inputs); k++)
            sum += (double)v[find_vertex(v, n, json_string_value(json_array_get(inputs, k)))].row;
        v[i].wish = json_array_size(inputs) ? sum / (double)json_array_size(inputs) : 0;
        members[count++] = &v[i];
    }
    qsort(members, count, sizeof *members, by_wish);
    for (size_t i = 0; i < count; i++)
        members[i]->row = i;
    return count;
}

static int left(const struct vertex *v)
{
    return (int)v->column * (WIDTH + GAP_X) + 4;
}

static int top(const struct vertex *v)
{
    return (int)v->row * (HEIGHT + GAP_Y) + 4;
}

static void write_edge(struct page *p, const struct vertex *from, const struct vertex *to)
{
    int x = left(from) + WIDTH, y = top(from) + HEIGHT / 2, u = left(to), w = top(to) + HEIGHT / 2;
    page_printf(p, "<path class=\"edge\" d=\"M%d %dC%d %d %d %d %d %d\"/>\n", x, y, x + GAP_X, y,
                u - GAP_X, w, u, w);
}

/* Returns "current", "stale" or "failed", shown as a word and as a class: color alone must not
 * carry the state. */
static const char *state_of(const json_t *node)
{
    if (!strcmp(json_text(node, "last"), "running") || !strcmp(json_text(node, "last"), "failed"))
        return json_text(node, "last");
    return json_is_true(json_object_get(node, "current")) ? "current" : "stale";
}

static void write_vertex(struct page *p, const struct vertex *v, const char *job)
{
    const char *name = json_text(v->node, "node"), *state = state_of(v->node);
    size_t n = strlen(name);
    page_printf(p, "<a href=\"%s\"><g class=\"node %s\"><title>%s: %s. %s</title>",
                page_address(p->arena, "/node", "ref", arena_printf(p->arena, "%s/%s", job, name)),
                state, page_text(p, name), state, page_member(p, v->node, "why"));
    page_printf(p,
                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"7\"/><text x=\"%d\" "
                "y=\"%d\">%s%s</text>",
                left(v), top(v), WIDTH, HEIGHT, left(v) + 9, top(v) + 17,
                page_text(p, arena_strndup(p->arena, name, n > LETTERS ? LETTERS - 1 : n)),
                n > LETTERS ? "…" : "");
    page_printf(p, "<text class=\"small\" x=\"%d\" y=\"%d\">%s, %s</text></g></a>\n", left(v) + 9,
                top(v) + 32, page_member(p, v->node, "op"), state);
}

/* `nodes` is the output of `status --json`: inputs come before the nodes that read them. */
static void write_graph(struct page *p, const json_t *nodes, const char *job)
{
    size_t n = json_array_size(nodes), columns = 0, rows = 0;
    struct vertex *v = arena_array(p->arena, struct vertex, n + 1);
    for (size_t i = 0; i < n; i++) {
        v[i].node = json_array_get(nodes, i);
        const json_t *inputs = json_object_get(v[i].node, "inputs");
        for (size_t k = 0; k < json_array_size(inputs); k++) {
            size_t from = find_vertex(v, i, json_string_value(json_array_get(inputs, k)));
            if (from < i && v[from].column >= v[i].column)
                v[i].column = v[from].column + 1;
        }
        columns = v[i].column >= columns ? v[i].column + 1 : columns;
    }
    for (size_t c = 0; c < columns; c++) {
        size_t count = place_column(v, n, c, p->arena);
        rows = count > rows ? count : rows;
    }
    int width = (int)columns * (WIDTH + GAP_X) - GAP_X + 8;
    int height = (int)rows * (HEIGHT + GAP_Y) - GAP_Y + 8;
    page_printf(p,
                "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Graph\"><svg "
                "class=\"graph\" role=\"group\" aria-label=\"The nodes of the job, each to the "
                "left of its readers; the table below has the same content\" width=\"%d\" "
                "height=\"%d\" viewBox=\"0 0 %d %d\">\n",
                width, height, width, height);
    for (size_t i = 0; i < n; i++) {
        const json_t *inputs = json_object_get(v[i].node, "inputs");
        for (size_t k = 0; k < json_array_size(inputs); k++) {
            size_t from = find_vertex(v, i, json_string_value(json_array_get(inputs, k)));
            if (from < i)
                write_edge(p, &v[from], &v[i]);
        }
    }
    for (size_t i = 0; i < n; i++)
        write_vertex(p, &v[i], job);
    page_html(p, "</svg></div>\n");
}

/* ---- a job, a node ---- */

static void write_nodes(struct page *p, const json_t *nodes, const char *job)
{
    page_begin_table(p, "Nodes", "node|up to date|why not|op|last run|elements");
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        const char *name = json_text(node, "node");
        bool current = json_is_true(json_object_get(node, "current"));
        double elements = json_figure(node, "elements");
        page_printf(p,
                    "<tr><th scope=\"row\">%s</th><td class=\"state %s\">%s</td>"
                    "<td class=\"why\">%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
                    page_link(p, "/node", "ref", arena_printf(p->arena, "%s/%s", job, name), name),
                    current ? "current" : "stale", current ? "yes" : "no",
                    current ? "" : page_member(p, node, "why"), page_member(p, node, "op"),
                    page_member(p, node, "last"), elements > 0 ? page_count(p, elements) : "");
    }
    page_end_table(p);
}

void page_job(struct page *p)
{
    const char *job = page_field(p, "name");
    p->title = *job ? job : "A job";
    const char *path = page_job_path(p, job);
    const json_t *runs = path ? page_command(p, false, WORDS("log", "--", job)) : NULL;
    if (!runs)
        return;
    page_printf(p, "<p class=\"note\">%s</p>\n", page_text(p, path));
    const json_t *nodes = page_command(p, false, WORDS("status", "--", path));
    if (nodes) {
        size_t stale = 0;
        for (size_t i = 0; i < json_array_size(nodes); i++)
            stale += !json_is_true(json_object_get(json_array_get(nodes, i), "current"));
        page_printf(
            p, stale ? "<p>%zu of %zu nodes would run again.</p>\n" : "<p>All is up to date.</p>\n",
            stale, json_array_size(nodes));
        write_graph(p, nodes, job);
        write_nodes(p, nodes, job);
    }
    write_runs(p, runs);
}

void page_node(struct page *p)
{
    const char *ref = page_field(p, "ref");
    p->title = *ref ? ref : "A node";
    size_t n = strcspn(ref, "/");
    const char *path = page_job_path(p, arena_strndup(p->arena, ref, n));
    const char *node = ref[n] ? ref + n + 1 : "";
    const json_t *why = path ? page_command(p, false, WORDS("why", "--", path, node)) : NULL;
    if (why)
        page_printf(p, "<pre class=\"why\">%s</pre>\n",
                    page_linked(p, json_text(json_array_get(why, 0), "why")));
    const json_t *names = why ? page_command(p, true, WORDS("ls", "--", ref)) : NULL;
    page_html(p, json_array_size(names) ? "<h2>What it made</h2>\n<ul>" : "");
    for (size_t i = 0; i < json_array_size(names); i++) {
        const json_t *name = json_array_get(names, i);
        page_printf(p, "<li>%s: %s</li>\n",
                    page_link(p, "/record", "ref", json_text(name, "id"), json_text(name, "ref")),
                    page_member(p, name, "kind"));
    }
    page_html(p, json_array_size(names) ? "</ul>\n" : "");
}
