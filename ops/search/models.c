/* Loads checkpoints with their vocabularies as models; see models.h. */
#include "ops/search/models.h"

#include "ops/latex/mathml/mathml_tree.h"
#include "ops/learn/graph/graph_corpus.h"
#include "ops/learn/transformer/detokenize.h"
#include "ops/learn/transformer/loaded.h"
#include "ops/search/queries.h"

#include <math.h>
#include <string.h>

enum { MOST_NODES = 20000 };

/* ---- loading ---- */

static enum err_code get_chunk(struct span *out, void *arg, const uint8_t id[32], struct arena *a,
                               struct err *e)
{
    Eqloom__Chunk *m;
    enum err_code code = tool_get(&m, arg, (const struct digest *)id, KIND_CHUNK, a, e);
    if (!code)
        *out = span_of(m->data.data, m->data.len);
    return err_up(e, code);
}

/* The parts of a checkpoint. */
struct loading {
    const struct trained_kind *kind;
    enum gpu_precision precision;
    const char *lacks; /* message if it names no vocabulary */
    struct arena *arena;
    const Eqloom__Vocabulary *vocabulary; /* in the arena */
    struct digest vocabulary_id;
    uint64_t step;
};

static enum err_code load(void *network, struct loading *x, const struct tool_args *args,
                          const struct digest *checkpoint, struct err *e)
{
    struct arena work = {0}; /* for the chunks of the weights */
    const Eqloom__Checkpoint *c;
    struct chunk_io io = {.arg = (void *)args, .get = get_chunk};
    const char *device = tool_value(args, "device");
    enum err_code code = tool_get(&c, args, checkpoint, KIND_CHECKPOINT, &work, e);
    if (!code)
        code = trained_new(network, x->kind, device ? device : "cpu", x->precision, c, &io, e);
    if (!code && c->vocabulary_id.len != DIGEST_SIZE)
        code = err_fail(e, ERR_INPUT, "%s", x->lacks);
    if (!code) {
        x->step = c->step;
        memcpy(x->vocabulary_id.bytes, c->vocabulary_id.data, DIGEST_SIZE);
        code = tool_get(&x->vocabulary, args, &x->vocabulary_id, KIND_VOCABULARY, x->arena, e);
    }
    arena_free(&work);
    return err_up(e, code);
}

/* ---- of expressions ---- */

enum err_code text_model_load(struct text_model *m, const struct tool_args *args,
                              const struct digest *checkpoint, enum gpu_precision precision,
                              struct err *e)
{
    *m = (struct text_model){0};
    struct loading x = {.kind = &loaded_kind,
                        .precision = precision,
                        .lacks = "the model does not name its vocabulary; a `train` of 0 steps "
                                 "that starts from it (init) adds the name",
                        .arena = &m->arena};
    enum err_code code = load(&m->model, &x, args, checkpoint, e);
    if (code)
        return err_up(e, code);
    m->vocabulary = x.vocabulary;
    encoder_init(&m->encoder, m->vocabulary);
    m->step = x.step;
    m->dim = m->model->model->config.d_model;
    return OK;
}

void text_model_free(struct text_model *m)
{
    trained_free(m->model);
    encoder_free(&m->encoder);
    arena_free(&m->arena);
}

enum err_code text_model_embed(float **out, const struct text_model *m, char *const *prefix,
                               size_t n, bool normalize, struct arena *a, struct err *e)
{
    Eqloom__TokenBatch b;
    enum err_code code = err_up(e, token_batch_pack(&b, a, &m->encoder, prefix, n, e));
    if (code)
        return code;
    if (!(*out = arena_try_alloc(a, n * m->dim, sizeof **out)))
        return err_fail(e, ERR_NOMEM, "no memory for %zu vectors", n);
    return err_up(e, embedder_run(*out, m->model, &b, normalize, a, e));
}

enum err_code text_model_generate(struct written **out, size_t *n, const struct text_model *m,
                                  char *prefix, const struct generator_options *options,
                                  struct arena *a, struct err *e)
{
    Eqloom__TokenBatch b;
    struct generated g;
    enum err_code code = err_up(e, token_batch_pack(&b, a, &m->encoder, &prefix, 1, e));
    if (!code)
        code = err_up(e, generator_run(&g, m->model, &b, options, a, e));
    if (code)
        return code;
    *n = g.n;
    *out = arena_array(a, struct written, g.n);
    for (size_t i = 0; i < g.n; i++)
        (*out)[i] =
            (struct written){detokenize(a, g.best[i].tokens, g.best[i].n, m->vocabulary->tokens),
                             g.best[i].log_probability};
    return OK;
}

/* ---- of equations ---- */

enum err_code equation_model_is(bool *yes, const struct tool_args *args,
                                const struct digest *checkpoint, struct err *e)
{
    struct arena work = {0};
    const Eqloom__Checkpoint *m;
    enum err_code code = tool_get(&m, args, checkpoint, KIND_CHECKPOINT, &work, e);
    *yes = !code && graph_config_is(m->architecture);
    arena_free(&work);
    return err_up(e, code);
}

enum err_code equation_model_load(struct equation_model *m, const struct tool_args *args,
                                  const struct digest *checkpoint, struct err *e)
{
    *m = (struct equation_model){.args = args};
    struct loading x = {.kind = &graph_embedder_kind,
                        .precision = GPU_F32,
                        .lacks = "the network does not name its alphabet; a `train-graphs` of 0 "
                                 "steps that starts from it (init) adds the name",
                        .arena = &m->arena};
    enum err_code code = load(&m->network, &x, args, checkpoint, e);
    if (!code)
        code = graph_features_init(&m->features, x.vocabulary, &x.vocabulary_id, e);
    if (!code)
        code = katex_new(&m->katex, &katex_source.glue, e);
    if (code)
        return err_up(e, code);
    m->step = x.step;
    m->dim = graph_embedder_size(m->network);
    return OK;
}

void equation_model_free(struct equation_model *m)
{
    trained_free(m->network);
    graph_features_free(&m->features);
    katex_free(m->katex);
    latex_reader_free(m->latex);
    arena_free(&m->arena);
}

static enum err_code latex_of(char **out, struct equation_model *m, const char *name,
                              const char *text, struct arena *a, struct err *e)
{
    const char *syntax = tool_value(m->args, "syntax");
    const struct language *lang;
    struct expr x;
    struct err why = {0};
    size_t at = 0, len = strlen(text);
    latex_bare(text, &at, &len);
    *out = arena_strndup(a, text + at, len);
    if (!(*out)[strspn(*out, " \t\n")])
        return err_fail(e, ERR_INPUT, "%s: the equation is empty", name);
    if (syntax ? !strcmp(syntax, "latex") : latex_is(text, strlen(text)) || *text == '$')
        return OK;
    enum err_code code = queries_language(&lang, m->args, "", e);
    if (code)
        return err_up(e, code);
    code = expr_argument(&x, &m->latex, m->args, a, lang, name, text, syntax ? e : &why);
    if (!code)
        *out = expr_latex(a, &x);
    else if (syntax)
        return err_up(e, code);
    else
        fprintf(m->args->narration, "eqloom: %s: not an expression, so read as LaTeX\n", name);
    return OK;
}

static enum err_code mathml_of(const char **out, struct equation_model *m, const char *name,
                               char *latex, struct arena *a, struct err *e)
{
    struct katex_answer answer;
    struct mathml_tree tree;
    Eqloom__Equation q = EQLOOM__EQUATION__INIT;
    q.latex = latex;
    enum err_code code = katex_mathml(&answer, a, m->katex, &q, e);
    if (code)
        return err_up(e, code);
    if (!answer.text)
        return err_fail(e, ERR_INPUT, "%s: KaTeX rejects it: %s%s%.200s", name, answer.refused,
                        answer.detail && *answer.detail ? ": " : "",
                        answer.detail ? answer.detail : "");
    const char *why = mathml_tree_parse(&tree, a, answer.text, strlen(answer.text));
    if (why)
        return err_fail(e, ERR_INPUT, "%s: %s", name, why);
    *out = mathml_tree_write(a, &tree);
    return OK;
}

static void scale_to_one(float *x, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    for (uint32_t i = 0; i < n && sum > 0; i++)
        x[i] = (float)((double)x[i] / sqrt(sum));
}

enum err_code equation_model_embed(struct formula *query, float **vector, struct equation_model *m,
                                   const char *name, const char *text, bool normalize,
                                   struct arena *a, struct err *e)
{
    char *latex;
    Eqloom__Graph g;
    enum err_code code;
    *query = (struct formula){0};
    if ((code = latex_of(&latex, m, name, text, a, e)) ||
        (code = mathml_of(&query->mathml, m, name, latex, a, e)) ||
        (code = graph_features_of(&g, a, &m->features, query->mathml, MOST_NODES, e)))
        return err_up(e, code);
    query->latex = latex;
    struct graph_vertex *vertices = arena_array(a, struct graph_vertex, g.n_parent);
    uint32_t first[] = {0, (uint32_t)g.n_parent};
    struct graph_set set = {vertices, first, 1};
    *vector = arena_array(a, float, m->dim);
    if ((code = graph_vertices_read(vertices, &g, e)) ||
        (code = graph_embedder_run(*vector, m->network, &set, a, e)))
        return err_up(e, code);
    if (normalize)
        scale_to_one(*vector, m->dim);
    return OK;
}
