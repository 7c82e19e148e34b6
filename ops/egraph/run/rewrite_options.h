/* What commands that rewrite expressions read, and how they name why a run stopped: the options
 * --rules, --language and --syntax, budgets, expressions. */
#ifndef OPS_EGRAPH_RUN_REWRITE_OPTIONS_H
#define OPS_EGRAPH_RUN_REWRITE_OPTIONS_H

#include "engine/tool.h"
#include "ops/egraph/graph/egraph.h"

struct tool_number {
    const char *option;
    uint64_t initial, low, high;
};
/* The value of an option, or the initial one. */
enum err_code tool_read_number(uint64_t *out, const struct tool_args *args,
                               const struct tool_number *n, struct err *e);
/* Of the files that the user named, else those shipped for the language; selected and sorted as the
 * op `rules` has them. *own: there were files. */
enum err_code tool_read_rules(struct rules *out, bool *own, const struct tool_args *args,
                              struct err *e);
/* `name`: what messages call it. */
enum err_code tool_read_expr(struct expr *out, const struct tool_args *args,
                             const struct language *lang, const char *name, const char *text,
                             struct err *e);
const char *tool_stop_words(Eqloom__StopReason stop);

#endif
