/* A <math> element as a flat tree. The only user of expat. Elements of any namespace prefix count;
 * <semantics> stands for its first child, annotations and comments are left out. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { MATHML_MAX_NODES = 20000, MATHML_MAX_DEPTH = 200 };

struct mathml_node {
    uint32_t parent;   /* of the root: itself, 0 */
    uint32_t position; /* among its parent's children */
    uint32_t children;
    const char *tag;
    const char *attributes; /* `name="value"`, sorted, one blank between them; "" if none */
    const char *text;       /* of a leaf, blanks at its ends removed; else "" */
};

struct mathml_tree {
    struct mathml_node *nodes; /* in document order: parents first */
    uint32_t n;
};

/* NULL, or why it is no tree; "too large" beyond the bounds. In the arena. */
const char *mathml_tree_parse(struct mathml_tree *out, struct arena *a, const char *text,
                              size_t len);
/* The tree as text, in one form: no prefixes, attributes sorted. */
const char *mathml_tree_write(struct arena *a, const struct mathml_tree *t);
