/* The op `merge`: joins clusters of the whole corpus that have equal seeds, since otherwise equal
 * expressions would count as different. Each seed gets a fingerprint, a number that depends
 * smoothly on its values at three fixed points, so that equal seeds have nearly equal fingerprints
 * despite rounding. Seeds are sorted by fingerprint, and only neighbours within a tolerance are
 * compared, by ball arithmetic; a fingerprint alone decides nothing. O(n log n) and one comparison
 * per candidate pair. */
#include "base/map.h"
#include "cluster.pb-c.h"
#include "engine/op.h"
#include "ops/expr/ball/domain_record.h"
#include "ops/expr/equality/equality.h"
#include "ops/expr/equality/exact.h"
#include "ops/expr/own/own.h"
#include "schemas/canonical.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FINGERPRINT_POINTS = 3 };
static const double TOLERANCE = 1e-9;

struct seed {
    const Eqloom__Expr *record;
    struct expr x;
    double fingerprint;
    uint32_t index;  /* of the cluster */
    uint32_t parent; /* union-find, by position in input order; the root is the first */
};

/* asinh is linear near zero and logarithmic for large values, so relative errors stay small
 * errors. */
static double fingerprint_of(struct arena *a, const struct expr *x)
{
    if (exact_applies(x->lang))
        return (double)(exact_fingerprint(x) >> 11); /* 53 bits, which a double holds exactly */
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

static bool seeds_equal(const struct seed *x, const struct seed *y, uint32_t points)
{
    struct arena work = {0};
    struct domains domains = domains_of(&work, x->record, NULL);
    struct equality_test test;
    struct ball_options options = {.points = points,
                                   .domains = domains.all,
                                   .n_domains = domains.n,
                                   .real_values = x->record->real_values};
    equality_test_begin(&test, &x->x, &options);
    bool equal = equality_test_ask(NULL, &work, &test, &y->x) == EQUALITY_AGREES;
    equality_test_end(&test);
    arena_free(&work);
    return equal;
}

static void unite_equal(struct seed *seeds, struct seed **order, size_t n, uint32_t points)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n && order[j]->fingerprint - order[i]->fingerprint <= TOLERANCE;
             j++) {
            uint32_t p = find(seeds, order[i]->index), q = find(seeds, order[j]->index);
            if (p == q || !same_domains(seeds[p].record, seeds[q].record) ||
                !seeds_equal(order[i], order[j], points))
                continue;
            seeds[p > q ? p : q].parent = p < q ? p : q;
        }
}

/* ---- clusters ---- */

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

/* Joins clusters into *made, that of the least seed (expr_compare), followed by members of the
 * others in turn. `parts` are their seeds. */
static enum err_code join(Eqloom__Cluster *made, struct arena *a, Eqloom__Cluster **of,
                          struct seed *const *parts, size_t n, uint32_t max_members, struct err *e)
{
    enum err_code code = OK;
    size_t best = 0, total = 0, longest = 0;
    Eqloom__Basis basis = EQLOOM__BASIS__PROOF;
    for (size_t i = 0; i < n; i++) {
        if (expr_compare(&parts[i]->x, &parts[best]->x) < 0)
            best = i;
        total += of[i]->n_members;
        longest = of[i]->n_members > longest ? of[i]->n_members : longest;
        basis = of[i]->basis > basis ? of[i]->basis : basis;
    }
    Eqloom__Cluster *first = of[best];
    memmove(of + 1, of, best * sizeof *of);
    of[0] = first;
    *made = *first;
    for (size_t i = 1; i < n && !code; i++)
        if (strcmp(made->seed->language, of[i]->seed->language) != 0)
            code = language_unite(&made->seed->language, a, made->seed->language,
                                  of[i]->seed->language, e);
    made->basis = basis;
    made->members = arena_array(a, Eqloom__Member *, total + 1);
    made->n_members = 0;
    struct name_map seen = {0};
    for (size_t k = 0; k < longest; k++)
        for (size_t i = 0; i < n; i++)
            if (k < of[i]->n_members)
                add_member(made, of[i]->members[k], &seen, max_members);
    name_map_free(&seen);
    return err_up(e, code);
}

static enum err_code emit_joined(struct op_ctx *ctx, struct seed *const *parts, size_t n,
                                 struct err *e)
{
    struct arena a = {0};
    Eqloom__Cluster **of = arena_array(&a, Eqloom__Cluster *, n), made;
    enum err_code code = OK;
    for (size_t i = 0; i < n && !code; i++)
        code = op_get_in(&of[i], ctx, "clusters", parts[i]->index, &a, e);
    if (!code)
        code = join(&made, &a, of, parts, n, (uint32_t)op_int(ctx, "max_members"), e);
    if (!code)
        code = op_emit(NULL, ctx, "clusters", &made.base, e);
    arena_free(&a);
    return err_up(e, code);
}

/* Emits the merged clusters, each at the position of its first part. Classes that contain a seed
 * from index `kept` on are left out. */
static enum err_code emit(size_t *emitted, struct op_ctx *ctx, struct seed *seeds, size_t n,
                          size_t kept, struct err *e)
{
    struct arena *a = op_arena(ctx);
    enum err_code code = OK;
    /* Groups the parts by root, in ascending order: a counting sort. */
    uint32_t *begin = arena_array(a, uint32_t, n + 1);
    struct seed **parts = arena_array(a, struct seed *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        begin[find(seeds, i) + 1]++;
    for (size_t i = 0; i < n; i++)
        begin[i + 1] += begin[i];
    uint32_t *at = arena_memdup(a, begin, n * sizeof *at);
    for (uint32_t i = 0; i < n; i++)
        parts[at[find(seeds, i)]++] = &seeds[i];
    for (size_t i = 0; i < n && !code; i++) {
        struct seed **of = parts + begin[i];
        size_t size = begin[i + 1] - begin[i];
        if (size == 0 || of[size - 1]->index >= kept)
            continue;
        code = size == 1 ? op_pass(ctx, "clusters", "clusters", of[0]->index, e)
                         : emit_joined(ctx, of, size, e);
        ++*emitted;
    }
    return err_up(e, code);
}

/* ---- reading ---- */

/* Adds the seed's operators to *calculus, so that all seeds of the calculus share one table. */
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

/* Summarizes a cluster without its members, which is sufficient for clusters that are not
 * joined. */
static enum err_code summarize(struct span *out, struct arena *a, struct op_ctx *ctx,
                               const ProtobufCMessage *element, struct err *e)
{
    const Eqloom__Cluster *c = (const Eqloom__Cluster *)element;
    const struct language *calculus = &lang_calculus;
    Eqloom__ClusterPrint m = EQLOOM__CLUSTER_PRINT__INIT;
    struct arena_mark mark = arena_mark(a);
    struct expr x;
    if (!c->seed)
        return err_fail(e, ERR_CORRUPT, "a cluster has no seed");
    enum err_code code = read_seed(&x, &calculus, a, c->seed, e);
    if (code)
        return err_up(e, code);
    double fingerprint = fingerprint_of(a, &x);
    arena_release(a, mark);
    m.seed = c->seed;
    memcpy(&m.fingerprint, &fingerprint, sizeof m.fingerprint);
    return err_up(e, canonical_pack(out, a, &m.base, e));
}

static enum err_code read_seeds(struct seed *seeds, size_t *n, const struct language **calculus,
                                struct op_ctx *ctx, const char *role, struct err *e)
{
    struct arena *a = op_arena(ctx);
    for (uint64_t i = 0, more = op_count(ctx, role); i < more; i++) {
        struct span bytes;
        const Eqloom__ClusterPrint *print;
        if (op_cancelled(ctx))
            return err_fail(e, ERR_CANCELLED, "merge was interrupted");
        enum err_code code = op_summary(&bytes, ctx, role, i, e);
        /* The summary is valid until the next call: unpacking copies its strings. */
        if (!code)
            code = canonical_unpack(&print, a, &eqloom__cluster_print__descriptor, bytes, e);
        struct seed *s = &seeds[*n];
        if (!code)
            code = read_seed(&s->x, calculus, a, print->seed, e);
        if (code)
            return err_up(e, code);
        s->record = print->seed;
        s->index = s->parent = (uint32_t)(*n)++;
        memcpy(&s->fingerprint, &print->fingerprint, sizeof s->fingerprint);
    }
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    size_t given = op_count(ctx, "clusters"), all = given + op_count(ctx, "except");
    size_t n = 0, emitted = 0;
    struct seed *seeds = arena_array(a, struct seed, all + 1);
    struct seed **order = arena_array(a, struct seed *, all + 1);
    const struct language *calculus = &lang_calculus;
    enum err_code code;
    if ((code = err_up(e, read_seeds(seeds, &n, &calculus, ctx, "clusters", e))) ||
        (code = err_up(e, read_seeds(seeds, &n, &calculus, ctx, "except", e))))
        return code;
    for (size_t i = 0; i < n; i++)
        order[i] = &seeds[i];
    qsort(order, n, sizeof *order, compare_fingerprints);
    unite_equal(seeds, order, n, (uint32_t)op_int(ctx, "points"));
    code = err_up(e, emit(&emitted, ctx, seeds, n, given, e));
    op_progress(ctx, given, given, arena_printf(a, "%zu clusters of %zu", emitted, given));
    return code;
}

const struct op op_merge = {
    .name = "merge",
    .version = 5,
    .node = OP_TASK,
    .doc =
        "Joins clusters with equal seeds from different e-graphs: numeric fingerprints find the "
        "candidates, ball arithmetic decides. Otherwise a 'negative' pair of the corpus could be "
        "equal. With `except`, clusters that are equal to a held-out one are dropped.",
    .params = OP_PARAMS({"max_members", OP_INT, "100", NULL, 1, 1e6,
                         "The maximum number of members of a merged cluster."},
                        {"points", OP_INT, "12", NULL, 1, 1000,
                         "The number of points at which seeds are compared."}),
    .inputs = OP_PORTS({"clusters", KIND_CLUSTER, OP_COLLECTION, false, "Clusters of the corpus."},
                       {"except", KIND_CLUSTER, OP_COLLECTION, true,
                        "Held-out clusters of another corpus: clusters that are equal to one of "
                        "them are dropped."}),
    .outputs = OP_PORTS({"clusters", KIND_CLUSTER, OP_COLLECTION, false,
                         "The merged clusters, no two with equal "
                         "seeds."}),
    .run = run,
    .summarize = summarize,
};
