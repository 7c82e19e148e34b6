/* Loading an index and looking through it; see corpus_index.h. A query is one pass over the matrix,
 * block by block: each block keeps its best, and these are joined in order. */
#include "ops/search/corpus_index.h"

#include "ops/expr/own/own.h"

#include <string.h>

enum { BLOCK = 4096 }; /* rows per item of work */

void corpus_index_free(struct corpus_index *x)
{
    arena_free(&x->arena);
    *x = (struct corpus_index){0};
}

/* ---- loading ---- */

static enum err_code get_batches(Eqloom__EmbeddingBatch **out, const struct tool_args *args,
                                 const Eqloom__Index *index, struct arena *a, struct err *e)
{
    if (index->batch_ids.len != index->n_batch_count * DIGEST_SIZE)
        return err_fail(e, ERR_CORRUPT, "the index names %zu batches and counts %zu",
                        index->batch_ids.len / DIGEST_SIZE, index->n_batch_count);
    for (size_t i = 0; i < index->n_batch_count; i++) {
        struct digest id;
        Eqloom__EmbeddingBatch *m;
        memcpy(id.bytes, index->batch_ids.data + i * DIGEST_SIZE, DIGEST_SIZE);
        enum err_code code = tool_get(&m, args, &id, KIND_EMBEDDING_BATCH, a, e);
        if (code)
            return err_up(e, code);
        out[i] = m;
        if (out[i]->count != index->batch_count[i] || (out[i]->count && out[i]->dim != index->dim))
            return err_fail(e, ERR_CORRUPT, "the index does not fit its embedding batch %zu", i);
        if (out[i]->n_text != out[i]->count && !index->mathml_ids.len)
            return err_fail(e, ERR_INPUT, "the indexed vectors have no texts of their expressions");
    }
    return OK;
}

enum err_code corpus_index_load(struct corpus_index *out, const struct tool_args *args,
                                const Eqloom__Index *index, struct err *e)
{
    struct arena work = {0}; /* of the batches, whose values would be kept twice */
    size_t n = index->n_batch_count;
    Eqloom__EmbeddingBatch **batches = arena_array(&work, Eqloom__EmbeddingBatch *, n + 1);
    *out = (struct corpus_index){0};
    enum err_code code = get_batches(batches, args, index, &work, e);
    if (!code)
        code = vectors_load(&out->v, &out->arena, batches, n, 0, e);
    if (!code && index->mathml_ids.len)
        vectors_normalize(&out->v);
    if (!code)
        out->source = arena_array(&out->arena, struct digest, out->v.n_clusters);
    for (size_t i = 0; !code && i < n; i++)
        code = language_join(&out->lang, &out->arena, batches[i]->language, e);
    for (size_t i = 0, row = 0; !code && i < n; i++)
        for (size_t k = 0; k < batches[i]->count; k++, row++) {
            out->v.text[row] = arena_strdup(&out->arena, out->v.text[row]);
            if (batches[i]->source_id.len == DIGEST_SIZE)
                memcpy(out->source[out->v.cluster[row]].bytes, batches[i]->source_id.data,
                       DIGEST_SIZE);
        }
    arena_free(&work);
    if (code)
        corpus_index_free(out);
    return err_up(e, code);
}

/* ---- searching ---- */

struct looking {
    const struct corpus_index *x;
    const float *query; /* (stride) */
    size_t k;
    uint32_t per_cluster;
    struct neighbour *best; /* (blocks, k) */
    size_t *n_best;         /* (blocks) */
};

/* Into a list of n in order; a cluster that has its full number there gives up its worst. */
static size_t insert(const struct looking *l, struct neighbour *list, size_t n, struct neighbour x)
{
    const uint32_t *cluster = l->x->v.cluster;
    size_t taken = 0, worst = 0;
    if (n == l->k && !neighbour_is_before(&x, &list[n - 1]))
        return n;
    for (size_t i = 0; l->per_cluster && i < n; i++)
        if (cluster[list[i].row] == cluster[x.row]) {
            taken++;
            worst = i;
        }
    if (l->per_cluster && taken == l->per_cluster) {
        if (!neighbour_is_before(&x, &list[worst]))
            return n;
        n--;
        memmove(&list[worst], &list[worst + 1], (n - worst) * sizeof *list);
    }
    return neighbours_insert(list, n, l->k, x);
}

static void look_into_block(void *arg, size_t block, unsigned worker)
{
    struct looking *l = arg;
    const struct vectors *v = &l->x->v;
    uint32_t row = (uint32_t)block * BLOCK, end = v->n - row < BLOCK ? v->n : row + BLOCK;
    struct neighbour *list = l->best + block * l->k;
    size_t n = 0;
    for (; row < end; row++) {
        float dot = vector_dot(l->query, vectors_at(v, row), v->stride);
        n = insert(l, list, n, (struct neighbour){dot, row});
    }
    l->n_best[block] = n;
}

size_t corpus_index_nearest(struct neighbour *out, size_t k, uint32_t per_cluster,
                            const struct corpus_index *x, const float *vector, struct pool *pool,
                            struct arena *a)
{
    size_t blocks = ((size_t)x->v.n + BLOCK - 1) / BLOCK, n = 0;
    float *query = arena_array(a, float, x->v.stride);
    memcpy(query, vector, x->v.dim * sizeof *query);
    struct looking l = {.x = x,
                        .query = query,
                        .k = k,
                        .per_cluster = per_cluster,
                        .best = arena_array(a, struct neighbour, blocks * k),
                        .n_best = arena_array(a, size_t, blocks)};
    pool_for(pool, blocks, look_into_block, &l);
    for (size_t b = 0; b < blocks; b++)
        for (size_t i = 0; i < l.n_best[b]; i++)
            n = insert(&l, out, n, l.best[b * k + i]);
    return n;
}
