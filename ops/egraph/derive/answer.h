/* A verdict as text, for people and for programs. */
#pragma once

#include "ops/egraph/derive/standing.h"

struct answer {
    const struct language *lang;
    expr_printer *show;
    struct expr from, to;
    const char *assumed; /* "x > 1, n integer": what the user said of the variables; or NULL */
    struct standing_result r;
};

void answer_write_words(struct buf *out, struct arena *a, const struct answer *q);
/* One JSON object, without the end of the line. `line`: its number in the input, or 0. */
void answer_write_json(struct buf *out, struct arena *a, const struct answer *q, size_t line);
