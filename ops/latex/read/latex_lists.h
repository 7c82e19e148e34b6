/* Groups of KaTeX's parse tree as lists. */
#pragma once

#include "ops/latex/read/latex_nodes.h"

/* The nodes of a group in the order of reading: what only changes how it looks is left out. */
struct latex_list {
    const json_t *items;
    size_t at, n;
    size_t second; /* where the second factor of the last product begins, or the product ends */
    bool bar;      /* a |...| has been read */
};

/* Returns the list of a group, a node or an array of nodes. Braces inside are opened, as they do
 * not show. The text is refused, and the list empty, if they hold a sum beside other factors, or if
 * letters side by side spell a function. */
struct latex_list latex_list_of(struct latex_reading *r, const json_t *node);
/* Whether one pair of brackets, without an exponent, holds all nodes of a list. */
bool latex_is_bracketed(const json_t *list);
/* Returns the next node, or NULL at the end. */
static inline const json_t *latex_next(const struct latex_list *l)
{
    return l->at < l->n ? json_array_get(l->items, l->at) : NULL;
}
static inline const json_t *latex_item(const struct latex_list *l, size_t i)
{
    return i < l->n ? json_array_get(l->items, i) : NULL;
}
/* Reads digits without a gap; the last one may carry an exponent: then *last is a supsub. */
struct latex_value latex_read_number(const json_t **last, struct latex_reading *r,
                                     struct latex_list *l);
