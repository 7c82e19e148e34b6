/* Commands that ops/ adds to the command line (check-rules, explain, embed, ...). Unlike an op, a
 * tool may read files. It reads the store only through the functions below and changes no records
 * in it. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"
#include "embedding.pb-c.h"
#include "schemas/kinds.h"

#include <stdio.h>

struct json_t; /* from jansson */

struct tool_option {
    const char *name;  /* "rules": --rules */
    const char *value; /* "FILE"; "[=S]": optional; NULL: a flag */
    bool repeats;
    const char *doc;
    char letter; /* 'k': -k; 0: none */
};
/* An entry for tables of options; sets tool_args.json. */
#define TOOL_JSON                                                                                  \
    {                                                                                              \
        "json", NULL, false, "One JSON object a line instead of text."                             \
    }
/* Output formats of e-graphs, written by schemas/egraph/egraph_text.h. */
#define TOOL_DOT                                                                                   \
    {                                                                                              \
        "dot", NULL, false, "Print the e-graph as a picture for Graphviz: a box for each class."   \
    }
#define TOOL_GRAMMAR                                                                               \
    {                                                                                              \
        "grammar", NULL, false, "Print the e-graph as a grammar: a rule for each class."           \
    }

struct tool_value {
    const char *option, *value; /* value "" for a flag */
};

struct tool_args {
    const char *const *positional;
    size_t n_positional;
    const struct tool_value *values; /* options as given, in order */
    size_t n_values;
    bool json;
    bool color;
    FILE *out, *narration; /* for data; for messages */
    struct arena *arena;
    struct cli *cli; /* for the functions below */
};

/* A page of `eqloom serve`: a form for the tool's arguments and some options, and its answer. */
struct tool_page {
    const char *tab, *title, *submit; /* tab: label in the navigation; NULL: hidden */
    const struct tool_argument {
        const char *name, *label;
    } * arguments;              /* ended by name NULL; all are required */
    const char *const *options; /* in the form; ended by NULL */
    /* Writes one object that the tool printed with --json as HTML. */
    void (*write)(struct buf *out, struct arena *a, const struct json_t *answer);
};

struct tool {
    const char *name;
    const char *arguments;             /* "[FILE...]" */
    const char *summary;               /* one line */
    const char *help;                  /* paragraphs for --help and the manual */
    const char *example;               /* lines, each a command; or NULL */
    const char *exit_codes;            /* what 0, 1, 3, 4 mean here, or NULL */
    const struct tool_option *options; /* ended by name == NULL */
    enum err_code (*run)(int *exit_status, const struct tool_args *args, struct err *e);
    const struct tool_page *page; /* NULL: none */
};

extern const struct tool *const tool_table[]; /* ops/registry.c; ended by NULL */

/* The last value given for an option, or NULL. */
const char *tool_value(const struct tool_args *args, const char *option);
/* Reads an integer in [min, max]; *out is `initial` if the option is absent. */
enum err_code tool_number(uint32_t *out, const struct tool_args *args, const char *option,
                          uint32_t initial, uint32_t min, uint32_t max, struct err *e);

/* ---- reading the store: opened at the first call; other processes may write to it ---- */
struct tool_record {
    struct digest id;
    enum record_kind kind;
    const char *name; /* as the user writes it: a tag, JOB/NODE or the given digits */
};
struct tool_choice {
    const char *option; /* "model": --model REF */
    enum record_kind kind;
    const char *tag;    /* the default if the store has it: "best" */
    const char *what;   /* for messages: "a trained model" */
    const char *remedy; /* how to get one: "'eqloom run jobs/quickstart.yaml' trains one" */
};
/* Finds the record that the option names, else the tag's, else the only one of the kind. If there
 * are none or several, the error message states the remedy. */
enum err_code tool_choose(struct tool_record *out, const struct tool_args *args,
                          const struct tool_choice *choice, struct err *e);
/* Thread-safe once the store is open, if each thread has its own arena. */
enum err_code tool_get(void *out, const struct tool_args *args, const struct digest *id,
                       enum record_kind kind, struct arena *a, struct err *e);

/* Writes a matrix and its index, PATH and PATH.jsonl, in the format of `eqloom export`. */
enum err_code tool_write_npy(const char *path, const Eqloom__EmbeddingBatch *batch, struct err *e);
