/* Parsers build a linked tree, bounded in size and depth, and convert it to prefix order at the
 * end, since an infix operator is known only after its first argument. */
#pragma once

#include "ops/expr/expr.h"

struct tree_node {
    uint16_t op, arity, depth;
    uint32_t first, next; /* child, sibling; UINT32_MAX: none */
    const char *leaf;
    bool literal; /* a number written without parentheses: 3 in 3/2 or -3 */
};

struct tree {
    struct arena *a; /* for names and the result */
    const struct language *lang;
    const struct source_text *source;
    struct err *e;
    struct tree_node *nodes; /* heap */
    size_t n, cap;
    unsigned depth; /* of the parser */
};

#define tree_fail(t, at, ...)                                                                      \
    err_fail_at((t)->e, (t)->source, (size_t)((at) - (t)->source->text), __VA_ARGS__)

/* `at` is the position in the source that an error reports. */
enum err_code tree_leaf(uint32_t *out, struct tree *t, uint16_t op, const char *leaf,
                        const char *at);
enum err_code tree_apply(uint32_t *out, struct tree *t, uint16_t op, const uint32_t *children,
                         size_t n, const char *at);
/* e^x, which is written exp(x). */
enum err_code tree_exponential(uint32_t *out, struct tree *t, uint32_t x, const char *at);
/* Increments the depth and checks it; the caller decrements it on return. */
/* -x; the negative of a literal number is a number. */
enum err_code tree_negate(uint32_t *out, struct tree *t, uint32_t x, const char *at);
enum err_code tree_enter(struct tree *t, const char *at);
enum err_code tree_fail_arity(struct tree *t, const char *name, size_t n, unsigned arity,
                              unsigned given);
/* Copies a subtree, to be the child of another node. */
enum err_code tree_copy(uint32_t *out, struct tree *t, uint32_t node, const char *at);
void tree_lay_out(struct expr *out, const struct tree *t, uint32_t root);
void tree_free(struct tree *t);
/* Whether a variable of this name, or with NULL any, may occur in the subtree: a pattern may have
 * any. */
bool tree_has_variable(const struct tree *t, uint32_t node, const char *name);
/* The derivative's first argument must be a variable. */
enum err_code tree_check_d(const struct tree *t, uint32_t variable, const char *at);
/* The operator with arguments whose name is nearest, for 'did you mean', or NULL. */
const char *tree_nearest_operator(const struct language *lang, const char *word, size_t n);
