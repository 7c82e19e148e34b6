/* Expressions: trees as flat arrays in prefix order. Numbers are exact rationals kept as reduced
 * decimal text ("-4", "3/2"); symbols are names. The same structure holds patterns, whose
 * variables (?a) are X_VAR leaves. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "ops/expr/lang.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    EXPR_MAX_NODES = 1 << 16,
    EXPR_MAX_DEPTH = 1000,
    EXPR_MAX_DIGITS = 1000,
    EXPR_MAX_NAME = 100
};

struct expr_node {
    uint16_t op; /* enum expr_op or a declared operator */
    uint16_t arity;
    uint32_t size;    /* nodes of the subtree, itself included: the next sibling is at i + size */
    const char *leaf; /* number, symbol or variable name (without '?'); NULL inside */
};

struct expr {
    const struct language *lang;
    const struct expr_node *nodes; /* prefix order; nodes[0] is the root */
    uint32_t n;
};

/* ---- reading: each accepts the whole text or fails with its position ---- */
/* The expression in `len` bytes of the source from `offset` on. `patterns` admits ?a. */
typedef enum err_code expr_parser(struct expr *out, struct arena *a, const struct language *lang,
                                  const struct source_text *source, size_t offset, size_t len,
                                  bool patterns, struct err *e);
/* "sin(x)^2 + 3/2*x"; -x is (-1)*x unless x is a number; -x^2 is -(x^2); ^ binds right; exp(x) is
 * pow(e, x); d(x, f) is the derivative of f by x and d/dx f is the same. Factors side by side are a
 * product (2x, (x + 1)(x - 1)); sin x, |x|, and pasted characters are read. What has several
 * readings (sin 2x, 1/2x) is refused. */
expr_parser expr_parse_infix;
/* As people type at a prompt: of several readings the usual one, and a line for `notes`. */
enum err_code expr_read_infix(struct expr *out, struct arena *a, const struct language *lang,
                              const struct source_text *source, size_t offset, size_t len,
                              struct buf *notes, struct err *e);
/* "+ pow sin x 2 1", with INT+ 1 2 / INT- 4 digits accepted as well. */
expr_parser expr_parse_prefix;
/* The same in the words of Lample and Charton, whom EED and E-Gen's training follow: add sub mul
 * div inv pow2 to pow5 rac sign derivative E I. sign(x) is read as x/abs(x), rac(x, n) as x^(1/n).
 */
expr_parser expr_parse_words;
/* "infix" (or NULL), "prefix", "words"; else ERR_INPUT. */
enum err_code expr_parser_find(expr_parser **out, const char *name, struct err *e);
/* "(+ ?a (pow x 2))", as egg has it, pattern variables admitted. `declares`, if not NULL, gains the
 * operators that nobody knows, which then have no meaning. */
enum err_code expr_parse_sexpr(struct expr *out, struct arena *a, const struct language *lang,
                               const struct language **declares, const struct source_text *source,
                               size_t offset, size_t len, struct err *e);
/* Convenience for trusted or short text without a file: prefix tokens. */
enum err_code expr_from_prefix(struct expr *out, struct arena *a, const struct language *lang,
                               const char *text, struct err *e);

/* ---- writing ---- */
void expr_write_prefix(struct buf *out, const struct expr *x);
void expr_write_words(struct buf *out, const struct expr *x); /* as expr_parse_words reads it */
void expr_write_infix(struct buf *out, const struct expr *x); /* reads back as the same tree */
void expr_write_latex(struct buf *out, const struct expr *x);
void expr_write_mathml(struct buf *out, const struct expr *x); /* a <math> element */
typedef char *expr_printer(struct arena *a, const struct expr *x);
expr_printer expr_prefix, expr_infix, expr_latex;
/* Prefix tokens as infix, for people; as they are where they are no term of the language, or lang
 * is NULL. */
char *expr_infix_of(struct arena *a, const struct language *lang, const char *prefix);

/* ---- building and looking ---- */
struct expr expr_leaf(struct arena *a, const struct language *lang, uint16_t op, const char *leaf);
struct expr expr_apply(struct arena *a, const struct language *lang, uint16_t op,
                       const struct expr *children, size_t n);
struct expr expr_binary(struct arena *a, uint16_t op, struct expr x, struct expr y);
struct expr expr_sub(const struct expr *x, uint32_t node); /* shares the nodes */
/* The first or second argument, k = 0 or 1. */
struct expr expr_child(const struct expr *x, unsigned k);
/* x with terms in the place of leaves: of those that `value` has one for. */
typedef bool expr_value(struct expr *out, void *arg, const struct expr *leaf);
struct expr expr_substitute(struct arena *a, const struct expr *x, expr_value *value, void *arg);
/* x with a term in the place of one leaf. */
struct expr expr_replace(struct arena *a, const struct expr *x, uint16_t op, const char *leaf,
                         const struct expr *by);
/* Whether there is a node of this operator, with this leaf, or with any if that is NULL. */
bool expr_has(const struct expr *x, uint16_t op, const char *leaf);
bool expr_equal(const struct expr *x, const struct expr *y);
/* Total order: number of tokens, then tokens from the left. */
int expr_compare(const struct expr *x, const struct expr *y);
/* Tokens in the prefix form of the corpora: one a node, but a fraction p/q counts 3 (/ p q). */
uint32_t expr_tokens(const struct expr *x);
/* Whether all operators have a meaning that can be evaluated. */
bool expr_is_interpreted(const struct expr *x);
/* Names of the symbols other than pi and e, sorted, each once. */
size_t expr_variables(const char ***names, struct arena *a, const struct expr *x);

/* The second argument of a node that has two. */
static inline const struct expr_node *expr_node_second(const struct expr_node *x)
{
    return x + 1 + x[1].size;
}
/* Whether they are the same operator, or the same leaf. */
bool expr_node_same(const struct expr_node *x, const struct expr_node *y);
bool expr_node_is(const struct expr_node *x, uint16_t op, const char *leaf);
/* sqrt(-1) */
bool expr_node_is_i(const struct expr_node *x);
