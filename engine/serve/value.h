/* What a command prints of a record, as HTML: objects as lists of names and values, lists of
 * objects as tables, ids as links, expressions as formulas. */
#pragma once

#include "engine/serve/serve_page.h"

/* The members of an object; VALUE_ROWS items of each list. */
enum { VALUE_ROWS = 200 };
void value_write(struct page *p, const json_t *object);
/* Curves of a list of {"step", "name", "value"}, those of a second one beside the first's; NULL:
 * none. */
void value_write_curves(struct page *p, const json_t *metrics, const json_t *others);
