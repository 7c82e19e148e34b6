/* User-defined operators, from a file of operators (docs/operators.md) or a record. They extend the
 * table of a language: operators of the base keep their numbers, so an expression of the base is
 * one of the extension, and tables are immutable. A record identifies its language by a text: the
 * name of the base and the statements of the operators that it uses, in canonical form. */
#pragma once

#include "ops/expr/ball/ball.h"
#include "ops/expr/expr.h"

enum {
    OWN_MAX = 256,       /* operators in a file */
    OWN_MAX_NODES = 200, /* of a definition or a derivative */
    OWN_MAX_DEPTH = 16,  /* nesting of definitions */
    OWN_MAX_FILE = 1 << 20,
    OWN_MAX_VALUES = 3, /* statements about the values of an operator */
};

/* Without value and function it has no meaning. Its terms use the symbols x and y for the
 * arguments. */
struct own_operator {
    struct expr value; /* n == 0: none */
    const struct ball_function *function;
    struct expr derivative[LANG_MAX_ARITY];    /* n == 0: none */
    struct ball_domain domain[LANG_MAX_ARITY]; /* NULL name: no restriction */
    /* Domains of its values; if an argument has no domain, they hold for real arguments. */
    struct ball_domain values[OWN_MAX_VALUES];
    unsigned n_values;
    const char *text; /* the statement, in canonical form */
};

static inline const char *own_argument(unsigned k)
{
    return k ? "y" : "x";
}

static inline unsigned own_argument_number(const char *name)
{
    return *name == 'y';
}

/* The statement of an operator in canonical form, as in own_operator.text. */
const char *own_statement(struct arena *a, const char *name, unsigned arity,
                          const struct own_operator *o, const char *latex);
/* Extends *lang by the operators of the text that it lacks; leaves it unchanged on failure. Fails
 * with ERR_INPUT and the position, also if an operator is already defined with another meaning or,
 * with `check`, if a stated derivative or domain of values is refuted. */
enum err_code own_parse(const struct language **lang, struct arena *a,
                        const struct source_text *source, bool check, struct err *e);

/* Parses the language text of a record. */
enum err_code language_read(const struct language **out, struct arena *a, const char *text,
                            struct err *e);
/* Extends *lang by the language text of a record; if *lang is NULL, it becomes that language. */
enum err_code language_join(const struct language **lang, struct arena *a, const char *text,
                            struct err *e);
/* Whether expressions with these two language texts may be used together. */
bool language_mixes(const char *text, const char *other);
/* The language text of a record that combines two such records. */
enum err_code language_unite(char **out, struct arena *a, const char *text, const char *other,
                             struct err *e);
/* The language text of a record: the language and those of its operators that are used (indexed by
 * number), with the operators that these depend on. "" is the calculus. */
char *language_text(struct arena *a, const struct language *lang, const bool *used);
char *language_text_all(struct arena *a, const struct language *lang);
char *language_text_of(struct arena *a, const struct expr *x, size_t n);
void language_mark(bool *used, const struct expr *x);
/* Whether its LaTeX has a shape or is one name: \operatorname{erf}, \Gamma, J, \log_{10}. */
bool own_is_latex(const struct op_info *op);
/* Returns the base, extended by operators without a meaning for all tokens NAME/ARITY of the prefix
 * text. */
const struct language *language_guess(struct arena *a, const struct language *base,
                                      const char *prefix);
/* The application of an operator with an Arb function by a law of the function, such as
 * factorial(x) = Gamma(x + 1), if it has one and the language has its other functions. */
bool own_law(struct expr *out, struct arena *a, const struct language *lang, uint16_t op,
             const struct expr *arguments);
/* Replaces operators by their definitions and laws; returns false if the result is too large. */
bool own_expand(struct expr *out, struct arena *a, const struct expr *x);
/* The derivative of an operator with an Arb function with respect to argument k, at these
 * arguments; returns false if it is unknown or too large. */
bool own_derivative(struct expr *out, struct arena *a, const struct language *lang, uint16_t op,
                    unsigned k, const struct expr *arguments);
