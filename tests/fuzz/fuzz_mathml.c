/* Any bytes as MathML: refused, or written in a form that is read and written as the same. */
#include "ops/latex/graphs/graph_nodes.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct mathml_tree t, again;
    if (!mathml_tree_parse(&t, &a, (const char *)data, size)) {
        const char *text = mathml_tree_write(&a, &t);
        struct graph_nodes g;
        assert(!mathml_tree_parse(&again, &a, text, strlen(text)));
        assert(!strcmp(text, mathml_tree_write(&a, &again)));
        assert(!graph_nodes_of(&g, &a, text) && g.n > 0);
    }
    arena_free(&a);
    return 0;
}
