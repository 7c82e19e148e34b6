/* Operators of one's own: what a file of operators (docs/operators.md) or a record says about them.
 * They extend the table of a language: those of the base keep their numbers, so that an expression
 * of the base is one of the extension, and none is ever changed. A record names its language by a
 * text: the base's name and the statements of the operators that it uses, in a canonical form. */
#pragma once

#include "ops/expr/ball/ball.h"
#include "ops/expr/expr.h"

enum {
    OWN_MAX = 256,       /* operators in a file */
    OWN_MAX_NODES = 200, /* of a definition or a derivative */
    OWN_MAX_DEPTH = 16,  /* of definitions within each other */
    OWN_MAX_FILE = 1 << 20,
    OWN_MAX_VALUES = 3, /* statements about the values of an operator */
};

/* With neither value nor function it has no meaning. In terms its arguments are the symbols x and
 * y. */
struct own_operator {
    struct expr value; /* n == 0: none */
    const struct ball_function *function;
    struct expr derivative[LANG_MAX_ARITY];    /* n == 0: none */
    struct ball_domain domain[LANG_MAX_ARITY]; /* has values only there; name NULL: anywhere */
    /* What its values are; where an argument has no domain, if that is real. */
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

/* What `text` of an operator is. */
const char *own_statement(struct arena *a, const char *name, unsigned arity,
                          const struct own_operator *o, const char *latex);
/* *lang becomes its extension by the operators of the text, if it lacks them; on failure it stays.
 * ERR_INPUT, with the place, also if an operator is there with another meaning, or, if that is to
 * be checked, a derivative or what is said of values is found to be false. */
enum err_code own_parse(const struct language **lang, struct arena *a,
                        const struct source_text *source, bool check, struct err *e);

/* The language that a record names. */
enum err_code language_read(const struct language **out, struct arena *a, const char *text,
                            struct err *e);
/* *lang becomes its extension by what a record names, or, if it is NULL, that language. */
enum err_code language_join(const struct language **lang, struct arena *a, const char *text,
                            struct err *e);
/* Whether expressions of the languages that two records name may stand beside each other. */
bool language_mixes(const char *text, const char *other);
/* What a record names that is made of two such. */
enum err_code language_unite(char **out, struct arena *a, const char *text, const char *other,
                             struct err *e);
/* What a record names: the language and those of its operators that are used, by number, or that
 * these need. "" is the calculus. */
char *language_text(struct arena *a, const struct language *lang, const bool *used);
char *language_text_all(struct arena *a, const struct language *lang);
char *language_text_of(struct arena *a, const struct expr *x, size_t n);
void language_mark(bool *used, const struct expr *x);
/* The calculus, or else another language, with operators without a meaning for all tokens
 * NAME/ARITY of the prefix text. */
const struct language *language_guess(struct arena *a, const struct language *base,
                                      const char *prefix);
/* x with defined operators replaced by what they stand for; false if that is too large. */
bool own_expand(struct expr *out, struct arena *a, const struct expr *x);
/* The derivative of an operator with a function by its argument k, at these arguments; false if it
 * is not known, or too large. */
bool own_derivative(struct expr *out, struct arena *a, const struct language *lang, uint16_t op,
                    unsigned k, const struct expr *arguments);
