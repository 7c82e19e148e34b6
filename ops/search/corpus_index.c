/* Loads and searches an index; see corpus_index.h. A query is one pass over the matrix. */
#include "ops/search/corpus_index.h"

#include "ops/expr/own/own.h"

#include <string.h>

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
        return err_fail(e, ERR_CORRUPT, "the index names %zu batches but has counts of %zu",
                        index->batch_ids.len / DIGEST_SIZE, index->n_batch_count);
    for (size_t i = 0; i < index->n_batch_count; i++) {
        const struct digest *id = (const struct digest *)index->batch_ids.data + i;
        enum err_code code = tool_get(&out[i], args, id, KIND_EMBEDDING_BATCH, a, e);
        if (code)
            return err_up(e, code);
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
    struct arena work = {0}; /* for the batches, whose values are copied */
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
    for (size_t i = 0, row = 0; !code && i < n; i++) {
        code = language_join(&out->lang, &out->arena, batches[i]->language, e);
        for (size_t k = 0; k < batches[i]->count; k++, row++) {
            out->v.text[row] = arena_strdup(&out->arena, out->v.text[row]);
            if (batches[i]->source_id.len == DIGEST_SIZE)
                memcpy(out->source[out->v.cluster[row]].bytes, batches[i]->source_id.data,
                       DIGEST_SIZE);
        }
    }
    arena_free(&work);
    if (code)
        corpus_index_free(out);
    return err_up(e, code);
}

/* ---- searching ---- */

/* Inserts into a sorted list of n. A cluster that has per_cluster entries in it drops its worst. */
static size_t insert(struct neighbour *list, size_t n, size_t k, uint32_t per_cluster,
                     const uint32_t *cluster, struct neighbour x)
{
    size_t taken = 0, worst = 0;
    if (n == k && !neighbour_is_before(&x, &list[n - 1]))
        return n;
    for (size_t i = 0; per_cluster && i < n; i++)
        if (cluster[list[i].row] == cluster[x.row]) {
            taken++;
            worst = i;
        }
    if (per_cluster && taken == per_cluster) {
        if (!neighbour_is_before(&x, &list[worst]))
            return n;
        n--;
        memmove(&list[worst], &list[worst + 1], (n - worst) * sizeof *list);
    }
    return neighbours_insert(list, n, k, x);
}

size_t corpus_index_nearest(struct neighbour *out, size_t k, uint32_t per_cluster,
                            const struct corpus_index *x, const float *vector, struct arena *a)
{
    const struct vectors *v = &x->v;
    float *query = arena_array(a, float, v->stride);
    size_t n = 0;
    memcpy(query, vector, v->dim * sizeof *query);
    for (uint32_t row = 0; row < v->n; row++) {
        float dot = vector_dot(query, vectors_at(v, row), v->stride);
        n = insert(out, n, k, per_cluster, v->cluster, (struct neighbour){dot, row});
    }
    return n;
}
