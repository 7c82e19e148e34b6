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
    uint32_t size;    /* nodes of the subtree, this one included: the next sibling is at i + size */
    const char *leaf; /* number, symbol or variable name (without '?'); NULL for inner nodes */
};

struct expr {
    const struct language *lang;
    const struct expr_node *nodes; /* prefix order; nodes[0] is the root */
    uint32_t n;
};

/* ---- reading: parsers read the whole text or fail with the position of the error ---- */
/* Parses `len` bytes of the source, starting at `offset`. `patterns` allows ?a. */
typedef enum err_code expr_parser(struct expr *out, struct arena *a, const struct language *lang,
                                  const struct source_text *source, size_t offset, size_t len,
                                  bool patterns, struct err *e);
/* "sin(x)^2 + 3/2*x"; -x is (-1)*x unless x is a number; -x^2 is -(x^2); ^ is right-associative;
 * exp(x) is pow(e, x); d(x, f) and d/dx f are the derivative of f with respect to x. Adjacent
 * factors form a product (2x, (x + 1)(x - 1)); sin x, |x| and pasted Unicode characters are
 * accepted. Ambiguous input (sin 2x, 1/2x) is an error. */
expr_parser expr_parse_infix;
/* For input typed at a prompt: resolves an ambiguity to the usual reading and adds a line to
 * `notes`. */
enum err_code expr_read_infix(struct expr *out, struct arena *a, const struct language *lang,
                              const struct source_text *source, size_t offset, size_t len,
                              struct buf *notes, struct err *e);
/* "+ pow sin x 2 1"; also accepts INT+ 1 2 and INT- followed by digits. */
expr_parser expr_parse_prefix;
/* Prefix tokens in the vocabulary of Lample and Charton, which the training data of EED and E-Gen
 * use: add sub mul div inv pow2 to pow5 rac sign derivative E I. sign(x) is read as x/abs(x),
 * rac(x, n) as x^(1/n). */
expr_parser expr_parse_words;
/* `name` is "infix" (or NULL), "prefix" or "words"; fails with ERR_INPUT for any other. */
enum err_code expr_parser_find(expr_parser **out, const char *name, struct err *e);
/* "(+ ?a (pow x 2))", the syntax of egg; pattern variables are allowed. Unless `declares` is NULL,
 * it is extended by the unknown operators, which have no meaning. */
enum err_code expr_parse_sexpr(struct expr *out, struct arena *a, const struct language *lang,
                               const struct language **declares, const struct source_text *source,
                               size_t offset, size_t len, struct err *e);
/* Parses prefix tokens of trusted or short text that has no file. */
enum err_code expr_from_prefix(struct expr *out, struct arena *a, const struct language *lang,
                               const char *text, struct err *e);

/* ---- writing ---- */
void expr_write_prefix(struct buf *out, const struct expr *x);
void expr_write_words(struct buf *out, const struct expr *x); /* as read by expr_parse_words */
void expr_write_infix(struct buf *out, const struct expr *x); /* reads back as the same tree */
void expr_write_latex(struct buf *out, const struct expr *x);
void expr_write_mathml(struct buf *out, const struct expr *x); /* a <math> element */
typedef char *expr_printer(struct arena *a, const struct expr *x);
expr_printer expr_prefix, expr_infix, expr_latex;
/* Prefix tokens as infix, for people; returned unchanged if they do not parse in the language or
 * lang is NULL. */
char *expr_infix_of(struct arena *a, const struct language *lang, const char *prefix);

/* ---- construction and inspection ---- */
struct expr expr_leaf(struct arena *a, const struct language *lang, uint16_t op, const char *leaf);
struct expr expr_apply(struct arena *a, const struct language *lang, uint16_t op,
                       const struct expr *children, size_t n);
struct expr expr_binary(struct arena *a, uint16_t op, struct expr x, struct expr y);
struct expr expr_sub(const struct expr *x, uint32_t node); /* shares the nodes */
/* The first or second argument, k = 0 or 1. */
struct expr expr_child(const struct expr *x, unsigned k);
/* Copies x with leaves replaced: `value` returns whether it has a term for a leaf. */
typedef bool expr_value(struct expr *out, void *arg, const struct expr *leaf);
struct expr expr_substitute(struct arena *a, const struct expr *x, expr_value *value, void *arg);
/* x with every occurrence of one leaf replaced by a term. */
struct expr expr_replace(struct arena *a, const struct expr *x, uint16_t op, const char *leaf,
                         const struct expr *by);
/* Whether x has a node with this operator and leaf; NULL matches any leaf. */
bool expr_has(const struct expr *x, uint16_t op, const char *leaf);
bool expr_equal(const struct expr *x, const struct expr *y);
/* Total order: number of tokens, then tokens from the left. */
int expr_compare(const struct expr *x, const struct expr *y);
/* Tokens in the prefix form of the corpora: one per node, but 3 for a fraction p/q (/ p q). */
uint32_t expr_tokens(const struct expr *x);
/* Whether every operator has a meaning that can be evaluated. */
bool expr_is_interpreted(const struct expr *x);
/* The names of the symbols other than pi and e, sorted, without duplicates. */
size_t expr_variables(const char ***names, struct arena *a, const struct expr *x);

/* The second argument of a binary node. */
static inline const struct expr_node *expr_node_second(const struct expr_node *x)
{
    return x + 1 + x[1].size;
}
/* Whether two nodes have the same operator and leaf. */
bool expr_node_same(const struct expr_node *x, const struct expr_node *y);
bool expr_node_is(const struct expr_node *x, uint16_t op, const char *leaf);
/* sqrt(-1) */
bool expr_node_is_i(const struct expr_node *x);
