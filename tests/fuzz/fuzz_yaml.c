/* The YAML layer: whatever the bytes, a tree or one error. */
#include "base/text/yaml.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count(const struct yaml_node *node)
{
    size_t n = 1;
    for (size_t i = 0; node->type == YAML_SEQUENCE && i < node->n; i++)
        n += count(node->items[i]);
    for (size_t i = 0; node->type == YAML_MAPPING && i < node->n; i++)
        n += count(node->pairs[i].key) + count(node->pairs[i].value);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct source_text source = {"fuzz", (const char *)data, size};
    struct err e = {0};
    const struct yaml_node *root;
    if (!yaml_parse(&root, &a, &source, &e)) {
        if (root && count(root) > YAML_MAX_NODES)
            __builtin_trap();
    } else if (!e.message[0]) {
        __builtin_trap();
    }
    arena_free(&a);
    return 0;
}
