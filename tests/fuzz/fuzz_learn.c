/* What checkpoints and files of weights say of models. */
#include "tests/fuzz/fuzz.h"

#include "ops/learn/checkpoint/safetensors_read.h"
#include "ops/nn/graph/graph_model.h"
#include "ops/nn/transformer/model.h"

#include <assert.h>
#include <string.h>

/* The architecture text of a checkpoint: whatever is accepted is written back as it was read, up
 * to leading zeros, and can be made into a model if it is of a bearable size. */
/* Its text has one form. */
static void read_graph_network(struct arena *a, const char *text)
{
    struct graph_config c;
    struct graph_model *m;
    if (graph_config_parse(&c, text, NULL) != OK)
        return;
    assert(graph_config_is(text) && strcmp(graph_config_text(a, &c), text) == 0);
    assert(graph_model_new(&m, a, &c, NULL) == OK);
    assert(m->learnt <= m->table.total && m->table.count <= m->table.total);
}

FUZZ(architecture)
{
    struct nn_config c, again;
    struct nn_model *m;
    char *text = arena_strndup(a, (const char *)data, size);
    if (nn_config_parse(&c, text, NULL) == OK) {
        char *written = nn_config_text(a, &c);
        assert(nn_config_parse(&again, written, NULL) == OK);
        assert(strcmp(nn_config_text(a, &again), written) == 0);
        assert(nn_model_new(&m, a, &c, NULL) == OK);
        assert(m->table.count <= m->table.total);
    }
    read_graph_network(a, text);
}

/* A safetensors file from anywhere: what is accepted fills exactly the parameters of its model,
 * with values of the file. */
FUZZ(safetensors)
{
    struct source_text file = {"input", (const char *)data, size};
    struct nn_config c;
    struct nn_model *m;
    char *text;
    if (safetensors_architecture(&text, a, &file, NULL) == OK &&
        nn_config_parse(&c, text, NULL) == OK && nn_model_new(&m, a, &c, NULL) == OK &&
        m->table.count <= size / sizeof(float)) {
        float *weights = arena_array(a, float, m->table.total);
        if (safetensors_weights(weights, &m->table, &file, NULL) == OK)
            assert(m->table.count * sizeof(float) < size);
    }
}
