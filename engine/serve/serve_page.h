/* One page: what it asks of commands, and what it says. A page shows what commands print with
 * --json; its foot names them. */
#pragma once

#include "engine/serve/http.h"
#include "engine/tool.h"

#include <jansson.h>
#include <semaphore.h>
#include <stdatomic.h>

/* COMMANDS run at a time for all pages. */
enum { COMMANDS = 4 };
struct command_room {
    sem_t free;
    atomic_bool closing; /* what runs is ended, and nothing new begins */
};

struct page {
    struct arena *arena;
    struct command_room *room;
    const char *store;            /* --store of the commands; NULL: they look for it */
    const char *const *operators; /* the same */
    const struct http_request *request;
    unsigned status;
    const char *title;
    struct buf out;      /* of <main>, below the title */
    struct buf commands; /* for the foot */
    json_t *kept;        /* all answers */
    bool live;           /* what it shows goes on: it is looked at again */
};

/* The first field of the query that has the name; "" if none has. */
const char *page_field(const struct page *p, const char *name);

/* ---- asking ---- */
/* The objects that a command prints with --json, as an array that lives as long as the page. NULL
 * if it failed: then the page says why, unless `quiet`. A request's words stand behind "--". */
const json_t *page_ask(struct page *p, bool quiet, const char *const *words);
enum { PAGE_WORDS = 32 }; /* at most */
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The job file of the newest run of a job; NULL if none of the name was run: then the page says so.
 * `log` and `why` read a file where they are given one: what a request names must be a job that
 * the store knows, or they would show any file. */
const char *page_job_path(struct page *p, const char *job);
/* Whether a run of such a job is named ("quickstart/12"); if not, the page says so. */
bool page_is_run(struct page *p, const char *run);

/* ---- fields of an answer ---- */
const char *json_text(const json_t *o, const char *key); /* "" if absent */
double json_figure(const json_t *o, const char *key);    /* 0 if absent */

/* ---- writing ----
 * The functions that give HTML give it in the page's arena. What is not a constant is printed by
 * way of one of them. */
void page_html(struct page *p, const char *html);
void page_printf(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *page_text(struct page *p, const char *text);
/* A text of an answer. */
const char *page_member(struct page *p, const json_t *o, const char *key);
/* A link: page_link(p, "/record", "ref", id, shown). */
const char *page_link(struct page *p, const char *path, const char *field, const char *value,
                      const char *shown);
/* "/record?ref=...", for links by hand. */
char *page_address(struct arena *a, const char *path, const char *field, const char *value);
/* A text in which ids of eight digits or more are links to records. */
const char *page_linked(struct page *p, const char *text);
/* Digits in groups. */
const char *page_count(struct page *p, double n);
/* "3.2 s", "12 min". */
const char *page_seconds(struct page *p, double s);
/* The heads of a table "node|state|elements", in a box that scrolls; page_end_table ends it. */
void page_begin_table(struct page *p, const char *label, const char *columns);
void page_end_table(struct page *p);
/* Why something cannot be shown. */
void page_problem(struct page *p, unsigned status, const char *why);

/* ---- the pages; serve.c has their addresses ---- */
typedef void page_writer(struct page *p);
page_writer page_home, page_job, page_node;              /* page_job.c */
page_writer page_run, page_runs;                         /* page_run.c: a run, two runs compared */
page_writer page_names, page_record, page_lineage;       /* page_record.c */
void page_tool(struct page *p, const struct tool *tool); /* page_tool.c: a form and its answer */

/* ---- page_record.c ---- */
/* Curves of a list of {"step", "name", "value"}, those of a second one beside the first's; NULL:
 * none. */
void page_curves(struct page *p, const json_t *metrics, const json_t *others);
