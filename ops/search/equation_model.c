#include "ops/search/equation_model.h"

#include "ops/latex/mathml/mathml_tree.h"
#include "ops/learn/graph/graph_corpus.h"
#include "ops/search/queries.h"
#include "ops/search/stored_chunks.h"

#include <math.h>
#include <string.h>

enum { MOST_NODES = 20000 };

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

static enum err_code load_features(struct equation_model *m, const Eqloom__Checkpoint *c,
                                   struct err *e)
{
    struct digest id;
    const Eqloom__Vocabulary *vocabulary;
    if (c->vocabulary_id.len != DIGEST_SIZE)
        return err_fail(e, ERR_INPUT,
                        "the network does not say which alphabet it reads; a `train-graphs` of 0 "
                        "steps that begins with it (init) gives it one");
    memcpy(id.bytes, c->vocabulary_id.data, DIGEST_SIZE);
    enum err_code code = tool_get(&vocabulary, m->args, &id, KIND_VOCABULARY, &m->arena, e);
    return code ? err_up(e, code)
                : err_up(e, graph_features_init(&m->features, vocabulary, &id, e));
}

enum err_code equation_model_load(struct equation_model *m, const struct tool_args *args,
                                  const struct digest *checkpoint, struct err *e)
{
    struct arena work = {0}; /* of the weights' chunks */
    const Eqloom__Checkpoint *c;
    struct chunk_io io = stored_chunks(args);
    const char *device = tool_value(args, "device");
    *m = (struct equation_model){.args = args};
    enum err_code code = tool_get(&c, args, checkpoint, KIND_CHECKPOINT, &work, e);
    if (!code)
        code = load_features(m, c, e);
    if (!code)
        code = network_new(&m->network, &graph_embedder_kind, device ? device : "cpu", GPU_F32, c,
                           &io, e);
    if (!code)
        code = katex_new(&m->katex, e);
    if (!code) {
        m->step = c->step;
        m->dim = graph_embedder_size(m->network);
    }
    arena_free(&work);
    return err_up(e, code);
}

void equation_model_free(struct equation_model *m)
{
    network_free(m->network);
    graph_features_free(&m->features);
    katex_free(m->katex);
    latex_reader_free(m->latex);
    arena_free(&m->arena);
}

/* ---- what the user wrote ---- */

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
        return err_fail(e, ERR_INPUT, "%s: there is no equation", name);
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
        fprintf(m->args->narration, "eqloom: %s: no expression, so read as LaTeX\n", name);
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
        return err_fail(e, ERR_INPUT, "%s: KaTeX refuses it: %s%s%.200s", name, answer.refused,
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

enum err_code equation_model_embed(struct formula *asked, float **vector, struct equation_model *m,
                                   const char *name, const char *text, bool normalize,
                                   struct arena *a, struct err *e)
{
    char *latex;
    Eqloom__Graph g;
    enum err_code code;
    *asked = (struct formula){0};
    if ((code = latex_of(&latex, m, name, text, a, e)) ||
        (code = mathml_of(&asked->mathml, m, name, latex, a, e)) ||
        (code = graph_features_of(&g, a, &m->features, asked->mathml, MOST_NODES, e)))
        return err_up(e, code);
    asked->latex = latex;
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
