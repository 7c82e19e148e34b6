/* Levels of single variables, and the orthogonal array that combines them; see design.h. */
#include "base/rng.h"
#include "ops/expr/compare/design.h"
#include "ops/expr/rational.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEVELS = 13,
    INTEGER_STEP = 14, /* after all levels, the next ones are this much larger */
    SCALE = 20, /* bits after the point */
    FIRST = LEVELS * LEVELS, /* points, with short numbers; later ones are spread more widely */
};

/* In millionths. A prime number of each, so that the array is orthogonal; moderate ones first. */
static const int positive[LEVELS] = {1250000, 500000,  3000000, 200000,   7000000, 750000,    1125000,
                                     33000,   20000000, 2000000, 1000, 100000000, 1000000000};
static const int real[LEVELS] = {1250000,  -500000, 3000000,   -1250000, 500000,      -3000000, 750000,
                                 33000,    -30000000, -33000, 30000000, -1000000000, 1000};
static const int within[LEVELS] = {437500, 833333, 200000, 950000, 50000, 666667, 333333,
                                   1000,   999000, 600000, 111111, 888889, 10};
static const int integer[LEVELS] = {2, -1, 3, 1, -2, 5, -4, 0, 7, -9, 12, -13, 101};
static const int above[LEVELS] = {1, 0, 2, 3, 5, 8, 4, 13, 21, 10, 40, 101, 1000};
/* Some are on the axes, where the cuts are. */
static const int complex_re[LEVELS] = {1200000, -800000, 500000,  -1750000, 3000000, 0,       -1500000,
                                       200000,  2000000, 0,       -5000000, 500000,  -33000};
static const int complex_im[LEVELS] = {750000, 333333, -1250000, -400000, 5000000, 750000, 0,
                                       -33000, 0,      -1666667, 2000000, 0,      125000};

void design_number_init(struct design_number *x)
{
    fmpq_init(&x->re);
    fmpq_init(&x->im);
}

void design_number_clear(struct design_number *x)
{
    fmpq_clear(&x->re);
    fmpq_clear(&x->im);
}

void design_number_set(struct design_number *out, const struct design_number *x)
{
    fmpq_set(&out->re, &x->re);
    fmpq_set(&out->im, &x->im);
}

void design_points_free(struct design_points *p)
{
    for (size_t i = 0; i < p->n * p->n_variables; i++)
        design_number_clear(&p->at[i]);
    free(p->at);
    *p = (struct design_points){0};
}

const struct design_number *design_point(const struct design_points *p, size_t k)
{
    return &p->at[k * p->n_variables];
}

static size_t find(const struct design_variable *all, size_t n, const struct expr_node *x)
{
    size_t i = 0;
    while (i < n && (all[i].op != x->op || strcmp(all[i].name, x->leaf) != 0))
        i++;
    return i;
}

size_t design_add_variables(struct design_variable *all, size_t n, size_t max, const struct expr *x,
                            enum design_kind kind)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expr_node *v = &x->nodes[i];
        if (v->op != X_VAR && (v->op != X_SYM || lang_is_constant(v->leaf)))
            continue;
        if (find(all, n, v) == n && n < max)
            all[n++] = (struct design_variable){.op = v->op, .name = v->leaf, .kind = kind};
    }
    return n;
}

uint64_t design_salt(const struct expr *x, const struct design_variable *all, size_t n)
{
    uint64_t h = 1;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expr_node *v = &x->nodes[i];
        size_t k = v->leaf && v->op != X_NUM ? find(all, n, v) : n;
        h = rng_mix(h ^ v->op);
        h = k < n ? rng_mix(h ^ k) : v->leaf ? rng_mix_text(h, v->leaf) : h;
    }
    return h;
}

/* ---- levels ---- */

/* Binary fractions, so that evaluation starts with short numbers. */
static void set(fmpq_t out, slong millionths)
{
    fmpq_set_si(out, millionths * (1L << SCALE) / 1000000, 1UL << SCALE);
}

/* Moves x towards zero, first by less than an eighth, later by less than seven. */
static void vary(fmpq_t x, uint64_t u, uint32_t k)
{
    fmpq_t factor;
    fmpq_init(factor);
    slong all = k < FIRST ? 1 << 10 : 1 << 20, part = k < FIRST ? all / 8 : all - all / 8;
    fmpq_set_si(factor, all - (slong)(u % (uint64_t)part), (ulong)all);
    fmpq_mul(x, x, factor);
    fmpq_clear(factor);
}

static void to_multiple_of_half(fmpq_t x)
{
    fmpz_t q;
    fmpz_init(q);
    fmpq_mul_2exp(x, x, 1);
    fmpz_tdiv_q(q, fmpq_numref(x), fmpq_denref(x));
    if (!fmpz_is_zero(q))
        fmpq_set_fmpz(x, q);
    fmpq_div_2exp(x, x, 1);
    fmpz_clear(q);
}

static void number(fmpq_t out, const char *text)
{
    fmpq_set_str(out, text, 10);
}

/* Some points are short numbers, at which special values occur. */
static bool is_plain(uint32_t k)
{
    return k % 4 == 3 && k < FIRST;
}

/* A real number of an interval with one end or two. */
static void set_between(fmpq_t out, const struct design_variable *v, unsigned level, uint64_t u,
                        uint32_t k)
{
    fmpq_t end;
    fmpq_init(end);
    set(out, v->low && v->high ? within[level] : positive[level]);
    if (is_plain(k) && !(v->low && v->high))
        to_multiple_of_half(out);
    else if (!is_plain(k))
        vary(out, u, k);
    number(end, v->low ? v->low : v->high);
    if (v->low && v->high) {
        fmpq_t width;
        fmpq_init(width);
        number(width, v->high);
        fmpq_sub(width, width, end);
        fmpq_mul(out, out, width);
        fmpq_clear(width);
    }
    if (v->low)
        fmpq_add(out, end, out);
    else
        fmpq_sub(out, end, out);
    fmpq_clear(end);
}

static void set_integer(fmpq_t out, const struct design_variable *v, unsigned level, uint32_t epoch)
{
    fmpz_t k, end;
    fmpz_init(k);
    fmpz_init(end);
    fmpz_set_si(k, (v->low || v->high ? above : integer)[level]);
    slong more = INTEGER_STEP * (slong)epoch;
    if (epoch)
        fmpz_add_si(k, k, fmpz_sgn(k) < 0 ? -more : more);
    if (v->low || v->high) {
        number(out, v->low ? v->low : v->high);
        if (v->low)
            fmpz_cdiv_q(end, fmpq_numref(out), fmpq_denref(out));
        else
            fmpz_fdiv_q(end, fmpq_numref(out), fmpq_denref(out));
        if (v->low)
            fmpz_add(k, end, k);
        else
            fmpz_sub(k, end, k);
    }
    fmpq_set_fmpz(out, k);
    fmpz_clear(k);
    fmpz_clear(end);
}

/* The array: rows (a, b, c) in the base LEVELS, column i has a + i b + i^2 c. Its first rows differ
 * in all columns. */
void design_level(struct design_number *out, const struct design_variable *v, unsigned index,
                  uint64_t salt, uint32_t k)
{
    uint32_t a = k % LEVELS, b = k / LEVELS + 1 + a, c = k / FIRST;
    unsigned level = (a + index * b + index * index * c) % LEVELS;
    uint64_t u = rng_at(salt, index, k);
    fmpq_zero(&out->im);
    switch (v->kind) {
    case DESIGN_INTEGER: set_integer(&out->re, v, level, index ? k / FIRST : k / LEVELS); break;
    case DESIGN_REAL:
        if (v->low || v->high) {
            set_between(&out->re, v, level, u, k);
            break;
        }
        set(&out->re, real[level]);
        if (is_plain(k))
            to_multiple_of_half(&out->re);
        else
            vary(&out->re, u, k);
        break;
    case DESIGN_COMPLEX:
        set(&out->re, complex_re[level]);
        set(&out->im, complex_im[level]);
        vary(&out->re, u, k);
        vary(&out->im, rng_mix(u), k);
        break;
    }
}
