/* Any bytes as an e-graph record: refused, or a grammar whose draws unrank. */
#include "ops/extract/extract_draw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Eqloom__EGraph *m = size > 1 ? eqloom__egraph__unpack(NULL, size - 1, data + 1) : NULL;
    if (!m)
        return 0;
    struct arena a = {0};
    struct grammar g;
    struct err e;
    struct grammar_options options = {.max_tokens = 9, .max_digits = 4};
    if (m->n_node_ops < 1000 && grammar_init(&g, &a, m, &lang_calculus, &options, &e) == OK) {
        struct rng rng = rng_new(data[0], 0);
        struct term *terms;
        uint32_t n;
        struct draw_options draw = {data[0] & 128 ? DRAW_MEAN : DRAW_LENGTHS,
                                    data[0] & 32 ? DRAW_EVEN : DRAW_PROPORTIONAL, 9};
        grammar_draw(&terms, &n, &a, &g, 20, &draw, &rng);
        for (uint32_t i = 0; i < n; i++)
            grammar_term_text(&a, &g, &terms[i]);
    }
    arena_free(&a);
    eqloom__egraph__free_unpacked(m, NULL);
    return 0;
}
