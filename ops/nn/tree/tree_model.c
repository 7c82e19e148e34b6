#include "ops/nn/tree/tree_model.h"

#include "base/rng.h"

#include <stdio.h>
#include <string.h>

static const char prefix[] = "architecture=trees\n";

char *tree_config_text(struct arena *a, const struct tree_config *c)
{
    return arena_printf(
        a, "%sd=%u\nhidden=%u\ncode=%u\nouter=%u\npoints=%u\narity=%s\nclasses=%u\n", prefix, c->d,
        c->hidden, c->code, c->outer, c->points, c->arity, c->classes);
}

bool tree_config_is(const char *text)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

enum err_code tree_config_parse(struct tree_config *c, struct arena *a, const char *text,
                                struct err *e)
{
    if (!tree_config_is(text))
        return err_fail(e, ERR_INPUT, "the model is not a network for trees");
    const char *list = strstr(text, "\narity=");
    size_t n = list ? strcspn(list + 7, "\n") : 0;
    *c = (struct tree_config){.arity = list ? arena_strndup(a, list + 7, n) : ""};
    bool same = list &&
                sscanf(text + strlen(prefix), "d=%u hidden=%u code=%u outer=%u points=%u", &c->d,
                       &c->hidden, &c->code, &c->outer, &c->points) == 5 &&
                sscanf(list + 7 + n, " classes=%u", &c->classes) == 1 &&
                strspn(c->arity, "012x") == n && c->d && c->hidden && c->code && c->d <= 4096 &&
                c->hidden <= 4096 && c->code <= 4096 && c->outer <= 4096 && c->points <= 64 &&
                strcmp(tree_config_text(a, c), text) == 0;
    return same ? OK
                : err_fail(e, ERR_CORRUPT, "checkpoint: invalid architecture of a tree network");
}

/* An operator's parameters to which dropout applies, then the others. */
static void add_dropped(struct tree_model *m, struct arena *a, const char *name, uint32_t token)
{
    struct tree_combine *c = &m->combine[token];
    const struct tree_config *k = &m->config;
    uint32_t in = c->arity * k->d;
    enum nn_init init = k->points ? NN_INIT_XAVIER : NN_INIT_ZERO; /* tree_model_init */
    struct nn_table *t = &m->table;
    c->hidden = nn_table_add(t, arena_printf(a, "%s.hidden.weight", name), init, k->hidden, in);
    c->direct = nn_table_add(t, arena_printf(a, "%s.direct.weight", name), init, k->d, in);
    c->through = nn_table_add(t, arena_printf(a, "%s.through.weight", name), init, k->d, k->hidden);
}

static void add_kept(struct tree_model *m, struct arena *a, const char *name, uint32_t token)
{
    struct tree_combine *c = &m->combine[token];
    const struct tree_config *k = &m->config;
    enum nn_init init = NN_INIT_ZERO; /* tree_model_init */
    struct nn_table *t = &m->table;
    c->hidden_bias = nn_table_add(t, arena_printf(a, "%s.hidden.bias", name), init, k->hidden, 0);
    c->bias = nn_table_add(t, arena_printf(a, "%s.bias", name), init, k->d, 0);
    if (k->points)
        return;
    c->encoder = nn_table_add(t, arena_printf(a, "%s.encoder.weight", name), init, m->width[0],
                              (c->arity + 1) * k->d);
}

static void add_layers(struct tree_model *m, struct arena *a)
{
    const struct tree_config *k = &m->config;
    uint32_t all[] = {k->outer, k->code, k->outer};
    if (k->points)
        return;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            m->width[m->layers++] = all[i];
    m->width[m->layers] = TREE_ARITY * k->d;
    for (size_t i = 0; i < m->layers; i++)
        m->layer[i] = nn_table_add(&m->table, arena_printf(a, "layers.%zu.weight", i), NN_INIT_ZERO,
                                   m->width[i + 1], m->width[i]);
}

struct tree_model *tree_model_new(struct arena *a, const struct tree_config *c)
{
    struct tree_model *m = arena_new(a, struct tree_model);
    struct nn_table *t = &m->table;
    m->config = *c;
    m->tokens = (uint32_t)strlen(c->arity);
    m->rows = c->points ? c->points : 1;
    t->params = arena_array(a, struct nn_param, 6 * (m->tokens + 1) + TREE_LAYERS + 5);
    m->combine = arena_array(a, struct tree_combine, m->tokens + 1);
    char **names = arena_array(a, char *, m->tokens + 1);
    for (uint32_t i = 0; i <= m->tokens; i++) {
        m->combine[i].arity = i == m->tokens       ? 1
                              : c->arity[i] == 'x' ? 0
                                                   : (uint32_t)(c->arity[i] - '0');
        names[i] = i == m->tokens ? "root" : arena_printf(a, "operators.%u", i);
    }
    for (uint32_t i = 0; i <= m->tokens; i++)
        if (m->combine[i].arity)
            add_dropped(m, a, names[i], i);
    m->dropped = t->total;
    add_layers(m, a);
    for (uint32_t i = 0; i <= m->tokens; i++)
        if (m->combine[i].arity)
            add_kept(m, a, names[i], i);
    m->leaves = nn_table_add(t, "leaves.weight", c->points ? NN_INIT_UNIT : NN_INIT_ZERO,
                             m->tokens * m->rows, c->d);
    if (c->points) {
        m->values = nn_table_add(t, "values.weight", NN_INIT_XAVIER, TREE_VALUES, c->d);
        m->values_bias = nn_table_add(t, "values.bias", NN_INIT_ZERO, TREE_VALUES, 0);
    }
    m->classes = t->total;
    if (c->classes)
        nn_table_add(t, "classes.weight", NN_INIT_ZERO, c->classes, c->d);
    return m;
}

void tree_model_init(float *flat, const struct tree_model *m, double deviation, uint64_t seed)
{
    if (m->config.points) {
        nn_table_init(flat, &m->table, seed);
        return;
    }
    memset(flat, 0, m->table.total * sizeof *flat);
    for (size_t i = 0; i < m->table.n; i++) {
        const struct nn_param *p = &m->table.params[i];
        struct rng r = rng_new(seed, i);
        for (size_t k = 0; k < p->size; k++)
            flat[p->at + k] = (float)(deviation * rng_normal(&r));
    }
}
