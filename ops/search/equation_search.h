/* `eqloom search` in an index of equations: the nearest to a LaTeX equation, with paper and
 * section. */
#pragma once

#include "engine/tool.h"
#include "index.pb-c.h"

/* Whether the index has vectors of equations. */
bool equation_search_is(const Eqloom__Index *index);
enum err_code equation_search(int *exit_status, const struct tool_args *args, const char *name,
                              const Eqloom__Index *index, uint32_t k, struct err *e);
/* Writes an answer in the form of --json as HTML. Returns false if it is not an answer of
 * equation_search. */
bool equation_search_page(struct buf *out, struct arena *a, const struct json_t *answer);
