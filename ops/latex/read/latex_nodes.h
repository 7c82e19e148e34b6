/* KaTeX's parse tree (JSON, with places; see tree.js) as lists of nodes, and what is read of it as
 * prefix tokens. Internal to read/. */
#pragma once

#include "base/buf.h"
#include "ops/expr/lang.h"

#include <jansson.h>

struct latex_reading {
    struct arena *a;
    const struct language *lang;
    const char *source; /* the text */
    size_t len;
    struct buf *notes;              /* NULL: what would be noted is refused */
    bool sympy;                     /* SymPy wrote it: latex_usual is no question */
    json_t *lists;                  /* owns the lists made for reading */
    unsigned depth, brackets, bars; /* brackets: so far; bars: unclosed | here */
    size_t begin;                   /* the first refusal's place in the text, in bytes */
    const char *problem, *hint;     /* problem: NULL if nothing was refused */
};

/* What was read. */
enum latex_kind {
    LATEX_TERM,
    LATEX_NUMBER,   /* digits, perhaps with a point */
    LATEX_LETTER,   /* a variable of one letter, perhaps with an index */
    LATEX_WORD,     /* a variable whose letters are upright: \mathrm{ab} */
    LATEX_RAISED,   /* a letter or word with an exponent */
    LATEX_POWER,    /* anything else with an exponent */
    LATEX_BRACKETS, /* (...) or |...| */
};
struct latex_value {
    const char *text; /* prefix tokens; NULL if refused */
    enum latex_kind kind;
};
static const struct latex_value latex_none;

/* ---- fields ---- */

const char *latex_field(const json_t *node, const char *key); /* "" if absent */
bool latex_is_type(const json_t *node, const char *types);
/* A child of a supsub ("base", "sup", "sub"); NULL if there is none. */
const json_t *latex_part(const json_t *node, const char *which);
/* The node itself, or the base of a supsub. */
const json_t *latex_base(const json_t *node);
/* Whether the second node begins where the first one ends. */
bool latex_adjacent(const json_t *first, const json_t *second);
/* Whether a parenthesis opens right behind the node. */
bool latex_before_bracket(const struct latex_reading *r, const json_t *node);
/* Whether a space stands before the node. */
bool latex_after_space(const struct latex_reading *r, const json_t *node);
/* Returns what the user typed for this node: "\binom", "\begin{cases}", "x". */
const char *latex_typed(const struct latex_reading *r, const json_t *node);

/* The bytes that so many UTF-16 units of a text take. */
size_t utf16_bytes(const char *s, size_t len, size_t units);

/* ---- refusals and notes ---- */

/* Records the first refusal only. The hint is static or lives in the arena, or is NULL. */
struct latex_value latex_refuse(struct latex_reading *r, const json_t *node, const char *hint,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Refuses what the node stands for, by the name that was typed. */
struct latex_value latex_unknown(struct latex_reading *r, const json_t *node);
/* Adds a note about a reading that was chosen; refuses and returns false if there are no notes. */
bool latex_note(struct latex_reading *r, const json_t *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for readings that are the only ones of what SymPy writes. */
#define latex_usual(r, node, ...) ((r)->sympy || latex_note(r, node, __VA_ARGS__))

/* ---- lists ---- */

/* Returns an empty list that lives as long as the reading. */
json_t *latex_new_list(struct latex_reading *r);
/* Returns the nodes of a group, a node or an array of nodes; braces that hold all of it are opened.
 */
const json_t *latex_inside(struct latex_reading *r, const json_t *node);

/* ---- signs ---- */

/* Returns the text of an atom, letter or large bracket, with the backslash of a command; "" for
 * other nodes. */
const char *latex_sign(const json_t *node);
bool latex_is_minus(const char *sign);
bool latex_is_times(const char *sign);
bool latex_is_over(const char *sign);
bool latex_opens(const char *sign);    /* (, [, \{, \lfloor; not | */
bool latex_is_close(const char *sign); /* ), ], \}, \rfloor */
bool latex_is_digit(const json_t *node);
bool latex_is_group(const json_t *node); /* braces, or what sets their size or colour */
/* The sign that closes a bracket; NULL if the sign opens none. "abs" etc. in *function if the
 * brackets apply a function. */
const char *latex_closing(const char **function, const char *open);
/* The operator that such a function is, or -1. */
int latex_bracket_operator(const struct language *lang, const char *function);
bool latex_is_open(const json_t *node); /* (, [, \{ or \left... */

/* ---- composition ---- */

struct latex_value latex_apply(struct latex_reading *r, const char *token, struct latex_value x);
struct latex_value latex_apply2(struct latex_reading *r, const char *token, struct latex_value x,
                                struct latex_value y);
struct latex_value latex_negate(struct latex_reading *r, struct latex_value x);
struct latex_value latex_quotient(struct latex_reading *r, struct latex_value x,
                                  struct latex_value y);
/* Returns what was read as infix, for notes. */
const char *latex_shown(const struct latex_reading *r, struct latex_value x);
/* How often this name occurs among the tokens, or a pattern variable, which may stand for anything;
 * name NULL: how often any variable does. */
size_t latex_count(const struct latex_reading *r, struct latex_value x, const char *name);
