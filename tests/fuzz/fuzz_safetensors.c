/* A safetensors file from anywhere: what is accepted fills exactly the parameters of its model,
 * with values of the file. */
#include "ops/learn/checkpoint/safetensors_read.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct source_text file = {"input", (const char *)data, size};
    struct nn_config c;
    struct nn_model *m;
    char *text;
    if (safetensors_architecture(&text, &a, &file, NULL) == OK &&
        nn_config_parse(&c, text, NULL) == OK && nn_model_new(&m, &a, &c, NULL) == OK &&
        m->table.count <= size / sizeof(float)) {
        float *weights = arena_array(&a, float, m->table.total);
        if (safetensors_weights(weights, &m->table, &file, NULL) == OK)
            assert(m->table.count * sizeof(float) < size);
    }
    arena_free(&a);
    return 0;
}
