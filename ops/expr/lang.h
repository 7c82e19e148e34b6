/* Languages: tables of operators and their meaning. `lang_calculus` is the 34-operator language of
 * the E-Gen paper (exp x is written pow e x); files may add operators to a language (own/own.h).
 * `lang_boolean` and `lang_polynomial` are the languages of SemVec. All share the numbering of enum
 * expr_op; an operator that a language lacks has an empty name. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Operators of lang_calculus; declared operators are numbered from X_DECLARED on. */
enum expr_op {
    X_NUM, /* leaf: an exact rational */
    X_SYM, /* leaf: a variable, or the constants pi and e */
    X_VAR, /* leaf: a pattern variable ?a */
    X_ADD,
    X_SUB,
    X_MUL,
    X_DIV,
    X_POW,
    X_SQRT,
    X_ABS,
    X_D,
    X_LN,
    X_SIN,
    X_COS,
    X_TAN,
    X_CSC,
    X_SEC,
    X_COT,
    X_ASIN,
    X_ACOS,
    X_ATAN,
    X_ACSC,
    X_ASEC,
    X_ACOT,
    X_SINH,
    X_COSH,
    X_TANH,
    X_CSCH,
    X_SECH,
    X_COTH,
    X_ASINH,
    X_ACOSH,
    X_ATANH,
    X_ACSCH,
    X_ASECH,
    X_ACOTH,
    X_DECLARED,
};

/* Operators of lang_boolean, numbered after those of the calculus, which it lacks. */
enum boolean_op {
    X_TRUE = X_DECLARED,
    X_FALSE,
    X_NOT,
    X_AND,
    X_XOR,
    X_OR,
    X_IMPLIES,
    X_BOOLEAN_END,
};

enum {
    LANG_MAX_OPS = 4096,
    LANG_MAX_ARITY = 2,
    LANG_PRECEDENCE_MINUS = 3, /* precedence of the sign in -x: below pow, above * */
};

struct op_info {
    const char *name; /* prefix token: "+", "pow", "asin", "d" */
    uint8_t arity;
    bool commutative;
    bool interpreted;   /* has a meaning that can be evaluated */
    const char *infix;  /* "+", NULL for functions */
    uint8_t precedence; /* of infix operators; higher binds tighter */
    const char *latex;  /* "\\sin", "\\operatorname{csch}^{-1}" */
    int16_t inverse;    /* expr_op of the inverse function, or -1 */
    bool right;         /* infix: a ^ b ^ c is a ^ (b ^ c) */
    const char *token;  /* prefix token of a declared operator, with its arity: "erf/1" */
    const struct own_operator *own; /* meaning of a declared operator; see own/own.h */
    const char *also;               /* other names that are read, separated by blanks, or NULL */
    bool shipped;                   /* comes with eqloom: own/operator_files.h */
};

struct language {
    const char *name;
    const struct op_info *ops; /* by expr_op number; the leaves have arity 0 */
    uint16_t n_ops;
    const char *const *names; /* variables that texts may write without quotes */
    size_t n_names;
};

extern const struct language lang_calculus;
/* true, false, not(a), a & b, a ^ b, a | b, a => b, from tight to loose. No numbers. */
extern const struct language lang_boolean;
/* + - * over numbers; every symbol is a variable. */
extern const struct language lang_polynomial;
/* Looks up a language by name; "" is the calculus. Returns NULL if there is no such language. */
const struct language *lang_by_name(const char *name);
/* As lang_by_name, but fails with ERR_INPUT, listing the names, if there is no such language. */
enum err_code lang_named(const struct language **out, const char *name, struct err *e);
/* Whether `lang` is `base` or an extension of it. */
bool lang_is(const struct language *lang, const struct language *base);

static inline bool lang_has(const struct language *lang, unsigned op)
{
    return op < lang->n_ops && lang->ops[op].name[0];
}

/* Extends a language by one operator without a meaning; the result is in the arena. Fails with
 * ERR_INPUT if the name is taken. */
enum err_code lang_declare(const struct language **out, struct arena *a,
                           const struct language *base, const char *name, unsigned arity,
                           struct err *e);
/* Extends a language by the name of a variable, for reading; the result is in the arena. */
void lang_declare_name(const struct language **out, struct arena *a, const struct language *base,
                       const char *name);
bool lang_has_name(const struct language *lang, const char *name, size_t n);
/* The prefix token of a declared operator includes its arity, so it can be parsed without the
 * declaration. */
static inline const char *lang_token(const struct language *lang, unsigned op)
{
    return lang->ops[op].token ? lang->ops[op].token : lang->ops[op].name;
}
_Static_assert(X_ACSC - X_ASIN == 3 && X_ASEC - X_ACOS == 3 && X_ACOT - X_ATAN == 3 &&
                   X_ACSCH - X_ASINH == 3 && X_ASECH - X_ACOSH == 3 && X_ACOTH - X_ATANH == 3,
               "an inverse and the inverse of its reciprocal are three rows apart");
/* Maps acsc to asin and so on: acsc z = asin(1/z). */
static inline uint16_t lang_of_reciprocal(uint16_t op)
{
    return (uint16_t)(op - X_ACSC + X_ASIN);
}
static inline bool lang_is_circular(uint16_t op)
{
    return (op >= X_SIN && op <= X_COT) || (op >= X_SINH && op <= X_COTH);
}
/* sin, ..., coth as quotients of 1 and the circular or hyperbolic sine and cosine. */
struct lang_quotient {
    enum { LANG_ONE, LANG_SINE, LANG_COSINE } top, bottom;
};
struct lang_quotient lang_circular(uint16_t op);
/* Finds an operator by its name (including aliases such as arcsin, log) or token; returns its
 * number, or -1 if there is none. */
int lang_find(const struct language *lang, const char *name, size_t n);
/* As lang_find for a prefix token: a declared operator has its token alone, since its name may also
 * be a variable's. */
int lang_find_token(const struct language *lang, const char *token, size_t n);

/* How LaTeX writes an operator, by its op_info.latex: as a function, or \lfloor x\rfloor,
 * \lceil x\rceil, n!, \binom{n}{k}. */
enum lang_shape { LANG_FUNCTION, LANG_FLOOR, LANG_CEILING, LANG_FACTORIAL, LANG_BINOMIAL };
enum lang_shape lang_shape(const struct op_info *op);
/* Returns the operator of this shape, or -1. */
int lang_shaped(const struct language *lang, enum lang_shape shape);
/* pi and e: symbols with a known value. */
bool lang_is_constant(const char *symbol);
