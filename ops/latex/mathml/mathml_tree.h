/* Parses a <math> element to a flat tree. The only user of expat. Elements are accepted with any
 * namespace prefix; <semantics> is replaced by its first child; annotations and comments are
 * dropped. HTML's named characters are replaced. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { MATHML_MAX_NODES = 20000, MATHML_MAX_DEPTH = 200 };

struct mathml_node {
    uint32_t parent;   /* the root is its own parent */
    uint32_t position; /* among its siblings */
    uint32_t children;
    const char *tag;
    const char *attributes; /* `name="value"`, sorted and separated by single blanks; or "" */
    const char *text;       /* of a leaf, trimmed; otherwise "" */
};

struct mathml_tree {
    struct mathml_node *nodes; /* in document order: parents first */
    uint32_t n;
};

/* Returns NULL, or the reason why the text is not a tree: "too large" beyond the limits. The tree
 * lives in the arena. */
const char *mathml_tree_parse(struct mathml_tree *out, struct arena *a, const char *text,
                              size_t len);
/* Returns the tree in canonical form: no prefixes, attributes sorted. */
const char *mathml_tree_write(struct arena *a, const struct mathml_tree *t);
