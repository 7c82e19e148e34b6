/* Projections shared by equal tokens at equal positions; see shared.h. */
#include "ops/nn/transformer/shared.h"

#include "ops/nn/transformer/part.h"

uint32_t *nn_shared_first(struct arena *a, const struct nn_config *c, const struct nn_sequences *s)
{
    uint32_t *first = arena_array(a, uint32_t, c->vocabulary + 1);
    for (uint32_t v = 0; v < c->vocabulary; v++)
        first[v + 1] = s ? 0 : c->max_length;
    for (size_t i = 0; s && i < s->n; i++)
        for (uint32_t t = s->offset[i]; t < s->offset[i + 1]; t++) {
            uint32_t *places = &first[s->tokens[t] + 1], to = t - s->offset[i] + 1;
            *places = to > *places ? to : *places;
        }
    for (uint32_t v = 0; v < c->vocabulary; v++)
        first[v + 1] += first[v];
    return first;
}

void nn_shared_rows(uint32_t *row, const uint32_t *first, const struct nn_sequences *s)
{
    for (size_t i = 0; i < s->n; i++)
        for (uint32_t t = s->offset[i]; t < s->offset[i + 1]; t++)
            row[t] = first[s->tokens[t]] + t - s->offset[i];
}

void nn_shared_layout(struct nn_shared *f, const struct nn_config *c, const uint32_t *first,
                      uint32_t from, uint32_t to, float *q, bool training, struct gpu_layout *in,
                      struct gpu_layout *l)
{
    size_t n = first[to] - first[from], d = c->d_model;
    f->rows = n;
    f->sequences = to - from;
    f->token = gpu_carve(in, n * sizeof(uint32_t));
    f->offset = gpu_carve(in, (f->sequences + 1) * sizeof(uint32_t));
    f->at = (struct nn_attend_tape){.x = gpu_carve_floats(l, n * d),
                                    .mean = gpu_carve_floats(l, n),
                                    .rstd = gpu_carve_floats(l, n),
                                    .n = training ? NULL : gpu_carve_floats(l, n * d),
                                    .q = q};
}

void nn_shared_load(const struct nn_block *in, const struct nn_shared *f, const uint32_t *first,
                    uint32_t from)
{
    uint32_t *token = nn_host(in, f->token), *offset = nn_host(in, f->offset);
    for (size_t i = 0; i <= f->sequences; i++)
        offset[i] = first[from + i] - first[from];
    for (size_t i = 0; i < f->sequences; i++)
        for (uint32_t t = offset[i]; t < offset[i + 1]; t++)
            token[t] = from + (uint32_t)i;
}

void nn_shared_forward(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                       const struct nn_shared *f, const struct nn_scratch *s)
{
    struct nn_pass p = nn_pass_of(q, m, w, f->rows, s, NULL);
    struct nn_attend self = nn_self_attention(&m->layers[0], 0, f->sequences, f->offset);
    nn_embed(&p, f->at.x, f->token, f->offset, f->sequences);
    nn_project(&p, &f->at, &self);
}

void nn_shared_backward(struct gpu_queue *q, float *grad, const float *dq, const float *dx,
                        const uint32_t *of, const uint32_t *of_offset, const struct nn_model *m,
                        const struct nn_weights *w, const struct nn_shared *f,
                        const struct nn_scratch *s)
{
    struct nn_pass p = nn_pass_of(q, m, w, f->rows, s, NULL);
    struct nn_attend self = nn_self_attention(&m->layers[0], 0, f->sequences, f->offset);
    p.grad = grad;
    q->op->pool(q, s->wide, NULL, dq, of, of_offset, f->rows, 3 * p.d, GPU_SUM);
    q->op->pool(q, s->dx, NULL, dx, of, of_offset, f->rows, p.d, GPU_SUM);
    nn_project_back(&p, &f->at, &self);
    nn_embed_back(&p, s->dx, f->token, f->offset, f->sequences);
}
