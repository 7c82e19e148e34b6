/* Maps addresses to pages, and writes the frame around every page. */
#include "engine/serve/serve.h"

#include "base/text/asset.h"
#include "engine/serve/serve_page.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

static const struct {
    const char *path;
    page_writer *write;
} addresses[] = {
    {"/", page_home},         {"/job", page_job},         {"/node", page_node},
    {"/run", page_run},       {"/runs", page_runs},       {"/names", page_names},
    {"/record", page_record}, {"/lineage", page_lineage},
};

struct server {
    struct command_room room;
    const char *store;
    const char *const *operators;
};

/* ---- the frame ---- */

static void write_tabs(struct buf *out, const char *here)
{
    buf_puts(out, "<nav aria-label=\"Pages\"><a class=\"brand\" href=\"/\">eqloom</a>");
    for (size_t i = 0; tool_table[i]; i++) {
        const struct tool_page *page = tool_table[i]->page;
        if (page && page->tab)
            buf_printf(out, "<a href=\"/%s\"%s>%s</a>", tool_table[i]->name,
                       !strcmp(here + 1, tool_table[i]->name) ? " aria-current=\"page\"" : "",
                       page->tab);
    }
    buf_printf(out, "<a href=\"/names\"%s>Records</a></nav>",
               !strcmp(here, "/names") ? " aria-current=\"page\"" : "");
}

static void write_frame(struct buf *out, struct page *p)
{
    const char *title = page_text(p, p->title);
    buf_printf(out,
               "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta "
               "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<title>%s - eqloom</title>\n<link rel=\"stylesheet\" href=\"/style.css\">\n"
               "<link rel=\"icon\" href=\"/icon.svg\">\n<script src=\"/sort.js\" defer></script>\n"
               "<script src=\"/page.js\" defer></script>\n%s</head>\n"
               "<body><a class=\"skip\" href=\"#main\">To the content</a>\n<header>",
               title,
               p->live ? "<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>\n" : "");
    write_tabs(out, p->request->path);
    buf_printf(out, "</header>\n<main id=\"main\" tabindex=\"-1\"%s><h1>%s</h1>\n",
               p->live ? " data-live" : "", title);
    buf_add(out, p->out.data, p->out.len);
    buf_puts(out, "</main>\n<footer>");
    if (p->commands.len)
        buf_puts(out, "<p>The same in a shell, as JSON with <code>--json</code>:</p>\n");
    buf_add(out, p->commands.data, p->commands.len);
    buf_puts(out, "</footer></body></html>\n");
}

/* ---- answering ---- */

static bool is_asset(struct http_response *out, const char *path)
{
    for (const struct asset *f = serve_assets; f->path; f++)
        if (!strcmp(f->path, path)) {
            out->type = f->type;
            out->fixed = true;
            buf_add(&out->body, f->data, f->n);
            return true;
        }
    return false;
}

static void write_page(struct page *p)
{
    const char *path = p->request->path;
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
        if (!strcmp(path, addresses[i].path)) {
            addresses[i].write(p);
            return;
        }
    for (size_t i = 0; tool_table[i]; i++)
        if (tool_table[i]->page && !strcmp(path + 1, tool_table[i]->name)) {
            page_tool(p, tool_table[i]);
            return;
        }
    p->title = "Not found";
    page_problem(p, 404, "there is no such page");
}

static void answer(struct http_response *out, void *arg, const struct http_request *request,
                   struct arena *a)
{
    struct server *s = arg;
    struct page p = {.arena = a,
                     .room = &s->room,
                     .store = s->store,
                     .operators = s->operators,
                     .request = request,
                     .status = 200,
                     .title = "eqloom",
                     .kept = json_array()};
    if (!is_asset(out, request->path)) {
        write_page(&p);
        write_frame(&out->body, &p);
        out->status = p.status;
    }
    json_decref(p.kept);
    buf_free(&p.out);
    buf_free(&p.commands);
}

/* ---- the command ---- */

enum err_code serve(const struct serve_options *options, struct err *e)
{
    struct server s = {.store = options->store, .operators = options->operators};
    struct http *http;
    sigset_t ends;
    const struct timespec second = {.tv_sec = 1};
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* inherited by all threads */
    signal(SIGPIPE, SIG_IGN);
    sem_init(&s.room.free, 0, COMMANDS);
    enum err_code code = http_start(&http, options->address, options->port, answer, &s, e);
    if (!code) {
        bool v6 = strchr(options->address, ':');
        fprintf(options->out, "http://%s%s%s:%u/\n", v6 ? "[" : "", options->address, v6 ? "]" : "",
                http_port(http));
        fflush(options->out);
        while (sigtimedwait(&ends, NULL, &second) < 0)
            http_sweep(http);
        s.room.closing = true;
        http_stop(http);
    }
    sem_destroy(&s.room.free);
    return err_up(e, code);
}
