/* The op `mathml`: equations -> presentation MathML. LaTeX is converted by KaTeX with the paper's
 * macros; MathML is parsed and written in canonical form. A KaTeX heap takes 0.2 s to load and
 * serves one thread, so heaps are kept between elements. */
#include "engine/op.h"
#include "ops/latex/katex/katex.h"
#include "ops/latex/mathml/mathml_tree.h"

#include "schemas/canonical.h"

#include <pthread.h>
#include <stdlib.h>

struct heaps {
    pthread_mutex_t lock;
    struct katex *free[64];
    size_t n;
};

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    struct heaps *h = must_calloc(1, sizeof *h);
    pthread_mutex_init(&h->lock, NULL);
    *state = h;
    return OK;
}

static void release(void *state)
{
    struct heaps *h = state;
    for (size_t i = 0; i < h->n; i++)
        katex_free(h->free[i]);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

static enum err_code convert(struct katex_answer *out, struct arena *a, struct heaps *h,
                             const Eqloom__Equation *q, struct err *e)
{
    struct katex *k = NULL;
    pthread_mutex_lock(&h->lock);
    if (h->n)
        k = h->free[--h->n];
    pthread_mutex_unlock(&h->lock);
    enum err_code code = k ? OK : katex_new(&k, &katex_source.glue, e);
    if (!code)
        code = katex_mathml(out, a, k, q, e);
    pthread_mutex_lock(&h->lock);
    if (!code && h->n < sizeof h->free / sizeof *h->free) {
        h->free[h->n++] = k;
        k = NULL;
    }
    pthread_mutex_unlock(&h->lock);
    katex_free(k);
    return err_up(e, code);
}

/* Everything that the conversion depends on: not where the equation stands. */
static enum err_code reads_of(struct span *out, struct arena *a, const Eqloom__Equation *q,
                              struct err *e)
{
    Eqloom__Equation copy = *q;
    copy.place = NULL;
    return err_up(e, canonical_pack(out, a, &copy.base, e));
}

static enum err_code convert_or_read(Eqloom__MathML *m, struct arena *a, void *state,
                                     const Eqloom__Equation *q, struct err *e)
{
    struct katex_answer answer = {.text = q->mathml};
    struct mathml_tree tree;
    enum err_code code = q->mathml[0] ? OK : convert(&answer, a, state, q, e);
    if (code)
        return err_up(e, code);
    if (answer.text) {
        const char *why = mathml_tree_parse(&tree, a, answer.text, strlen(answer.text));
        if (why) {
            bool large = !strcmp(why, "too large");
            answer = (struct katex_answer){.refused = large ? why : "not MathML", .detail = why};
        }
    }
    if (answer.text) {
        m->mathml = (char *)mathml_tree_write(a, &tree);
    } else {
        m->refused = (char *)answer.refused;
        m->detail = (char *)answer.detail;
    }
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    const Eqloom__Equation *q;
    Eqloom__MathML m = EQLOOM__MATH_ML__INIT, *earlier;
    struct span reads;
    enum err_code code = op_get(&q, ctx, "equations", 0, e);
    if (!code)
        code = reads_of(&reads, a, q, e);
    if (code)
        return err_up(e, code);
    if (op_recall(ctx, reads, "the same equation stands elsewhere")) {
        if ((code = op_recalled(&earlier, ctx, "mathml", 0, e)))
            return err_up(e, code);
        m = *earlier;
    } else {
        m.latex = q->latex;
        code = convert_or_read(&m, a, state, q, e);
    }
    m.place = q->place;
    return code ? err_up(e, code) : err_up(e, op_emit(NULL, ctx, "mathml", &m.base, e));
}

static const char *units(struct op_ctx *ctx)
{
    return katex_source.glue.digest;
}

const struct op op_mathml = {
    .name = "mathml",
    .version = 3,
    .node = OP_MAP,
    .doc =
        "Converts LaTeX to presentation MathML by KaTeX, with the macros of the paper; normalizes "
        "MathML to the same form. The digest of KaTeX is part of the action key; where an equation "
        "stands is not: one that moves is not converted again.",
    .inputs = OP_PORTS(
        {"equations", KIND_EQUATION, OP_COLLECTION, false, "LaTeX with its macros, or MathML."}),
    .outputs = OP_PORTS(
        {"mathml", KIND_MATHML, OP_COLLECTION, false,
         "One record per equation, in order; a refused one has a reason instead of MathML."}),
    .units = units,
    .prepare = prepare,
    .release = release,
    .run = run,
};
