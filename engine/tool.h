/* Commands that ops bring to the command line (check-rules, explain, ...). Unlike an op, a tool may
 * read files; it never touches the store. */
#ifndef ENGINE_TOOL_H
#define ENGINE_TOOL_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tool_option {
    const char *name;  /* "rules": --rules */
    const char *value; /* "FILE"; NULL: a flag */
    bool repeats;
    const char *doc;
};

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
    FILE *out, *narration; /* data; words for people */
    struct arena *arena;
};

struct tool {
    const char *name;
    const char *arguments;  /* "[FILE...]" */
    const char *summary;    /* one line */
    const char *help;       /* paragraphs for --help and the manual */
    const char *example;    /* lines, each a command; or NULL */
    const char *exit_codes; /* what 0, 1, 3, 4 mean here, or NULL */
    const struct tool_option *options; /* ended by name == NULL; --json is everybody's */
    enum err_code (*run)(int *exit_status, const struct tool_args *args, struct err *e);
};

extern const struct tool *const tool_table[]; /* ops/registry.c; ended by NULL */

/* The last value given for an option, or NULL. */
const char *tool_value(const struct tool_args *args, const char *option);

#endif
