/* Rational functions over Q in generators, which are added as they are needed. A generator may have
 * a relation, generator^power = a function of earlier ones. Functions return NULL where they give
 * up: a zero denominator, too many generators, too much work. Everything made belongs to the field.
 */
#pragma once

#include "ops/expr/ball/ball.h"

#include <calcium/ca.h>
#include <calcium/fmpz_mpoly_q.h>

typedef fmpz_mpoly_q_struct element;

enum { FIELD_MAX_GENERATORS = 24, FIELD_MAX_WORK = 400000 };

enum generator_kind {
    GENERATOR_I, /* number 0, I^2 = -1 */
    GENERATOR_VARIABLE,
    GENERATOR_CONJUGATE,   /* of a complex variable */
    GENERATOR_CONSTANT,    /* a number that is not rational */
    GENERATOR_EXPONENTIAL, /* e^(exponent of its family / an integer) */
    GENERATOR_OWN,         /* an operator of one's own, of which only the derivative is known */
    GENERATOR_LN,          /* of a function, principal */
    GENERATOR_LN_ABS,      /* ln |f|, f real */
    GENERATOR_ARG,         /* of a function that is not real */
};

struct generator {
    enum generator_kind kind;
    const struct expr_node *variable; /* or the term, of OWN */
    const char *low, *high; /* of a real variable, or a root that is positive: numbers, or NULL */
    ca_struct value;        /* of a constant */
    const element *of; /* argument of LN, LN_ABS, ARG; of EXPONENTIAL: its power, if it has one */
    const element *arguments[LANG_MAX_ARITY], *partial[LANG_MAX_ARITY]; /* of OWN; NULL: unknown */
    ulong power;                                                        /* 0: no relation */
    size_t family;
    size_t partner; /* variables and conjugates: each other's number, or 0 */
    bool real, positive, integer, is_pi;
    bool smooth; /* analytic on the whole domain of the variables, which is connected */
};

/* Exponentials of the rational multiples of one exponent. */
struct family {
    const element *exponent;
    slong n;             /* ... of multiples of 1/n */
    const element *unit; /* e^(exponent/n) */
};

struct field {
    fmpz_mpoly_ctx_t ring;
    struct generator g[FIELD_MAX_GENERATORS];
    size_t n;
    struct family families[2 * FIELD_MAX_GENERATORS];
    size_t n_families;
    const struct language *lang;
    const struct ball_domain *domains;
    size_t n_domains;
    ca_ctx_t numbers;
    struct arena arena; /* of numbers as text */
    element **elements;
    size_t n_elements, cap_elements;
    size_t work;
};

struct field *field_open(const struct language *lang, const struct ball_domain *domains, size_t n);
void field_close(struct field *f);

/* ---- elements ---- */
element *field_new(struct field *f); /* zero */
const element *field_rational(struct field *f, slong p, ulong q);
const element *field_integer(struct field *f, const fmpz_t n);
/* False: it is no rational number. */
bool field_get_rational(fmpq_t out, const struct field *f, const element *x);
const element *field_generator(struct field *f, size_t g);
const element *field_polynomial(struct field *f, const fmpz_mpoly_t p);
const element *field_add(struct field *f, const element *x, const element *y);
const element *field_sub(struct field *f, const element *x, const element *y);
const element *field_neg(struct field *f, const element *x);
const element *field_mul(struct field *f, const element *x, const element *y);
const element *field_div(struct field *f, const element *x, const element *y);
const element *field_power(struct field *f, const element *x, slong n);
/* With the relations applied, and without I below. */
const element *field_reduce(struct field *f, const element *x);
/* Proved to be zero. */
bool field_is_zero(struct field *f, const element *x);
bool field_equal(struct field *f, const element *x, const element *y);
/* Each generator replaced by its value; values[g] NULL, of one that occurs: gives up. */
const element *field_substitute(struct field *f, const element *x, const element *const *values);
/* The generators that occur: sets used[g]. */
void field_used(const struct field *f, bool *used, const element *x);

/* ---- generators ---- */
/* Returns its number, or FIELD_MAX_GENERATORS where there are too many. */
size_t field_add_generator(struct field *f, const struct generator *g);
/* Whether it is small enough to be factored: FLINT knows no bounds. */
bool field_factors(const struct field *f, const fmpz_mpoly_t p);
bool field_is_constant(const struct field *f, const element *x);
/* The value of a constant element. */
void field_value(ca_t out, struct field *f, const element *x);
/* A rational as text: "3/2". */
const element *field_number(struct field *f, const char *text); /* "3/2" */
/* 'e' or 'p' for pi. */
const element *field_named(struct field *f, char name);
/* An exponential is e^(exponent of its family / this). */
slong field_root_of(const struct field *f, size_t g);
/* A number, over real constants as far as possible. */
const element *field_constant(struct field *f, const ca_t v);
