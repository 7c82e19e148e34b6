#include "engine/serve/serve_page.h"

#include "engine/op.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *page_field(const struct page *p, const char *name)
{
    for (size_t i = 0; i < p->request->n_fields; i++)
        if (!strcmp(p->request->fields[i].name, name))
            return p->request->fields[i].value;
    return "";
}

/* ---- asking ---- */

void page_word(struct asked *q, const char *word)
{
    if (q->n + 1 < PAGE_WORDS)
        q->words[q->n++] = word;
}

void page_end_options(struct asked *q)
{
    page_word(q, "--");
}

/* As it would be typed in a shell. */
static void note_command(struct page *p, const struct asked *q)
{
    buf_puts(&p->commands, "<code>eqloom");
    for (size_t i = 0; i < q->n; i++) {
        const char *word = q->words[i];
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

/* A line an object; NULL where one is none. */
static json_t *parse_lines(struct span out)
{
    json_t *all = json_array();
    const char *text = (const char *)out.data, *end = text + out.len;
    while (text < end) {
        const char *line = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((line ? line : end) - text);
        json_t *o = n ? json_loadb(text, n, JSON_DECODE_ANY, NULL) : NULL;
        if (n && !o) {
            json_decref(all);
            return NULL;
        }
        if (o)
            json_array_append_new(all, o);
        text += n + 1;
    }
    return all;
}

const json_t *page_ask(struct page *p, const struct asked *q, bool quiet)
{
    struct command_result r;
    const char *words[PAGE_WORDS + 3] = {q->words[0], "--json"};
    size_t n = 2;
    if (p->store) {
        words[n++] = "--store";
        words[n++] = p->store;
    }
    memcpy(words + n, q->words + 1, (q->n - 1) * sizeof *words);
    note_command(p, q);
    command_run(&r, p->arena, p->room, words);
    /* Statuses above 2 say something of the answer. */
    bool ended = r.status < 0;
    json_t *all = ended || (r.status && !r.out.len) ? NULL : parse_lines(r.out);
    if (!all && !quiet)
        page_problem(p, ended ? 503 : 422, *r.errors ? r.errors : "the command said nothing");
    if (all)
        json_array_append_new(p->kept, all);
    return all;
}

const json_t *page_ask_for(struct page *p, bool quiet, const char *command, ...)
{
    struct asked q = {0};
    bool options = true;
    va_list words;
    page_word(&q, command);
    va_start(words, command);
    for (const char *word; (word = va_arg(words, const char *));) {
        if (options && strncmp(word, "--limit=", 8)) {
            page_end_options(&q);
            options = false;
        }
        page_word(&q, word);
    }
    va_end(words);
    return page_ask(p, &q, quiet);
}

const char *page_job_path(struct page *p, const char *job)
{
    const json_t *runs = page_ask_for(p, false, "log", "--limit=100000", NULL);
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

void page_text(struct page *p, const char *text)
{
    html_text(&p->out, text);
}

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

void page_element(struct page *p, const char *tag, const char *class, const char *text)
{
    page_printf(p, *class ? "<%s class=\"%s\">" : "<%s>", tag, class);
    page_text(p, text);
    page_printf(p, "</%s>", tag);
}

void page_row_head(struct page *p, const char *text)
{
    page_html(p, "<th scope=\"row\">");
    page_text(p, text);
    page_html(p, "</th>");
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

void page_link(struct page *p, const char *path, const char *field, const char *value,
               const char *shown)
{
    page_printf(p, "<a href=\"%s\">", page_address(p->arena, path, field, value));
    for (size_t n; *shown; shown += n) { /* a long name may break before its parameters */
        n = strcspn(shown + 1, "@,") + 1;
        page_text(p, arena_strndup(p->arena, shown, n));
        page_html(p, shown[n] ? "<wbr>" : "");
    }
    page_html(p, "</a>");
}

void page_formula(struct page *p, const char *prefix)
{
    const char *math = op_formula(p->arena, prefix);
    if (math)
        page_html(p, math);
    else
        page_element(p, "code", "", prefix);
}

void page_linked(struct page *p, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    while (*text) {
        size_t n = strspn(text, digits), words = n;
        while (isalnum((unsigned char)text[words]))
            words++;
        char *word = arena_strndup(p->arena, text, words ? words : 1);
        if (n == words && n >= 8 && n <= 64 &&
            strcspn(word, "abcdef") + strcspn(word, "0123456789") < n)
            page_link(p, "/record", "ref", word, word);
        else
            page_text(p, word);
        text += strlen(word);
    }
}

void page_count(struct page *p, double n)
{
    html_count(&p->out, arena_printf(p->arena, "%.0f", n));
}

void page_begin_table(struct page *p, const char *label, const char *columns)
{
    page_printf(p,
                "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">"
                "<table class=\"sorts\"><thead><tr>",
                label);
    while (*columns) {
        size_t n = strcspn(columns, "|");
        page_html(p, "<th scope=\"col\">");
        page_text(p, arena_strndup(p->arena, columns, n));
        page_html(p, "</th>");
        columns += n + (columns[n] == '|');
    }
    page_html(p, "</tr></thead><tbody>\n");
}

void page_end_table(struct page *p)
{
    page_html(p, "</tbody></table></div>\n");
}

void page_seconds(struct page *p, double s)
{
    if (s >= 100)
        page_printf(p, "%.0f\u202fmin", s / 60);
    else if (s >= 1)
        page_printf(p, "%.1f\u202fs", s);
    else
        page_printf(p, "%.0f\u202fms", s * 1e3);
}

void page_problem(struct page *p, unsigned status, const char *why)
{
    p->status = status;
    page_element(p, "pre", "problem", why);
}
