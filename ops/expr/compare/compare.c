/* See compare.h. A point is identified by a candidate number: every variable has a value at every
 * candidate, a function of the order in which variables occur and of the number. Values of the
 * reference are stored by candidate. */
#include "ops/expr/compare/compare.h"

#include "ops/expr/ball/ball_eval.h"
#include "ops/expr/compare/design.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_PRECISION = 128,
    LEVELS = 4, /* precisions tried: the first, then doubled up to BALL_MAX_PRECISION ... */
    LEVELS_OF_CONSTANTS = 7, /* ... or 8,192 for constants */
    MAX_VARIABLES = 64,
    CELL_POINTS = 400,
    MIN_DIGITS = 12, /* digits of agreement; with fewer the precision is raised */
    EXTRA_POINTS = 8,        /* additional points for a refutation */
    /* precision used if sides agree, but to fewer bits than their smallest part needs */
    DEEP_PRECISION = 4096,
};

struct variable {
    acb_struct *values; /* by candidate; the last is free for any point */
    uint32_t filled;    /* how many are set */
};

struct candidate {
    bool tried, defined;
    bool vague;   /* x has a value, but not a narrow ball */
    int8_t level; /* the first level at which x is narrow */
    slong span;   /* ball_span of x there */
    acb_struct value;
};

struct ball_reference {
    struct ball_options options;
    struct expr x;
    struct ball_evaluator evaluator;
    struct design_variable designs[MAX_VARIABLES]; /* those of x, then those of the other side */
    struct variable variables[MAX_VARIABLES];
    size_t n_own, n_variables; /* of x, and of both */
    uint64_t salt;
    struct design_number number;
    struct candidate *candidates;
    uint32_t n_candidates;
    uint32_t n_points; /* number of defined points among the first candidates */
    uint32_t at;       /* candidate at which lookups evaluate */
    slong widen;  /* if nonzero, lookups return all points within 2^-widen of the candidate ... */
    acb_t around; /* ... as a ball */
    acb_t finer;  /* x at a level above that of its candidate */
};

/* The index of a variable; r->n_variables if it is unknown. */
static size_t find(const struct ball_reference *r, uint16_t op, const char *name)
{
    size_t i = 0;
    while (i < r->n_variables && (r->designs[i].op != op || strcmp(r->designs[i].name, name) != 0))
        i++;
    return i;
}

static void set_domain(struct design_variable *v, const struct ball_options *o)
{
    v->low = "0";
    for (size_t i = 0; v->op == X_SYM && i < o->n_domains; i++) {
        const struct ball_domain *d = &o->domains[i];
        if (strcmp(d->name, v->name) != 0)
            continue;
        bool signed_only = strcmp(d->domain, "positive") == 0 || strcmp(d->domain, "nonnegative") == 0;
        v->low = d->low ? d->low : signed_only ? "0" : NULL;
        v->high = d->high;
        if (strcmp(d->domain, "complex") == 0)
            v->kind = DESIGN_COMPLEX;
        else if (strcmp(d->domain, "integer") == 0)
            v->kind = DESIGN_INTEGER;
    }
}

/* Variables of x that are new, with values at all candidates still to be set. */
static void add_variables(struct ball_reference *r, const struct expr *x)
{
    size_t before = r->n_variables;
    r->n_variables = design_add_variables(r->designs, before, MAX_VARIABLES, x, DESIGN_REAL);
    for (size_t i = before; i < r->n_variables; i++) {
        struct variable *v = &r->variables[i];
        set_domain(&r->designs[i], &r->options);
        v->filled = 0;
        if (v->values)
            continue;
        v->values = must_calloc(r->n_candidates + 1, sizeof *v->values);
        for (uint32_t k = 0; k <= r->n_candidates; k++)
            acb_init(&v->values[k]);
    }
}

/* The value is exact in binary, and as close to the number as no term can tell. */
static void set_part(arb_t out, const fmpq_t x)
{
    slong bits = 64 + (slong)fmpz_bits(fmpq_numref(x)) + 2 * (slong)fmpz_bits(fmpq_denref(x));
    arb_set_fmpq(out, x, bits);
    mag_zero(arb_radref(out));
}

static void set_value(acb_t out, const struct design_number *x)
{
    set_part(acb_realref(out), &x->re);
    set_part(acb_imagref(out), &x->im);
}

/* All points of the curve or area on which the variable moves: real ones stay real, and complex ones
 * stay on the axis on which they are; integers have no neighbourhood. */
static const acb_struct *widen(struct ball_reference *r, size_t i)
{
    const acb_struct *value = &r->variables[i].values[r->at];
    if (!r->widen || r->designs[i].kind == DESIGN_INTEGER)
        return value;
    bool imaginary = arb_is_zero(acb_realref(value)) && !ball_is_real(value);
    acb_set(r->around, value);
    if (!imaginary)
        arb_add_error_2exp_si(acb_realref(r->around), -r->widen);
    if (!ball_is_real(value))
        arb_add_error_2exp_si(acb_imagref(r->around), -r->widen);
    return r->around;
}

static const acb_struct *look_up(void *arg, uint16_t op, const char *name)
{
    struct ball_reference *r = arg;
    size_t i = find(r, op, name);
    if (i == r->n_variables)
        return NULL;
    struct variable *v = &r->variables[i];
    for (; v->filled <= r->at && v->filled < r->n_candidates; v->filled++) {
        design_level(&r->number, &r->designs[i], (unsigned)i, r->salt, v->filled);
        set_value(&v->values[v->filled], &r->number);
    }
    return widen(r, i);
}

static bool is_complex(void *arg, uint16_t op, const char *name)
{
    const struct ball_reference *r = arg;
    size_t i = find(r, op, name);
    return i < r->n_variables && r->designs[i].kind == DESIGN_COMPLEX;
}

static int levels(const struct ball_reference *r)
{
    return r->n_variables ? LEVELS : LEVELS_OF_CONSTANTS;
}

/* Evaluates x at candidate k, at the first level at which it is narrow. */
static bool try_candidate(struct ball_reference *r, uint32_t k)
{
    struct candidate *c = &r->candidates[k];
    if (c->tried)
        return c->defined;
    c->tried = true;
    r->at = k;
    for (int level = 0;; level++) {
        const acb_struct *z = ball_evaluate(&r->evaluator, &r->x, FIRST_PRECISION << level);
        if (ball_is_narrow(z)) {
            acb_set(&c->value, z);
            c->level = (int8_t)level;
            c->span = ball_span(&r->evaluator);
            return c->defined = true;
        }
        if (r->evaluator.hopeless || level + 1 == levels(r)) {
            c->vague = acb_is_finite(z);
            return false;
        }
    }
}

/* Whether the candidate has neighbours in all directions at which the sides are defined alike: not
 * if a complex variable is on an axis. */
static bool is_inside(const struct ball_reference *r, uint32_t k)
{
    for (size_t i = 0; i < r->n_variables; i++) {
        const acb_struct *z = &r->variables[i].values[k];
        if (r->designs[i].kind == DESIGN_COMPLEX &&
            (ball_is_real(z) || arb_is_zero(acb_realref(z))))
            return false;
    }
    return true;
}

/* Whether both sides have values at the candidate, at which x is vague. */
static bool meets_vaguely(struct ball_reference *r, const struct expr *y, uint32_t k)
{
    r->at = k;
    return r->candidates[k].vague && is_inside(r, k) &&
           acb_is_finite(ball_evaluate(&r->evaluator, y, BALL_MAX_PRECISION));
}

static const acb_struct *value_at(struct ball_reference *r, uint32_t k, int level)
{
    r->at = k;
    if (level == r->candidates[k].level)
        return &r->candidates[k].value;
    acb_set(r->finer, ball_evaluate(&r->evaluator, &r->x, FIRST_PRECISION << level));
    return r->finer;
}

struct ball_reference *ball_reference_new(const struct expr *x, const struct ball_options *options)
{
    struct ball_reference *r = must_calloc(1, sizeof *r);
    if (options)
        r->options = *options;
    if (r->options.points == 0)
        r->options.points = 8;
    r->n_candidates = 4 * r->options.points + 8;
    r->candidates = must_calloc(r->n_candidates + 1, sizeof *r->candidates);
    for (uint32_t k = 0; k <= r->n_candidates; k++)
        acb_init(&r->candidates[k].value);
    r->x = *x;
    r->evaluator.lookup = look_up;
    r->evaluator.is_complex = is_complex;
    r->evaluator.lookup_arg = r;
    acb_init(r->around);
    acb_init(r->finer);
    design_number_init(&r->number);
    add_variables(r, x);
    r->n_own = r->n_variables;
    r->salt = design_salt(x, r->designs, r->n_own);
    for (uint32_t k = 0; k < r->n_candidates && r->n_points < r->options.points; k++)
        r->n_points += try_candidate(r, k);
    return r;
}

void ball_reference_free(struct ball_reference *r)
{
    if (!r)
        return;
    for (uint32_t k = 0; k <= r->n_candidates; k++)
        acb_clear(&r->candidates[k].value);
    for (size_t i = 0; i < MAX_VARIABLES && r->variables[i].values; i++) {
        for (uint32_t k = 0; k <= r->n_candidates; k++)
            acb_clear(&r->variables[i].values[k]);
        free(r->variables[i].values);
    }
    free(r->candidates);
    design_number_clear(&r->number);
    acb_clear(r->around);
    acb_clear(r->finer);
    ball_evaluator_free(&r->evaluator);
    free(r);
}

uint32_t ball_reference_points(const struct ball_reference *r)
{
    return r->n_points;
}

/* Decimal digits to which two overlapping balls agree. */
static int agreement(const acb_struct *x, const acb_struct *y)
{
    mag_t error;
    mag_init(error);
    ball_error(error, x, y);
    double digits = mag_is_zero(error) ? 1000 : -mag_get_d_log2_approx(error) * 0.30103;
    mag_clear(error);
    return digits < 0 ? 0 : digits > 1000 ? 1000 : (int)digits;
}

/* Whether the sides, which differ at candidate k at this precision, differ at all points around it:
 * then they differ on an open set, not only where one of them jumps. */
static bool apart_around(struct ball_reference *r, const struct expr *y, uint32_t k,
                         slong precision)
{
    acb_t x;
    acb_init(x);
    bool apart = r->n_variables == 0;
    for (int i = 1; i <= 3 && !apart; i++) {
        r->at = k;
        r->widen = i * precision / 4;
        acb_set(x, ball_evaluate(&r->evaluator, &r->x, precision));
        const acb_struct *z = ball_evaluate(&r->evaluator, y, precision);
        apart = acb_is_finite(x) && acb_is_finite(z) && !acb_overlaps(x, z);
    }
    r->widen = 0;
    acb_clear(x);
    return apart;
}

enum outcome { AGREES, REFUTED, SKIPPED };

/* Compares at precisions that are worthwhile only for sides whose parts differ much in size. */
static enum outcome compare_deeper(struct ball_reference *r, const struct expr *y, uint32_t k,
                                   slong from, enum outcome otherwise)
{
    acb_t x;
    acb_init(x);
    enum outcome outcome = otherwise;
    for (slong p = from; p <= DEEP_PRECISION && outcome != REFUTED;
         p *= 2) {
        r->at = k;
        acb_set(x, ball_evaluate(&r->evaluator, &r->x, p));
        const acb_struct *z = ball_evaluate(&r->evaluator, y, p);
        if (!acb_is_finite(x) || !acb_is_finite(z) ||
            (r->options.real_values && !(ball_is_real(x) && ball_is_real(z))))
            break;
        if (!acb_overlaps(x, z) && apart_around(r, y, k, p))
            outcome = REFUTED;
    }
    acb_clear(x);
    return outcome;
}

static enum outcome compare_at(struct ball_compare *out, int *digits, struct ball_reference *r,
                               const struct expr *y, uint32_t k)
{
    for (int level = r->candidates[k].level;; level++) {
        const acb_struct *x = value_at(r, k, level);
        const acb_struct *z = ball_evaluate(&r->evaluator, y, FIRST_PRECISION << level);
        if (r->evaluator.hopeless)
            return SKIPPED;
        if (acb_is_finite(z) && acb_is_finite(x)) {
            slong span = ball_span(&r->evaluator);
            out->meet = out->meet || is_inside(r, k);
            if (r->options.real_values && !(ball_is_real(x) && ball_is_real(z)))
                return SKIPPED;
            span = span > r->candidates[k].span ? span : r->candidates[k].span;
            bool apart = !acb_overlaps(x, z);
            if (apart && apart_around(r, y, k, FIRST_PRECISION << level))
                return REFUTED;
            *digits = apart ? 0 : agreement(x, z);
            if (*digits >= MIN_DIGITS && ball_agrees(x, z, span))
                return AGREES;
            if (level + 1 == levels(r))
                return compare_deeper(r, y, k, FIRST_PRECISION << levels(r),
                                      *digits >= MIN_DIGITS ? AGREES : SKIPPED);
        }
        if (level + 1 == levels(r))
            return SKIPPED;
    }
}

static void set_witness(struct ball_compare *out, struct ball_reference *r, const struct expr *y,
                        uint32_t k)
{
    struct buf b = {0};
    for (size_t i = 0; i < r->n_variables; i++) {
        buf_printf(&b, "%s%s%s = ", i ? ", " : "", r->designs[i].op == X_VAR ? "?" : "",
                   r->designs[i].name);
        ball_write(&b, &r->variables[i].values[k], 17);
    }
    if (b.len)
        buf_puts(&b, ": ");
    slong precision = r->evaluator.precision;
    acb_t x;
    acb_init(x);
    r->at = k;
    acb_set(x, ball_evaluate(&r->evaluator, &r->x, precision));
    ball_write_against(&b, x, ball_evaluate(&r->evaluator, y, precision));
    acb_clear(x);
    size_t n = b.len < sizeof out->witness ? b.len : sizeof out->witness - 1;
    memcpy(out->witness, b.data, n);
    out->witness[n] = 0;
    buf_free(&b);
}

/* Compares at candidate k, at which x is defined. */
static void compare_candidate(struct ball_compare *out, struct ball_reference *r,
                              const struct expr *y, uint32_t k)
{
    int digits = 0;
    switch (compare_at(out, &digits, r, y, k)) {
    case AGREES:
        if (out->points++ == 0 || digits < out->digits)
            out->digits = digits;
        out->verdict = BALL_EQUAL;
        break;
    case REFUTED:
        out->points++;
        out->digits = 0;
        out->verdict = BALL_DIFFERENT;
        set_witness(out, r, y, k);
        break;
    case SKIPPED: break;
    }
}

void ball_reference_compare(struct ball_compare *out, struct ball_reference *r,
                            const struct expr *y)
{
    uint32_t extra = 0, seen = 0;
    *out = (struct ball_compare){.verdict = BALL_UNDEFINED};
    r->n_variables = r->n_own;
    add_variables(r, y);
    for (uint32_t k = 0; k < r->n_candidates && out->verdict != BALL_DIFFERENT; k++) {
        bool planned = seen < r->n_points;
        if (!planned && (out->points > 0 || extra++ == EXTRA_POINTS))
            break;
        if (!try_candidate(r, k)) {
            out->meet = out->meet || meets_vaguely(r, y, k);
            continue;
        }
        seen++;
        compare_candidate(out, r, y, k);
        if (r->n_variables == 0) /* there is only one point */
            break;
    }
}

/* Agreement at the first precision shows less than agreement at a high one. */
static void compare_at_once_deeply(struct ball_compare *out, struct ball_reference *r,
                                   const struct expr *y)
{
    for (uint32_t k = 0; k < r->n_candidates; k++)
        if (r->candidates[k].tried && r->candidates[k].defined) {
            if (compare_deeper(r, y, k, BALL_MAX_PRECISION, SKIPPED) == REFUTED) {
                out->verdict = BALL_DIFFERENT;
                out->digits = 0;
                set_witness(out, r, y, k);
            }
            return;
        }
}

void ball_reference_compare_cells(struct ball_compare *out, struct ball_reference *r,
                                  const struct expr *y)
{
    const struct expr sides[2] = {r->x, *y};
    const struct design_limits limits = {.points = CELL_POINTS, .salt = r->salt};
    uint32_t free = r->n_candidates;
    if (out->verdict == BALL_EQUAL)
        compare_at_once_deeply(out, r, y);
    if (r->n_variables == 0 || out->verdict == BALL_DIFFERENT)
        return;
    struct design_points points;
    design_cells(&points, r->designs, r->n_variables, sides, 2, NULL, 0, &limits);
    for (size_t k = 0; k < points.n && out->verdict != BALL_DIFFERENT; k++) {
        for (size_t i = 0; i < r->n_variables; i++)
            set_value(&r->variables[i].values[free], &design_point(&points, k)[i]);
        r->candidates[free].tried = false;
        if (try_candidate(r, free))
            compare_candidate(out, r, y, free);
        else
            out->meet = out->meet || meets_vaguely(r, y, free);
    }
    design_points_free(&points);
}

void ball_compare(struct ball_compare *out, const struct expr *x, const struct expr *y,
                  const struct ball_options *options)
{
    struct ball_reference *r = ball_reference_new(x, options);
    ball_reference_compare(out, r, y);
    ball_reference_free(r);
}
