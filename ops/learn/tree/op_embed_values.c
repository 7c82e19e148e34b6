/* Op embed-values: computes vectors of expressions' values at some points, without training. */
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/tree/tree_corpus.h"
#include "ops/learn/tree/tree_points.h"

#include <math.h>
#include <string.h>

/* Computes out (trees, rows * TREE_ENCODED), each of length 1, or 0 if no value is known. */
static void embed(float *out, struct arena *a, const struct tree_model *m,
                  const struct tree_meaning *meaning, const struct tree_set *s)
{
    struct tree_lists lists;
    size_t width = (size_t)m->rows * TREE_ENCODED;
    tree_lists_make(&lists, a, m, s);
    float *values = arena_array(a, float, (lists.nodes - lists.roots) * TREE_ENCODED);
    tree_points_encode(values, a, &lists, m, meaning);
    const uint32_t *kids = lists.kids + lists.groups[lists.n_groups - 1].kid;
    for (size_t i = 0; i < s->n; i++) {
        float *row = out + i * width;
        double squares = 0;
        for (uint32_t p = 0; p < m->rows; p++)
            memcpy(row + (size_t)p * TREE_ENCODED,
                   values + (size_t)kids[i * m->rows + p] * TREE_ENCODED,
                   TREE_ENCODED * sizeof *row);
        for (size_t k = 0; k < width; k++)
            squares += (double)row[k] * row[k];
        for (size_t k = 0; k < width && squares > 0; k++)
            row[k] /= (float)sqrt(squares);
    }
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct tree_corpus c = {0};
    const Eqloom__TokenBatch *b;
    const Eqloom__Vocabulary *v;
    enum err_code code = op_get(&b, ctx, "batches", 0, e);
    if (code || (code = op_get(&v, ctx, "vocabulary", 0, e)))
        return err_up(e, code);
    if (learn_vocabulary_differs(&b->vocabulary_id, op_input_id(ctx, "vocabulary", 0)))
        return err_fail(e, ERR_INPUT,
                        "the batch and the input 'vocabulary' have different vocabularies");
    struct tree_config config = {.d = 1,
                                 .hidden = 1,
                                 .code = 1,
                                 .points = (uint32_t)op_int(ctx, "points"),
                                 .arity = tree_arities(a, v)};
    const struct tree_model *m = tree_model_new(a, &config);
    size_t width = (size_t)m->rows * TREE_ENCODED;
    if (!(code = err_up(e, tree_corpus_add(&c, b, m, e)))) {
        float *vectors = arena_array(a, float, c.trees *width);
        struct tree_batch all;
        tree_batch_all(&all, a, &c);
        embed(vectors, a, m, tree_meanings(a, v), &all.set);
        code = err_up(e, learn_emit_vectors(ctx, vectors, c.trees, width, b, e));
    }
    tree_corpus_free(&c);
    return code;
}

const struct op op_embed_values = {
    .name = "embed-values",
    .version = 1,
    .node = OP_MAP,
    .numerics = true,
    .doc = "Computes vectors of the values of expressions at some points, encoded by sines and "
           "cosines (docs/models.md). Nothing is trained: it is a baseline for `train-trees`. An "
           "expression without known values has the vector 0.",
    .params = OP_PARAMS(
        {"points", OP_INT, "10", NULL, 1, 64, "Number of points, with x from 0.19 to 4.56."}),
    .inputs = OP_PORTS({"batches", KIND_TOKEN_BATCH, OP_COLLECTION, .doc = "Expressions to embed."},
                       {"vocabulary", KIND_VOCABULARY, OP_ONE, .doc = "Theirs."}),
    .outputs = OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION,
                         .doc = "One per token batch; vectors have length 1."}),
    .run = run,
};
