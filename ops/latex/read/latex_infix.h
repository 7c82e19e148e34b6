/* KaTeX's parse tree as JSON -> infix text. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "ops/expr/lang.h"

#include <stdbool.h>

struct latex_refusal {
    size_t begin;        /* UTF-16 units before the place; SIZE_MAX: unknown */
    const char *message; /* NULL: none */
    const char *hint;    /* the choices, or NULL */
};

/* NULL if it is refused. Of the language, only its declared functions are looked at. */
const char *latex_infix(struct latex_refusal *why, struct arena *a, const struct language *lang,
                        const char *json, struct buf *notes);
