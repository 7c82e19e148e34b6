/* The page of a run, running or ended, with the curves of its trainings; and of two runs
 * compared. */
#include "engine/serve/serve_page.h"

#include "engine/op.h"

#include <stdlib.h>
#include <string.h>

/* Returns the record of the checkpoint that a node has made in the run or is making; NULL if there
 * is none. */
static const json_t *find_checkpoint(struct page *p, const json_t *node)
{
    const struct op *op = op_find(json_text(node, "op"));
    const char *run = json_text(node, "run"), *name = json_text(node, "node");
    if (!op || op->outputs[0].kind != KIND_CHECKPOINT || op->node != OP_CHAIN)
        return NULL;
    const char *id = json_text(json_object_get(node, "outputs"), op->outputs[0].role);
    if (!*id) /* the newest segment */
        id = arena_printf(p->arena, "%.*s/%s/at", (int)strcspn(run, "/"), run, name);
    const json_t *record = page_command(p, true, WORDS("show", "--", id));
    return json_object_get(json_array_get(record, 0), "value");
}

static void write_progress(struct page *p, const json_t *node)
{
    double all = json_figure(node, "elements"), ran = json_figure(node, "ran");
    double done = ran + json_figure(node, "reused") + json_figure(node, "cached");
    page_html(p, "<td class=\"figure\">");
    if (!strcmp(json_text(node, "state"), "running") && all > 0)
        page_printf(p, "<progress aria-label=\"elements\" max=\"%.0f\" value=\"%.0f\"></progress> ",
                    all, done);
    if (all > 0)
        page_printf(p, "%s of %s</td>", page_count(p, ran), page_count(p, all));
    else
        page_html(p, "-</td>");
}

static void write_node(struct page *p, const json_t *node, const char *job)
{
    const char *name = json_text(node, "node"), *key;
    json_t *id;
    page_printf(p, "<tr><th scope=\"row\">%s</th><td class=\"state %s\">%s</td>",
                page_link(p, "/node", "ref", arena_printf(p->arena, "%s/%s", job, name), name),
                page_member(p, node, "state"), page_member(p, node, "state"));
    write_progress(p, node);
    page_printf(p, "<td>%s</td><td>%s</td><td class=\"why\">%s</td><td>",
                page_count(p, json_figure(node, "failed")),
                page_seconds(p, json_figure(node, "wall_s")), page_member(p, node, "why"));
    json_object_foreach(json_object_get(node, "outputs"), key, id)
        page_printf(p, "%s ", page_link(p, "/record", "ref", json_string_value(id), key));
    page_html(p, "</td></tr>\n");
}

/* Screen readers read the first paragraph again when it changes. */
static void write_state(struct page *p, const json_t *run, const json_t *nodes)
{
    size_t n = json_array_size(nodes), done = n;
    const char *now = "";
    for (size_t i = 0; i < n; i++) {
        const char *state = json_text(json_array_get(nodes, i), "state");
        bool running = !strcmp(state, "running");
        done -= running || !strcmp(state, "waiting");
        if (running)
            now = arena_printf(p->arena, "%s%s%s", now, *now ? ", " : "; now ",
                               json_text(json_array_get(nodes, i), "node"));
    }
    page_printf(p, "<p role=\"status\">%s: %.0f of %zu nodes ran", json_text(run, "state"),
                json_figure(run, "nodes_ran"), n);
    if (p->live)
        page_printf(p,
                    ", %zu done%s.</p>\n<p><progress class=\"whole\" aria-label=\"nodes done\" "
                    "max=\"%zu\" value=\"%zu\"></progress></p>\n",
                    done, page_text(p, now), n, done);
    else
        page_html(p, ".</p>\n");
    page_printf(p, "<p>%s elements, in %s.</p>\n", page_count(p, json_figure(run, "elements_ran")),
                page_seconds(p, json_figure(run, "wall_s")));
}

void page_run(struct page *p)
{
    const char *run = page_field(p, "name");
    char *job = arena_strndup(p->arena, run, strcspn(run, "/"));
    p->title = *run ? run : "A run";
    const json_t *nodes =
        page_is_run(p, run) ? page_command(p, false, WORDS("log", "--", run)) : NULL;
    const json_t *runs = nodes ? page_command(p, true, WORDS("log", "--", job)) : NULL;
    if (!nodes)
        return;
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *r = json_array_get(runs, i);
        if (strcmp(json_text(r, "run"), json_text(json_array_get(nodes, 0), "run")))
            continue; /* "quickstart/1" is "quickstart/000001" */
        p->live = !strcmp(json_text(r, "state"), "running");
        write_state(p, r, nodes);
    }
    page_printf(p, "<p>%s</p>\n", page_link(p, "/job", "name", job, "The job"));
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *value = find_checkpoint(p, json_array_get(nodes, i));
        if (!json_array_size(json_object_get(value, "metrics")))
            continue;
        page_printf(p, "<h2>%s</h2><p>%.0f steps.</p>\n",
                    page_member(p, json_array_get(nodes, i), "node"), json_figure(value, "step"));
        page_curves(p, json_object_get(value, "metrics"), NULL);
    }
    page_html(p, "<h2>Nodes</h2>\n");
    page_begin_table(p, "Nodes", "node|state|elements ran|failed|time|why|made");
    for (size_t i = 0; i < json_array_size(nodes); i++)
        write_node(p, json_array_get(nodes, i), job);
    page_end_table(p);
}

/* ---- two runs ---- */

static void write_differences(struct page *p, const json_t *lines)
{
    page_begin_table(p, "Nodes",
                     "node|verdict|parameters|elements|added|removed|time before|time after");
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        if (strcmp(json_text(line, "event"), "node"))
            continue;
        page_printf(
            p,
            "<tr><th scope=\"row\">%s</th><td class=\"state\">%s</td><td class=\"why\">%s</td>"
            "<td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
            page_member(p, line, "node"), page_member(p, line, "verdict"),
            page_member(p, line, "params"), page_count(p, json_figure(line, "elements_after")),
            page_count(p, json_figure(line, "added")), page_count(p, json_figure(line, "removed")),
            page_seconds(p, json_figure(line, "wall_s_before")),
            page_seconds(p, json_figure(line, "wall_s_after")));
    }
    page_end_table(p);
}

static bool read_figure(double *x, const char *text)
{
    char *end;
    *x = strtod(text, &end);
    return *text && !*end;
}

/* Writes the values of reports and metrics, with their change. */
static void write_figures(struct page *p, const json_t *lines)
{
    bool begun = false;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        if (strcmp(json_text(line, "event"), "field"))
            continue;
        if (!begun) {
            page_html(p, "<h2>Figures</h2>\n");
            page_begin_table(p, "Figures", "node|field|before|after|change");
        }
        begun = true;
        const char *before = json_text(line, "before"), *after = json_text(line, "after");
        double x, y;
        bool figures = read_figure(&x, before) && read_figure(&y, after);
        page_printf(
            p, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
            page_member(p, line, "of"), page_member(p, line, "field"), page_text(p, before),
            page_text(p, after), figures ? arena_printf(p->arena, "%+.6g", y - x) : "");
    }
    if (begun)
        page_end_table(p);
}

static const json_t *node_of(const json_t *nodes, const char *name)
{
    for (size_t i = 0; i < json_array_size(nodes); i++)
        if (!strcmp(json_text(json_array_get(nodes, i), "node"), name))
            return json_array_get(nodes, i);
    return NULL;
}

static void write_both_curves(struct page *p, const char *a, const char *b)
{
    const json_t *before = page_command(p, true, WORDS("log", "--", a));
    const json_t *after = before ? page_command(p, true, WORDS("log", "--", b)) : NULL;
    for (size_t i = 0; i < json_array_size(before); i++) {
        const json_t *node = json_array_get(before, i);
        const json_t *first = find_checkpoint(p, node),
                     *then = node_of(after, json_text(node, "node"));
        const json_t *second = first && then ? find_checkpoint(p, then) : NULL;
        if (!second)
            continue;
        page_printf(p, "<h2>%s</h2>", page_member(p, node, "node"));
        page_curves(p, json_object_get(first, "metrics"), json_object_get(second, "metrics"));
    }
}

void page_runs(struct page *p)
{
    const char *a = page_field(p, "a"), *b = page_field(p, "b");
    p->title = "Two runs";
    if (!page_is_run(p, a) || !page_is_run(p, b))
        return;
    page_printf(p, "<p>%s and %s</p>\n", page_link(p, "/run", "name", a, a),
                page_link(p, "/run", "name", b, b));
    const json_t *lines = page_command(p, false, WORDS("diff", "--", a, b));
    if (!lines)
        return;
    write_differences(p, lines);
    write_figures(p, lines);
    write_both_curves(p, a, b);
}
