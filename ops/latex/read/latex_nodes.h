/* KaTeX's parse tree, as JSON -> infix text: as a whole, and node by node. */
#pragma once

#include "base/buf.h"
#include "ops/expr/lang.h"

#include <jansson.h>

struct latex_refusal {
    size_t begin;        /* UTF-16 units before the place; SIZE_MAX: unknown */
    const char *message; /* NULL: none */
    const char *hint;    /* the choices, or NULL */
};

/* NULL if it is refused. Of the language, only its declared functions are looked at. */
const char *latex_infix(struct latex_refusal *why, struct arena *a, const struct language *lang,
                        const char *json, struct buf *notes);

/* ---- node by node: what it is and what it is called, and why a text is refused ---- */

struct latex_reading {
    struct arena *a;
    const struct language *lang;
    struct buf *notes;
    struct latex_refusal *why;
    unsigned depth;
};

struct latex_list {
    const json_t *items;
    size_t at, n;
};

/* What was read: infix text; `atom` needs no parentheses, `integer` is digits alone, `letter` a
 * variable. */
struct latex_value {
    const char *text; /* NULL: refused */
    bool atom, integer, letter;
};

static const struct latex_value latex_none;

const char *latex_field(const json_t *node, const char *key); /* "" if absent */
bool latex_has_type(const json_t *node, const char *type);
/* In UTF-16 units; `end` 1: behind the node. SIZE_MAX: unknown. */
size_t latex_place_of(const json_t *node, int end);
/* Keeps the first refusal; the hint lives in the arena or for ever. Returns latex_none. */
struct latex_value latex_refuse(struct latex_reading *r, const json_t *node, const char *hint,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A reading taken among several: said, or refused where nobody listens (false). */
bool latex_take_reading(struct latex_reading *r, const json_t *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct latex_list latex_list_of(const json_t *items);
/* The next node that says something; NULL at the end. */
const json_t *latex_next(struct latex_list *l);
/* A node without its exponent and subscript. */
const json_t *latex_base(const json_t *node);

/* The text of an atom or letter, a command's with its backslash; "" for other nodes. */
const char *latex_sign_of(const json_t *node);
bool latex_is_times(const char *sign);
bool latex_is_over(const char *sign);
bool latex_is_bar(const char *sign);
/* Letters and digits of a variable or an index; "" if it is none. */
const char *latex_name_of(struct latex_reading *r, const json_t *node);
/* Our name of a function that LaTeX calls so, or NULL. */
const char *latex_function_name(const struct latex_reading *r, const char *name);
/* Whether that is a function of two arguments. */
bool latex_has_two(const struct latex_reading *r, const char *name);
/* The function that a node is, as LaTeX names it; "" if it is none. */
const char *latex_function_at(struct latex_reading *r, const json_t *node);

/* Digits stand one a node; a gap between them is no number. */
struct latex_value latex_read_number(struct latex_reading *r, struct latex_list *l);

/* A letter, with its subscript if it has one. */
struct latex_value latex_read_letter(struct latex_reading *r, const json_t *node,
                                     const json_t *sub);

/* As an operand; x sign y; name(x). */
const char *latex_wrapped(struct latex_reading *r, struct latex_value x);
struct latex_value latex_binary(struct latex_reading *r, struct latex_value x, const char *sign,
                                struct latex_value y);
struct latex_value latex_call(struct latex_reading *r, const char *name, struct latex_value x);

bool latex_begins_bracket(const json_t *node);
/* Whether the next node is a bracket, with a power or without. */
bool latex_at_bracket(struct latex_list *l);
