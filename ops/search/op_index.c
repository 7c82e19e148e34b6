/* The op `index`: binds a corpus's vectors to the model that made them, so that a search embeds
 * queries with the same model. The vectors stay in their batches. */
#include "engine/op.h"

#include "embedding.pb-c.h"
#include "index.pb-c.h"
#include "ops/latex/study/equation_place.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const double LENGTH_TOLERANCE = 1e-3;

static enum err_code check_batch(const Eqloom__EmbeddingBatch *b, uint64_t i, uint32_t dim,
                                 bool equations, struct err *e)
{
    if (b->values.len != (uint64_t)b->dim * b->count * sizeof(float) ||
        (b->n_text && b->n_text != b->count))
        return err_fail(e, ERR_CORRUPT, "embedding batch %" PRIu64 " is inconsistent", i);
    if (b->count && b->dim != dim)
        return err_fail(e, ERR_INPUT, "vectors differ in their number of dimensions: %u and %u",
                        dim, b->dim);
    for (uint32_t k = 0; k < b->count; k++) {
        double sum = 0;
        for (uint32_t d = 0; d < dim && !equations; d++) {
            float x;
            memcpy(&x, b->values.data + ((size_t)k * dim + d) * sizeof x, sizeof x);
            sum += (double)x * (double)x;
        }
        if (!equations && !(fabs(sqrt(sum) - 1) <= LENGTH_TOLERANCE)) {
            enum err_code code =
                err_fail(e, ERR_INPUT, "vector %u of batch %" PRIu64 " has length %g instead of 1",
                         k, i, sqrt(sum));
            err_hint(e, "embed with 'normalize: true'");
            return code;
        }
    }
    return OK;
}

/* Finds the MathML of each of n vectors. Both inputs are in the same order. */
static enum err_code find_equations(Eqloom__Index *out, struct op_ctx *ctx, uint64_t n,
                                    struct err *e)
{
    uint64_t graphs = op_count(ctx, "graphs"), mathml = op_count(ctx, "mathml"), k = 0;
    struct arena work = {0};
    enum err_code code = OK;
    if (graphs != n)
        return err_fail(e, ERR_INPUT, "there are %" PRIu64 " vectors of %" PRIu64 " graphs", n,
                        graphs);
    uint8_t *ids = arena_alloc(op_arena(ctx), n * DIGEST_SIZE + 1);
    for (uint64_t i = 0; i < graphs && !code; i++) {
        const Eqloom__Place *graph, *place = NULL;
        arena_reset(&work);
        code = op_cancelled(ctx) ? err_fail(e, ERR_CANCELLED, "indexing was interrupted")
                                 : equation_place_get(&graph, ctx, "graphs", i, &work, e);
        while (!code && (!place || !equation_place_same(place, graph))) {
            if (k == mathml)
                code = err_fail(e, ERR_INPUT, "'mathml' has no equation %u of %s",
                                graph->number + 1, graph->paper);
            else
                code = equation_place_get(&place, ctx, "mathml", k++, &work, e);
        }
        if (!code) {
            struct digest id = op_input_id(ctx, "mathml", k - 1);
            memcpy(ids + i * DIGEST_SIZE, id.bytes, DIGEST_SIZE);
        }
    }
    arena_free(&work);
    out->mathml_ids = (ProtobufCBinaryData){n * DIGEST_SIZE, ids};
    return err_up(e, code);
}

/* Adds the papers by name, so that a search can show their titles. */
static enum err_code list_papers(Eqloom__Index *out, struct op_ctx *ctx, struct err *e)
{
    struct arena *a = op_arena(ctx);
    uint64_t n = op_count(ctx, "papers");
    uint8_t *ids = arena_alloc(a, n * DIGEST_SIZE + 1);
    enum err_code code = OK;
    out->papers = arena_array(a, char *, n + 1);
    for (uint64_t i = 0; i < n && !code; i++) {
        const Eqloom__Place *p;
        if ((code = equation_place_get(&p, ctx, "papers", i, a, e)) || !*p->paper)
            continue;
        struct digest id = op_input_id(ctx, "papers", i);
        memcpy(ids + out->n_papers * DIGEST_SIZE, id.bytes, DIGEST_SIZE);
        out->papers[out->n_papers++] = p->paper;
    }
    out->paper_ids = (ProtobufCBinaryData){out->n_papers * DIGEST_SIZE, ids};
    return err_up(e, code);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    bool equations = op_count(ctx, "graphs") > 0 && op_count(ctx, "mathml") > 0;
    uint64_t vectors = 0;
    struct arena *a = op_arena(ctx), work = {0};
    uint64_t n = op_count(ctx, "embeddings");
    struct digest checkpoint = op_input_id(ctx, "checkpoint", 0);
    uint8_t *ids = arena_alloc(a, n * DIGEST_SIZE);
    Eqloom__Index out;
    enum err_code code = OK;
    eqloom__index__init(&out);
    out.batch_count = arena_array(a, uint32_t, n);
    for (uint64_t i = 0; i < n && !code; i++) {
        const Eqloom__EmbeddingBatch *b;
        struct digest id = op_input_id(ctx, "embeddings", i);
        arena_reset(&work);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "indexing was interrupted");
        else
            code = err_up(e, op_get_in(&b, ctx, "embeddings", i, &work, e));
        if (code)
            break;
        if (!out.dim)
            out.dim = b->dim;
        code = err_up(e, check_batch(b, i, out.dim, equations, e));
        out.batch_count[i] = b->count;
        vectors += b->count;
        memcpy(ids + i * DIGEST_SIZE, id.bytes, DIGEST_SIZE);
    }
    arena_free(&work);
    if (!code && equations)
        code = err_up(e, find_equations(&out, ctx, vectors, e));
    if (!code)
        code = err_up(e, list_papers(&out, ctx, e));
    if (code)
        return code;
    out.checkpoint_id = (ProtobufCBinaryData){DIGEST_SIZE, checkpoint.bytes};
    out.batch_ids = (ProtobufCBinaryData){n * DIGEST_SIZE, ids};
    out.n_batch_count = n;
    return err_up(e, op_emit(NULL, ctx, "index", &out.base, e));
}

const struct op op_index = {
    .name = "index",
    .version = 3,
    .node = OP_TASK,
    .doc = "Makes vectors searchable (`eqloom search`): binds them to the model that made them. "
           "Vectors must have length 1, except those of equations, which are given with "
           "`graphs` and `mathml`.",
    .inputs = OP_PORTS(
        {"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, .doc = "The vectors to search."},
        {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "The model that made them."},
        {"graphs", KIND_GRAPH, OP_COLLECTION, true,
         "For vectors of equations: the graphs they were made from, in the order of the vectors."},
        {"mathml", KIND_MATHML, OP_COLLECTION, true,
         "The MathML the graphs were made from, for display; not all of it has a graph."},
        {"papers", KIND_PAPER, OP_COLLECTION, true,
         "The papers of the equations, so that a search shows the titles of papers and sections."}),
    .outputs = OP_PORTS({"index", KIND_INDEX, OP_ONE,
                         .doc = "The index that `eqloom search` "
                                "reads."}),
    .run = run,
    .summarize = equation_place_summarize,
};
