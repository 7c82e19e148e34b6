/* `eqloom search` in an index of equations: those nearest to one in LaTeX, and where they stand. */
#pragma once

#include "engine/tool.h"
#include "index.pb-c.h"

/* Whether the vectors are of equations. */
bool equation_search_is(const Eqloom__Index *index);
enum err_code equation_search(const struct tool_args *args, const char *name,
                              const Eqloom__Index *index, uint32_t k, struct err *e);
/* An answer, as --json has it, in HTML. False: it is no answer about equations. */
bool equation_search_page(struct buf *out, struct arena *a, const struct json_t *answer);
