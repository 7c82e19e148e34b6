/* HTML's named characters, which XML does not have: &alpha;, &InvisibleTimes;. */
#pragma once

#include "base/buf.h"

struct entity {
    const char *name, *text; /* UTF-8; markup in it is written as &#60; */
};
extern const struct entity entity_table[]; /* sorted by name */
extern const size_t entity_count;

/* Appends the text with its named characters replaced. XML's own five and unknown names stay. */
void entities_replace(struct buf *out, const char *text, size_t len);
