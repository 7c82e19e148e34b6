/* See form_merge.h. All terms are written and looked up before any classes are joined, since unions
 * invalidate the table of least terms and break congruence. */
#include "ops/egraph/run/form_merge.h"

#include "base/rng.h"
#include "ops/egraph/record/least_terms.h"
#include "ops/expr/normal/normal.h"
#include "ops/expr/rational.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 2, MAX_TOKENS = 40 /* except for the goal */, MAX_APART = 4, SEED = 16 };

/* A class with the values of its least term. */
struct valued {
    double value[2 * POINTS];
    uint32_t class, order; /* order: position in the order of least terms */
};

struct sweep {
    struct form_merger *m;
    struct arena a;
    struct least_terms least;
    struct ball_point points[POINTS];
    struct valued *classes;
    size_t n;
    struct union_by_form {
        uint32_t a, b; /* nodes */
        struct reason why;
    } * unions;
    size_t n_unions, cap_unions;
};

/* ---- values ---- */

static double draw(const struct ball_domain *d, uint64_t stream, uint64_t k, bool imaginary)
{
    double part = (double)(rng_at(SEED + imaginary, stream, k) >> 11) * 0x1p-53;
    bool positive =
        !d || strcmp(d->domain, "positive") == 0 || strcmp(d->domain, "nonnegative") == 0;
    bool is_complex = d && strcmp(d->domain, "complex") == 0;
    if (imaginary)
        return is_complex ? 2 * part - 1 : 0;
    double low = positive ? 0.25 : k % 2 ? -3 : 0.25, width = 2.75;
    if (d && (d->low || d->high)) {
        width = d->low && d->high ? number_double(d->high) - number_double(d->low) : width;
        low = d->low ? number_double(d->low) : number_double(d->high) - width;
    }
    double value = low + width * part;
    return d && strcmp(d->domain, "integer") == 0 ? nearbyint(value) : value;
}

static void draw_points(struct sweep *s)
{
    const struct egraph *g = s->m->g;
    const char **names = arena_array(&s->a, const char *, g->n_leaves + 1);
    for (size_t k = 0; k < POINTS; k++) {
        double *re = arena_array(&s->a, double, g->n_leaves + 1);
        double *im = arena_array(&s->a, double, g->n_leaves + 1);
        size_t n = 0;
        for (size_t i = 0; i < g->n_leaves; i++) {
            const struct ball_domain *domain = NULL;
            if (!g->leaves[i].is_variable)
                continue;
            for (size_t d = 0; d < g->n_domains; d++)
                if (strcmp(g->domains[d].name, g->leaves[i].text) == 0)
                    domain = &g->domains[d];
            uint64_t stream = 0;
            for (const char *c = g->leaves[i].text; *c; c++)
                stream = rng_mix(stream ^ (unsigned char)*c);
            names[n] = g->leaves[i].text;
            re[n] = draw(domain, stream, k, false);
            im[n++] = draw(domain, stream, k, true);
        }
        s->points[k] = (struct ball_point){n, names, re, im};
    }
}

static bool least_term(struct expr *out, struct sweep *s, uint32_t class)
{
    struct buf text = {0};
    least_terms_write(&text, &s->least, s->m->g, class);
    bool read = !expr_from_prefix(out, &s->a, s->m->g->lang, text.data, NULL);
    buf_free(&text);
    return read && expr_is_interpreted(out);
}

static int compare_values(const struct valued *a, const struct valued *b)
{
    for (int i = 0; i < 2 * POINTS; i++)
        if (a->value[i] != b->value[i])
            return a->value[i] < b->value[i] ? -1 : 1;
    return 0;
}

static int by_value(const void *x, const void *y)
{
    const struct valued *a = x, *b = y;
    int order = compare_values(a, b);
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

static bool is_goal(const struct sweep *s, uint32_t class)
{
    const struct saturate_options *o = s->m->options;
    return o->has_goal &&
           (class == graph_find(s->m->g, o->goal[0]) || class == graph_find(s->m->g, o->goal[1]));
}

static void find_values(struct sweep *s)
{
    const struct least_terms *t = &s->least;
    s->classes = arena_array(&s->a, struct valued, t->n + 1);
    for (uint32_t i = 0; i < t->n; i++) {
        struct arena_mark mark = arena_mark(&s->a);
        if (t->size[t->order[i]] > MAX_TOKENS && !is_goal(s, t->order[i]))
            continue;
        struct valued v = {.class = t->order[i], .order = i};
        struct expr x;
        bool ok = least_term(&x, s, v.class);
        for (int k = 0; k < POINTS && ok; k++)
            ok = ball_value(&v.value[2 * k], &v.value[2 * k + 1], &x, &s->points[k]);
        arena_release(&s->a, mark);
        if (ok)
            s->classes[s->n++] = v;
    }
    qsort(s->classes, s->n, sizeof *s->classes, by_value);
}

/* ---- pairs ---- */

/* Records both terms by their nodes, which must exist before the classes are joined. */
static bool record(struct union_by_form *out, struct sweep *s, const char *way,
                   const struct expr *x, const struct expr *y)
{
    struct egraph *g = s->m->g;
    struct proof_forest *p = g->proofs;
    uint32_t n = 3 + x->n + y->n, *m = arena_array(&s->a, uint32_t, n);
    m[0] = normal_way_number(way);
    m[1] = x->n;
    m[2] = y->n;
    if (!graph_lookup_term(m + 3, g, x) || !graph_lookup_term(m + 3 + x->n, g, y))
        return false;
    *out = (struct union_by_form){m[3], m[3 + x->n], {REASON_FORM, 0}};
    if (!p)
        return true;
    p->matches = vec_grow(p->matches, &p->matches_cap, p->n_matches + n, sizeof *p->matches);
    memcpy(p->matches + p->n_matches, m, n * sizeof *m);
    out->why.match = (uint32_t)p->n_matches;
    p->n_matches += n;
    return true;
}

static bool was_compared(struct form_merger *m, struct arena *a, const struct expr *x,
                         const struct expr *y)
{
    uint64_t key = 0;
    bool added;
    const char *texts[] = {expr_prefix(a, x), expr_prefix(a, y)};
    for (int i = 0; i < 2; i++, key = rng_mix(key))
        for (const char *c = texts[i]; *c; c++)
            key = rng_mix(key ^ (unsigned char)*c);
    map64_put(&m->failed, key, 0, &added);
    return !added;
}

static bool compare(struct sweep *s, uint32_t left, uint32_t right)
{
    struct form_merger *m = s->m;
    struct expr x, y;
    const char *way;
    if (m->compared == m->options->forms || !least_term(&x, s, left) || !least_term(&y, s, right) ||
        was_compared(m, &s->a, &x, &y))
        return false;
    m->compared++;
    s->unions = vec_grow(s->unions, &s->cap_unions, s->n_unions + 1, sizeof *s->unions);
    if (!normal_equal(&way, &x, &y, m->g->domains, m->g->n_domains) ||
        !record(&s->unions[s->n_unions], s, way, &x, &y))
        return false;
    s->n_unions++;
    return true;
}

/* Compares classes with the same values: each with the first few that are in other classes. */
static void compare_group(struct sweep *s, const struct valued *group, size_t n)
{
    uint32_t apart[MAX_APART];
    size_t n_apart = 0;
    for (size_t i = 0; i < n; i++) {
        bool joined = false;
        for (size_t k = 0; k < n_apart && !joined; k++)
            joined = compare(s, apart[k], group[i].class);
        if (!joined && n_apart < MAX_APART)
            apart[n_apart++] = group[i].class;
    }
}

static void compare_goal(struct sweep *s)
{
    const struct valued *other = NULL;
    for (size_t i = 0; i < s->n; i++)
        if (is_goal(s, s->classes[i].class)) {
            if (other && !compare_values(other, &s->classes[i]))
                compare(s, other->class, s->classes[i].class);
            other = &s->classes[i];
        }
}

bool form_merge(struct form_merger *m)
{
    struct sweep s = {.m = m};
    if (m->compared == m->options->forms || !m->g->interpreted)
        return false;
    least_terms_find(&s.least, &s.a, m->g);
    draw_points(&s);
    find_values(&s);
    compare_goal(&s);
    for (size_t i = 0, n; i < s.n; i += n) {
        for (n = 1; i + n < s.n && !compare_values(&s.classes[i], &s.classes[i + n]); n++)
            continue;
        compare_group(&s, s.classes + i, n);
    }
    for (size_t i = 0; i < s.n_unions; i++)
        graph_union(m->g, s.unions[i].a, s.unions[i].b, s.unions[i].why);
    if (s.n_unions)
        egraph_rebuild(m->g);
    free(s.unions);
    arena_free(&s.a);
    return s.n_unions > 0;
}

void form_merger_free(struct form_merger *m)
{
    map64_free(&m->failed);
}
