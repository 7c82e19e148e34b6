/* See line.h. */
#include "ops/expr/compare/line.h"

#include "ops/expr/compare/quotient.h"
#include "ops/expr/rational.h"

#include <arb_fmpz_poly.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PRECISION = 64,     /* at which a change of sign is looked for */
    ROOT_PRECISION = 256,
    BISECTIONS = 56,
    MAX_GRID = 4 * LINE_MAX_PLACES,
};

static const acb_struct *look_up(void *arg, uint16_t op, const char *name)
{
    const struct line *l = arg;
    for (size_t i = 0; i < l->n; i++)
        if (l->all[i].op == op && strcmp(l->all[i].name, name) == 0)
            return &l->values[i];
    return NULL;
}

static bool is_complex(void *arg, uint16_t op, const char *name)
{
    const struct line *l = arg;
    for (size_t i = 0; i < l->n; i++)
        if (l->all[i].op == op && strcmp(l->all[i].name, name) == 0)
            return l->all[i].kind == DESIGN_COMPLEX;
    return false;
}

void line_open(struct line *l, const struct design_variable *all, size_t n)
{
    *l = (struct line){.all = all, .n = n, .direction_re = 1};
    l->evaluator = (struct ball_evaluator){
        .lookup = look_up, .is_complex = is_complex, .lookup_arg = l};
    l->values = must_calloc(n ? n : 1, sizeof *l->values);
    for (size_t i = 0; i < n; i++)
        acb_init(&l->values[i]);
    for (size_t i = 0; i < LINE_MAX_PLACES; i++)
        fmpq_init(&l->places[i]);
}

void line_close(struct line *l)
{
    for (size_t i = 0; i < l->n; i++)
        acb_clear(&l->values[i]);
    free(l->values);
    for (size_t i = 0; i < LINE_MAX_PLACES; i++)
        fmpq_clear(&l->places[i]);
    ball_evaluator_free(&l->evaluator);
}

/* ---- places ---- */

static void add_place(struct line *l, const fmpq_t x, bool exact, bool bump)
{
    if (l->n_places == LINE_MAX_PLACES)
        return;
    fmpq_set(&l->places[l->n_places], x);
    l->exact[l->n_places] = exact;
    l->bump[l->n_places++] = bump;
}

static void swap(bool *x, bool *y)
{
    bool kept = *x;
    *x = *y;
    *y = kept;
}

void line_sort(struct line *l)
{
    for (size_t i = 1; i < l->n_places; i++)
        for (size_t k = i; k > 0 && fmpq_cmp(&l->places[k - 1], &l->places[k]) > 0; k--) {
            fmpq_swap(&l->places[k - 1], &l->places[k]);
            swap(&l->exact[k - 1], &l->exact[k]);
            swap(&l->bump[k - 1], &l->bump[k]);
        }
    size_t n = 0;
    for (size_t i = 0; i < l->n_places; i++) {
        if (n && fmpq_equal(&l->places[n - 1], &l->places[i])) {
            l->exact[n - 1] = l->exact[n - 1] || l->exact[i];
            l->bump[n - 1] = l->bump[n - 1] || l->bump[i];
            continue;
        }
        fmpq_swap(&l->places[n], &l->places[i]);
        l->bump[n] = l->bump[i];
        l->exact[n++] = l->exact[i];
    }
    l->n_places = n;
}

/* ---- roots of polynomials ---- */

/* The rational number of the root's ball with the least denominator, if it is a root. */
static bool find_rational(fmpq_t out, const fmpz_poly_t f, const arb_t root)
{
    fmpq_t low, high, value;
    arf_t bound;
    fmpq_init(low);
    fmpq_init(high);
    fmpq_init(value);
    arf_init(bound);
    arb_get_lbound_arf(bound, root, 2 * ROOT_PRECISION);
    arf_get_fmpq(low, bound);
    arb_get_ubound_arf(bound, root, 2 * ROOT_PRECISION);
    arf_get_fmpq(high, bound);
    fmpq_simplest_between(out, low, high);
    fmpz_poly_evaluate_fmpq(value, f, out);
    bool found = fmpq_is_zero(value);
    arf_clear(bound);
    fmpq_clear(low);
    fmpq_clear(high);
    fmpq_clear(value);
    return found;
}

/* Adds the real roots, and the real parts of the others, near which a function is steep. */
static void add_roots(struct line *l, const fmpz_poly_t f, bool bump)
{
    slong degree = fmpz_poly_degree(f);
    fmpq_t place;
    fmpz_poly_t simple;
    if (degree < 1)
        return;
    fmpq_init(place);
    if (degree == 1) {
        fmpq_set_fmpz_frac(place, f->coeffs, f->coeffs + 1);
        fmpq_neg(place, place);
        add_place(l, place, true, bump);
        fmpq_clear(place);
        return;
    }
    fmpz_poly_init(simple);
    fmpz_poly_derivative(simple, f);
    fmpz_poly_gcd(simple, simple, f);
    fmpz_poly_div(simple, f, simple);
    slong n = fmpz_poly_degree(simple);
    acb_ptr roots = _acb_vec_init(n);
    arb_fmpz_poly_complex_roots(roots, simple, 0, ROOT_PRECISION);
    for (slong i = 0; i < n; i++) {
        const arb_struct *root = acb_realref(roots + i);
        if (arb_is_negative(acb_imagref(roots + i))) /* its conjugate is another */
            continue;
        bool real = arb_is_zero(acb_imagref(roots + i));
        bool rational = real && find_rational(place, simple, root);
        if (!rational)
            arf_get_fmpq(place, arb_midref(root));
        add_place(l, place, rational, bump || !real);
    }
    _acb_vec_clear(roots, n);
    fmpz_poly_clear(simple);
    fmpq_clear(place);
}

/* Exact for a number, close to any other real value. */
static bool number_of(fmpq_t out, void *arg, const struct expr *part)
{
    struct line *l = arg;
    if (part->nodes->op == X_NUM)
        return fmpq_set_str(out, part->nodes->leaf, 10) == 0;
    for (size_t i = 0; part->n == 1 && i < l->n; i++)
        if (expr_node_is(part->nodes, l->all[i].op, l->all[i].name)) {
            fmpq_set(out, &l->base[i].re);
            return fmpq_is_zero(&l->base[i].im);
        }
    const acb_struct *z = ball_evaluate(&l->evaluator, part, ROOT_PRECISION);
    if (!acb_is_finite(z) || !ball_is_real(z))
        return false;
    arf_get_fmpq(out, arb_midref(acb_realref(z)));
    return true;
}

/* The roots of top - target*bottom. */
static void add_solutions(struct line *l, const struct quotient *q, const fmpq_t target,
                          bool bump)
{
    fmpq_poly_t f;
    fmpz_poly_t whole;
    fmpq_poly_init(f);
    fmpz_poly_init(whole);
    fmpq_poly_scalar_mul_fmpq(f, q->bottom, target);
    fmpq_poly_sub(f, q->top, f);
    fmpq_poly_get_numerator(whole, f);
    add_roots(l, whole, bump);
    fmpq_poly_get_numerator(whole, q->bottom);
    add_roots(l, whole, bump);
    fmpz_poly_clear(whole);
    fmpq_poly_clear(f);
}

/* Returns false if the part is not rational on the line. */
static bool find_roots(struct line *l, const struct critical *c)
{
    const struct design_variable *v = &l->all[l->moving];
    struct quotient q;
    fmpq_t target;
    bool rational = l->direction_im == 0;
    fmpq_init(target);
    quotient_init(&q);
    for (unsigned signs = 0; rational; signs++) {
        struct quotient_reader r = {v->op, v->name, number_of, l, signs, 0};
        rational = quotient_read(&q, &r, &c->part);
        if (!rational || signs >> r.n_signs)
            break;
        for (int k = 0; k <= c->steps; k++) {
            critical_target(target, c, k);
            add_solutions(l, &q, target, c->bump);
        }
    }
    quotient_clear(&q);
    fmpq_clear(target);
    return rational;
}

/* ---- bisection ---- */

/* The signs of both parts of part - target, in one number; -1 if it has no value. */
static int class_at(struct line *l, const struct expr *part, const acb_t target, double s)
{
    acb_t d;
    acb_struct *v = &l->values[l->moving];
    acb_set_d_d(v, s * l->direction_re, s * l->direction_im);
    const acb_struct *z = ball_evaluate(&l->evaluator, part, PRECISION);
    if (!acb_is_finite(z))
        return -1;
    acb_init(d);
    acb_sub(d, z, target, PRECISION);
    int re = arf_sgn(arb_midref(acb_realref(d))), im = arf_sgn(arb_midref(acb_imagref(d)));
    acb_clear(d);
    return 3 * (re + 1) + im + 1;
}

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double to_double(const fmpq_t x)
{
    arf_t y;
    arf_init(y);
    arf_set_fmpq(y, x, 53, ARF_RND_NEAR);
    double out = arf_get_d(y, ARF_RND_NEAR);
    arf_clear(y);
    return out;
}

/* Numbers of all orders of magnitude, the places found so far and numbers between them. */
static size_t make_grid(double *grid, const struct line *l)
{
    static const double sizes[] = {1e-9, 1e-6, 1e-3, 0.03, 0.15, 0.3, 0.45, 0.6,  0.8,  0.95, 1.1,
                                   1.3,  1.7,  2.2,  2.8,  3.3,  4,   5,    6.1,  7.5,  10,   14,
                                   21,   33,   60,   110,  400,  1e3, 1e6,  1e9};
    const struct design_variable *v = &l->all[l->moving];
    double low = v->low ? number_double(v->low) : -INFINITY;
    double high = v->high ? number_double(v->high) : INFINITY;
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        grid[n++] = sizes[i];
        grid[n++] = -sizes[i];
    }
    for (size_t i = 0; i < l->n_places; i++)
        grid[n++] = to_double(&l->places[i]);
    if (v->low)
        grid[n++] = low;
    if (v->high)
        grid[n++] = high;
    qsort(grid, n, sizeof *grid, by_size);
    for (size_t i = 0; i < n; i++)
        if (grid[i] >= low && grid[i] <= high && (!kept || grid[i] > grid[kept - 1]))
            grid[kept++] = grid[i];
    n = kept;
    for (size_t i = 0; i + 1 < n && kept < MAX_GRID; i++)
        grid[kept++] = grid[i] + (grid[i + 1] - grid[i]) / 2;
    qsort(grid, kept, sizeof *grid, by_size);
    return kept;
}

static double middle(double low, double high)
{
    if (low > 0 && high > 4 * low)
        return sqrt(low * high);
    if (high < 0 && low < 4 * high)
        return -sqrt(low * high);
    return low + (high - low) / 2;
}

static void bisect(struct line *l, const struct expr *part, const acb_t target, double low,
                   double high, int below, bool bump)
{
    for (int i = 0; i < BISECTIONS; i++) {
        double m = middle(low, high);
        if (m <= low || m >= high)
            break;
        if (class_at(l, part, target, m) == below)
            low = m;
        else
            high = m;
    }
    fmpq_t place;
    arf_t x;
    fmpq_init(place);
    arf_init(x);
    arf_set_d(x, middle(low, high));
    arf_get_fmpq(place, x);
    add_place(l, place, false, bump);
    arf_clear(x);
    fmpq_clear(place);
}

static void find_changes(struct line *l, const struct critical *c)
{
    double grid[MAX_GRID];
    size_t n = make_grid(grid, l);
    fmpq_t number;
    acb_t target;
    fmpq_init(number);
    acb_init(target);
    for (int k = 0; k <= c->steps; k++) {
        critical_target(number, c, k);
        acb_set_fmpq(target, number, ROOT_PRECISION);
        int before = n ? class_at(l, &c->part, target, grid[0]) : 0;
        for (size_t i = 1; i < n; i++) {
            int class = class_at(l, &c->part, target, grid[i]);
            if (class != before)
                bisect(l, &c->part, target, grid[i - 1], grid[i], before, c->bump);
            before = class;
        }
    }
    acb_clear(target);
    fmpq_clear(number);
}

static void set_base(struct line *l)
{
    for (size_t i = 0; i < l->n; i++) {
        arb_set_fmpq(acb_realref(&l->values[i]), &l->base[i].re, ROOT_PRECISION);
        arb_set_fmpq(acb_imagref(&l->values[i]), &l->base[i].im, ROOT_PRECISION);
    }
}

void line_find(struct line *l, const struct critical *parts, size_t n_parts)
{
    const struct design_variable *v = &l->all[l->moving];
    bool found[CRITICAL_MAX];
    l->n_places = 0;
    set_base(l);
    for (size_t i = 0; i < n_parts; i++)
        found[i] = !expr_has(&parts[i].part, v->op, v->name) || find_roots(l, &parts[i]);
    line_sort(l);
    for (size_t i = 0; i < n_parts; i++)
        if (!found[i]) {
            find_changes(l, &parts[i]);
            line_sort(l);
        }
}
