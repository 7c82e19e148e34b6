#include "ops/latex/study/equation_vectors.h"

#include "base/map.h"
#include "ops/corpus/split.h"
#include "ops/eval/evaluation.h"
#include "ops/latex/study/equation_place.h"

#include <string.h>

/* Lists the equations that are kept, with their places: those of papers in `within`, or all. */
static enum err_code load_places(struct equation_vectors *x, uint64_t *kept, uint64_t n,
                                 struct op_ctx *ctx, const char *graphs, const char *within,
                                 struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct name_map papers = {0}, wanted = {0};
    struct map64 sections = {0};
    uint64_t n_within = within ? op_count(ctx, within) : 0;
    const Eqloom__Place *place;
    enum err_code code = OK;
    x->place = arena_array(a, const Eqloom__Place *, n + 1);
    x->paper = arena_array(a, uint32_t, n + 1);
    x->section = arena_array(a, uint32_t, n + 1);
    for (uint64_t i = 0; i < n_within && !code; i++)
        if (!(code = equation_place_get(&place, ctx, within, i, a, e)))
            name_map_put(&wanted, place->paper, 0, NULL);
    for (uint64_t i = 0; i < n && !code; i++) {
        bool added;
        if ((code = equation_place_get(&place, ctx, graphs, i, a, e)) ||
            (n_within && !name_map_get(&wanted, place->paper)))
            continue;
        uint32_t at = x->v.n++;
        kept[at] = i;
        x->place[at] = place;
        x->paper[at] = (uint32_t)*name_map_put(&papers, place->paper, x->n_papers, &added);
        x->n_papers += added;
        uint64_t section = (uint64_t)x->paper[at] << 32 | place->section;
        x->section[at] = (uint32_t)*map64_put(&sections, section, x->n_sections, &added);
        x->n_sections += added;
    }
    name_map_free(&papers);
    name_map_free(&wanted);
    map64_free(&sections);
    return err_up(e, code);
}

enum err_code equation_vectors_load(struct equation_vectors *out, struct op_ctx *ctx,
                                    const char *graphs, const char *embeddings, const char *within,
                                    struct err *e)
{
    struct arena *a = op_arena(ctx);
    uint64_t n = op_count(ctx, graphs), n_batches = op_count(ctx, embeddings);
    Eqloom__EmbeddingBatch **batches = arena_array(a, Eqloom__EmbeddingBatch *, n_batches + 1);
    uint64_t *kept = arena_array(a, uint64_t, n + 1);
    struct vectors v = {0};
    *out = (struct equation_vectors){0};
    enum err_code code = err_up(e, load_places(out, kept, n, ctx, graphs, within, e));
    if (!code)
        code = err_up(e, evaluation_get(batches, n_batches, ctx, embeddings, e));
    if (!code && n)
        code = err_up(e, vectors_load(&v, a, batches, n_batches, 0, e));
    if (!code && v.n != n)
        code = err_fail(e, ERR_INPUT, "'%s' has %llu equations, but '%s' %u vectors", graphs,
                        (unsigned long long)n, embeddings, v.n);
    if (code)
        return code;
    v.n = out->v.n;
    for (uint32_t i = 0; i < v.n; i++)
        memmove(vectors_at(&v, i), vectors_at(&v, kept[i]), v.stride * sizeof *v.x);
    out->v = v;
    vectors_normalize(&out->v);
    return OK;
}

uint32_t equation_vectors_by_label(struct equation_vectors *x)
{
    struct name_map labels = {0};
    uint32_t found = 0;
    x->v.n_clusters = 0;
    for (uint32_t i = 0; i < x->v.n; i++) {
        const char *label = x->place[i]->label;
        bool added = true;
        uint64_t *at = *label ? name_map_put(&labels, label, x->v.n_clusters, &added) : NULL;
        found += at && added;
        x->v.cluster[i] = at ? (uint32_t)*at : x->v.n_clusters;
        x->v.n_clusters += added;
    }
    name_map_free(&labels);
    return found;
}

static bool cancelled(void *ctx)
{
    return op_cancelled(ctx);
}

enum err_code equation_vectors_index(struct hnsw **out, const struct equation_vectors *x,
                                     struct op_ctx *ctx, struct err *e)
{
    const struct vectors *v = &x->v;
    *out = NULL;
    if (v->n == 0 || v->n < (uint64_t)op_int(ctx, "approximate_from"))
        return OK;
    *out = hnsw_new(v->x, v->n, v->stride, vector_dot, cancelled, ctx);
    if (op_cancelled(ctx))
        return err_fail(e, ERR_CANCELLED, "indexing was interrupted");
    return *out ? OK : err_fail(e, ERR_NOMEM, "no memory for an index of %u vectors", v->n);
}

/* ---- splits by paper ---- */

const struct op_param paper_split_params[] = {
    {"valid", OP_REAL, "0.05", NULL, 0, 1, "The fraction of papers for validation."},
    {"test", OP_REAL, "0.2", NULL, 0, 1, "The fraction of papers held out for tests."},
    {"seed", OP_INT, "0", NULL, 0, 0, "Seed of the split."},
    {NULL},
};

enum err_code paper_split_check(struct op_ctx *ctx, struct err *e)
{
    double valid = op_real(ctx, "valid"), test = op_real(ctx, "test");
    if (valid + test > 1)
        return err_fail(e, ERR_INPUT, "'valid' (%g) and 'test' (%g) add up to more than 1", valid,
                        test);
    return OK;
}

enum err_code paper_split_run(struct op_ctx *ctx, const char *role, struct err *e)
{
    uint64_t seed = (uint64_t)op_int(ctx, "seed");
    double valid = op_real(ctx, "valid"), test = op_real(ctx, "test");
    struct arena a = {0};
    enum err_code code = OK;
    for (uint64_t i = 0, n = op_count(ctx, role); i < n && !code; i++) {
        const Eqloom__Place *place;
        arena_reset(&a);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "splitting papers was interrupted");
        else if (!(code = equation_place_get(&place, ctx, role, i, &a, e)))
            code =
                op_pass(ctx, split_names[split_part(seed, place->paper, valid, test)], role, i, e);
    }
    arena_free(&a);
    return err_up(e, code);
}
