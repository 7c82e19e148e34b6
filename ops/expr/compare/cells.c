/* The points between the places of lines; see design.h. */
#include "ops/expr/compare/line.h"

#include "ops/expr/rational.h"

#include <stdlib.h>

enum {
    BASES = 13, /* points of the levels from which lines start */
    STRIDE = 4099, /* a prime: from which points lines start again, so that few of them are spread */
    MAX_VALUES = 3 * LINE_MAX_PLACES + 16,
    MERGED_BITS = 220, /* places this close to each other are one, found twice */
};

/* ---- the values of the moving variable ---- */

struct values {
    fmpq at[MAX_VALUES];
    size_t n;
};

static bool is_inside(const struct design_variable *v, const fmpq_t x)
{
    fmpq_t end;
    fmpq_init(end);
    bool inside = true;
    if (v->low) {
        fmpq_set_str(end, v->low, 10);
        inside = fmpq_cmp(end, x) <= 0;
    }
    if (v->high && inside) {
        fmpq_set_str(end, v->high, 10);
        inside = fmpq_cmp(x, end) <= 0;
    }
    fmpq_clear(end);
    return inside;
}

static void add_value(struct values *out, const struct design_variable *v, const fmpq_t x)
{
    if (out->n == MAX_VALUES || !is_inside(v, x))
        return;
    for (size_t i = 0; i < out->n; i++)
        if (fmpq_equal(&out->at[i], x))
            return;
    fmpq_init(&out->at[out->n]);
    fmpq_set(&out->at[out->n++], x);
}

/* The shortest number in the middle half of an interval. */
static void add_between(struct values *out, const struct design_variable *v, const fmpq_t low,
                        const fmpq_t high)
{
    fmpq_t quarter, x, y;
    fmpq_init(quarter);
    fmpq_init(x);
    fmpq_init(y);
    fmpq_sub(quarter, high, low);
    fmpq_div_2exp(quarter, quarter, 2);
    fmpq_add(x, low, quarter);
    fmpq_sub(y, high, quarter);
    fmpq_simplest_between(x, x, y);
    add_value(out, v, x);
    fmpq_clear(quarter);
    fmpq_clear(x);
    fmpq_clear(y);
}

/* Beyond a place on one side, close to it and far out. */
static void add_beyond(struct values *out, const struct design_variable *v, const fmpq_t place,
                       int side)
{
    static const slong factors[] = {1, 1000, 1000000000};
    fmpq_t size, near, far;
    fmpq_init(size);
    fmpq_init(near);
    fmpq_init(far);
    fmpq_abs(size, place);
    fmpq_div_2exp(size, size, 2);
    if (fmpq_cmp_si(size, 1) < 0)
        fmpq_one(size);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        fmpq_mul_si(near, size, side * factors[i]);
        fmpq_mul_2exp(far, near, 1);
        fmpq_add(near, near, place);
        fmpq_add(far, far, place);
        if (side > 0)
            add_between(out, v, near, far);
        else
            add_between(out, v, far, near);
    }
    fmpq_clear(size);
    fmpq_clear(near);
    fmpq_clear(far);
}

/* The integers around a place. */
static void add_integers(struct values *out, const struct design_variable *v, const fmpq_t place)
{
    fmpz_t k;
    fmpq_t x;
    fmpz_init(k);
    fmpq_init(x);
    fmpz_fdiv_q(k, fmpq_numref(place), fmpq_denref(place));
    for (int i = -2; i <= 3; i++) {
        fmpq_set_fmpz(x, k);
        fmpq_add_si(x, x, i);
        add_value(out, v, x);
    }
    fmpz_clear(k);
    fmpq_clear(x);
}

static void add_far_integers(struct values *out, const struct design_variable *v,
                             const fmpq_t place)
{
    static const slong steps[] = {50, 1001, 1000000, -50, -1001, -1000000};
    fmpq_t x, whole;
    fmpz_t k;
    fmpq_init(x);
    fmpq_init(whole);
    fmpz_init(k);
    fmpz_fdiv_q(k, fmpq_numref(place), fmpq_denref(place));
    fmpq_set_fmpz(whole, k);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        fmpq_add_si(x, whole, steps[i]);
        add_value(out, v, x);
    }
    fmpz_clear(k);
    fmpq_clear(x);
    fmpq_clear(whole);
}

/* Places that differ by less than the errors of both. */
static bool is_same(const struct line *l, size_t i)
{
    if (l->exact[i] && l->exact[i + 1])
        return false;
    fmpq_t gap, size;
    fmpq_init(gap);
    fmpq_init(size);
    fmpq_sub(gap, &l->places[i + 1], &l->places[i]);
    fmpq_abs(size, &l->places[i]);
    fmpq_mul_2exp(gap, gap, MERGED_BITS);
    bool same = fmpq_cmp(gap, size) < 0;
    fmpq_clear(gap);
    fmpq_clear(size);
    return same;
}

/* Ends of the domain are places, too. */
static void add_ends(struct line *l)
{
    const struct design_variable *v = &l->all[l->moving];
    const char *ends[] = {v->low, v->high};
    for (int i = 0; i < 2; i++)
        if (ends[i] && l->n_places < LINE_MAX_PLACES) {
            fmpq_set_str(&l->places[l->n_places], ends[i], 10);
            l->bump[l->n_places] = false;
            l->exact[l->n_places++] = true;
        }
}

static void choose_values(struct values *out, struct line *l, bool exact)
{
    const struct design_variable *v = &l->all[l->moving];
    size_t n = l->n_places;
    out->n = 0;
    if (!n)
        return;
    if (v->kind == DESIGN_INTEGER) {
        for (size_t i = 0; i < n; i++)
            add_integers(out, v, &l->places[i]);
        add_far_integers(out, v, &l->places[0]);
        add_far_integers(out, v, &l->places[n - 1]);
        return;
    }
    for (size_t i = 0; i + 1 < n; i++)
        if (!is_same(l, i))
            add_between(out, v, &l->places[i], &l->places[i + 1]);
    add_beyond(out, v, &l->places[0], -1);
    add_beyond(out, v, &l->places[n - 1], 1);
    for (size_t i = 0; i < n; i++)
        if (l->bump[i] || (exact && l->exact[i]))
            add_value(out, v, &l->places[i]);
}

/* ---- points ---- */

struct cells {
    struct design_points *out;
    const struct design_limits *limits;
    struct line line;
    struct critical parts[CRITICAL_MAX];
    size_t n_parts;
    struct values values;
    size_t *moved; /* which variable has moved from the base to a point */
    size_t cap_moved, most;
};

/* A copy of the base at which the moving variable has another value. */
static void add_point(struct cells *c, const struct design_number *base, const fmpq_t value)
{
    struct design_points *p = c->out;
    const struct line *l = &c->line;
    size_t n = p->n_variables, at = p->n * n;
    if (p->n >= c->most)
        return;
    c->moved = vec_grow(c->moved, &c->cap_moved, p->n + 1, sizeof *c->moved);
    c->moved[p->n] = l->moving;
    p->at = vec_grow(p->at, &p->cap, at + n, sizeof *p->at);
    for (size_t i = 0; i < n; i++) {
        design_number_init(&p->at[at + i]);
        design_number_set(&p->at[at + i], &base[i]);
    }
    struct design_number *x = &p->at[at + l->moving];
    fmpq_mul_si(&x->re, value, l->direction_re);
    fmpq_mul_si(&x->im, value, l->direction_im);
    p->n++;
}

static void add_line(struct cells *c, const struct design_number *base, size_t moving, int re,
                     int im)
{
    struct line *l = &c->line;
    l->base = base;
    l->moving = moving;
    l->direction_re = re;
    l->direction_im = im;
    line_find(l, c->parts, c->n_parts);
    add_ends(l);
    line_sort(l);
    choose_values(&c->values, l, c->limits->exact);
    for (size_t i = 0; i < c->values.n; i++)
        add_point(c, base, &c->values.at[i]);
    for (size_t i = 0; i < c->values.n; i++)
        fmpq_clear(&c->values.at[i]);
}

/* A complex variable moves along the axes and between them. */
static void add_lines(struct cells *c, const struct design_number *base, size_t moving)
{
    static const int directions[][2] = {{1, 0}, {0, 1}, {3, 4}, {-3, 4}};
    size_t n = c->line.all[moving].kind == DESIGN_COMPLEX ? 4 : 1;
    for (size_t i = 0; i < n && c->out->n < c->most; i++)
        add_line(c, base, moving, directions[i][0], directions[i][1]);
}

/* The lines in all directions but one from a point. */
static void add_star(struct cells *c, const struct design_number *base, size_t but)
{
    for (size_t i = 0; i < c->line.n; i++)
        if (i != but)
            add_lines(c, base, i);
}

void design_cells(struct design_points *out, const struct design_variable *all, size_t n,
                  const struct expr *terms, size_t n_terms, const struct expr *more, size_t n_more,
                  const struct design_limits *limits)
{
    struct arena a = {0};
    struct cells *c = must_calloc(1, sizeof *c);
    c->out = out;
    c->limits = limits;
    *out = (struct design_points){.n_variables = n};
    for (size_t i = 0; i < n_terms; i++)
        c->n_parts = critical_list(c->parts, c->n_parts, &a, &terms[i]);
    for (size_t i = 0; i < n_more; i++) {
        c->n_parts = critical_list(c->parts, c->n_parts, &a, &more[i]);
        c->n_parts = critical_add_zeros(c->parts, c->n_parts, &more[i]);
    }
    line_open(&c->line, all, n);
    struct design_number *base = must_calloc(n ? n : 1, sizeof *base);
    for (size_t i = 0; i < n; i++)
        design_number_init(&base[i]);
    size_t bases = n > 1 ? BASES : n;
    c->most = n > 1 ? limits->points / 2 : limits->points;
    for (uint32_t k = 0; k < bases && c->n_parts; k++) {
        for (size_t i = 0; i < n; i++)
            design_level(&base[i], &all[i], (unsigned)i, limits->salt, k);
        add_star(c, base, n);
    }
    /* From there once more, in the other directions. */
    size_t first = out->n;
    c->most = limits->points;
    for (size_t i = 0; n > 1 && i < first && out->n < c->most; i++) {
        size_t k = i * STRIDE % first;
        for (size_t v = 0; v < n; v++)
            design_number_set(&base[v], &out->at[k * n + v]);
        add_star(c, base, c->moved[k]);
    }
    for (size_t i = 0; i < n; i++)
        design_number_clear(&base[i]);
    free(base);
    free(c->moved);
    line_close(&c->line);
    free(c);
    arena_free(&a);
}
