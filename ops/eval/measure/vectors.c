/* Vectors and their dot products; see vectors.h. Lanes use vector extensions of the compiler: each
 * lane is summed in order and lanes are added in a fixed tree, whatever the vector width of the
 * machine. The folder is compiled without contraction into fused operations. */
#include "ops/eval/measure/vectors.h"

#include "base/isa.h"
#include "base/map.h"

#include <math.h>
#include <string.h>

static inline float add_lanes(const vector8 *s)
{
    vector8 t = s[0] + s[1];
    for (int width = 4; width; width /= 2)
        for (int i = 0; i < width; i++)
            t[i] += t[i + width];
    return t[0];
}

EQL_CLONES float vector_dot(const float *x, const float *y, uint32_t stride)
{
    vector8 sum[2] = {{0}};
    const vector8 *v = (const vector8 *)x, *w = (const vector8 *)y;
    for (uint32_t i = 0; i < stride / 8; i += 2) {
        sum[0] += v[i] * w[i];
        sum[1] += v[i + 1] * w[i + 1];
    }
    return add_lanes(sum);
}

/* Numbers the clusters of n batches by their classes, or sources if they have no class; a batch
 * without either is its own cluster. Returns the number of clusters. */
static uint32_t number_clusters(uint32_t *cluster, Eqloom__EmbeddingBatch *const *batches, size_t n)
{
    struct digest_map seen = {0};
    uint32_t clusters = 0;
    for (size_t i = 0; i < n; i++) {
        struct digest source = {0};
        bool added = true;
        uint64_t *number = NULL;
        const ProtobufCBinaryData *id =
            batches[i]->class_key.len ? &batches[i]->class_key : &batches[i]->source_id;
        if (id->len == DIGEST_SIZE)
            memcpy(source.bytes, id->data, DIGEST_SIZE);
        if (!digest_is_zero(&source))
            number = digest_map_put(&seen, &source, clusters, &added);
        cluster[i] = added ? clusters++ : (uint32_t)*number;
    }
    digest_map_free(&seen);
    return clusters;
}

static enum err_code check_batches(uint32_t *dim, size_t *total,
                                   Eqloom__EmbeddingBatch *const *batches, size_t n, struct err *e)
{
    *dim = 0;
    *total = 0;
    for (size_t i = 0; i < n; i++) {
        const Eqloom__EmbeddingBatch *b = batches[i];
        if (b->values.len % sizeof(float) ||
            b->values.len / sizeof(float) != (uint64_t)b->dim * b->count)
            return err_fail(e, ERR_CORRUPT,
                            "embedding batch %zu has %zu bytes for %u x %u "
                            "values",
                            i, b->values.len, b->count, b->dim);
        if (b->count == 0)
            continue;
        if (*dim && b->dim != *dim)
            return err_fail(e, ERR_INPUT,
                            "vectors have different dimensions: %u and "
                            "%u",
                            *dim, b->dim);
        *dim = b->dim;
        *total += b->count;
    }
    if (*total == 0 || *dim == 0)
        return err_fail(e, ERR_INPUT, "there are no vectors");
    if (*total > UINT32_MAX / 2)
        return err_fail(e, ERR_LIMIT, "%zu vectors are too many", *total);
    return OK;
}

enum err_code vectors_load(struct vectors *out, struct arena *a,
                           Eqloom__EmbeddingBatch *const *batches, size_t n, uint32_t per_cluster,
                           struct err *e)
{
    uint32_t dim;
    size_t total;
    enum err_code code = err_up(e, check_batches(&dim, &total, batches, n, e));
    if (code)
        return code;
    *out = (struct vectors){.dim = dim, .stride = (dim + VECTOR_LANES - 1) & ~(VECTOR_LANES - 1u)};
    out->x = arena_try_alloc(a, total * out->stride, sizeof *out->x);
    if (!out->x)
        return err_fail(e, ERR_NOMEM, "no memory for %zu vectors of %u dimensions", total, dim);
    out->cluster = arena_array(a, uint32_t, total);
    out->text = arena_array(a, const char *, total);
    uint32_t *cluster = arena_array(a, uint32_t, n);
    out->n_clusters = number_clusters(cluster, batches, n);
    uint32_t *taken = arena_array(a, uint32_t, out->n_clusters + 1);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < batches[i]->count; k++) {
            const Eqloom__EmbeddingBatch *b = batches[i];
            if (per_cluster && taken[cluster[i]] >= per_cluster)
                break;
            float *row = vectors_at(out, out->n);
            memset(row + dim, 0, (out->stride - dim) * sizeof *row);
            memcpy(row, b->values.data + (size_t)k * dim * sizeof *row, dim * sizeof *row);
            for (uint32_t d = 0; d < dim; d++)
                if (!isfinite(row[d]))
                    return err_fail(e, ERR_FAILED, "vector %u of batch %zu is not finite", k, i);
            taken[cluster[i]]++;
            out->text[out->n] = k < b->n_text ? b->text[k] : "";
            out->cluster[out->n++] = cluster[i];
        }
    return OK;
}

static const char *name_of(struct arena *a, const struct vectors *v, uint32_t i)
{
    return arena_printf(a, "%u %s", v->cluster[i], v->text[i]);
}

void vectors_drop_copies(struct vectors *v, uint32_t first)
{
    struct name_map seen = {0};
    struct arena a = {0};
    uint32_t n = first;
    for (uint32_t i = 0; i < first; i++)
        name_map_put(&seen, name_of(&a, v, i), 0, NULL);
    for (uint32_t i = first; i < v->n; i++) {
        if (v->text[i][0] && name_map_get(&seen, name_of(&a, v, i)))
            continue;
        memmove(vectors_at(v, n), vectors_at(v, i), v->stride * sizeof *v->x);
        v->cluster[n] = v->cluster[i];
        v->text[n++] = v->text[i];
    }
    v->n = n;
    name_map_free(&seen);
    arena_free(&a);
}

void vectors_normalize(struct vectors *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        float *row = vectors_at(v, i), norm = sqrtf(vector_dot(row, row, v->stride));
        for (uint32_t d = 0; norm > 0 && d < v->dim; d++)
            row[d] /= norm;
    }
}
