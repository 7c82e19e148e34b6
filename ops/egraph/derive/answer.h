/* Writes a verdict as text or as JSON. */
#pragma once

#include "ops/egraph/derive/standing.h"

struct answer {
    const struct language *lang;
    expr_printer *show;
    struct expr from, to;
    const char *assumed; /* "x > 1, n integer": the domains that the user declared; or NULL */
    struct standing_result r;
};

void answer_write_words(struct buf *out, struct arena *a, const struct answer *q);
/* Writes one JSON object, without a newline. `line` is its line number in the input, or 0. */
void answer_write_json(struct buf *out, struct arena *a, const struct answer *q, size_t line);
