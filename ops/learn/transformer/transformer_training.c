#include "base/rng.h"
#include "ops/learn/transformer/transformer_step.h"

#include <stdlib.h>

enum err_code transformer_new(void *out, struct gpu_device *device, const struct nn_model *model,
                              const struct transformer_config *c, struct err *e)
{
    bool generates = objective_generates(c->examples.objective);
    if (generates && !model->config.decoder_layers)
        return err_fail(e, ERR_INPUT, "this objective needs a model with a decoder");
    const struct network *network = generates ? &network_seq2seq : &network_contrastive;
    struct transformer *t = must_calloc(1, network->size);
    t->model = model;
    t->config = *c;
    t->type = nn_stored(device, &model->config, c->precision);
    struct trainer_config how = {.table = &model->table,
                                 .optimizer = c->optimizer,
                                 .precision = c->precision,
                                 .rounded = t->type != GPU_TYPE_F32,
                                 .seed = rng_at(c->seed, STREAM_INIT, 0)};
    return err_up(e, trainer_open(out, t, network, device, &how, e));
}

/* ---- batches ---- */

static const void *draw(struct batches *self, struct arena *a, bool measuring, uint64_t index)
{
    struct transformer_batches *x = (struct transformer_batches *)self;
    struct examples *out = arena_new(a, struct examples);
    struct examples_config c = x->config.examples;
    struct example_sampler *sampler = &x->sampler[measuring];
    if (measuring && c.objective == OBJECTIVE_SIMCSE) /* simcse needs dropout */
        c.objective = OBJECTIVE_CONTRASTIVE;
    if (!sampler->dataset) {
        example_sampler_init(
            sampler, x->data[measuring],
            rng_at(x->config.seed, measuring ? STREAM_VALIDATION : STREAM_PAIRS, 0), c.batch);
        if (c.class_pairs && sampler->dataset->clusters)
            example_sampler_by_pairs(sampler, c.class_pairs);
    }
    examples_gather(out, a, sampler, &c, x->wrap, index);
    return out;
}

struct transformer_batches transformer_batches(const struct transformer_config *c,
                                               const struct nn_config *model,
                                               const struct dataset *data,
                                               const struct dataset *valid)
{
    return (struct transformer_batches){{draw}, *c, model->wrap, {data, valid}, {{0}}};
}

void transformer_batches_free(struct transformer_batches *x)
{
    for (int i = 0; i < 2; i++)
        example_sampler_free(&x->sampler[i]);
}
