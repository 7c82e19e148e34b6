/* Enclosures by ball arithmetic. A sign is known if the domain divides into boxes on each of which
 * the enclosure has that sign; at a bound of the interval of the only variable a zero is allowed if
 * the derivative has one sign on the last box. */
#include "ops/expr/normal/normal_range.h"

#include "ops/expr/ball/ball_eval.h"
#include "ops/expr/normal/normal_derive.h"

#include <string.h>

enum { PRECISION = 64, MAX_BOXES = 300, MAX_DEPTH = 12 };

struct box {
    struct field *f;
    arb_struct variables[FIELD_MAX_GENERATORS];
    acb_struct values[FIELD_MAX_GENERATORS];
    bool known[FIELD_MAX_GENERATORS];
};

static bool evaluate(acb_t out, struct box *b, const element *x);

static bool exponential(acb_t z, struct box *b, size_t i)
{
    const struct generator *g = &b->f->g[i];
    bool root = g->power && g->positive;
    if (!evaluate(z, b, root ? g->of : b->f->families[g->family].exponent))
        return false;
    if (root) { /* the radicand is nonnegative, even if its enclosure is not */
        arb_nonnegative_part(acb_realref(z), acb_realref(z));
        arb_root_ui(acb_realref(z), acb_realref(z), g->power, PRECISION);
    } else {
        acb_div_si(z, z, field_root_of(b->f, i), PRECISION);
        acb_exp(z, z, PRECISION);
    }
    return true;
}

static bool generator_value(acb_t z, struct box *b, size_t i)
{
    const struct generator *g = &b->f->g[i];
    bool ok = g->kind < GENERATOR_LN || evaluate(z, b, g->of);
    switch (g->kind) {
    case GENERATOR_I: acb_onei(z); break;
    case GENERATOR_VARIABLE:
        ok = g->low && g->high;
        if (ok)
            acb_set_arb(z, &b->variables[i]);
        break;
    case GENERATOR_CONJUGATE:
    case GENERATOR_OWN: ok = false; break;
    case GENERATOR_CONSTANT: ca_get_acb(z, &g->value, PRECISION, b->f->numbers); break;
    case GENERATOR_EXPONENTIAL: ok = exponential(z, b, i); break;
    case GENERATOR_LN: acb_log(z, z, PRECISION); break;
    case GENERATOR_LN_ABS:
        acb_abs(acb_realref(z), z, PRECISION);
        arb_log(acb_realref(z), acb_realref(z), PRECISION);
        break;
    case GENERATOR_ARG: acb_arg(acb_realref(z), z, PRECISION); break;
    }
    if (ok && g->real)
        arb_zero(acb_imagref(z));
    return ok && acb_is_finite(z);
}

static bool evaluate(acb_t out, struct box *b, const element *x)
{
    bool used[FIELD_MAX_GENERATORS], ok = x != NULL;
    field_used(b->f, used, x);
    for (size_t i = 0; i < FIELD_MAX_GENERATORS && ok; i++)
        if (used[i] && !b->known[i])
            b->known[i] = ok = generator_value(&b->values[i], b, i);
    if (ok)
        fmpz_mpoly_q_evaluate_acb(out, x, b->values, PRECISION, b->f->ring);
    return ok && acb_is_finite(out);
}

static void box_begin(struct box *b, struct field *f)
{
    *b = (struct box){.f = f};
    for (size_t i = 0; i < FIELD_MAX_GENERATORS; i++) {
        arb_init(&b->variables[i]);
        acb_init(&b->values[i]);
    }
}

static void box_end(struct box *b)
{
    for (size_t i = 0; i < FIELD_MAX_GENERATORS; i++) {
        arb_clear(&b->variables[i]);
        acb_clear(&b->values[i]);
    }
}

/* Selects one of the 2^depth equal parts of the interval of a variable, and discards values
 * computed for another part. */
static void set_part(struct box *b, size_t i, ulong part, slong depth)
{
    const struct generator *g = &b->f->g[i];
    fmpq_t low, high, at;
    arb_t end;
    fmpq_init(low);
    fmpq_init(high);
    fmpq_init(at);
    arb_init(end);
    fmpq_set_str(low, g->low, 10);
    fmpq_set_str(high, g->high, 10);
    fmpq_sub(high, high, low);
    fmpq_div_2exp(high, high, (flint_bitcnt_t)depth);
    fmpq_mul_ui(at, high, part);
    fmpq_add(at, at, low);
    arb_set_fmpq(&b->variables[i], at, PRECISION);
    fmpq_add(at, at, high);
    arb_set_fmpq(end, at, PRECISION);
    arb_union(&b->variables[i], &b->variables[i], end, PRECISION);
    fmpq_clear(low);
    fmpq_clear(high);
    fmpq_clear(at);
    arb_clear(end);
    memset(b->known, 0, sizeof b->known);
}

bool range_enclose(arb_t out, struct field *f, const element *x)
{
    struct box b;
    acb_t z;
    acb_init(z);
    box_begin(&b, f);
    for (size_t i = 0; i < f->n; i++)
        if (f->g[i].kind == GENERATOR_VARIABLE && f->g[i].low && f->g[i].high)
            set_part(&b, i, 0, 0);
    bool ok = evaluate(z, &b, x);
    arb_set(out, acb_realref(z));
    box_end(&b);
    acb_clear(z);
    return ok;
}

/* ---- signs ---- */

struct search {
    struct box box;
    const element *x, *slope; /* its derivative, or NULL */
    size_t variable;
    int sign; /* sign on the boxes so far */
    unsigned boxes;
};

static int sign_of_ball(const arb_t x)
{
    return arb_is_positive(x) ? 1 : arb_is_negative(x) ? -1 : 0;
}

static int sign_on(struct search *s, const element *x, ulong part, slong depth)
{
    acb_t z;
    acb_init(z);
    set_part(&s->box, s->variable, part, depth);
    int sign = evaluate(z, &s->box, x) ? sign_of_ball(acb_realref(z)) : 0;
    acb_clear(z);
    return sign;
}

/* Computes sines and cosines of rational multiples of pi exactly, with Calcium, generator by
 * generator. */
static bool exact_value(ca_t out, struct search *s, size_t i, bool high)
{
    struct field *f = s->box.f;
    const struct generator *g = &f->g[i];
    const element *values[FIELD_MAX_GENERATORS], *exponent;
    if (g->kind == GENERATOR_I || g->kind == GENERATOR_CONSTANT) {
        ca_set(out, &g->value, f->numbers);
        return true;
    }
    if (g->kind != GENERATOR_EXPONENTIAL || g->power)
        return false;
    exponent = f->families[g->family].exponent;
    for (size_t k = 0; k < f->n; k++)
        values[k] = k == s->variable ? field_number(f, high ? f->g[k].high : f->g[k].low)
                    : k == 0 || f->g[k].kind == GENERATOR_CONSTANT ? field_generator(f, k)
                                                                   : NULL;
    exponent = field_div(f, field_substitute(f, exponent, values),
                         field_rational(f, field_root_of(f, i), 1));
    if (!exponent)
        return false;
    field_value(out, f, exponent);
    ca_exp(out, out, f->numbers);
    return true;
}

static bool is_exactly_zero_at(struct search *s, bool high)
{
    struct field *f = s->box.f;
    const element *values[FIELD_MAX_GENERATORS] = {0};
    bool used[FIELD_MAX_GENERATORS], ok = true;
    field_used(f, used, s->x);
    for (size_t i = 0; i < FIELD_MAX_GENERATORS && ok; i++) {
        ca_t v;
        if (!used[i])
            continue;
        if (i == s->variable) {
            values[i] = field_number(f, high ? f->g[i].high : f->g[i].low);
            continue;
        }
        ca_init(v, f->numbers);
        ok = exact_value(v, s, i, high) && (values[i] = field_constant(f, v));
        ca_clear(v, f->numbers);
    }
    return ok && field_is_zero(f, field_substitute(f, s->x, values));
}

/* Whether x is exactly zero at a bound of the interval. */
static bool is_zero_at(struct search *s, bool high)
{
    const struct generator *g = &s->box.f->g[s->variable];
    acb_t z;
    acb_init(z);
    ball_set_number(z, high ? g->high : g->low, PRECISION);
    arb_set(&s->box.variables[s->variable], acb_realref(z));
    memset(s->box.known, 0, sizeof s->box.known);
    bool zero = evaluate(z, &s->box, s->x) && arb_contains_zero(acb_realref(z)) &&
                (arb_is_zero(acb_realref(z)) || is_exactly_zero_at(s, high));
    acb_clear(z);
    return zero;
}

/* The sign of values next to a zero at the bound, from the slope. */
static int sign_at_end(struct search *s, ulong part, slong depth)
{
    ulong last = ((ulong)1 << depth) - 1;
    if (!s->slope || (part && part != last) || !is_zero_at(s, part != 0))
        return 0;
    return part ? -sign_on(s, s->slope, part, depth) : sign_on(s, s->slope, part, depth);
}

static bool has_one_sign(struct search *s, ulong part, slong depth)
{
    if (++s->boxes > MAX_BOXES || depth > MAX_DEPTH)
        return false;
    int sign = sign_on(s, s->x, part, depth);
    if (!sign && depth > 0)
        sign = sign_at_end(s, part, depth);
    if (!sign)
        return has_one_sign(s, 2 * part, depth + 1) && has_one_sign(s, 2 * part + 1, depth + 1);
    bool same = !s->sign || sign == s->sign;
    s->sign = sign;
    return same;
}

/* Finds the only bounded variable. Any other variable makes values infinite. */
static bool find_variable(size_t *variable, const struct field *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->g[i].kind == GENERATOR_VARIABLE && f->g[i].low && f->g[i].high) {
            *variable = i;
            n++;
        }
    return n == 1;
}

int range_sign(struct field *f, const element *x)
{
    struct search s = {.x = x};
    if (!x || !find_variable(&s.variable, f))
        return 0;
    s.slope = normal_derive(f, x, s.variable);
    box_begin(&s.box, f);
    bool ok = has_one_sign(&s, 0, 0);
    box_end(&s.box);
    return ok ? s.sign : 0;
}
