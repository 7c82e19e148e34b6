/* `eqloom generate EXPR...`: prints what a trained encoder-decoder writes for expressions, and
 * whether each answer equals the query. */
#include "base/os.h"
#include "engine/tool.h"
#include "ops/search/models.h"
#include "ops/search/queries.h"
#include "ops/search/verdict.h"

#include <jansson.h>
#include <string.h>

struct writing {
    const struct tool_args *args;
    const struct language *lang;
    struct text_model model;
    struct judge judge;
    struct generator_options options;
    enum gpu_precision precision;
};

/* The answers to one query with their verdicts, all in the arena of the query. */
struct answers {
    const struct expr *question;
    struct written *written;
    struct finding *findings;
    size_t n;
    double ms;
};

static enum err_code generate(struct answers *x, struct writing *w, struct arena *a, struct err *e)
{
    uint64_t start = os_monotonic_ns();
    char *prefix = expr_prefix(a, x->question);
    enum err_code code =
        text_model_generate(&x->written, &x->n, &w->model, prefix, &w->options, a, e);
    if (code)
        return err_up(e, code);
    x->findings = arena_array(a, struct finding, x->n);
    for (size_t i = 0; i < x->n; i++) {
        /* Each has a cluster of its own, since a proof of one proves no other. */
        x->findings[i].cluster = (uint32_t)i;
        if (expr_from_prefix(&x->findings[i].x, a, w->lang, x->written[i].prefix, NULL))
            x->findings[i].x.n = 0;
    }
    code = judge_all(&w->judge, x->findings, x->n, x->question, a, e);
    x->ms = (double)(os_monotonic_ns() - start) * 1e-6;
    return err_up(e, code);
}

/* ---- printing ---- */

static const char *word_of(const struct answers *x, const struct finding *f)
{
    return !f->x.n                          ? "malformed"
           : expr_equal(x->question, &f->x) ? "same"
                                            : verdict_names[f->verdict].word;
}

static void print_json(const struct writing *w, const struct answers *x, struct arena *a)
{
    json_t *list = json_array();
    expr_printer *show = expr_shown(w->args);
    for (size_t i = 0; i < x->n; i++) {
        const struct finding *f = &x->findings[i];
        const struct written *y = &x->written[i];
        json_array_append_new(list, json_pack("{s:f, s:s, s:s*, s:s*, s:s}", "log_probability",
                                              y->log_probability, "verdict", word_of(x, f), "why",
                                              f->x.n ? f->why : NULL, "expression",
                                              f->x.n ? show(a, &f->x) : NULL, "prefix", y->prefix));
    }
    queries_print_json(w->args->out, json_pack("{s:s, s:o, s:f}", "question", show(a, x->question),
                                               "answers", list, "ms", x->ms));
}

static void print_words(const struct writing *w, const struct answers *x, struct arena *a)
{
    FILE *out = w->args->out;
    expr_printer *show = expr_shown(w->args);
    bool color = w->args->color;
    fprintf(out, "%s\n", show(a, x->question));
    for (size_t i = 0; i < x->n; i++) {
        const struct finding *f = &x->findings[i];
        fprintf(out, "  %9.4f  ", x->written[i].log_probability);
        verdict_print(out, color, f->verdict, word_of(x, f));
        fputs(f->x.n ? show(a, &f->x) : x->written[i].prefix, out);
        if (f->x.n && f->verdict != VERDICT_PROVED)
            fprintf(out, "  (%s)", f->why);
        fprintf(out, "\n");
    }
    if (x->n == 0)
        fprintf(out, "  no answer ends within %u tokens\n", w->options.max_tokens);
    fflush(out);
    fprintf(w->args->narration, "%zu answers in %.1f ms\n", x->n, x->ms);
}

/* ---- the command ---- */

static enum err_code read_precision(enum gpu_precision *out, const struct tool_args *args,
                                    struct err *e)
{
    const char *text = tool_value(args, "precision");
    bool bf16 = text && strcmp(text, "bf16") == 0, tf32 = text && strcmp(text, "tf32") == 0;
    *out = bf16 ? GPU_BF16 : tf32 ? GPU_TF32 : GPU_F32;
    if (text && *out == GPU_F32 && strcmp(text, "f32") != 0)
        return err_fail(e, ERR_INPUT, "--precision is f32, tf32 or bf16, not '%.40s'", text);
    return OK;
}

static enum err_code load(struct writing *w, struct err *e)
{
    static const struct tool_choice choice = {
        "model", KIND_CHECKPOINT, "writer", "a trained model",
        "'eqloom run jobs/seq2seq.yaml' trains one that has a decoder"};
    uint64_t start = os_monotonic_ns();
    struct tool_record checkpoint;
    enum err_code code = tool_choose(&checkpoint, w->args, &choice, e);
    if (!code)
        code = text_model_load(&w->model, w->args, &checkpoint.id, w->precision, e);
    if (!code)
        fprintf(w->args->narration, "%s, step %llu, loaded in %.0f ms\n", checkpoint.name,
                (unsigned long long)w->model.step, (double)(os_monotonic_ns() - start) * 1e-6);
    return err_up(e, code);
}

static enum err_code answer(void *arg, const struct expr *question, struct arena *a, struct err *e)
{
    struct writing *w = arg;
    struct answers x = {.question = question};
    enum err_code code = generate(&x, w, a, e);
    if (!code)
        (w->args->json ? print_json : print_words)(w, &x, a);
    return err_up(e, code);
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    struct writing w = {.args = args};
    struct generator_options *o = &w.options;
    enum err_code code;
    if ((code = tool_number(&o->beam, args, "beams", 5, 1, 1024, e)) ||
        (code = tool_number(&o->max_tokens, args, "max-tokens", 64, 1, 1048576, e)) ||
        (code = tool_number(&w.judge.max_nodes, args, "max-nodes", 10000, 1, 50000000, e)) ||
        (code = read_precision(&w.precision, args, e)) || (code = queries_check(args, e)) ||
        (code = load(&w, e)) ||
        (code = queries_language(&w.lang, args, w.model.vocabulary->language, e)))
        goto out;
    code = queries_answer(exit_status, args, w.lang, answer, &w, e);
out:
    judge_free(&w.judge);
    text_model_free(&w.model);
    return err_up(e, code);
}

static const struct tool_option options[] = {
    {"beams", "N", false,
     "the number of hypotheses, and the maximum number of answers; 5 if "
     "not given; 1 is greedy",
     'b'},
    {"max-tokens", "N", false, "the maximum length of an answer (default 64)"},
    {"model", "REF", false,
     "a checkpoint with a decoder; the default is the tag 'writer', else the only one in the "
     "store"},
    {"precision", "NAME", false, "the precision of matrix products: f32 (default), tf32 or bf16"},
    {"max-nodes", "N", false,
     "the maximum number of e-nodes in the search for a proof (default "
     "10000)"},
    QUERIES_OPTIONS,
    {0}};

const struct tool tool_generate = {
    .name = "generate",
    .arguments = "EXPR...",
    .summary = "Print what a trained model writes for expressions, and which answers are equal",
    .help = "Prints the most probable answers that beam search finds, best first: each with its "
            "log-probability, whether it equals the query, and the expression. `same`: it is "
            "the query itself; `proved`: by normal forms or certified rules; `refuted`: values "
            "differ at a point; `undecided`: values agree at all points tried, and no proof was "
            "found; `malformed`: not an expression, printed as the model's tokens. An argument "
            "'-' reads expressions from standard input, one per line. For a whole corpus use "
            "the ops 'generate' and 'evaluate-generation'.",
    .example = "eqloom generate --model seq2seq/model 'sin(x)^2'\n"
               "eqloom generate -b 10 --json - <expressions.txt",
    .exit_codes = EXPR_TEXTS_EXIT_CODES,
    .options = options,
    .run = run,
};
