/* Rational functions over Q in generators, which are added as needed. A generator may have a
 * relation: generator^power is a function of earlier ones. Functions return NULL where they give
 * up: a zero denominator, too many generators, too much work. All functions of this folder that
 * take an element take NULL as well, of which nothing is known: they return NULL, false or sign 0.
 * The field owns all elements. */
#pragma once

#include "ops/expr/ball/ball.h"

#include <calcium/ca.h>
#include <calcium/fmpz_mpoly_q.h>

typedef fmpz_mpoly_q_struct element;

enum { FIELD_MAX_GENERATORS = 24, FIELD_WORK = 400000 };

enum generator_kind {
    GENERATOR_I, /* number 0, I^2 = -1 */
    GENERATOR_VARIABLE,
    GENERATOR_CONJUGATE,   /* of a complex variable */
    GENERATOR_CONSTANT,    /* an irrational number */
    GENERATOR_EXPONENTIAL, /* e^(exponent of its family / an integer) */
    GENERATOR_OWN,         /* a user-defined operator whose derivative alone is known */
    GENERATOR_LN,          /* principal logarithm of a function */
    GENERATOR_LN_ABS,      /* ln |f|, f real */
    GENERATOR_ARG,         /* of a function that is not real */
};

struct generator {
    enum generator_kind kind;
    const struct expr_node *variable; /* for OWN: the term */
    const char *low, *high;           /* bounds of a real variable or positive root, or NULL */
    ca_struct value;                  /* of a constant */
    const element *of; /* argument of LN, LN_ABS, ARG; for EXPONENTIAL: its power, if it has one */
    const element *arguments[LANG_MAX_ARITY], *partial[LANG_MAX_ARITY]; /* of OWN, or NULL */
    ulong power;                                                        /* 0: no relation */
    size_t family;
    size_t partner; /* number of the conjugate variable, or 0 */
    bool real, positive, integer, is_pi;
    bool smooth; /* analytic on the whole, connected, domain of the variables */
};

/* Exponentials of rational multiples of one exponent. */
struct family {
    const element *exponent;
    slong n;             /* the multiples are of 1/n */
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
    struct arena arena; /* for numbers as text */
    element **elements;
    size_t n_elements, cap_elements;
    size_t work; /* how many products of terms may still be computed */
};

/* `work` bounds the products of terms, FIELD_WORK for a proof: then every operation returns NULL.
 */
struct field *field_open(const struct language *lang, const struct ball_domain *domains, size_t n,
                         size_t work);
void field_close(struct field *f);

/* ---- elements ---- */
element *field_new(struct field *f); /* zero */
const element *field_rational(struct field *f, slong p, ulong q);
const element *field_integer(struct field *f, const fmpz_t n);
/* Returns false if x is not a rational number. */
bool field_get_rational(fmpq_t out, const struct field *f, const element *x);
const element *field_generator(struct field *f, size_t g);
const element *field_polynomial(struct field *f, const fmpz_mpoly_t p);
const element *field_add(struct field *f, const element *x, const element *y);
const element *field_sub(struct field *f, const element *x, const element *y);
const element *field_neg(struct field *f, const element *x);
const element *field_mul(struct field *f, const element *x, const element *y);
const element *field_div(struct field *f, const element *x, const element *y);
const element *field_power(struct field *f, const element *x, slong n);
/* Applies the relations and removes I from the denominator. */
const element *field_reduce(struct field *f, const element *x);
/* Whether x is proved to be zero. */
bool field_is_zero(struct field *f, const element *x);
bool field_equal(struct field *f, const element *x, const element *y);
/* Replaces each generator by its value; returns NULL if values[g] is NULL for one that occurs. */
const element *field_substitute(struct field *f, const element *x, const element *const *values);
/* Sets used[g] for each generator that occurs; all of them for NULL. */
void field_used(const struct field *f, bool *used, const element *x);

/* ---- generators ---- */
/* Returns its number, or FIELD_MAX_GENERATORS if there are too many. */
size_t field_add_generator(struct field *f, const struct generator *g);
/* Whether p is small enough to be factored: FLINT does not bound its work. */
bool field_factors(const struct field *f, const fmpz_mpoly_t p);
bool field_is_constant(const struct field *f, const element *x);
/* The value of a constant element. */
void field_value(ca_t out, struct field *f, const element *x);
const element *field_number(struct field *f, const char *text); /* "3/2" */
/* `name` is 'e', or 'p' for pi. */
const element *field_named(struct field *f, char name);
/* Returns n such that exponential g is e^(exponent of its family / n). */
slong field_root_of(const struct field *f, size_t g);
/* A number, as far as possible as a function of real constants. */
const element *field_constant(struct field *f, const ca_t v);
