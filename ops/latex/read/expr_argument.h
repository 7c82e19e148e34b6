/* Expressions on the command line: read in the syntax of --syntax and printed as --latex selects;
 * and the options --domain, once for each variable, and --real. Without --syntax, latex_is decides
 * between LaTeX and infix. */
#pragma once

#include "engine/tool.h"
#include "ops/expr/ball/domain.h"
#include "ops/latex/read/latex.h"

/* Fails with ERR_INPUT if --syntax names no known syntax. */
enum err_code expr_argument_check(const struct tool_args *args, struct err *e);
/* Reads len bytes of the source, from `at` on. *latex is NULL at first and is freed by the caller.
 * Appends to `notes` a line for each ambiguity of the LaTeX that was resolved. */
enum err_code expr_argument_part(struct expr *out, struct latex_reader **latex,
                                 const struct tool_args *args, struct arena *a,
                                 const struct language *lang, const struct source_text *source,
                                 size_t at, size_t len, struct buf *notes, struct err *e);
/* Prints such notes to the narration. */
void expr_argument_say(const struct tool_args *args, const char *name, const struct buf *notes);
/* Reads and prints the notes. `name` is used in messages. */
enum err_code expr_argument(struct expr *out, struct latex_reader **latex,
                            const struct tool_args *args, struct arena *a,
                            const struct language *lang, const char *name, const char *text,
                            struct err *e);
/* Returns the printer that --latex selects. */
expr_printer *expr_shown(const struct tool_args *args);

struct domain_options {
    const struct ball_domain *domains;
    size_t n;
    bool real_values;
    const char *assumed; /* "x>1, n:integer, real values", as given; or NULL */
};

/* Lives in the arena of the arguments. */
enum err_code domain_options_read(struct domain_options *out, const struct tool_args *args,
                                  struct err *e);

/* Rows of a tool's table of options. */
#define EXPR_ARGUMENT_SYNTAX                                                                       \
    {                                                                                              \
        "syntax", "NAME", false,                                                                   \
            "how expressions are written: infix (default), prefix, words (add x INT+ 2), latex "   \
            "(the default for text with a backslash, or braces as in x^{2})"                       \
    }
#define EXPR_ARGUMENT_LATEX                                                                        \
    {                                                                                              \
        "latex", NULL, false, "print expressions as LaTeX"                                         \
    }
#define DOMAIN_OPTION                                                                              \
    {                                                                                              \
        "domain", "x:DOMAIN", true,                                                                \
            "the values of a variable: x:real, n:integer, z:complex, 'x>1' or '0<x<1'; default: "  \
            "positive"                                                                             \
    }
#define DOMAIN_OPTION_REAL                                                                         \
    {                                                                                              \
        "real", NULL, false, "require equality only where both values are real"                    \
    }
