/* Input of the infix parser: characters and leaves. Internal to syntax/. */
#pragma once

#include "ops/expr/syntax/tree.h"

struct infix {
    struct tree tree;
    const char *at, *end;
    const char *token, *token_end; /* the last token, for hints */
    const char *choice;            /* the first ambiguous position, or NULL */
    bool patterns;
    bool closed_bar;
    unsigned bars; /* unclosed "|" */
};

void infix_skip_space(struct infix *p);
/* Records an ambiguous position. */
void infix_choose(struct infix *p, const char *at);
/* Advances by n bytes. */
void infix_take(struct infix *p, size_t n);
/* Whether c follows, after optional space. */
bool infix_at(struct infix *p, char c);
/* The infix operator at this position, the longest match, or -1. */
int infix_peek(struct infix *p, size_t *length);
enum err_code infix_number(uint32_t *out, struct infix *p);
enum err_code infix_pattern_variable(uint32_t *out, struct infix *p);
/* Reports a name before a parenthesis that is not a function. */
enum err_code infix_fail_function(struct infix *p, const char *name, size_t n);
enum err_code infix_fail_unexpected(struct infix *p);
/* Reports text after a complete expression. */
enum err_code infix_fail_trailing(struct infix *p);

/* Rejects "sinx", "sin2x", "sqrt2" and "cost", which nobody means as a symbol; "costs" may be one.
 */
enum err_code infix_refuse_glued(struct infix *p, const char *name, size_t n);
