/* Languages: which operators there are and what they mean. The 34-operator language of the E-Gen
 * paper (exp x is written pow e x) is `lang_calculus`; files may declare operators on top of a
 * language (own/own.h). `lang_boolean` and `lang_polynomial` are those of SemVec. All
 * share the numbers of enum expr_op; a row that a language lacks has an empty name. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Operators of lang_calculus; declared ones get the numbers from OP_DECLARED on. */
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

/* Operators of lang_boolean, behind the rows of the calculus, which it lacks. */
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
    LANG_PRECEDENCE_MINUS = 3, /* the sign of -x: below pow, above * */
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
    const char *token;  /* of a declared operator, "erf/1": as prefix, where nothing else tells */
    const struct own_operator *own; /* what a declared operator means; see own/own.h */
};

struct language {
    const char *name;
    const struct op_info *ops; /* by expr_op number; the leaves have arity 0 */
    uint16_t n_ops;
};

extern const struct language lang_calculus;
/* true, false, not(a), a & b, a ^ b, a | b, a => b, from tight to loose. No numbers. */
extern const struct language lang_boolean;
/* + - * over numbers; every symbol is a variable. */
extern const struct language lang_polynomial;
/* By its name, "" for the calculus; NULL if there is none. */
const struct language *lang_by_name(const char *name);
/* The same; ERR_INPUT with the names if there is none. */
enum err_code lang_named(const struct language **out, const char *name, struct err *e);
/* Whether it is this language or an extension of it. */
bool lang_is(const struct language *lang, const struct language *base);

static inline bool lang_has(const struct language *lang, unsigned op)
{
    return op < lang->n_ops && lang->ops[op].name[0];
}

/* A language with one operator more, without a meaning; lives in the arena. ERR_INPUT if the name
 * is taken. */
enum err_code lang_declare(const struct language **out, struct arena *a,
                           const struct language *base, const char *name, unsigned arity,
                           struct err *e);
/* Prefix tokens of declared operators say their arity: a reader without the declaration can read
 * them. */
static inline const char *lang_token(const struct language *lang, unsigned op)
{
    return lang->ops[op].token ? lang->ops[op].token : lang->ops[op].name;
}
_Static_assert(X_ACSC - X_ASIN == 3 && X_ASEC - X_ACOS == 3 && X_ACOT - X_ATAN == 3 &&
                   X_ACSCH - X_ASINH == 3 && X_ASECH - X_ACOSH == 3 && X_ACOTH - X_ATANH == 3,
               "an inverse and the inverse of its reciprocal are three rows apart");
/* asin of acsc, ...: acsc z = asin(1/z). */
static inline uint16_t lang_of_reciprocal(uint16_t op)
{
    return (uint16_t)(op - X_ACSC + X_ASIN);
}
static inline bool lang_is_circular(uint16_t op)
{
    return (op >= X_SIN && op <= X_COT) || (op >= X_SINH && op <= X_COTH);
}
/* sin, ..., coth as quotients of 1 and the sine and cosine, or the hyperbolic ones. */
struct lang_quotient {
    enum { LANG_ONE, LANG_SINE, LANG_COSINE } top, bottom;
};
struct lang_quotient lang_circular(uint16_t op);
/* The number of an operator by its name (aliases such as arcsin, log included) or its token, or -1.
 */
int lang_find(const struct language *lang, const char *name, size_t n);
/* pi and e: symbols with a known value. */
bool lang_is_constant(const char *symbol);
