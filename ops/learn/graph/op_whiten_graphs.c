/* Op whiten-graphs: partially whitens a graph network's vectors. With the mean m and the covariance
 * C of given vectors, x becomes C^-p (x - m). This is linear and is merged into the network's last
 * layer, so that the result is an ordinary network. */
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/nn/graph/graph_model.h"

#include "embedding.pb-c.h"

#include <math.h>

/* ---- moments ---- */

struct moments {
    bool unit; /* of vectors scaled to length 1 */
    size_t n, d;
    double *mean, *covariance; /* (d), (d, d) */
};

static void add_vector(struct moments *m, const float *x)
{
    double squares = 0;
    for (size_t r = 0; r < m->d; r++)
        squares += (double)x[r] * (double)x[r];
    double by = !m->unit ? 1 : squares > 0 ? 1 / sqrt(squares) : 0;
    for (size_t r = 0; r < m->d; r++) {
        m->mean[r] += by * (double)x[r];
        for (size_t c = 0; c <= r; c++)
            m->covariance[r * m->d + c] += by * by * (double)x[r] * (double)x[c];
    }
    m->n++;
}

static enum err_code find_moments(struct moments *m, struct op_ctx *ctx, const char *role,
                                  struct err *e)
{
    struct learn_elements x = {ctx, role};
    const Eqloom__EmbeddingBatch *b;
    enum err_code code = OK;
    while (learn_next(&b, &x, &code, e)) {
        const float *values = (const float *)(const void *)b->values.data;
        if (b->dim != m->d || b->values.len != (size_t)b->count * b->dim * sizeof(float))
            code = err_fail(e, ERR_INPUT, "vectors of '%s' have %u numbers in place of %zu", role,
                            b->dim, m->d);
        for (size_t k = 0; k < b->count && !code; k++)
            add_vector(m, values + k * m->d);
    }
    double by = m->n ? 1 / (double)m->n : 0;
    for (size_t r = 0; r < m->d; r++)
        m->mean[r] *= by;
    for (size_t r = 0; r < m->d; r++)
        for (size_t c = 0; c <= r; c++)
            m->covariance[r * m->d + c] = m->covariance[c * m->d + r] =
                m->covariance[r * m->d + c] * by - m->mean[r] * m->mean[c];
    return code;
}

/* ---- C^-p ---- */

/* Cyclic Jacobi: diagonalises c (d, d), symmetric; the rows of v become its eigenvectors. */
static void diagonalize(double *c, double *v, size_t d)
{
    double all = 0, off = 1;
    for (size_t i = 0; i < d * d; i++)
        all += c[i] * c[i];
    for (size_t i = 0; i < d; i++)
        v[i * d + i] = 1;
    for (int sweep = 0; sweep < 60 && off > 1e-26 * all; sweep++) {
        off = 0;
        for (size_t p = 0; p < d; p++)
            for (size_t q = p + 1; q < d; q++) {
                double apq = c[p * d + q];
                if (apq == 0)
                    continue;
                double theta = (c[q * d + q] - c[p * d + p]) / (2 * apq);
                double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
                double cosine = 1 / sqrt(t * t + 1), sine = t * cosine;
                off += apq * apq;
                for (size_t k = 0; k < d; k++) {
                    double x = c[k * d + p], y = c[k * d + q];
                    c[k * d + p] = cosine * x - sine * y;
                    c[k * d + q] = sine * x + cosine * y;
                }
                for (size_t k = 0; k < d; k++) {
                    double x = c[p * d + k], y = c[q * d + k];
                    c[p * d + k] = cosine * x - sine * y;
                    c[q * d + k] = sine * x + cosine * y;
                    x = v[p * d + k];
                    y = v[q * d + k];
                    v[p * d + k] = cosine * x - sine * y;
                    v[q * d + k] = sine * x + cosine * y;
                }
            }
    }
}

/* Returns (d, d). Directions without variance get a thousandth of the largest variance. */
static double *power_of(struct arena *a, double *covariance, size_t d, double power)
{
    double *v = arena_array(a, double, d *d), *out = arena_array(a, double, d *d), most = 0;
    diagonalize(covariance, v, d);
    for (size_t i = 0; i < d; i++)
        most = fmax(most, covariance[i * d + i]);
    for (size_t i = 0; i < d; i++) {
        double variance = fmax(0, covariance[i * d + i]) + 1e-3 * most;
        double by = variance > 0 ? pow(variance, -power) : 1;
        for (size_t r = 0; r < d; r++)
            for (size_t k = 0; k < d; k++)
                out[r * d + k] += by * v[i * d + r] * v[i * d + k];
    }
    return out;
}

/* ---- the network ---- */

/* With t = C^-p: W' = t W / c and b' = t (b / c - mean), where vectors were divided by c. The new
 * ones are divided by their root mean square. */
static void take_in(float *flat, const struct graph_model *model, struct arena *a,
                    const struct moments *m, const double *t, double spread)
{
    size_t d = m->d, width = model->config.d;
    float *weight = flat + model->out.weight, *bias = flat + model->out.bias;
    double c = (double)flat[model->length_mean] + (double)flat[model->length_deviation];
    double by = c > 0 ? 1 / c : 0;
    double *rows = arena_array(a, double, d *width), *shift = arena_array(a, double, d);
    for (size_t r = 0; r < d; r++)
        for (size_t k = 0; k < d; k++) {
            shift[r] += t[r * d + k] * (by * (double)bias[k] - m->mean[k]);
            for (size_t i = 0; i < width; i++)
                rows[r * width + i] += t[r * d + k] * by * (double)weight[k * width + i];
        }
    for (size_t i = 0; i < d * width; i++)
        weight[i] = (float)rows[i];
    for (size_t i = 0; i < d; i++)
        bias[i] = (float)shift[i];
    flat[model->length_mean] = (float)spread;
    flat[model->length_deviation] = 0;
}

/* U = C^-p and v = -U mean. */
static void take_counts_in(float *flat, const struct graph_model *model, const struct moments *m,
                           const double *t)
{
    size_t d = m->d;
    for (size_t r = 0; r < d; r++) {
        double shift = 0;
        for (size_t k = 0; k < d; k++) {
            flat[model->count_weight + r * d + k] = (float)t[r * d + k];
            shift -= t[r * d + k] * m->mean[k];
        }
        flat[model->count_bias + r] = (float)shift;
    }
}

/* Returns the root mean square of the new vectors: the root of the trace of t C t, where C is
 * diagonal. */
static double spread_of(const double *eigenvalues, size_t d, double power)
{
    double sum = 0, most = 0;
    for (size_t i = 0; i < d; i++)
        most = fmax(most, eigenvalues[i * d + i]);
    for (size_t i = 0; i < d && most > 0; i++) {
        double variance = fmax(0, eigenvalues[i * d + i]);
        sum += variance * pow(variance + 1e-3 * most, -2 * power);
    }
    return sum > 0 ? sqrt(sum) : 1;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct chunk_io io = learn_chunks(ctx);
    struct graph_config config;
    struct graph_model *model;
    const Eqloom__Checkpoint *from;
    double power = op_real(ctx, "power");
    enum err_code code;
    if ((code = op_get(&from, ctx, "checkpoint", 0, e)))
        return err_up(e, code);
    if ((code = graph_config_parse(&config, from->architecture, e)) ||
        (code = graph_model_new(&model, a, &config, e)))
        return err_up(e, code);
    size_t d = config.out, f = GRAPH_FEATURES;
    struct moments m = {false, 0, d, arena_array(a, double, d), arena_array(a, double, d *d)};
    struct moments counts = {true, 0, f, arena_array(a, double, f), arena_array(a, double, f *f)};
    if (config.counts)
        return err_fail(e, ERR_INPUT, "the network's vectors already have a second part");
    config.counts = op_count(ctx, "counts") > 0;
    const struct graph_model *given = model;
    if ((code = graph_model_new(&model, a, &config, e)))
        return err_up(e, code);
    struct trainer_state weights = {.weights =
                                        arena_try_alloc(a, model->table.total, sizeof(float))};
    if (!weights.weights)
        return err_fail(e, ERR_NOMEM, "no memory for %zu parameters", model->table.count);
    if ((code = checkpoint_read(&weights, &given->table, from, &io, a, e)) ||
        (code = find_moments(&m, ctx, "embeddings", e)) ||
        (code = find_moments(&counts, ctx, "counts", e)))
        return err_up(e, code);
    if (m.n > 1) {
        double *t = power_of(a, m.covariance, d, power);
        take_in(weights.weights, model, a, &m, t, spread_of(m.covariance, d, power));
    }
    if (config.counts)
        take_counts_in(weights.weights, model, &counts, power_of(a, counts.covariance, f, power));
    Eqloom__Checkpoint out = EQLOOM__CHECKPOINT__INIT;
    weights.steps = 0;
    if ((code = checkpoint_write(&out, graph_config_text(a, &config), &model->table, &weights, &io,
                                 a, e)))
        return err_up(e, code);
    out.vocabulary_id = from->vocabulary_id;
    return err_up(e, op_emit(NULL, ctx, "checkpoint", &out.base, e));
}

const struct op op_whiten_graphs = {
    .name = "whiten-graphs",
    .version = 2,
    .node = OP_TASK,
    .numerics = true, /* pow is the C library's */
    .doc = "Partially whitens the vectors of a graph network: centres them and multiplies them by "
           "the inverse covariance to the power `power`, within its last layer. Near copies of an "
           "equation then rank above equations that are merely of the same kind. With `counts`, "
           "cosines become the mean of the network's and of those of whitened feature counts.",
    .params = OP_PARAMS({"power", OP_REAL, "0.15", NULL, 0, 0.5,
                         "The power: 0 only centres, 0.5 gives all directions equal variance. "
                         "It improves the ranks of near copies, and worsens those of many other "
                         "equations."}),
    .inputs = OP_PORTS({"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "The network."},
                       {"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION,
                        .doc = "Its vectors of equations, such as the training equations."},
                       {"counts", KIND_EMBEDDING_BATCH, OP_COLLECTION, true,
                        "The equations' bags of features. With these, vectors get a second part "
                        "of the same length: whitened counts of features, which find near "
                        "copies."}),
    .outputs = OP_PORTS({"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "The weights only."}),
    .run = run,
};
