/* Loading an index and looking through it; see corpus_index.h. A query is one pass over the matrix,
 * cluster by cluster: each keeps its best few, and these are joined in order. */
#include "ops/search/corpus_index.h"

#include <string.h>

void corpus_index_free(struct corpus_index *x)
{
    arena_free(&x->arena);
    *x = (struct corpus_index){0};
}

/* ---- loading ---- */

struct loading {
    struct corpus_index *x;
    const struct tool_args *args;
    struct arena *arenas;   /* by worker */
    struct err *errors;     /* by worker: the first */
    struct digest *sources; /* by batch */
};

static enum err_code load_batch(struct loading *l, size_t i, struct arena *a, struct err *e)
{
    struct corpus_index *x = l->x;
    ProtobufCMessage *message;
    enum err_code code =
        err_up(e, tool_get(&message, l->args, &x->batch[i], KIND_EMBEDDING_BATCH, a, e));
    if (code)
        return code;
    const Eqloom__EmbeddingBatch *b = (const Eqloom__EmbeddingBatch *)message;
    size_t n = x->first[i + 1] - x->first[i];
    if (b->count != n || (n && b->dim != x->v.dim) ||
        b->values.len != n * x->v.dim * sizeof(float) || (b->n_text && b->n_text != n))
        return err_fail(e, ERR_CORRUPT, "the index does not fit its embedding batch %zu", i);
    for (size_t k = 0; k < n; k++)
        memcpy(vectors_at(&x->v, x->first[i] + k), b->values.data + k * x->v.dim * sizeof(float),
               x->v.dim * sizeof(float));
    if (b->source_id.len == DIGEST_SIZE)
        memcpy(l->sources[i].bytes, b->source_id.data, DIGEST_SIZE);
    return OK;
}

static void load_item(void *arg, size_t i, unsigned worker)
{
    struct loading *l = arg;
    if (l->errors[worker].code)
        return;
    arena_reset(&l->arenas[worker]);
    load_batch(l, i, &l->arenas[worker], &l->errors[worker]);
}

/* Groups the batches by the clusters of their sources. */
static void group_batches(struct corpus_index *x, const struct digest *sources)
{
    uint32_t *cluster = arena_array(&x->arena, uint32_t, x->n_batches);
    x->source = arena_array(&x->arena, struct digest, x->n_batches);
    x->v.n_clusters = vectors_number_clusters(cluster, sources, x->n_batches);
    for (size_t i = 0; i < x->n_batches; i++) {
        x->source[cluster[i]] = sources[i];
        for (size_t row = x->first[i]; row < x->first[i + 1]; row++)
            x->v.cluster[row] = cluster[i];
    }
    x->begin = arena_array(&x->arena, size_t, x->v.n_clusters + 1);
    x->batches_of = arena_array(&x->arena, size_t, x->n_batches + 1);
    for (size_t i = 0; i < x->n_batches; i++)
        x->begin[cluster[i] + 1]++;
    for (uint32_t c = 0; c < x->v.n_clusters; c++)
        x->begin[c + 1] += x->begin[c];
    size_t *at = arena_memdup(&x->arena, x->begin, (x->v.n_clusters + 1) * sizeof *at);
    for (size_t i = 0; i < x->n_batches; i++)
        x->batches_of[at[cluster[i]]++] = i;
}

static enum err_code lay_out(struct corpus_index *x, const Eqloom__Index *index, struct err *e)
{
    size_t total = 0;
    if (index->batch_ids.len != index->n_batch_count * DIGEST_SIZE)
        return err_fail(e, ERR_CORRUPT, "the index names %zu batches and counts %zu",
                        index->batch_ids.len / DIGEST_SIZE, index->n_batch_count);
    x->n_batches = index->n_batch_count;
    x->batch = arena_memdup(&x->arena, index->batch_ids.data ? index->batch_ids.data : (void *)"",
                            index->batch_ids.len);
    x->first = arena_array(&x->arena, size_t, x->n_batches + 1);
    for (size_t i = 0; i < x->n_batches; i++)
        x->first[i + 1] = total += index->batch_count[i];
    if (total == 0 || index->dim == 0)
        return err_fail(e, ERR_INPUT, "the index is empty");
    if (total > UINT32_MAX / 2 || index->dim > UINT16_MAX)
        return err_fail(e, ERR_LIMIT, "an index of %zu vectors of %u dimensions is too large",
                        total, index->dim);
    x->v = (struct vectors){.n = (uint32_t)total,
                            .dim = index->dim,
                            .stride = (index->dim + VECTOR_LANES - 1) & ~(VECTOR_LANES - 1u)};
    x->v.x = arena_try_alloc(&x->arena, total * x->v.stride, sizeof *x->v.x);
    if (!x->v.x)
        return err_fail(e, ERR_NOMEM, "no memory for %zu vectors of %u dimensions", total,
                        index->dim);
    for (size_t i = 0; i < total && x->v.stride > x->v.dim; i++)
        memset(vectors_at(&x->v, i) + x->v.dim, 0, (x->v.stride - x->v.dim) * sizeof(float));
    x->v.cluster = arena_array(&x->arena, uint32_t, total);
    return OK;
}

enum err_code corpus_index_load(struct corpus_index *out, const struct tool_args *args,
                                const Eqloom__Index *index, struct pool *pool, struct err *e)
{
    struct arena work = {0};
    unsigned workers = pool_threads(pool);
    *out = (struct corpus_index){0};
    enum err_code code = err_up(e, lay_out(out, index, e));
    if (code)
        goto out;
    struct loading l = {.x = out,
                        .args = args,
                        .arenas = arena_array(&work, struct arena, workers),
                        .errors = arena_array(&work, struct err, workers),
                        .sources = arena_array(&work, struct digest, out->n_batches)};
    pool_for(pool, out->n_batches, load_item, &l);
    for (unsigned i = 0; i < workers; i++) {
        arena_free(&l.arenas[i]);
        if (l.errors[i].code && !code) {
            if (e)
                *e = l.errors[i];
            code = err_up(e, l.errors[i].code);
        }
    }
    if (!code)
        group_batches(out, l.sources);
out:
    arena_free(&work);
    if (code)
        corpus_index_free(out);
    return code;
}

/* ---- searching ---- */

struct looking {
    const struct corpus_index *x;
    const float *query;     /* (stride) */
    size_t most;            /* of each cluster */
    struct neighbour *best; /* by cluster, those of one from first_best on */
    size_t *first_best;     /* (clusters) */
    uint32_t *n_best;       /* (clusters) */
};

static void look_into_cluster(void *arg, size_t c, unsigned worker)
{
    struct looking *l = arg;
    const struct corpus_index *x = l->x;
    struct neighbour *list = l->best + l->first_best[c];
    size_t n = 0;
    for (size_t i = x->begin[c]; i < x->begin[c + 1]; i++) {
        size_t b = x->batches_of[i], row = x->first[b], end = x->first[b + 1];
        float dot[4];
        for (; row + 4 <= end; row += 4) {
            vector_dot4(dot, l->query, vectors_at(&x->v, row), x->v.stride);
            for (uint32_t k = 0; k < 4; k++)
                n = neighbours_insert(list, n, l->most,
                                      (struct neighbour){dot[k], (uint32_t)row + k});
        }
        for (; row < end; row++) {
            dot[0] = vector_dot(l->query, vectors_at(&x->v, row), x->v.stride);
            n = neighbours_insert(list, n, l->most, (struct neighbour){dot[0], (uint32_t)row});
        }
    }
    l->n_best[c] = (uint32_t)n;
}

/* Room for `most` of each cluster or for all it has. */
static void make_room(struct looking *l, struct arena *a)
{
    const struct corpus_index *x = l->x;
    size_t total = 0;
    l->first_best = arena_array(a, size_t, x->v.n_clusters);
    l->n_best = arena_array(a, uint32_t, x->v.n_clusters);
    for (uint32_t c = 0; c < x->v.n_clusters; c++) {
        size_t rows = 0;
        for (size_t i = x->begin[c]; i < x->begin[c + 1]; i++)
            rows += x->first[x->batches_of[i] + 1] - x->first[x->batches_of[i]];
        l->first_best[c] = total;
        total += rows < l->most ? rows : l->most;
    }
    l->best = arena_array(a, struct neighbour, total);
}

size_t corpus_index_nearest(struct neighbour *out, size_t k, uint32_t per_cluster,
                            const struct corpus_index *x, const float *vector, struct pool *pool,
                            struct arena *a)
{
    struct looking l = {.x = x, .most = per_cluster && per_cluster < k ? per_cluster : k};
    float *query = arena_array(a, float, x->v.stride);
    size_t n = 0;
    memcpy(query, vector, x->v.dim * sizeof *query);
    l.query = query;
    make_room(&l, a);
    pool_for(pool, x->v.n_clusters, look_into_cluster, &l);
    for (uint32_t c = 0; c < x->v.n_clusters; c++)
        for (uint32_t i = 0; i < l.n_best[c]; i++)
            n = neighbours_insert(out, n, k, l.best[l.first_best[c] + i]);
    return n;
}

enum err_code corpus_index_text(char **out, const struct corpus_index *x,
                                const struct tool_args *args, uint32_t row, struct arena *a,
                                struct err *e)
{
    ProtobufCMessage *message;
    size_t low = 0, high = x->n_batches; /* first[low] <= row < first[high] */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(x->first[middle] <= row ? &low : &high) = middle;
    }
    enum err_code code =
        err_up(e, tool_get(&message, args, &x->batch[low], KIND_EMBEDDING_BATCH, a, e));
    if (code)
        return code;
    const Eqloom__EmbeddingBatch *b = (const Eqloom__EmbeddingBatch *)message;
    if (b->n_text <= row - x->first[low])
        return err_fail(e, ERR_INPUT, "the indexed vectors have no texts of their expressions");
    *out = b->text[row - x->first[low]];
    return OK;
}
