#include "ops/latex/study/equation_vectors.h"

#include "base/map.h"
#include "ops/eval/evaluation.h"
#include "ops/latex/study/equation_place.h"

#include <string.h>

static enum err_code load_places(struct equation_vectors *x, uint64_t n, struct op_ctx *ctx,
                                 const char *graphs, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct name_map papers = {0};
    struct map64 sections = {0};
    enum err_code code = OK;
    x->place = arena_array(a, const Eqloom__Place *, n + 1);
    x->paper = arena_array(a, uint32_t, n + 1);
    x->section = arena_array(a, uint32_t, n + 1);
    for (uint64_t i = 0; i < n && !code; i++) {
        bool added;
        if ((code = equation_place_get(&x->place[i], ctx, graphs, i, a, e)))
            break;
        x->paper[i] = (uint32_t)*name_map_put(&papers, x->place[i]->paper, x->n_papers, &added);
        x->n_papers += added;
        uint64_t section = (uint64_t)x->paper[i] << 32 | x->place[i]->section;
        x->section[i] = (uint32_t)*map64_put(&sections, section, x->n_sections, &added);
        x->n_sections += added;
    }
    name_map_free(&papers);
    map64_free(&sections);
    return err_up(e, code);
}

enum err_code equation_vectors_load(struct equation_vectors *out, struct op_ctx *ctx,
                                    const char *graphs, const char *embeddings, struct err *e)
{
    uint64_t n = op_count(ctx, graphs), n_batches = op_count(ctx, embeddings);
    Eqloom__EmbeddingBatch **batches =
        arena_array(op_arena(ctx), Eqloom__EmbeddingBatch *, n_batches + 1);
    *out = (struct equation_vectors){0};
    enum err_code code = err_up(e, load_places(out, n, ctx, graphs, e));
    if (!code)
        code = err_up(e, evaluation_get(batches, n_batches, ctx, embeddings, e));
    if (!code && n)
        code = err_up(e, vectors_load(&out->v, op_arena(ctx), batches, n_batches, 0, e));
    if (!code && out->v.n != n)
        code = err_fail(e, ERR_INPUT, "'%s' has %llu equations, but '%s' %u vectors", graphs,
                        (unsigned long long)n, embeddings, out->v.n);
    if (!code && n)
        vectors_normalize(&out->v);
    return code;
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

/* *number, as one of those that are left. */
static void renumber(uint32_t *number, uint32_t *map, uint32_t *n)
{
    if (map[*number] == 0)
        map[*number] = ++*n;
    *number = map[*number] - 1;
}

enum err_code equation_vectors_keep(struct equation_vectors *x, struct op_ctx *ctx,
                                    const char *within, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct name_map names = {0};
    uint64_t n = op_count(ctx, within);
    uint32_t *papers = arena_array(a, uint32_t, x->n_papers + 1);
    uint32_t *sections = arena_array(a, uint32_t, x->n_sections + 1);
    enum err_code code = OK;
    for (uint64_t i = 0; i < n && !code; i++) {
        const Eqloom__Place *place;
        if (!(code = err_up(e, equation_place_get(&place, ctx, within, i, a, e))))
            name_map_put(&names, place->paper, 0, NULL);
    }
    uint32_t left = 0, all = n && !code ? x->v.n : 0;
    if (all)
        x->n_papers = x->n_sections = 0;
    for (uint32_t i = 0; i < all; i++) {
        if (!name_map_get(&names, x->place[i]->paper))
            continue;
        memmove(vectors_at(&x->v, left), vectors_at(&x->v, i), x->v.stride * sizeof *x->v.x);
        x->place[left] = x->place[i];
        x->paper[left] = x->paper[i];
        x->section[left] = x->section[i];
        renumber(&x->paper[left], papers, &x->n_papers);
        renumber(&x->section[left++], sections, &x->n_sections);
    }
    if (all)
        x->v.n = left;
    name_map_free(&names);
    return code;
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
