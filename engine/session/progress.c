/* Progress; see progress.h. Three writers behind one interface; all state is guarded by one mutex.
 *
 * Terminal:   [############........] 12/19 nodes, 8 cached, 3 ran  41.2 s, about 20 s left
 *               egraphs  [#####.....] 150/300  12.1 s, about 12 s left  sin(x)
 * Plain:      egraphs: ran 3 of 300 elements in 12.1 s (rules changed: 1 edited (trig/tan-def))
 * JSON:       {"event":"node_done","node":"egraphs","state":"ran",...} */
#include "engine/session/progress.h"

#include "base/buf.h"
#include "base/io/terminal.h"
#include "base/os.h"
#include "engine/cache/label.h"
#include "engine/session/history.h"

#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>

enum { REDRAW_MS = 100, PLAIN_MS = 10000, JSON_MS = 1000 };
enum { ROWS_MAX = 6, FAILURES_SHOWN = 10, NAMES_SHOWN = 8 };

struct line {
    bool running, done;
    uint64_t start_ns, said_ns;
    uint64_t elements, ran, cached, failed;
    uint64_t op_done, op_total;
    char text[80];
};

struct progress {
    pthread_mutex_t mutex;
    const struct job *job;
    FILE *out; /* NULL: silent */
    bool json, terminal, color;
    struct line *lines;
    const uint64_t *estimates_ns;
    size_t wanted, done, cached, ran, failed, running;
    struct buf names; /* of cached nodes, printed on one line */
    size_t n_names;
    uint64_t start_ns, drawn_ns;
    unsigned rows; /* on the screen now */
};

static void erase(struct progress *p)
{
    char up[40];
    snprintf(up, sizeof up, "\033[%uA\r\033[J", p->rows);
    if (p->rows)
        terminal_control(p->out, up);
    p->rows = 0;
}

struct progress *progress_new(const struct job *job, const struct run_options *options,
                              const bool *wanted, const uint64_t *estimates_ns)
{
    struct progress *p = must_calloc(1, sizeof *p);
    p->lines = must_calloc(job->n_nodes + 1, sizeof *p->lines);
    p->estimates_ns = estimates_ns;
    pthread_mutex_init(&p->mutex, NULL);
    p->job = job;
    p->out = options->events;
    p->json = options->json;
    p->terminal = options->terminal && !options->json;
    p->color = options->color;
    p->start_ns = os_monotonic_ns();
    for (size_t i = 0; i < job->n_nodes; i++) {
        p->wanted += wanted[i];
        p->lines[i].done = !wanted[i];
    }
    return p;
}

void progress_free(struct progress *p)
{
    if (!p)
        return;
    pthread_mutex_destroy(&p->mutex);
    if (p->rows) { /* a row was truncated */
        erase(p);
        fflush(p->out);
    }
    buf_free(&p->names);
    free(p->lines);
    free(p);
}

/* ---- JSON ---- */

/* Prints the event and takes ownership of it. */
static void emit(struct progress *p, json_t *event)
{
    char *line = json_dumps(event, JSON_COMPACT);
    if (line)
        fprintf(p->out, "%s\n", line);
    fflush(p->out);
    free(line);
    json_decref(event);
}

/* Converts text for people, which may contain bytes of a broken file. */
static json_t *json_text(const char *text)
{
    json_t *value = json_string(text ? text : "");
    return value ? value : json_string("(not UTF-8)");
}

/* ---- the terminal ---- */

/* Returns the fraction of a running node that is done, as far as it reports it: 0 to 1. */
static double node_part(const struct line *l)
{
    if (l->elements)
        return (double)(l->ran + l->cached + l->failed) / (double)l->elements;
    return l->op_total ? (double)l->op_done / (double)l->op_total : 0;
}

/* Returns UINT64_MAX if unknown. */
static uint64_t node_left(const struct progress *p, size_t i, uint64_t now)
{
    const struct line *l = &p->lines[i];
    if (!l->running)
        return p->estimates_ns[i] ? p->estimates_ns[i] : UINT64_MAX;
    uint64_t spent = now - l->start_ns;
    double part = node_part(l);
    if (part > 0.01)
        return (uint64_t)((double)spent * (1 - part) / part);
    if (p->estimates_ns[i] > spent)
        return p->estimates_ns[i] - spent;
    return UINT64_MAX;
}

/* On a first run there are no estimates for nodes that have not started. */
static void put_run_left(struct buf *b, const struct progress *p, uint64_t now)
{
    uint64_t sum = 0;
    bool all = true;
    for (size_t i = 0; i < p->job->n_nodes; i++) {
        uint64_t left = p->lines[i].done ? 0 : node_left(p, i, now);
        all = all && left != UINT64_MAX;
        sum += left == UINT64_MAX ? 0 : left;
    }
    label_put_left(b, all ? "about" : "at least", sum);
}

/* Truncates to the terminal's width, since a wrapped line could not be erased. */
static void put_row(struct progress *p, const struct buf *b, int width)
{
    size_t n = b->len, columns = 0, i = 0;
    while (i < n && columns + 1 < (size_t)width) {
        i++;
        while (i < n && ((unsigned char)b->data[i] & 0xc0) == 0x80)
            i++;
        columns++;
    }
    fwrite(b->data, 1, i, p->out);
    fputc('\n', p->out);
    p->rows++;
}

static void put_node(struct buf *b, const struct progress *p, size_t i, uint64_t now)
{
    const struct line *l = &p->lines[i];
    buf_printf(b, "  %-18s ", p->job->nodes[i].name);
    if (p->terminal && (l->elements || l->op_total))
        label_put_bar(b, node_part(l), 10);
    if (l->elements)
        buf_printf(b, "%" PRIu64 "/%" PRIu64 "  ", l->ran + l->cached + l->failed, l->elements);
    if (l->op_total)
        buf_printf(b, "%" PRIu64 "/%" PRIu64 "  ", l->op_done, l->op_total);
    label_put_duration(b, now - l->start_ns);
    if (node_part(l) > 0.01)
        label_put_left(b, "about", node_left(p, i, now));
    if (l->failed)
        buf_printf(b, "  %" PRIu64 " failed", l->failed);
    if (l->text[0])
        buf_printf(b, "  %s", l->text);
}

static void draw(struct progress *p, uint64_t now)
{
    int width = terminal_width(p->out);
    struct buf b = {0};
    double done = (double)p->done;
    for (size_t i = 0; i < p->job->n_nodes; i++)
        done += p->lines[i].running ? node_part(&p->lines[i]) : 0;
    erase(p);
    label_put_bar(&b, p->wanted ? done / (double)p->wanted : 1, 20);
    buf_printf(&b, "%zu/%zu nodes, %zu cached, %zu ran", p->done, p->wanted, p->cached, p->ran);
    if (p->failed)
        buf_printf(&b, ", %zu failed", p->failed);
    buf_puts(&b, "  ");
    label_put_duration(&b, now - p->start_ns);
    put_run_left(&b, p, now);
    put_row(p, &b, width);
    for (size_t i = 0; i < p->job->n_nodes && p->rows <= ROWS_MAX; i++) {
        if (!p->lines[i].running)
            continue;
        buf_clear(&b);
        put_node(&b, p, i, now);
        put_row(p, &b, width);
    }
    buf_free(&b);
    fflush(p->out);
    p->drawn_ns = now;
}

static void say(struct progress *p, const char *style, const char *text)
{
    if (p->terminal)
        erase(p);
    terminal_control(p->out, p->color ? style : "");
    fputs(text, p->out);
    terminal_control(p->out, p->color && *style ? "\033[0m\n" : "\n");
    fflush(p->out);
}

/* ---- events ---- */

void progress_run_start(struct progress *p, const char *run)
{
    if (!p->out || !p->json)
        return;
    pthread_mutex_lock(&p->mutex);
    emit(p, json_pack("{s:s, s:s, s:s, s:I}", "event", "run_start", "job", p->job->name, "run", run,
                      "nodes", (json_int_t)p->wanted));
    pthread_mutex_unlock(&p->mutex);
}

/* Caller holds the mutex. */
static void begin_line(struct progress *p, uint32_t node, uint64_t elements)
{
    struct line *l = &p->lines[node];
    uint64_t now = os_monotonic_ns();
    p->running += !l->running;
    *l = (struct line){.running = true, .elements = elements, .start_ns = now, .said_ns = now};
}

void progress_node_start(struct progress *p, uint32_t node, uint64_t elements, const char *why)
{
    pthread_mutex_lock(&p->mutex);
    begin_line(p, node, elements);
    if (p->out && p->json)
        emit(p, json_pack("{s:s, s:s, s:s, s:I, s:o}", "event", "node_start", "node",
                          p->job->nodes[node].name, "op", p->job->nodes[node].op->name, "elements",
                          (json_int_t)elements, "why", json_text(why)));
    pthread_mutex_unlock(&p->mutex);
}

static void say_failure(struct progress *p, uint32_t node, uint64_t position,
                        const struct digest *id, const char *failure)
{
    struct line *l = &p->lines[node];
    struct buf b = {0};
    if (p->json) {
        char hex[DIGEST_HEX];
        emit(p, json_pack("{s:s, s:s, s:I, s:s*, s:o}", "event", "element_failed", "node",
                          p->job->nodes[node].name, "element", (json_int_t)position, "id",
                          id ? digest_hex(hex, id) : NULL, "message", json_text(failure)));
        return;
    }
    if (l->failed <= FAILURES_SHOWN)
        buf_printf(&b, "FAILED %s", failure);
    else if (l->failed == FAILURES_SHOWN + 1)
        buf_printf(&b, "FAILED %s: and more, not listed", p->job->nodes[node].name);
    if (b.len)
        say(p, "\033[31m", b.data);
    buf_free(&b);
}

void progress_cached(struct progress *p, uint32_t node, uint64_t n)
{
    pthread_mutex_lock(&p->mutex);
    p->lines[node].cached += n;
    pthread_mutex_unlock(&p->mutex);
}

void progress_element(struct progress *p, uint32_t node, enum element_state state,
                      uint64_t position, const struct digest *id, const char *failure)
{
    pthread_mutex_lock(&p->mutex);
    struct line *l = &p->lines[node];
    switch (state) {
    case ELEMENT_CACHED:
    case ELEMENT_REUSED: l->cached++; break;
    case ELEMENT_RAN: l->ran++; break;
    case ELEMENT_FAILED:
        l->failed++;
        if (p->out)
            say_failure(p, node, position, id, failure);
        break;
    }
    pthread_mutex_unlock(&p->mutex);
}

void progress_source(struct progress *p, uint32_t node, const char *text)
{
    pthread_mutex_lock(&p->mutex);
    if (!p->lines[node].running)
        begin_line(p, node, 0);
    snprintf(p->lines[node].text, sizeof p->lines[node].text, "%s", text);
    pthread_mutex_unlock(&p->mutex);
}

void progress_op(struct progress *p, uint32_t node, uint64_t done, uint64_t total, const char *text)
{
    pthread_mutex_lock(&p->mutex);
    struct line *l = &p->lines[node];
    l->op_done = done;
    l->op_total = total;
    snprintf(l->text, sizeof l->text, "%s", text ? text : "");
    pthread_mutex_unlock(&p->mutex);
}

static void say_node(struct progress *p, uint32_t node, const struct node_result *r)
{
    struct buf b = {0};
    const char *red = "\033[31m";
    const char *name = p->job->nodes[node].name;
    if (p->json) {
        emit(p, json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:o*}", "event",
                          "node_done", "node", name, "op", p->job->nodes[node].op->name, "state",
                          node_state_name(r->state), "elements", (json_int_t)r->elements, "ran",
                          (json_int_t)r->ran, "cached", (json_int_t)r->cached, "reused",
                          (json_int_t)r->reused, "failed", (json_int_t)r->failed, "wall_s",
                          (double)r->wall_ns / 1e9, "why", json_text(r->why), "failure",
                          r->failure ? json_text(r->failure) : NULL));
        return;
    }
    const char *unit = node_unit(p->job->nodes[node].op);
    /* If a node has no elements, or failed before any of them, its failure has not been printed
     * yet. */
    if (r->failure && !p->lines[node].failed) {
        buf_printf(&b, "FAILED %s", r->failure);
        say(p, red, b.data);
        buf_clear(&b);
    }
    bool quiet = r->state == NODE_CACHED || (r->state == NODE_READ && !r->ran);
    if (quiet) {
        if (p->n_names++ < NAMES_SHOWN)
            buf_printf(&p->names, "%s%s", p->names.len ? ", " : "", name);
        buf_free(&b);
        return;
    }
    buf_printf(&b, "%s: %s", name, node_state_name(r->state));
    /* An interrupted node keeps the elements that are done. */
    if (r->elements && (r->state != NODE_SKIPPED || r->ran))
        buf_printf(&b, ", %" PRIu64 " of %" PRIu64 " %ss", r->ran, r->elements, unit);
    if (r->failed)
        buf_printf(&b, ", %" PRIu64 " failed", r->failed);
    if (r->state != NODE_READ && r->state != NODE_SKIPPED) {
        buf_puts(&b, ", ");
        label_put_duration(&b, r->wall_ns);
    }
    if (r->state != NODE_READ && r->why && *r->why)
        buf_printf(&b, " (%s)", r->why);
    say(p, r->state == NODE_FAILED ? red : "", b.data);
    buf_free(&b);
}

void progress_node_done(struct progress *p, uint32_t node, const struct node_result *r)
{
    pthread_mutex_lock(&p->mutex);
    struct line *l = &p->lines[node];
    if (l->running)
        p->running--;
    l->running = false;
    if (!l->done) { /* a node may run again if its outputs turn out to be damaged */
        l->done = true;
        p->done++;
    }
    p->ran += r->state == NODE_RAN;
    p->cached += r->state == NODE_CACHED || r->state == NODE_READ;
    p->failed += r->state == NODE_FAILED;
    if (p->out)
        say_node(p, node, r);
    pthread_mutex_unlock(&p->mutex);
}

void progress_note(struct progress *p, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pthread_mutex_lock(&p->mutex);
    if (p->out && p->json) {
        emit(p, json_pack("{s:s, s:o}", "event", "note", "message", json_text(text)));
        fprintf(stderr, "eqloom: %s\n", text);
    } else if (p->out) {
        say(p, "\033[33m", text);
    }
    pthread_mutex_unlock(&p->mutex);
}

/* Prints the progress of a running node that has printed nothing for a while. */
static void tick_node(struct progress *p, size_t i, uint64_t now)
{
    struct line *l = &p->lines[i];
    struct buf b = {0};
    l->said_ns = now;
    if (p->json) {
        emit(p, json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "event", "progress",
                          "node", p->job->nodes[i].name, "elements", (json_int_t)l->elements, "ran",
                          (json_int_t)l->ran, "cached", (json_int_t)l->cached, "failed",
                          (json_int_t)l->failed, "done", (json_int_t)l->op_done, "total",
                          (json_int_t)l->op_total, "text", json_text(l->text)));
        return;
    }
    put_node(&b, p, i, now);
    say(p, "", b.data);
    buf_free(&b);
}

void progress_tick(struct progress *p)
{
    if (!p->out)
        return;
    pthread_mutex_lock(&p->mutex);
    uint64_t now = os_monotonic_ns(), wait_ms = p->json ? JSON_MS : PLAIN_MS;
    for (size_t i = 0; !p->terminal && i < p->job->n_nodes; i++)
        if (p->lines[i].running && now - p->lines[i].said_ns >= wait_ms * 1000000)
            tick_node(p, i, now);
    if (p->terminal && p->running && now - p->drawn_ns >= REDRAW_MS * 1000000ull)
        draw(p, now);
    pthread_mutex_unlock(&p->mutex);
}

void progress_summary(struct progress *p, const struct run_result *r)
{
    if (!p->out)
        return;
    uint64_t sources = 0, nodes = p->wanted;
    for (size_t i = 0; i < p->job->n_nodes; i++)
        sources += p->job->nodes[i].op->node == OP_SOURCE && r->nodes[i].state == NODE_READ;
    struct buf b = {0};
    pthread_mutex_lock(&p->mutex);
    if (p->json) {
        emit(p,
             json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:f, s:s}", "event",
                       "summary", "job", p->job->name, "nodes", (json_int_t)nodes, "nodes_ran",
                       (json_int_t)r->nodes_ran, "sources_read", (json_int_t)sources, "elements",
                       (json_int_t)r->elements, "elements_ran", (json_int_t)r->elements_ran,
                       "elements_cached", (json_int_t)r->elements_cached, "elements_reused",
                       (json_int_t)r->elements_reused, "failed", (json_int_t)r->failed,
                       "interrupted", r->interrupted, "wall_s", (double)r->wall_ns / 1e9, "run",
                       r->run ? r->run : ""));
    } else {
        if (p->n_names) {
            buf_printf(&b, "cached: %.*s", (int)p->names.len, p->names.data);
            if (p->n_names > NAMES_SHOWN)
                buf_printf(&b, " and %zu more", p->n_names - NAMES_SHOWN);
            say(p, "", b.data);
            buf_clear(&b);
        }
        buf_printf(&b, "%s: %" PRIu64 " nodes, ", p->job->name, nodes);
        r->nodes_ran ? buf_printf(&b, "%" PRIu64 " ran", r->nodes_ran)
                     : buf_puts(&b, r->elements_ran ? "none finished" : "nothing ran");
        buf_printf(&b, "; %" PRIu64 " elements, %" PRIu64 " ran, %" PRIu64 " cached", r->elements,
                   r->elements_ran, r->elements_cached);
        if (r->elements_reused)
            buf_printf(&b, ", %" PRIu64 " reused", r->elements_reused);
        if (r->failed)
            buf_printf(&b, "; %" PRIu64 " failed", r->failed);
        if (r->interrupted)
            buf_puts(&b, "; interrupted");
        buf_puts(&b, "; ");
        label_put_duration(&b, r->wall_ns);
        say(p, r->failed ? "\033[31m" : "\033[1m", b.data);
        buf_free(&b);
    }
    p->out = NULL; /* silences workers that were left behind, too */
    pthread_mutex_unlock(&p->mutex);
}
