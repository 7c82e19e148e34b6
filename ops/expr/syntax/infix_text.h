/* Input of the infix parser: characters and leaves. Internal to syntax/. */
#pragma once

#include "ops/expr/syntax/tree.h"

struct infix {
    struct tree tree;
    const char *at, *end;
    const char *token, *token_end; /* the last token, for hints */
    const char *choice;            /* the first ambiguous position, or NULL */
    const char *choice_message, *choice_hint;
    const char *advice;      /* what to write for the other readings, or NULL */
    const char *letters_end; /* of a name that is read letter by letter */
    uint32_t power;          /* the last one with ^ */
    const char *power_end;   /* behind it */
    bool prompt;             /* ambiguities are resolved and noted */
    bool patterns;
    bool closed_bar;
    const char *group, *group_end; /* the last bracket or pair of bars */
    unsigned bars;   /* unclosed "|" */
    const char *bar; /* the innermost, if no other bracket is open within */
};

void infix_skip_space(struct infix *p);
/* Records an ambiguous position. */
void infix_choose(struct infix *p, const char *at);
/* Records that the text may be `instead` or `otherwise`, which may be NULL; the first is taken. */
void infix_choose_between(struct infix *p, const char *at, const char *message, const char *instead,
                          const char *otherwise);
/* Advances by n bytes. */
void infix_take(struct infix *p, size_t n);
/* Whether c follows, after optional space. */
bool infix_at(struct infix *p, char c);
/* The infix operator at this position, the longest match, or -1. */
int infix_peek(struct infix *p, size_t *length);
/* The operator of this name at this position, or -1. The name of a Greek letter is an operator's
 * only before a parenthesis. */
int infix_operator(struct infix *p, const char *name, size_t n);
/* log(b, x) from its arguments */
enum err_code infix_logarithm(uint32_t *out, struct infix *p, const uint32_t *args, const char *at);
/* Applies a factorial sign, if one follows, to the operand *x, which begins at `begin`. */
enum err_code infix_factorial(uint32_t *x, struct infix *p, const char *begin);
enum err_code infix_number(uint32_t *out, struct infix *p);
enum err_code infix_pattern_variable(uint32_t *out, struct infix *p);
enum err_code infix_fail_unexpected(struct infix *p);
/* Reports text after a complete expression. */
enum err_code infix_fail_trailing(struct infix *p);
/* Returns the exponent, as a leaf, after the name in sin^2(x), sin^(-1) x, sin\xc2\xb2 x; NULL if
 * there is none. */
const char *infix_exponent(struct infix *p);
/* Folds a quotient of two integer literals into a number; returns false if it is not one. */
bool infix_fold_fraction(struct infix *p, int op, uint32_t left, uint32_t right);
/* The brackets of floor or ceil that open here, and their operator; NULL if none do. */
struct infix_rounding {
    const char *open, *close;
    enum lang_shape shape;
};
const struct infix_rounding *infix_rounding(const struct infix *p);
