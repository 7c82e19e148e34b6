/* Batches of examples; see examples.h. */
#include "ops/learn/data/examples.h"

#include <string.h>

bool objective_generates(enum objective_kind kind)
{
    return kind == OBJECTIVE_SEQ2SEQ || kind == OBJECTIVE_AUTOENCODE;
}

/* Packs the dataset's sequences with these numbers. */
static struct nn_sequences pack(struct arena *a, const struct dataset *d, const uint32_t *sequence,
                                size_t n, bool wrap)
{
    uint32_t *offset = arena_array(a, uint32_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        size_t length = d->offset[sequence[i] + 1] - d->offset[sequence[i]];
        offset[i + 1] = offset[i] + (uint32_t)length + (wrap ? 2 : 0);
    }
    uint32_t *tokens = arena_array(a, uint32_t, offset[n]), *to = tokens;
    for (size_t i = 0; i < n; i++) {
        size_t from = d->offset[sequence[i]], length = d->offset[sequence[i] + 1] - from;
        if (wrap)
            *to++ = NN_START;
        memcpy(to, d->tokens + from, length * sizeof *to);
        to += length;
        if (wrap)
            *to++ = NN_END;
    }
    return (struct nn_sequences){tokens, offset, n};
}

/* Returns the k-th pair; its second member is as c->target requires. */
static struct pair example_pair(struct example_sampler *sampler, const struct examples_config *c,
                                uint64_t k)
{
    struct pair p = example_sampler_pair(sampler, k);
    if (c->target == TARGET_SHORTEST) {
        uint32_t shortest = dataset_shortest(sampler->dataset, p.cluster);
        if (p.a == shortest)
            p.a = p.b;
        p.b = shortest;
    }
    return p;
}

/* Appends near misses to the 2n expressions of the pairs; each differs from all sequences of the
 * batch. Returns their number. */
static size_t add_near_misses(uint32_t *sequence, uint32_t *group,
                              const struct example_sampler *sampler,
                              const struct examples_config *c, uint64_t index)
{
    size_t n = 2 * c->batch, more = 0;
    for (size_t i = 0; i < n && c->near_misses > 0; i++)
        if (example_sampler_near_miss(&sequence[n + more], sampler, sequence[i], index * n + i,
                                      c->near_misses)) {
            group[n + more] = UINT32_MAX - (uint32_t)more;
            more++;
        }
    return more;
}

static void gather_contrastive(struct examples *out, struct arena *a,
                               struct example_sampler *sampler, const struct examples_config *c,
                               bool wrap, uint64_t index)
{
    size_t n = c->batch, all = n * (2 + c->negatives), room = all > 4 * n ? all : 4 * n;
    uint32_t *sequence = arena_array(a, uint32_t, room), *group = arena_array(a, uint32_t, room);
    for (size_t i = 0; i < n; i++) {
        uint64_t k = index * n + i;
        struct pair p = example_pair(sampler, c, k);
        sequence[i] = p.a;
        sequence[n + i] = p.b;
        group[i] = group[n + i] = c->negatives ? (uint32_t)i : p.cluster;
        for (size_t j = 0; j < c->negatives; j++) {
            size_t at = 2 * n + i * c->negatives + j;
            sequence[at] = example_sampler_negative(sampler, p.cluster, k, j, c->negatives);
            group[at] = (uint32_t)i;
        }
    }
    if (!c->negatives)
        all += add_near_misses(sequence, group, sampler, c, index);
    out->inputs = pack(a, sampler->dataset, sequence, all, wrap);
    out->group = group;
}

static void gather_simcse(struct examples *out, struct arena *a, struct example_sampler *sampler,
                          const struct examples_config *c, bool wrap, uint64_t index)
{
    size_t n = c->batch;
    uint32_t *sequence = arena_array(a, uint32_t, 2 * n), *group = arena_array(a, uint32_t, 2 * n);
    for (size_t i = 0; i < n; i++) {
        sequence[i] = sequence[n + i] = example_sampler_sequence(sampler, index * n + i);
        group[i] = group[n + i] = sequence[i];
    }
    out->inputs = pack(a, sampler->dataset, sequence, 2 * n, wrap);
    out->group = group;
}

static void gather_targets(struct examples *out, struct arena *a, struct example_sampler *sampler,
                           const struct examples_config *c, bool wrap, uint64_t index)
{
    size_t n = c->batch;
    uint32_t *input = arena_array(a, uint32_t, n), *target = arena_array(a, uint32_t, n);
    for (size_t i = 0; i < n; i++) {
        if (c->objective == OBJECTIVE_AUTOENCODE) {
            input[i] = target[i] = example_sampler_sequence(sampler, index * n + i);
        } else {
            struct pair p = example_pair(sampler, c, index * n + i);
            input[i] = p.a;
            target[i] = p.b;
        }
    }
    out->inputs = pack(a, sampler->dataset, input, n, wrap);
    out->targets = pack(a, sampler->dataset, target, n, false);
}

void examples_gather(struct examples *out, struct arena *a, struct example_sampler *sampler,
                     const struct examples_config *c, bool wrap, uint64_t index)
{
    *out = (struct examples){0};
    switch (c->objective) {
    case OBJECTIVE_CONTRASTIVE:
    case OBJECTIVE_TRIPLET:
    case OBJECTIVE_SIAMESE:
    case OBJECTIVE_HISTOGRAM: gather_contrastive(out, a, sampler, c, wrap, index); break;
    case OBJECTIVE_SIMCSE: gather_simcse(out, a, sampler, c, wrap, index); break;
    case OBJECTIVE_SEQ2SEQ:
    case OBJECTIVE_AUTOENCODE: gather_targets(out, a, sampler, c, wrap, index); break;
    }
}
