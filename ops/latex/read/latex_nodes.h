/* Translates KaTeX's parse tree (JSON) to infix text, as a whole and node by node. */
#pragma once

#include "base/buf.h"
#include "ops/expr/lang.h"

#include <jansson.h>

struct latex_refusal {
    size_t begin;        /* the place in UTF-16 units, or SIZE_MAX if unknown */
    const char *message; /* NULL if nothing was refused */
    const char *hint;    /* the possible readings, or NULL */
};

/* Returns NULL if the text is refused. Uses only the declared functions of the language. */
const char *latex_infix(struct latex_refusal *why, struct arena *a, const struct language *lang,
                        const char *json, struct buf *notes);

/* ---- node by node: kinds, names, and refusals ---- */

struct latex_reading {
    struct arena *a;
    const struct language *lang;
    struct buf *notes;
    struct latex_refusal *why;
    unsigned depth;
    bool pattern; /* the next letter names a pattern variable */
};

struct latex_list {
    const json_t *items;
    size_t at, n;
};

/* A translated part as infix text. `atom`: needs no parentheses; `integer`: digits only; `letter`:
 * a variable. */
struct latex_value {
    const char *text; /* NULL if refused */
    bool atom, integer, letter;
};

static const struct latex_value latex_none;

const char *latex_field(const json_t *node, const char *key); /* "" if absent */
bool latex_has_type(const json_t *node, const char *type);
/* Returns the place of the node, or of its end if `end` is 1, in UTF-16 units; SIZE_MAX if
 * unknown. */
size_t latex_place_of(const json_t *node, int end);
/* Records the first refusal only; the hint lives in the arena or is static. Returns latex_none. */
struct latex_value latex_refuse(struct latex_reading *r, const json_t *node, const char *hint,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Adds a note about an ambiguity that was resolved. If notes are not collected, refuses and returns
 * false. */
bool latex_note_reading(struct latex_reading *r, const json_t *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct latex_list latex_list_of(const json_t *items);
/* Returns the next node that is not spacing, or NULL at the end. */
const json_t *latex_next(struct latex_list *l);
/* Returns a node without its exponent and subscript. */
const json_t *latex_base(const json_t *node);

/* Returns the text of an atom or letter, with the backslash of a command; "" for other nodes. */
const char *latex_sign_of(const json_t *node);
bool latex_is_times(const char *sign);
bool latex_is_over(const char *sign);
bool latex_is_bar(const char *sign);
/* Returns the letters and digits of a variable or an index, or "". */
const char *latex_name_of(struct latex_reading *r, const json_t *node);
/* Returns the name of a function in the language from its LaTeX name, or NULL. */
const char *latex_function_name(const struct latex_reading *r, const char *name);
/* Whether the function of this name takes two arguments. */
bool latex_has_two(const struct latex_reading *r, const char *name);
/* Returns the LaTeX name of the function that the node is, or "". */
const char *latex_function_at(struct latex_reading *r, const json_t *node);

/* Each node holds one digit; digits separated by a gap are not one number. */
struct latex_value latex_read_number(struct latex_reading *r, struct latex_list *l);

/* Reads a letter with its optional subscript. */
struct latex_value latex_read_letter(struct latex_reading *r, const json_t *node,
                                     const json_t *sub);

/* Compose an operand, x sign y, and name(x). */
const char *latex_wrapped(struct latex_reading *r, struct latex_value x);
struct latex_value latex_binary(struct latex_reading *r, struct latex_value x, const char *sign,
                                struct latex_value y);
struct latex_value latex_call(struct latex_reading *r, const char *name, struct latex_value x);

bool latex_begins_bracket(const json_t *node);
/* Whether the next node is a bracket, with or without an exponent. */
bool latex_at_bracket(struct latex_list *l);
