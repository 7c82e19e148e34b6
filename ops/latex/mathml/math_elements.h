/* Finds <math> elements in HTML or XML, where they are no text of a comment, a script or an
 * attribute. */
#pragma once

#include "base/span.h"

#include <stdbool.h>
#include <stddef.h>

struct math_elements {
    const char *text;
    size_t at, len;
    unsigned hidden; /* <math> in comments and scripts */
};

static inline struct math_elements math_elements_of(const char *text, size_t len)
{
    return (struct math_elements){.text = text, .len = len};
}

/* Finds the next element, of any prefix; those within others are part of them. An element that does
 * not end reaches to the end of the text. Returns false if there is none. */
bool math_elements_next(struct span *out, struct math_elements *m);
