/* `eqloom embed EXPR...`: vectors of expressions by a trained model. */
#include "base/buf.h"
#include "base/os.h"
#include "engine/tool.h"
#include "ops/search/choose_record.h"
#include "ops/search/queries.h"
#include "ops/search/text_model.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { BATCH = 256, SHOW_COSINES = 8 };

struct embedding {
    const struct tool_args *args;
    struct arena *a;
    struct tool_record checkpoint;
    struct text_model *model;
    struct expr *exprs;
    char **prefix;
    size_t n;
    float *vectors; /* (n, dim) */
    uint32_t dim;
    double load_ms, embed_ms;
};

static enum err_code read_all(struct embedding *x, struct err *e)
{
    const struct language *lang;
    struct queries q;
    struct buf exprs = {0};
    struct expr expr;
    bool more;
    enum err_code code = err_up(e, queries_language(&lang, x->args, e));
    if (code || (code = err_up(e, queries_open(&q, x->args, lang, e))))
        return code;
    while (!(code = err_up(e, queries_next(&expr, &more, &q, x->a, e))) && more)
        buf_add(&exprs, &expr, sizeof expr);
    x->n = exprs.len / sizeof expr;
    x->exprs = arena_memdup(x->a, exprs.data ? exprs.data : "", exprs.len);
    x->prefix = arena_array(x->a, char *, x->n);
    for (size_t i = 0; i < x->n; i++)
        x->prefix[i] = expr_prefix(x->a, &x->exprs[i]);
    buf_free(&exprs);
    queries_close(&q);
    return code;
}

static enum err_code embed_all(struct embedding *x, struct err *e)
{
    static const struct choice choice = {"model", KIND_CHECKPOINT, "best", "a trained model",
                                         "'eqloom run jobs/quickstart.yaml' trains one"};
    uint64_t begun = os_monotonic_ns(), loaded;
    enum err_code code = err_up(e, choose_record(&x->checkpoint, x->args, &choice, e));
    if (!code)
        code = err_up(e, text_model_load(&x->model, x->args, &x->checkpoint.id, e));
    if (code)
        return code;
    loaded = os_monotonic_ns();
    x->load_ms = (double)(loaded - begun) * 1e-6;
    x->dim = text_model_dim(x->model);
    x->vectors = arena_try_alloc(x->a, x->n * x->dim, sizeof *x->vectors);
    if (!x->vectors)
        return err_fail(e, ERR_NOMEM, "no memory for %zu vectors", x->n);
    bool normalize = !tool_value(x->args, "raw");
    for (size_t i = 0; i < x->n && !code; i += BATCH) {
        struct arena work = {0};
        float *some;
        size_t n = x->n - i < BATCH ? x->n - i : BATCH;
        code = err_up(e, text_model_embed(&some, x->model, x->prefix + i, n, normalize, &work, e));
        if (!code)
            memcpy(x->vectors + i * x->dim, some, n * x->dim * sizeof *some);
        arena_free(&work);
    }
    x->embed_ms = (double)(os_monotonic_ns() - loaded) * 1e-6;
    return code;
}

/* ---- printing ---- */

static void print_json(FILE *to, const struct embedding *x)
{
    for (size_t i = 0; i < x->n; i++) {
        json_t *o = json_object(), *vector = json_array();
        for (uint32_t d = 0; d < x->dim; d++)
            json_array_append_new(vector, json_real((double)x->vectors[i * x->dim + d]));
        json_object_set_new(o, "expression", json_string(expr_infix(x->a, &x->exprs[i])));
        json_object_set_new(o, "prefix", json_string(x->prefix[i]));
        json_object_set_new(o, "vector", vector);
        queries_print_line(
            to, json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9)));
        json_decref(o);
    }
}

static void print_words(const struct embedding *x)
{
    for (size_t i = 0; i < x->n; i++) {
        fprintf(x->args->out, "%s\t", expr_infix(x->a, &x->exprs[i]));
        for (uint32_t d = 0; d < x->dim; d++)
            fprintf(x->args->out, "%s%.6g", d ? " " : "", (double)x->vectors[i * x->dim + d]);
        fprintf(x->args->out, "\n");
    }
}

static double dot(const struct embedding *x, size_t i, size_t j)
{
    double sum = 0;
    for (uint32_t d = 0; d < x->dim; d++)
        sum += (double)x->vectors[i * x->dim + d] * (double)x->vectors[j * x->dim + d];
    return sum;
}

/* For people: which model it was, and how near a few expressions are to the first. */
static void narrate(const struct embedding *x)
{
    FILE *to = x->args->narration;
    fprintf(to, "%s, step %llu: %u dimensions, loaded in %.0f ms\n", x->checkpoint.name,
            (unsigned long long)text_model_step(x->model), x->dim, x->load_ms);
    fprintf(to, "%zu vector%s in %.1f ms\n", x->n, x->n == 1 ? "" : "s", x->embed_ms);
    for (size_t i = 1; i < x->n && x->n <= SHOW_COSINES; i++)
        fprintf(to, "cosine of %s and %s: %.4f\n", expr_infix(x->a, &x->exprs[0]),
                expr_infix(x->a, &x->exprs[i]), dot(x, 0, i) / sqrt(dot(x, 0, 0) * dot(x, i, i)));
}

static enum err_code write_file(const struct embedding *x, const char *path, struct err *e)
{
    const char *dot_at = strrchr(path, '.');
    if (dot_at && strcmp(dot_at, ".npy") == 0) {
        Eqloom__EmbeddingBatch b;
        eqloom__embedding_batch__init(&b);
        b.dim = x->dim;
        b.count = (uint32_t)x->n;
        b.values = (ProtobufCBinaryData){x->n * x->dim * sizeof *x->vectors, (uint8_t *)x->vectors};
        b.text = x->prefix;
        b.n_text = x->n;
        enum err_code code = err_up(e, tool_write_npy(path, &b, e));
        if (!code)
            fprintf(x->args->narration, "wrote %s and %s.jsonl\n", path, path);
        return code;
    }
    FILE *f = fopen(path, "w");
    if (!f)
        return err_fail(e, ERR_IO, "cannot write %s", path);
    print_json(f, x);
    bool good = !ferror(f);
    if (fclose(f) || !good)
        return err_fail(e, ERR_IO, "cannot write %s", path);
    fprintf(x->args->narration, "wrote %s\n", path);
    return OK;
}

static enum err_code check_output(const struct tool_args *args, struct err *e)
{
    const char *path = tool_value(args, "output"), *dot_at = path ? strrchr(path, '.') : NULL;
    if (!path || (dot_at && (!strcmp(dot_at, ".npy") || !strcmp(dot_at, ".jsonl"))))
        return OK;
    return err_fail(e, ERR_INPUT, "--output takes a name in .npy or .jsonl, not '%.100s'", path);
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    struct embedding x = {.args = args, .a = args->arena};
    const char *path = tool_value(args, "output");
    enum err_code code;
    if ((code = err_up(e, check_output(args, e))) || (code = err_up(e, read_all(&x, e))) ||
        (code = err_up(e, embed_all(&x, e))))
        goto out;
    narrate(&x);
    if (path)
        code = err_up(e, write_file(&x, path, e));
    else if (args->json)
        print_json(args->out, &x);
    else
        print_words(&x);
out:
    text_model_free(x.model);
    return code;
}

static const struct tool_option options[] = {
    {"model", "REF", false, "a checkpoint; else the tag 'best', else the only one in the store"},
    {"output", "PATH", false, "write PATH.npy (and PATH.npy.jsonl) or PATH.jsonl instead", 'o'},
    {"raw", NULL, false, "the model's vectors as they are, not scaled to length 1"},
    QUERIES_SYNTAX,
    QUERIES_LANGUAGE,
    {0}};

const struct tool tool_embed = {
    .name = "embed",
    .arguments = "EXPR...",
    .summary = "Print the vectors of expressions by a trained model",
    .help = "A line for each expression: the expression, a tab, and its vector; with --json an "
            "object. An argument '-' reads expressions from standard input, one a line. For the "
            "vectors of a whole corpus use the op 'embed' in a job and 'eqloom export'.",
    .example = "eqloom embed 'sin(x)^2' 'cos(2*x)'\n"
               "eqloom embed --model quickstart/model -o vectors.npy - <expressions.txt",
    .options = options,
    .run = run,
};
