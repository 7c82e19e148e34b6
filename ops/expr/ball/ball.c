/* Comparison of expressions at points. A point is identified by a candidate number: every variable
 * has a value at every candidate, a function of the seed, its name and the number, so that terms
 * with other variables use the same points. Values of the reference are stored by candidate. */
#include "ops/expr/ball/ball.h"

#include "ops/expr/ball/ball_eval.h"
#include "ops/expr/rational.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_PRECISION = 128,
    LEVELS = 4, /* precisions tried: the first, then doubled up to BALL_MAX_PRECISION ... */
    LEVELS_OF_CONSTANTS = 7, /* ... or 8,192 for constants */
    MIN_DIGITS = 12,         /* digits of agreement; with fewer the precision is raised */
    EXTRA_POINTS = 8,        /* additional points for a refutation */
    /* precision used if sides agree, but to fewer bits than their smallest part needs */
    DEEP_PRECISION = 4096,
};

struct variable {
    uint16_t op;
    char *name;
    bool integer, complex;
    acb_struct *values; /* indexed by candidate */
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
    struct arena arena;
    struct expr x;
    struct ball_evaluator evaluator;
    struct variable *variables;
    size_t n_variables, cap_variables;
    struct candidate *candidates;
    uint32_t n_candidates;
    uint32_t n_points; /* number of defined points among the first candidates */
    uint32_t at;       /* candidate at which lookups evaluate */
    slong widen;  /* if nonzero, lookups return all points within 2^-widen of the candidate ... */
    acb_t around; /* ... as a ball */
    acb_t finer;  /* x at a level above that of its candidate */
};

static uint64_t name_hash(uint16_t op, const char *name)
{
    uint64_t h = op == X_VAR;
    for (; *name; name++)
        h = rng_mix(h ^ (unsigned char)*name);
    return h;
}

/* Every fourth candidate is a small rational, where special values occur; the others are random. */
static double draw(const struct ball_options *o, uint64_t stream, uint32_t k)
{
    static const double special[] = {0.5, 1, 1.5, 2, 3, 0.25, 0.75, 2.5, 4, 5, -1, -0.5, -2, -3, 0};
    const size_t n = sizeof special / sizeof *special;
    uint64_t u = rng_at(o->seed, stream, k);
    if (k % 4 == 3) {
        for (size_t i = 0; i < n; i++) {
            double value = special[(u + i) % n];
            if (value >= o->low && value <= o->high)
                return value;
        }
    }
    return o->low + (o->high - o->low) * ((double)(u >> 11) * 0x1p-53);
}

/* The options for one variable: the general ones, or those of its domain. */
static struct ball_options options_of(bool *integer, const struct ball_reference *r, uint16_t op,
                                      const char *name)
{
    struct ball_options o = r->options;
    *integer = false;
    for (size_t i = 0; op == X_SYM && i < o.n_domains; i++) {
        const char *domain = o.domains[i].domain;
        const char *low = o.domains[i].low, *high = o.domains[i].high;
        if (strcmp(o.domains[i].name, name) != 0 || (strcmp(domain, "positive") == 0 && !low))
            continue;
        o.low = strcmp(domain, "nonnegative") == 0 ? 0 : -o.high;
        o.complex_points = strcmp(domain, "complex") == 0;
        *integer = strcmp(domain, "integer") == 0;
        double width = r->options.high;
        if (low || high) {
            o.low = low ? number_double(low) : number_double(high) - width;
            o.high = high ? number_double(high) : o.low + width;
        }
    }
    return o;
}

/* Real variables stay real; integers and single points have no neighbourhood. */
static const acb_struct *widen(struct ball_reference *r, const struct variable *v)
{
    const acb_struct *value = &v->values[r->at];
    if (!r->widen || v->integer || r->options.low == r->options.high)
        return value;
    acb_set(r->around, value);
    arb_add_error_2exp_si(acb_realref(r->around), -r->widen);
    if (!ball_is_real(value))
        arb_add_error_2exp_si(acb_imagref(r->around), -r->widen);
    return r->around;
}

/* Whether the domain of the variable contains the value. */
static bool admits(const struct ball_reference *r, uint16_t op, const char *name,
                   const char *number)
{
    for (size_t i = 0; op == X_SYM && i < r->options.n_domains; i++) {
        const struct ball_domain *d = &r->options.domains[i];
        if (strcmp(d->name, name) == 0)
            return (!d->low || number_compare(d->low, number) < 0) &&
                   (!d->high || number_compare(number, d->high) < 0) &&
                   (strcmp(d->domain, "integer") != 0 || number_is_integer(number)) &&
                   (strcmp(d->domain, "positive") != 0 || number_sign(number) > 0) &&
                   (strcmp(d->domain, "nonnegative") != 0 || number_sign(number) >= 0);
    }
    return number_sign(number) > 0;
}

static const acb_struct *look_up(void *arg, uint16_t op, const char *name)
{
    struct ball_reference *r = arg;
    for (size_t i = 0; i < r->n_variables; i++)
        if (r->variables[i].op == op && strcmp(r->variables[i].name, name) == 0)
            return widen(r, &r->variables[i]);
    r->variables =
        vec_grow(r->variables, &r->cap_variables, r->n_variables + 1, sizeof *r->variables);
    struct variable *v = &r->variables[r->n_variables++];
    uint64_t h = name_hash(op, name);
    v->op = op;
    v->name = arena_strdup(&r->arena, name);
    v->values = arena_alloc(&r->arena, r->n_candidates * sizeof *v->values);
    struct ball_options o = options_of(&v->integer, r, op, name);
    v->complex = o.complex_points;
    double width = (o.high - o.low) / 2;
    for (uint32_t k = 0; k < r->n_candidates; k++) {
        acb_init(&v->values[k]);
        const char *number =
            k < r->options.n_numbers
                ? r->options.numbers[(k + r->n_variables - 1) % r->options.n_numbers]
                : NULL;
        if (number && admits(r, op, name, number)) {
            /* A precision beyond any evaluation, and the value is exact in binary. */
            ball_set_number(&v->values[k], number, 2 * DEEP_PRECISION);
            mag_zero(arb_radref(acb_realref(&v->values[k])));
        } else if (o.complex_points) {
            double s = (double)(rng_at(o.seed, h, k) >> 11) * 0x1p-53;
            double t = (double)(rng_at(o.seed ^ 1, h, k) >> 11) * 0x1p-53;
            acb_set_d_d(&v->values[k], o.low + 2 * width * s, width * (2 * t - 1));
        } else {
            double value = draw(&o, h, k);
            acb_set_d(&v->values[k], v->integer ? nearbyint(value) : value);
        }
    }
    return widen(r, v);
}

static bool is_complex(void *arg, uint16_t op, const char *name)
{
    const struct ball_reference *r = arg;
    for (size_t i = 0; i < r->n_variables; i++)
        if (r->variables[i].op == op && strcmp(r->variables[i].name, name) == 0)
            return r->variables[i].complex;
    return false;
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

/* Whether both sides have values at the candidate, at which x is vague. */
static bool meets_vaguely(struct ball_reference *r, const struct expr *y, uint32_t k)
{
    r->at = k;
    return r->candidates[k].vague &&
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
    if (r->options.low == 0 && r->options.high == 0) {
        r->options.low = 0.25;
        r->options.high = 4;
    }
    r->n_candidates = 4 * r->options.points + 8;
    r->candidates = must_calloc(r->n_candidates, sizeof *r->candidates);
    for (uint32_t k = 0; k < r->n_candidates; k++)
        acb_init(&r->candidates[k].value);
    r->x = *x;
    r->evaluator.lookup = look_up;
    r->evaluator.is_complex = is_complex;
    r->evaluator.lookup_arg = r;
    acb_init(r->around);
    acb_init(r->finer);
    for (uint32_t k = 0; k < r->n_candidates && r->n_points < r->options.points; k++)
        r->n_points += try_candidate(r, k);
    return r;
}

void ball_reference_free(struct ball_reference *r)
{
    if (!r)
        return;
    for (uint32_t k = 0; k < r->n_candidates; k++)
        acb_clear(&r->candidates[k].value);
    for (size_t i = 0; i < r->n_variables; i++)
        for (uint32_t k = 0; k < r->n_candidates; k++)
            acb_clear(&r->variables[i].values[k]);
    free(r->candidates);
    free(r->variables);
    acb_clear(r->around);
    acb_clear(r->finer);
    ball_evaluator_free(&r->evaluator);
    arena_free(&r->arena);
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
                                   enum outcome otherwise)
{
    acb_t x;
    acb_init(x);
    enum outcome outcome = otherwise;
    for (slong p = FIRST_PRECISION << levels(r); p <= DEEP_PRECISION && outcome != REFUTED;
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
            out->meet = true;
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
                return compare_deeper(r, y, k, *digits >= MIN_DIGITS ? AGREES : SKIPPED);
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
        buf_printf(&b, "%s%s%s = ", i ? ", " : "", r->variables[i].op == X_VAR ? "?" : "",
                   r->variables[i].name);
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

void ball_reference_compare(struct ball_compare *out, struct ball_reference *r,
                            const struct expr *y)
{
    uint32_t extra = 0, seen = 0;
    *out = (struct ball_compare){.verdict = BALL_UNDEFINED};
    for (uint32_t k = 0; k < r->n_candidates && out->verdict != BALL_DIFFERENT; k++) {
        bool planned = seen < r->n_points;
        if (!planned && (out->points > 0 || extra++ == EXTRA_POINTS))
            break;
        if (!try_candidate(r, k)) {
            out->meet = out->meet || meets_vaguely(r, y, k);
            continue;
        }
        seen++;
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
        if (r->n_variables == 0 || r->options.low == r->options.high) /* there is only one point */
            break;
    }
}

void ball_compare(struct ball_compare *out, const struct expr *x, const struct expr *y,
                  const struct ball_options *options)
{
    struct ball_reference *r = ball_reference_new(x, options);
    ball_reference_compare(out, r, y);
    ball_reference_free(r);
}
