/* Numbers as elements. Rational multiples of one number share a generator; square roots of
 * rationals have a relation. */
#include "ops/expr/normal/normal_field.h"

static const element *rational_multiple(struct field *f, const ca_t v, const element *of)
{
    fmpq_t q;
    fmpq_init(q);
    element *x = NULL;
    if (ca_get_fmpq(q, v, f->numbers)) {
        x = field_new(f);
        fmpz_mpoly_q_set_fmpq(x, q, f->ring);
    }
    fmpq_clear(q);
    return x ? field_mul(f, x, of) : NULL;
}

static const element *new_constant(struct field *f, const ca_t v, bool real)
{
    struct generator c = {
        .kind = GENERATOR_CONSTANT, .real = real, .positive = real, .smooth = true};
    size_t g = field_add_generator(f, &c);
    if (g == FIELD_MAX_GENERATORS)
        return NULL;
    ca_set(&f->g[g].value, v, f->numbers);
    if (!real)
        return field_generator(f, g);
    acb_t ball;
    ca_t square, pi;
    acb_init(ball);
    ca_init(square, f->numbers);
    ca_init(pi, f->numbers);
    ca_mul(square, v, v, f->numbers);
    const element *of = rational_multiple(f, square, field_rational(f, 1, 1));
    if (of) { /* sqrt(2)^2 = 2 */
        f->g[g].power = 2;
        f->g[g].of = of;
    }
    ca_get_acb(ball, v, 128, f->numbers);
    bool negative = arb_is_negative(acb_realref(ball));
    f->g[g].positive = negative || arb_is_positive(acb_realref(ball));
    if (negative)
        ca_neg(&f->g[g].value, v, f->numbers);
    ca_pi(pi, f->numbers);
    f->g[g].is_pi = ca_check_equal(&f->g[g].value, pi, f->numbers) == T_TRUE;
    acb_clear(ball);
    ca_clear(square, f->numbers);
    ca_clear(pi, f->numbers);
    const element *x = field_generator(f, g);
    return negative ? field_neg(f, x) : x;
}

/* A number, which is real if `real`; else this is unknown. */
static const element *part(struct field *f, const ca_t v, bool real)
{
    const element *x = rational_multiple(f, v, field_rational(f, 1, 1));
    ca_t ratio;
    ca_init(ratio, f->numbers);
    for (size_t g = 1; g < f->n && !x; g++)
        if (f->g[g].kind == GENERATOR_CONSTANT) {
            ca_div(ratio, v, &f->g[g].value, f->numbers);
            x = rational_multiple(f, ratio, field_generator(f, g));
        }
    ca_clear(ratio, f->numbers);
    return x ? x : new_constant(f, v, real);
}

const element *field_number(struct field *f, const char *text)
{
    element *x = field_new(f);
    fmpq_t q;
    fmpq_init(q);
    fmpq_set_str(q, text, 10);
    fmpz_mpoly_q_set_fmpq(x, q, f->ring);
    fmpq_clear(q);
    return x;
}

const element *field_constant(struct field *f, const ca_t v)
{
    if (ca_check_is_number(v, f->numbers) != T_TRUE)
        return NULL;
    if (ca_check_is_real(v, f->numbers) == T_TRUE)
        return part(f, v, true);
    ca_t re, im;
    ca_init(re, f->numbers);
    ca_init(im, f->numbers);
    ca_re(re, v, f->numbers);
    ca_im(im, v, f->numbers);
    const element *x;
    if (ca_check_is_real(re, f->numbers) == T_TRUE && ca_check_is_real(im, f->numbers) == T_TRUE)
        x = field_add(f, part(f, re, true), field_mul(f, field_generator(f, 0), part(f, im, true)));
    else
        x = part(f, v, false);
    ca_clear(re, f->numbers);
    ca_clear(im, f->numbers);
    return x;
}

const element *field_named(struct field *f, char name)
{
    ca_t v;
    ca_init(v, f->numbers);
    if (name == 'e') {
        ca_one(v, f->numbers);
        ca_exp(v, v, f->numbers);
    } else {
        ca_pi(v, f->numbers);
    }
    const element *x = field_constant(f, v);
    ca_clear(v, f->numbers);
    return x;
}
