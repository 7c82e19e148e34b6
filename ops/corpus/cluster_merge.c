/* Equal seeds across the corpus; see cluster_merge.h. Each seed gets a fingerprint, one number that
 * depends smoothly on its values at three fixed points, so that equal seeds have nearly equal
 * fingerprints whatever the rounding. Seeds are sorted by it and only neighbours within a tolerance
 * are compared, by ball arithmetic; a fingerprint alone decides nothing. O(n log n) and one
 * comparison for each candidate pair. */
#include "ops/corpus/cluster_merge.h"

#include "base/map.h"
#include "base/rng.h"
#include "ops/expr/ball/domain_record.h"
#include "ops/expr/equality/equality.h"
#include "ops/expr/equality/exact.h"
#include "ops/expr/own/own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FINGERPRINT_POINTS = 3 };
static const double TOLERANCE = 1e-9;

struct seed {
    struct expr x;
    double fingerprint;
    uint32_t index;  /* of the cluster */
    uint32_t parent; /* union-find, by position in input order; the root is the first */
};

/* asinh is linear near zero and logarithmic far out: relative errors stay small errors. */
static double fingerprint_of(struct arena *a, const struct expr *x)
{
    if (exact_applies(x->lang))
        return (double)(exact_fingerprint(x) >> 11); /* all of its 53 bits are kept */
    const char **names;
    size_t n = expr_variables(&names, a, x);
    double *re = arena_array(a, double, n + 1), *im = arena_array(a, double, n + 1), sum = 0;
    for (uint64_t k = 0; k < FINGERPRINT_POINTS; k++) {
        for (size_t i = 0; i < n; i++)
            re[i] = 0.3 + 4 * (double)(rng_at(rng_mix_text(0, names[i]), 1, k) >> 40) * 0x1p-24;
        struct ball_point point = {n, names, re, im};
        double real, imaginary;
        if (!ball_value(&real, &imaginary, x, &point))
            real = imaginary = 1e6;
        sum += (1 + 0.37 * (double)k) * asinh(real) + (0.71 + 0.53 * (double)k) * asinh(imaginary);
    }
    return isfinite(sum) ? sum : 1e9;
}

static int compare_fingerprints(const void *x, const void *y)
{
    const struct seed *a = *(struct seed *const *)x, *b = *(struct seed *const *)y;
    if (a->fingerprint != b->fingerprint)
        return a->fingerprint < b->fingerprint ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static uint32_t find(struct seed *seeds, uint32_t i)
{
    while (seeds[i].parent != i)
        i = seeds[i].parent = seeds[seeds[i].parent].parent;
    return i;
}

static bool same_domains(const Eqloom__Expr *x, const Eqloom__Expr *y)
{
    if (x->n_variables != y->n_variables || !language_mixes(x->language, y->language) ||
        x->real_values != y->real_values)
        return false;
    for (size_t i = 0; i < x->n_variables; i++) {
        const Eqloom__VariableDomain *u = x->variables[i], *v = y->variables[i];
        if (strcmp(u->name, v->name) != 0 || strcmp(u->domain, v->domain) != 0 ||
            strcmp(u->low, v->low) != 0 || strcmp(u->high, v->high) != 0)
            return false;
    }
    return true;
}

static bool seeds_equal(const struct seed *x, const struct seed *y, const Eqloom__Expr *of,
                        uint32_t points)
{
    struct arena work = {0};
    struct domains domains = domains_of(&work, of, NULL);
    struct equality_test test;
    struct ball_options options = {.points = points,
                                   .low = 0.05,
                                   .high = 12,
                                   .domains = domains.all,
                                   .n_domains = domains.n,
                                   .real_values = of->real_values};
    equality_test_begin(&test, &x->x, &options);
    bool equal = equality_test_ask(NULL, &work, &test, &y->x) == EQUALITY_AGREES;
    equality_test_end(&test);
    arena_free(&work);
    return equal;
}

static void unite_equal(struct seed *seeds, struct seed **order, size_t n,
                        Eqloom__Cluster *const *in, uint32_t points)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n && order[j]->fingerprint - order[i]->fingerprint <= TOLERANCE;
             j++) {
            uint32_t p = find(seeds, order[i]->index), q = find(seeds, order[j]->index);
            if (p == q || !same_domains(in[p]->seed, in[q]->seed) ||
                !seeds_equal(order[i], order[j], in[p]->seed, points))
                continue;
            seeds[p > q ? p : q].parent = p < q ? p : q;
        }
}

static void add_member(Eqloom__Cluster *out, Eqloom__Member *m, struct name_map *seen,
                       uint32_t max_members)
{
    bool added;
    if (out->n_members >= max_members)
        return;
    name_map_put(seen, m->prefix, 0, &added);
    if (added)
        out->members[out->n_members++] = m;
}

/* `parts` are clusters of one class, ascending; the seed's part is moved to the front. in[] of them
 * is whole. */
static enum err_code join(Eqloom__Cluster **made, struct arena *a, Eqloom__Cluster *const *in,
                          const struct seed *seeds, uint32_t *parts, size_t n, uint32_t max_members,
                          struct err *e)
{
    enum err_code code = OK;
    size_t best = 0, total = 0, longest = 0;
    bool unsound = false;
    for (size_t i = 0; i < n; i++) {
        if (expr_compare(&seeds[parts[i]].x, &seeds[parts[best]].x) < 0)
            best = i;
        total += in[parts[i]]->n_members;
        if (in[parts[i]]->n_members > longest)
            longest = in[parts[i]]->n_members;
        unsound |= in[parts[i]]->unsound;
    }
    uint32_t first = parts[best];
    memmove(parts + 1, parts, best * sizeof *parts);
    parts[0] = first;
    Eqloom__Cluster *out = *made = arena_memdup(a, in[first], sizeof *out);
    out->seed = arena_memdup(a, in[first]->seed, sizeof *out->seed);
    for (size_t i = 1; i < n && !code; i++)
        if (strcmp(out->seed->language, in[parts[i]]->seed->language) != 0)
            code = language_unite(&out->seed->language, a, out->seed->language,
                                  in[parts[i]]->seed->language, e);
    out->unsound = unsound;
    out->members = arena_array(a, Eqloom__Member *, total + 1);
    out->n_members = 0;
    struct name_map seen = {0};
    for (size_t k = 0; k < longest; k++)
        for (size_t i = 0; i < n; i++)
            if (k < in[parts[i]]->n_members)
                add_member(out, in[parts[i]]->members[k], &seen, max_members);
    name_map_free(&seen);
    return err_up(e, code);
}

/* Of all n clusters; classes that hold one of those from `kept` on are left out. */
static enum err_code gather(struct merged *out, struct arena *a, Eqloom__Cluster **in,
                            struct seed *seeds, size_t n, size_t kept,
                            const struct merge_options *o, struct err *e)
{
    enum err_code code = OK;
    /* Parts in one array, grouped by root and ascending: counting sort by first part. */
    uint32_t *begin = arena_array(a, uint32_t, n + 1), *parts = arena_array(a, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        begin[find(seeds, i) + 1]++;
    for (size_t i = 0; i < n; i++)
        begin[i + 1] += begin[i];
    uint32_t *at = arena_memdup(a, begin, n * sizeof *at);
    for (uint32_t i = 0; i < n; i++)
        parts[at[find(seeds, i)]++] = i;
    *out = (struct merged){.clusters = arena_array(a, Eqloom__Cluster *, n + 1),
                           .only = arena_array(a, uint32_t, n + 1)};
    for (size_t i = 0; i < n && !code; i++) {
        uint32_t *of = parts + begin[i];
        size_t size = begin[i + 1] - begin[i];
        if (size == 0 || of[size - 1] >= kept)
            continue;
        Eqloom__Cluster **made = &out->clusters[out->n];
        *made = in[i];
        out->only[out->n++] = size == 1 ? of[0] : UINT32_MAX;
        for (size_t k = 0; o->load && size > 1 && k < size && !code; k++)
            code = o->load(o->arg, &in[of[k]], of[k], e);
        if (size > 1 && !code)
            code = join(made, a, in, seeds, of, size, o->max_members, e);
    }
    return err_up(e, code);
}

/* *calculus gains the seed's operators, so that all seeds of the calculus have one table. */
static enum err_code read_seed(struct expr *out, const struct language **calculus, struct arena *a,
                               const Eqloom__Expr *seed, struct err *e)
{
    const struct language *lang;
    enum err_code code;
    if (language_mixes(seed->language, "")) {
        code = language_join(calculus, a, seed->language, e);
        lang = *calculus;
    } else {
        code = language_read(&lang, a, seed->language, e);
    }
    return err_up(e, code ? code : expr_from_prefix(out, a, lang, seed->prefix, e));
}

enum err_code cluster_fingerprint(double *out, struct arena *a, const Eqloom__Expr *seed,
                                  struct err *e)
{
    struct arena_mark mark = arena_mark(a);
    struct expr x;
    const struct language *calculus = &lang_calculus;
    enum err_code code = read_seed(&x, &calculus, a, seed, e);
    if (!code)
        *out = fingerprint_of(a, &x);
    arena_release(a, mark);
    return err_up(e, code);
}

enum err_code clusters_merge(struct merged *out, struct arena *a, Eqloom__Cluster **in, size_t n,
                             size_t n_except, const struct merge_options *options, struct err *e)
{
    struct seed *seeds = arena_array(a, struct seed, n + 1);
    struct seed **order = arena_array(a, struct seed *, n + 1);
    const struct language *calculus = &lang_calculus;
    for (uint32_t i = 0; i < n; i++) {
        struct seed *s = order[i] = &seeds[i];
        *s = (struct seed){.index = i, .parent = i, .fingerprint = options->fingerprints[i]};
        enum err_code code = read_seed(&s->x, &calculus, a, in[i]->seed, e);
        if (code)
            return err_up(e, code);
    }
    qsort(order, n, sizeof *order, compare_fingerprints);
    unite_equal(seeds, order, n, in, options->points);
    return err_up(e, gather(out, a, in, seeds, n, n - n_except, options, e));
}
