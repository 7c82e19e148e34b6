/* The loss of a network of functions; see tree_network.h. */
#include "ops/learn/tree/tree_points.h"
#include "ops/learn/tree/tree_training.h"
#include "ops/nn/linear.h"

#include <math.h>
#include <string.h>

static const float bend = 0.1F; /* where the squared error becomes linear */

/* ---- values ---- */

/* Adds the errors of n values to *loss; replaces the values by their gradient, up to a factor.
 * Returns how many are known. */
static size_t compare(double *loss, float *values, const float *known, size_t n)
{
    size_t counted = 0;
    for (size_t i = 0; i < n; i++) {
        float by = values[i] - known[i], size = fabsf(by);
        if (isnan(known[i])) {
            values[i] = 0;
            continue;
        }
        counted++;
        *loss += (double)(size < bend ? by * by / (2 * bend) : size - bend / 2);
        values[i] = size < bend ? by / bend : by < 0 ? -1 : 1;
    }
    return counted;
}

/* Copies the values of the shard's trees: those of the operand of each root. */
static void keep_trees(float *out, const struct tree_shard *s, const float *known, size_t width)
{
    const struct tree_group *roots = &s->lists.groups[s->lists.n_groups - 1];
    for (size_t i = 0; i < roots->n; i++)
        memcpy(out + s->first * width + i * TREE_VALUES,
               known + (size_t)s->lists.kids[roots->kid + i] * TREE_VALUES,
               TREE_VALUES * sizeof *out);
}

/* Adds the values' loss; fills worth (trees, points, TREE_VALUES) with the values of the trees. */
static enum err_code learn_values(struct tree_network *t, float *worth, struct err *e)
{
    const struct tree_model *m = t->model;
    float **values = arena_array(&t->base.arena, float *, t->n_shards);
    size_t counted = 0;
    double loss = 0;
    for (size_t i = 0; i < t->n_shards; i++) {
        const struct tree_shard *s = &t->shards[i];
        size_t n = (s->lists.nodes - s->lists.roots) * TREE_VALUES;
        values[i] = arena_array(&t->base.arena, float, n);
        gpu_read(t->base.queue, values[i], s->values, n * sizeof *values[i]);
    }
    enum err_code code = gpu_finish(t->base.queue, e);
    if (code)
        return err_up(e, code);
    for (size_t i = 0; i < t->n_shards; i++) {
        const struct tree_shard *s = &t->shards[i];
        size_t n = (s->lists.nodes - s->lists.roots) * TREE_VALUES;
        float *known = arena_array(&t->base.arena, float, n);
        tree_points_evaluate(known, &t->base.arena, &s->lists, m, t->config.meaning);
        keep_trees(worth, s, known, m->rows * TREE_VALUES);
        counted += compare(&loss, values[i], known, n);
    }
    double by = counted ? t->config.values / (double)counted : 0;
    for (size_t i = 0; i < t->n_shards; i++) {
        const struct tree_shard *s = &t->shards[i];
        size_t n = (s->lists.nodes - s->lists.roots) * TREE_VALUES;
        for (size_t k = 0; k < n; k++)
            values[i][k] *= (float)by;
        gpu_write(t->base.queue, s->values, values[i], n * sizeof *values[i]);
    }
    t->loss += loss * by;
    return OK;
}

/* ---- pairs ---- */

/* Puts near misses with the same values as their source into its class. */
static uint32_t *groups_of(struct tree_network *t, const struct tree_batch *x, const float *worth)
{
    size_t width = (size_t)t->model->rows * TREE_VALUES;
    uint32_t *group = arena_memdup(&t->base.arena, x->class, x->set.n * sizeof *group);
    for (size_t i = x->paired; i < x->set.n; i++)
        if (!tree_points_differ(worth + i * width, worth + x->from[i] * width, t->model->rows))
            group[i] = group[x->from[i]];
    return group;
}

static void contrast(struct tree_network *t, const struct tree_batch *x, const uint32_t *group)
{
    const struct gpu_ops *op = t->base.queue->op;
    struct tree_contrast *c = &t->contrast;
    size_t n = x->set.n, rows = x->paired, width = tree_width(t->model);
    float by = (float)(1 / t->config.temperature);
    uint32_t *target = arena_array(&t->base.arena, uint32_t, rows);
    for (uint32_t i = 0; i < rows; i++)
        target[i] = i ^ 1;
    gpu_write(t->base.queue, c->target, target, rows * sizeof *target);
    gpu_write(t->base.queue, c->group, group, n * sizeof *group);
    op->normalize(t->base.queue, c->units, c->norms, t->vectors, n, width);
    product(t->base.queue, "nt", t->scores, c->units, c->units, rows, n, width, by, 0, GPU_F32);
    op->cross_entropy(t->base.queue, t->scores,
                      &(struct gpu_loss){.rows = rows,
                                         .cols = n,
                                         .target = c->target,
                                         .group = c->group,
                                         .self = true,
                                         .scale = 1 / (float)rows,
                                         .loss = c->loss,
                                         .correct = c->correct});
    op->sum_losses(t->base.queue, c->sums, c->loss, c->correct, rows, (double)rows);
    /* If G is the gradient of the scores, that of the units is (G u + G^T u) / temperature. */
    op->fill(t->base.queue, c->dvectors, n * width, 0);
    product(t->base.queue, "nn", c->dvectors, t->scores, c->units, rows, width, n, by, 0, GPU_F32);
    product(t->base.queue, "tn", c->dvectors, t->scores, c->units, n, width, rows, by, 1, GPU_F32);
    op->normalize_back(t->base.queue, t->vectors, c->dvectors, c->units, c->norms, n, width);
}

enum err_code tree_functions_loss(struct tree_network *t, struct err *e)
{
    const struct tree_batch *x = t->batch;
    double sums[2];
    float *worth = arena_array(&t->base.arena, float, x->set.n * t->model->rows * TREE_VALUES);
    enum err_code code = learn_values(t, worth, e);
    if (code)
        return err_up(e, code);
    contrast(t, x, groups_of(t, x, worth));
    gpu_read(t->base.queue, sums, t->contrast.sums, sizeof sums);
    if ((code = gpu_finish(t->base.queue, e)))
        return err_up(e, code);
    t->loss += sums[0];
    t->accuracy = sums[1];
    return OK;
}
