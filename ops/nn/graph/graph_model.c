#include "ops/nn/graph/graph_model.h"

#include <stdio.h>
#include <string.h>

const uint32_t graph_head_classes[GRAPH_HEADS] = {GRAPH_TAGS, GRAPH_ATTRIBUTES + 1,
                                                  GRAPH_CHARACTERS + 1};
static const char prefix[] = "architecture=graph\n";

enum err_code graph_config_check(const struct graph_config *c, struct err *e)
{
    if (!c->d || !c->layers || !c->out || !c->positions)
        return err_fail(e, ERR_INPUT, "all dimensions of a graph network must be positive");
    if (c->d > 1u << 14 || c->layers > 64 || c->out > 1u << 14 || c->positions > 1u << 16)
        return err_fail(e, ERR_INPUT, "the graph network's dimensions are too large");
    return OK;
}

char *graph_config_text(struct arena *a, const struct graph_config *c)
{
    return arena_printf(a, "%sd=%u\nlayers=%u\nout=%u\npositions=%u\n%s", prefix, c->d, c->layers,
                        c->out, c->positions, c->counts ? "counts=1\n" : "");
}

bool graph_config_is(const char *text)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

enum err_code graph_config_parse(struct graph_config *c, const char *text, struct err *e)
{
    if (!graph_config_is(text))
        return err_fail(e, ERR_INPUT, "the model is not a graph network for equations");
    struct arena a = {0};
    c->counts = 0;
    bool same = sscanf(text + strlen(prefix), "d=%u layers=%u out=%u positions=%u counts=%u", &c->d,
                       &c->layers, &c->out, &c->positions, &c->counts) >= 4 &&
                strcmp(graph_config_text(&a, c), text) == 0;
    arena_free(&a);
    if (!same)
        return err_fail(e, ERR_CORRUPT, "checkpoint: invalid architecture of a graph network");
    return err_up(e, graph_config_check(c, e));
}

/* Adds weight (to, from) and bias (to) under a prefix. */
static struct graph_linear add_linear(struct nn_table *t, struct arena *a, const char *name,
                                      uint32_t to, uint32_t from)
{
    struct graph_linear x;
    x.weight = nn_table_add(t, arena_printf(a, "%s.weight", name), NN_INIT_XAVIER, to, from);
    x.bias = nn_table_add(t, arena_printf(a, "%s.bias", name), NN_INIT_ZERO, to, 0);
    return x;
}

enum err_code graph_model_new(struct graph_model **out, struct arena *a,
                              const struct graph_config *c, struct err *e)
{
    static const char *const heads[GRAPH_HEADS] = {"tags", "attributes", "characters"};
    enum err_code code = graph_config_check(c, e);
    if (code)
        return err_up(e, code);
    struct graph_model *m = arena_new(a, struct graph_model);
    struct nn_table *t = &m->table;
    m->config = *c;
    m->norms = (c->layers + 1) / 2;
    t->params = arena_array(a, struct nn_param, 15 + 2 * (size_t)c->layers + 2 * m->norms);
    m->first = nn_table_add(t, "first.weight", NN_INIT_XAVIER, GRAPH_FEATURES, c->d);
    nn_table_add(t, "first.bias", NN_INIT_ZERO, c->d, 0); /* directly behind, as one more row */
    m->alpha = nn_table_add(t, "alpha", NN_INIT_ONE, 1, 0);
    m->layers = arena_array(a, struct graph_linear, c->layers);
    for (uint32_t l = 0; l < c->layers; l++)
        m->layers[l] = add_linear(t, a, arena_printf(a, "layers.%u", l), c->d, c->d);
    m->out = add_linear(t, a, "out", c->out, c->d);
    for (size_t h = 0; h < GRAPH_HEADS; h++)
        m->heads[h] = add_linear(t, a, heads[h], graph_head_classes[h], c->d);
    m->learnt = t->total;
    m->mean = arena_array(a, size_t, 2 * m->norms);
    m->variance = m->mean + m->norms;
    for (uint32_t i = 0; i < m->norms; i++) {
        m->mean[i] =
            nn_table_add(t, arena_printf(a, "norms.%u.running_mean", i), NN_INIT_ZERO, c->d, 0);
        m->variance[i] =
            nn_table_add(t, arena_printf(a, "norms.%u.running_var", i), NN_INIT_ONE, c->d, 0);
    }
    m->length_mean = nn_table_add(t, "length.running_mean", NN_INIT_ONE, 1, 0);
    m->length_deviation = nn_table_add(t, "length.running_std", NN_INIT_ZERO, 1, 0);
    if (c->counts) {
        m->count_weight =
            nn_table_add(t, "counts.weight", NN_INIT_ZERO, GRAPH_FEATURES, GRAPH_FEATURES);
        m->count_bias = nn_table_add(t, "counts.bias", NN_INIT_ZERO, GRAPH_FEATURES, 0);
    }
    *out = m;
    return OK;
}
