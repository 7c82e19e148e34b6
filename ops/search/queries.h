/* Expressions that a user asks about: arguments of the command line, and the lines of standard
 * input where an argument is '-'. */
#ifndef OPS_SEARCH_QUERIES_H
#define OPS_SEARCH_QUERIES_H

#include "engine/tool.h"
#include "ops/expr/expr.h"

struct queries {
    const struct tool_args *args;
    const struct language *lang;
    size_t next;  /* argument */
    bool reading; /* standard input, whose line is: */
    size_t line;
    char *text; /* of the line; heap */
    size_t cap;
};

/* Of lang; --syntax says how they are written. ERR_INPUT when there are no arguments. */
enum err_code queries_open(struct queries *out, const struct tool_args *args,
                           const struct language *lang, struct err *e);
void queries_close(struct queries *q);
/* The next one, in the arena; *more is false when there are none left. Empty lines are skipped. */
enum err_code queries_next(struct expr *out, bool *more, struct queries *q, struct arena *a,
                           struct err *e);

/* Answers one question. The arena is reset afterwards. */
typedef enum err_code query_answer(void *arg, const struct expr *question, struct arena *a,
                                   struct err *e);
/* Answers all that are left, each before the next is read. */
enum err_code queries_answer(struct queries *q, query_answer *answer, void *arg, struct err *e);
/* Prints a text of the heap as one line and frees it. */
void queries_print_line(FILE *to, char *text);

/* A number that an option gives, from 1 to max, or `initial`. */
enum err_code queries_number(uint32_t *out, const struct tool_args *args, const char *option,
                             uint32_t initial, uint32_t max, struct err *e);
/* The language that --language names, else the calculus. */
enum err_code queries_language(const struct language **out, const struct tool_args *args,
                               struct err *e);

/* Of a tool's table of options. */
#define QUERIES_LANGUAGE                                                                           \
    {                                                                                              \
        "language", "NAME", false, "of the expressions: calculus (default), boolean, polynomial"   \
    }
#define QUERIES_SYNTAX                                                                             \
    {                                                                                              \
        "syntax", "NAME", false, "how expressions are written: infix (default), prefix, sexpr"     \
    }

#endif
