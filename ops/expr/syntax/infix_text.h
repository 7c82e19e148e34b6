/* The text of an infix expression while it is read: characters and leaves. Internal to syntax/. */
#pragma once

#include "ops/expr/syntax/tree.h"

struct infix {
    struct tree tree;
    const char *at, *end;
    const char *token, *token_end; /* the last one read, for hints */
    const char *choice;            /* the first place with several readings, or NULL */
    bool patterns;
    bool closed_bar;
    unsigned bars; /* "|" that are open here */
};

void infix_skip_space(struct infix *p);
/* A place with several readings. */
void infix_choose(struct infix *p, const char *at);
/* Goes over n bytes. */
void infix_take(struct infix *p, size_t n);
/* Whether c is next after space. */
bool infix_at(struct infix *p, char c);
/* The infix operator here, or -1; of two the longer. */
int infix_peek(struct infix *p, size_t *length);
enum err_code infix_number(uint32_t *out, struct infix *p);
enum err_code infix_pattern_variable(uint32_t *out, struct infix *p);
/* A name before a bracket that no function has. */
enum err_code infix_fail_function(struct infix *p, const char *name, size_t n);
enum err_code infix_fail_unexpected(struct infix *p);
/* After a complete expression. */
enum err_code infix_fail_trailing(struct infix *p);

/* "sinx", "sin2x" and "sqrt2" are symbols to nobody; "cost" neither, "costs" may be one. */
enum err_code infix_refuse_glued(struct infix *p, const char *name, size_t n);
