/* `eqloom embed EXPR...`: prints vectors of expressions by a trained model. */
#include "base/io/out_file.h"
#include "base/os.h"
#include "engine/tool.h"
#include "ops/search/models.h"
#include "ops/search/queries.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SHOW_COSINES = 8 };

struct embedding {
    const struct tool_args *args;
    struct arena *a;
    const struct language *lang;
    struct tool_record checkpoint;
    struct text_model model;
    struct equation_model equations; /* instead of `model`, if the checkpoint is a graph network */
    bool is_graphs, normalize;
    struct buf texts, numbers; /* of `text` and `vectors` */
    char **text;               /* for each: prefix tokens, or an equation's LaTeX */
    float *vectors;            /* (n, dim) */
    size_t n;
    uint32_t dim;
};

static void keep(struct embedding *x, const char *text, const float *vector)
{
    char *copy = arena_strdup(x->a, text);
    buf_add(&x->texts, &copy, sizeof copy);
    buf_add(&x->numbers, vector, x->dim * sizeof *vector);
    x->text = (void *)x->texts.data;
    x->vectors = (void *)x->numbers.data;
    x->n++;
}

static enum err_code take(void *arg, const struct expr *question, struct arena *a, struct err *e)
{
    struct embedding *x = arg;
    char *prefix = expr_prefix(a, question);
    float *vector;
    enum err_code code = text_model_embed(&vector, &x->model, &prefix, 1, x->normalize, a, e);
    if (!code)
        keep(x, prefix, vector);
    return err_up(e, code);
}

static enum err_code take_equation(void *arg, const char *name, const char *text, struct arena *a,
                                   struct err *e)
{
    struct embedding *x = arg;
    struct formula query;
    float *vector;
    enum err_code code =
        equation_model_embed(&query, &vector, &x->equations, name, text, x->normalize, a, e);
    if (!code)
        keep(x, query.latex, vector);
    return err_up(e, code);
}

static enum err_code embed_all(int *exit_status, struct embedding *x, struct err *e)
{
    uint64_t begun = os_monotonic_ns();
    enum err_code code = x->is_graphs
                             ? equation_model_load(&x->equations, x->args, &x->checkpoint.id, e)
                             : text_model_load(&x->model, x->args, &x->checkpoint.id, GPU_F32, e);
    uint64_t loaded = os_monotonic_ns();
    x->dim = x->is_graphs ? x->equations.dim : x->model.dim;
    if (!code && !x->is_graphs)
        code = queries_language(&x->lang, x->args, x->model.vocabulary->language, e);
    if (!code)
        code = x->is_graphs ? expr_texts_each(exit_status, x->args, take_equation, x, e)
                            : queries_answer(exit_status, x->args, x->lang, take, x, e);
    if (code)
        return err_up(e, code);
    fprintf(x->args->narration,
            "%s, step %" PRIu64 ": %u dimensions, loaded in %.0f ms\n%zu vector%s in %.1f ms\n",
            x->checkpoint.name, x->is_graphs ? x->equations.step : x->model.step, x->dim,
            (double)(loaded - begun) * 1e-6, x->n, x->n == 1 ? "" : "s",
            (double)(os_monotonic_ns() - loaded) * 1e-6);
    return OK;
}

/* ---- printing ---- */

static char *shown_text(const struct embedding *x, size_t i)
{
    struct expr shown;
    bool read = !x->is_graphs && !expr_from_prefix(&shown, x->a, x->lang, x->text[i], NULL);
    return read ? expr_shown(x->args)(x->a, &shown) : x->text[i];
}

static void print_json(FILE *to, const struct embedding *x)
{
    for (size_t i = 0; i < x->n; i++) {
        json_t *vector = json_array();
        for (uint32_t d = 0; d < x->dim; d++)
            json_array_append_new(vector, json_real((double)x->vectors[i * x->dim + d]));
        queries_print_json(to, json_pack("{s:s, s:s*, s:o}", x->is_graphs ? "latex" : "expression",
                                         shown_text(x, i), "prefix",
                                         x->is_graphs ? NULL : x->text[i], "vector", vector));
    }
}

static void print_words(FILE *to, const struct embedding *x)
{
    for (size_t i = 0; i < x->n; i++) {
        fprintf(to, "%s\t", shown_text(x, i));
        for (uint32_t d = 0; d < x->dim; d++)
            fprintf(to, "%s%.6g", d ? " " : "", (double)x->vectors[i * x->dim + d]);
        fprintf(to, "\n");
    }
}

static double dot(const struct embedding *x, size_t i, size_t j)
{
    double sum = 0;
    for (uint32_t d = 0; d < x->dim; d++)
        sum += (double)x->vectors[i * x->dim + d] * (double)x->vectors[j * x->dim + d];
    return sum;
}

/* Prints the cosine of each expression to the first one, if there are few. */
static void narrate(const struct embedding *x)
{
    for (size_t i = 1; i < x->n && x->n <= SHOW_COSINES; i++)
        fprintf(x->args->narration, "cosine of %s and %s: %.4f\n", shown_text(x, 0),
                shown_text(x, i), dot(x, 0, i) / sqrt(dot(x, 0, 0) * dot(x, i, i)));
}

static enum err_code write_file(const struct embedding *x, const char *path, struct err *e)
{
    FILE *to = x->args->narration;
    if (!strcmp(strrchr(path, '.'), ".npy")) {
        Eqloom__EmbeddingBatch b;
        eqloom__embedding_batch__init(&b);
        b.dim = x->dim;
        b.count = (uint32_t)x->n;
        b.values = (ProtobufCBinaryData){x->n * b.dim * sizeof *x->vectors, (uint8_t *)x->vectors};
        b.text = x->text;
        b.n_text = x->n;
        enum err_code code = tool_write_npy(path, &b, e);
        if (!code)
            fprintf(to, "wrote %s and %s.jsonl\n", path, path);
        return err_up(e, code);
    }
    struct out_file file;
    enum err_code code = out_file_open(&file, x->a, path, e);
    if (!code)
        print_json(file.f, x);
    if ((code = out_file_close(&file, code, e)))
        return err_up(e, code);
    fprintf(to, "wrote %s\n", path);
    return OK;
}

static enum err_code check_output(const char *path, struct err *e)
{
    const char *dot_at = path ? strrchr(path, '.') : NULL;
    if (!path || (dot_at && (!strcmp(dot_at, ".npy") || !strcmp(dot_at, ".jsonl"))))
        return OK;
    return err_fail(e, ERR_INPUT,
                    "--output takes a name that ends in .npy or .jsonl, not "
                    "'%.100s'",
                    path);
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    static const struct tool_choice choice = {"model", KIND_CHECKPOINT, "best", "a trained model",
                                              "'eqloom run jobs/quickstart.yaml' trains one"};
    struct embedding x = {.args = args, .a = args->arena, .normalize = !tool_value(args, "raw")};
    const char *path = tool_value(args, "output");
    enum err_code code;
    if ((code = check_output(path, e)) || (code = queries_check(args, e)) ||
        (code = tool_choose(&x.checkpoint, args, &choice, e)) ||
        (code = equation_model_is(&x.is_graphs, args, &x.checkpoint.id, e)) ||
        (code = embed_all(exit_status, &x, e)))
        goto out;
    narrate(&x);
    if (path)
        code = write_file(&x, path, e);
    else
        (args->json ? print_json : print_words)(args->out, &x);
out:
    text_model_free(&x.model);
    equation_model_free(&x.equations);
    buf_free(&x.texts);
    buf_free(&x.numbers);
    return err_up(e, code);
}

static const struct tool_option options[] = {
    {"model", "REF", false,
     "a checkpoint; the default is the tag 'best', else the only one in "
     "the store"},
    {"output", "PATH", false, "write PATH.npy (and PATH.npy.jsonl) or PATH.jsonl instead", 'o'},
    {"raw", NULL, false, "the model's vectors without scaling to length 1"},
    QUERIES_OPTIONS,
    {0}};

const struct tool tool_embed = {
    .name = "embed",
    .arguments = "EXPR...",
    .summary = "Print the vectors of expressions by a trained model",
    .help = "Prints a line for each expression: the expression, a tab, and its vector; with "
            "--json an object. An argument '-' reads expressions from standard input, one per "
            "line; lines that cannot be read are reported and left out. For the vectors of a whole corpus use the op 'embed' in a job and 'eqloom "
            "export'. A graph network (jobs/papers.yaml) embeds equations in LaTeX; an argument "
            "without backslash and braces is an expression if it can be parsed as one.",
    .example = "eqloom embed 'sin(x)^2' 'cos(2*x)'\n"
               "eqloom embed --model quickstart/model -o vectors.npy - <expressions.txt",
    .exit_codes = EXPR_TEXTS_EXIT_CODES,
    .options = options,
    .run = run,
};
