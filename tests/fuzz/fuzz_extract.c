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
    struct grammar_options options = {.max_tokens = 9,
                                      .max_digits = 4,
                                      .filter = data[0] & 1,
                                      .leaf_constants = data[0] & 2,
                                      .merge_commutative = data[0] & 4,
                                      .drop_loops = data[0] & 8};
    if (m->n_node_ops < 1000 && grammar_init(&g, &a, m, &lang_calculus, &options, &e) == OK) {
        struct rng rng = rng_new(data[0], 0);
        struct term *terms;
        uint32_t n;
        struct draw_options draw = {data[0] & 128  ? DRAW_MEAN
                                    : data[0] & 16 ? DRAW_TERMS
                                                   : DRAW_LENGTHS,
                                    (enum draw_shapes)(data[0] >> 5 & 1) + (data[0] >> 6 & 1), 9};
        grammar_draw(&terms, &n, &a, &g, 20, &draw, &rng);
        for (uint32_t i = 0; i < n; i++)
            grammar_term_text(&a, &g, &terms[i]);
    }
    arena_free(&a);
    eqloom__egraph__free_unpacked(m, NULL);
    return 0;
}
