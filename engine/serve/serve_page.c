#include "engine/serve/serve_page.h"

#include "base/os.h"
#include "base/process/process.h"
#include "base/text/html.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

const char *page_field(const struct page *p, const char *name)
{
    for (size_t i = 0; i < p->request->n_fields; i++)
        if (!strcmp(p->request->fields[i].name, name))
            return p->request->fields[i].value;
    return "";
}

/* ---- commands ----
 *
 * Each command runs in a process of its own, so that no request can harm the server. It has no
 * input, at most COMMAND_BYTES of address space (of which each thread takes some), COMMAND_S
 * seconds, and COMMAND_OUTPUT bytes of output. */

enum { COMMAND_S = 30, COMMAND_WAIT_S = 10, COMMAND_OUTPUT = 16 << 20 };
#ifdef SANITIZED
#define COMMAND_BYTES 0
#else
#define COMMAND_BYTES (((uint64_t)4 << 30) + (uint64_t)os_cpus() * (128 << 20))
#endif

static bool is_closing(void *arg)
{
    return ((struct command_room *)arg)->closing;
}

static bool wait_for_room(struct command_room *r)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += COMMAND_WAIT_S;
    while (!r->closing)
        if (!sem_timedwait(&r->free, &until))
            return true;
        else if (errno != EINTR)
            break;
    return false;
}

static char *read_output(size_t *n, struct arena *a, int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = arena_alloc(a, size > 0 ? (size_t)size + 1 : 1);
    ssize_t got = size > 0 ? pread(fd, text, (size_t)size, 0) : 0;
    *n = got > 0 ? (size_t)got : 0;
    text[*n] = 0;
    return text;
}

static const char *reason(enum err_code code, const struct process_end *end, size_t n)
{
    if (code == ERR_LIMIT)
        return "this takes too long for a page; the command below has no limit";
    if (code == ERR_CANCELLED)
        return "the server is stopping";
    if (code)
        return "the command could not be started";
    if (n >= COMMAND_OUTPUT)
        return "this is too large for a page; the command below has no limit";
    return end->status > 128 && !*end->errors ? "the command was ended by the system" : NULL;
}

/* If the command was ended by a signal or did not start, status is -1 and `errors` is the reason,
 * as a sentence. */
struct result {
    int status;
    struct span out;    /* followed by a NUL */
    const char *errors; /* its messages on standard error */
};

static void run_command(struct result *out, struct arena *a, struct command_room *r,
                        const char *const *argv)
{
    struct process_end end = {0};
    *out = (struct result){.status = -1, .out = span_of("", 0)};
    out->errors = "too many commands are running; try again later";
    if (!wait_for_room(r))
        return;
    int fd = memfd_create("answer", MFD_CLOEXEC);
    struct process p = {.argv = argv,
                        .in = -1,
                        .out = fd,
                        .limit_ms = COMMAND_S * 1000,
                        .limit_bytes = COMMAND_OUTPUT,
                        .limit_memory = COMMAND_BYTES,
                        .cancelled = is_closing,
                        .arg = r};
    enum err_code code = fd < 0 ? ERR_IO : process_run(&end, a, &p, NULL);
    sem_post(&r->free);
    size_t n = 0;
    const char *text = fd < 0 ? "" : read_output(&n, a, fd), *why = reason(code, &end, n);
    if (fd >= 0)
        close(fd);
    if (!why) {
        out->status = end.status;
        out->out = span_of(text, n);
    }
    out->errors = why ? why : end.errors;
}

/* ---- running a command ---- */

/* Adds the command to the footer, as it would be typed in a shell. */
static void note_command(struct page *p, const char *const *words)
{
    buf_puts(&p->commands, "<code>eqloom");
    for (const char *word; (word = *words); words++) {
        bool plain = *word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "0123456789-_./=:@+,") == strlen(word);
        buf_puts(&p->commands, plain ? " " : " '");
        for (const char *s = word; *s; s++) {
            const char one[] = {*s, 0};
            html_text(&p->commands, *s == '\'' ? "'\\''" : one);
        }
        buf_puts(&p->commands, plain ? "" : "'");
    }
    buf_puts(&p->commands, "</code>\n");
}

/* Parses one JSON object per line; returns NULL if a line is not an object. */
static json_t *parse_lines(struct span out)
{
    json_t *all = json_array();
    json_error_t where; /* also receives the length of an object */
    for (size_t at = 0; all && at < out.len; at += (size_t)where.position + 1) {
        const char *line = (const char *)out.data + at;
        if (json_array_append_new(all,
                                  json_loadb(line, out.len - at, JSON_DISABLE_EOF_CHECK, &where))) {
            json_decref(all);
            all = NULL;
        }
    }
    return all;
}

const json_t *page_command(struct page *p, bool quiet, const char *const *words)
{
    struct result r;
    const char *argv[PAGE_WORDS + 5] = {"/proc/self/exe", words[0], "--json"};
    size_t n = 3;
    if (p->store) {
        argv[n++] = "--store";
        argv[n++] = p->store;
    }
    for (size_t i = 1; words[i] && i < PAGE_WORDS; i++)
        argv[n++] = words[i];
    note_command(p, words);
    run_command(&r, p->arena, p->room, argv);
    /* Statuses above 2 are verdicts, not failures. */
    bool ended = r.status < 0;
    json_t *all = ended || (r.status && !r.out.len) ? NULL : parse_lines(r.out);
    if (!all && !quiet)
        page_problem(p, ended ? 503 : 422, *r.errors ? r.errors : "the command printed nothing");
    if (all)
        json_array_append_new(p->kept, all);
    return all;
}

const char *page_job_path(struct page *p, const char *job)
{
    const json_t *runs = page_command(p, false, WORDS("log", "--limit=100000"));
    for (size_t i = 0; i < json_array_size(runs); i++)
        if (!strcmp(json_text(json_array_get(runs, i), "job"), job))
            return json_text(json_array_get(runs, i), "job_path");
    if (runs)
        page_problem(p, 404, "no job of this name was run in this store");
    return NULL;
}

bool page_is_run(struct page *p, const char *run)
{
    size_t n = strcspn(run, "/");
    if (!run[n] || !run[n + 1] || run[n + 1 + strspn(run + n + 1, "0123456789")]) {
        page_problem(p, 400, "a run is named like quickstart/12");
        return false;
    }
    return page_job_path(p, arena_strndup(p->arena, run, n));
}

const char *json_text(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

double json_figure(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

/* ---- writing ---- */

void page_html(struct page *p, const char *html)
{
    buf_puts(&p->out, html);
}

void page_printf(struct page *p, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *text;
    int n = vasprintf(&text, format, values);
    va_end(values);
    if (n < 0)
        return;
    buf_puts(&p->out, text);
    free(text);
}

const char *page_text(struct page *p, const char *text)
{
    struct buf b = {0};
    html_text(&b, text);
    return buf_text(&b, p->arena);
}

const char *page_member(struct page *p, const json_t *o, const char *key)
{
    return page_text(p, json_text(o, key));
}

char *page_address(struct arena *a, const char *path, const char *field, const char *value)
{
    struct buf b = {0};
    buf_printf(&b, "%s?%s=", path, field);
    for (const unsigned char *s = (const unsigned char *)value; *s; s++)
        if ((*s < 128 && isalnum(*s)) || strchr("-._~/", *s))
            buf_putc(&b, (char)*s);
        else
            buf_printf(&b, "%%%02X", *s);
    return buf_text(&b, a);
}

const char *page_link(struct page *p, const char *path, const char *field, const char *value,
                      const char *shown)
{
    struct buf b = {0};
    buf_printf(&b, "<a href=\"%s\">", page_address(p->arena, path, field, value));
    for (size_t n; *shown; shown += n) { /* a long name may break before its parameters */
        n = strcspn(shown + 1, "@,") + 1;
        html_text(&b, arena_strndup(p->arena, shown, n));
        buf_puts(&b, shown[n] ? "<wbr>" : "");
    }
    buf_puts(&b, "</a>");
    return buf_text(&b, p->arena);
}

const char *page_linked(struct page *p, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    struct buf b = {0};
    while (*text) {
        size_t n = strspn(text, digits), words = n;
        while (isalnum((unsigned char)text[words]) || (unsigned char)text[words] >= 128)
            words++;
        char *word = arena_strndup(p->arena, text, words ? words : 1);
        bool id = n == words && n >= 8 && n <= 64 &&
                  strcspn(word, "abcdef") + strcspn(word, "0123456789") < n;
        buf_puts(&b, id ? page_link(p, "/record", "ref", word, word) : page_text(p, word));
        text += strlen(word);
    }
    return buf_text(&b, p->arena);
}

const char *page_count(struct page *p, double n)
{
    struct buf b = {0};
    html_count(&b, arena_printf(p->arena, "%.0f", n));
    return buf_text(&b, p->arena);
}

const char *page_seconds(struct page *p, double s)
{
    return s >= 100 ? arena_printf(p->arena, "%.0f\u202fmin", s / 60)
           : s >= 1 ? arena_printf(p->arena, "%.1f\u202fs", s)
                    : arena_printf(p->arena, "%.0f\u202fms", s * 1e3);
}

void page_begin_table(struct page *p, const char *label, const char *columns)
{
    page_printf(p,
                "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">"
                "<table class=\"sorts\"><thead><tr>",
                label);
    while (*columns) {
        size_t n = strcspn(columns, "|");
        page_printf(p, "<th scope=\"col\">%s</th>",
                    page_text(p, arena_strndup(p->arena, columns, n)));
        columns += n + (columns[n] == '|');
    }
    page_html(p, "</tr></thead><tbody>\n");
}

void page_end_table(struct page *p)
{
    page_html(p, "</tbody></table></div>\n");
}

void page_problem(struct page *p, unsigned status, const char *why)
{
    p->status = status;
    page_printf(p, "<pre class=\"problem\">%s</pre>", page_text(p, why));
}
