/* One page: runs commands and writes HTML. A page shows the output of commands with --json; its
 * footer lists the commands. */
#pragma once

#include "engine/serve/http.h"
#include "engine/tool.h"

#include <jansson.h>
#include <semaphore.h>
#include <stdatomic.h>

/* All pages together run at most COMMANDS commands at a time. */
enum { COMMANDS = 4 };
struct command_room {
    sem_t free;
    atomic_bool closing; /* running commands are ended, and no new ones start */
};

struct page {
    struct arena *arena;
    struct command_room *room;
    const char *store;            /* --store of the commands; NULL: they search for it */
    const char *const *operators; /* --operators of the commands; ended by NULL */
    const struct http_request *request;
    unsigned status;
    const char *title;
    struct buf out;      /* contents of <main>, below the title */
    struct buf commands; /* for the footer */
    json_t *kept;        /* owns what page_command returns */
    bool live;           /* shows something that is running: the browser reloads it */
};

/* Returns the value of the first query field of that name, or "". */
const char *page_field(const struct page *p, const char *name);

/* ---- commands ---- */
/* Runs a command with --json and returns the objects that it prints, as an array that lives as long
 * as the page. On failure returns NULL and, unless `quiet`, shows the reason on the page. Words
 * that come from a request must follow "--". */
const json_t *page_command(struct page *p, bool quiet, const char *const *words);
enum { PAGE_WORDS = 32 }; /* at most */
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Returns the job file of a job's newest run; NULL, and an error on the page, if no job of that
 * name was run. `log` and `why` also accept files, so a request may only name a job of the store:
 * otherwise it could read any file. */
const char *page_job_path(struct page *p, const char *job);
/* Whether `run` names a run of such a job ("quickstart/12"); shows an error on the page if not. */
bool page_is_run(struct page *p, const char *run);

/* ---- members of a command's output ---- */
const char *json_text(const json_t *o, const char *key); /* "" if absent */
double json_figure(const json_t *o, const char *key);    /* 0 if absent */

/* ---- writing ----
 * Functions that return HTML allocate it in the page's arena. Text that is not a constant must be
 * escaped by one of them. */
void page_html(struct page *p, const char *html);
void page_printf(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *page_text(struct page *p, const char *text);
/* Returns a string member of a command's output, escaped. */
const char *page_member(struct page *p, const json_t *o, const char *key);
/* Returns a link: page_link(p, "/record", "ref", id, shown). */
const char *page_link(struct page *p, const char *path, const char *field, const char *value,
                      const char *shown);
/* Returns "/record?ref=...", for links that the caller writes. */
char *page_address(struct arena *a, const char *path, const char *field, const char *value);
/* Returns a text in which ids of eight digits or more are links to records. */
const char *page_linked(struct page *p, const char *text);
/* Returns a number with its digits in groups. */
const char *page_count(struct page *p, double n);
/* Returns "3.2 s", "12 min". */
const char *page_seconds(struct page *p, double s);
/* Begins a table with headings such as "node|state|elements", in a box that scrolls. */
void page_begin_table(struct page *p, const char *label, const char *columns);
void page_end_table(struct page *p);
/* Sets the status and shows why something cannot be displayed. */
void page_problem(struct page *p, unsigned status, const char *why);

/* ---- the pages; serve.c maps addresses to them ---- */
typedef void page_writer(struct page *p);
page_writer page_home, page_job, page_node;        /* page_job.c */
page_writer page_run, page_runs;                   /* page_run.c: one run; two runs compared */
page_writer page_names, page_record, page_lineage; /* page_record.c */
void page_tool(struct page *p, const struct tool *tool); /* page_tool.c: a form and its answer */

/* ---- page_record.c ---- */
/* Draws the curves of a list of {"step", "name", "value"}, with those of `others` beside them.
 * Either list may be NULL. */
void page_curves(struct page *p, const json_t *metrics, const json_t *others);
