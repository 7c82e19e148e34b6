/* The command line: a table of commands from which --help and docs/cli.md are made. Data goes to
 * `out`, messages to `narration`. */
#pragma once

#include "engine/tool.h"

#include <stdint.h>
#include <stdio.h>

/* Exit statuses. */
enum {
    CLI_DONE = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_NEGATIVE = 3,
    CLI_UNDECIDED = 4,
    CLI_INTERRUPTED = 130,
};

struct cli;

/* How a command uses the store. */
enum cli_store {
    CLI_STORE_OWN, /* none, or the command opens the store itself */
    CLI_STORE_READ,
    CLI_STORE_WRITE,
    CLI_STORE_CREATE, /* for writing; created if there is none */
};

typedef enum err_code cli_runner(int *status, struct cli *c, struct err *e);

struct cli_command {
    const char *name;
    const char *arguments;                 /* "JOB [NODE...]" */
    unsigned min_arguments, max_arguments; /* UINT_MAX: any number */
    enum cli_store store;                  /* opened before it runs */
    cli_runner *run;
    const char *summary;               /* one line */
    const char *help;                  /* paragraphs, separated by blank lines */
    const char *example;               /* lines, each a command */
    const struct tool_option *options; /* ended by name == NULL; may be NULL */
    const char *exit_codes;            /* meanings of the exit statuses; NULL: the usual ones */
    const struct tool *tool;           /* set if ops define the command */
};

/* A parsed command line. */
struct cli {
    struct arena *arena;
    FILE *out, *narration;
    const char *store_named; /* --store or EQLOOM_STORE; NULL: search for it */
    struct store *store;     /* NULL: not open */
    const char *store_path;  /* of the open store */
    bool store_foreign;      /* found by searching, and owned by another user */
    bool json, color;        /* color: whether to color `narration` */
    const struct cli_command *commands;
    size_t n_commands;
    const struct cli_command *command;
    const char *const *arguments;
    size_t n_arguments;
    const struct tool_value *values; /* in the order given */
    size_t n_values;
    const char *line; /* the whole command line, shown to processes that wait for the store */
};

/* The whole program. Returns the exit status. */
int cli_main(int argc, char **argv, FILE *out, FILE *narration);

/* All commands, those of tool_table included, in the order of --help: commands.c. */
const struct cli_command *cli_commands(size_t *n, struct arena *a);

/* ---- args.c ---- */
extern const struct tool_option cli_global_options[]; /* ended by name == NULL */
/* ERR_INPUT, with a suggestion, if there is no such command. */
enum err_code cli_find_command(const struct cli_command **out, const struct cli *c,
                               const char *name, struct err *e);
/* Fills command, arguments, values, store, json and color. Sets *request to the name of a global
 * request ("help", "version", "markdown"), whose operands are c->arguments, or to NULL. */
enum err_code cli_parse(struct cli *c, const char **request, int argc, char **argv, struct err *e);
bool cli_flag(const struct cli *c, const char *option);
/* Returns the last value given, or NULL. */
const char *cli_value(const struct cli *c, const char *option);
/* Returns the number of values of an option that may be repeated. */
size_t cli_values(const char *const **out, const struct cli *c, const char *option);
/* Reads an integer in [min, max]; `fallback` if the option is absent. */
enum err_code cli_number(uint64_t *out, const struct cli *c, const char *option, uint64_t fallback,
                         uint64_t min, uint64_t max, struct err *e);
int cli_exit_status(enum err_code code);

/* ---- help.c ---- */
void cli_print_error(FILE *to, const struct err *e, bool color);
void cli_print_usage(FILE *to, const struct cli *c);
void cli_print_help(FILE *to, const struct cli *c, const struct cli_command *command);
void cli_print_markdown(FILE *to, const struct cli *c); /* docs/cli.md */
