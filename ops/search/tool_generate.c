/* `eqloom generate EXPR...`: what a trained encoder-decoder writes for expressions, and whether
 * each answer equals what was asked. */
#include "base/os.h"
#include "engine/tool.h"
#include "ops/search/choose_record.h"
#include "ops/search/queries.h"
#include "ops/search/text_model.h"
#include "ops/search/verdict.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct writing {
    const struct tool_args *args;
    const struct language *lang;
    struct tool_record checkpoint;
    struct text_model *model;
    struct judge *judge;
    struct generator_options options;
};

/* What was written for one question; all in its arena. finding[of[i]] judges written[i]; of[i] is
 * MALFORMED where it is no expression. */
struct answers {
    struct expr question;
    struct written *written;
    size_t n, n_findings;
    size_t *of;
    struct finding *findings;
    double ms;
};
#define MALFORMED SIZE_MAX

static enum err_code judge_answers(struct answers *x, const struct writing *w, struct arena *a,
                                   struct err *e)
{
    x->of = arena_array(a, size_t, x->n);
    x->findings = arena_array(a, struct finding, x->n);
    for (size_t i = 0; i < x->n; i++) {
        struct finding *f = &x->findings[x->n_findings];
        /* A cluster of its own each: a proof of one says nothing of another. */
        *f = (struct finding){.cluster = (uint32_t)i};
        x->of[i] = MALFORMED;
        if (!expr_from_prefix(&f->x, a, w->lang, x->written[i].prefix, NULL))
            x->of[i] = x->n_findings++;
    }
    return err_up(e, judge_all(w->judge, x->findings, x->n_findings, &x->question, a, e));
}

static enum err_code generate(struct answers *x, const struct writing *w, struct arena *a,
                              struct err *e)
{
    uint64_t start = os_monotonic_ns();
    char *prefix = expr_prefix(a, &x->question);
    enum err_code code =
        err_up(e, text_model_generate(&x->written, &x->n, w->model, prefix, &w->options, a, e));
    if (!code)
        code = err_up(e, judge_answers(x, w, a, e));
    x->ms = (double)(os_monotonic_ns() - start) * 1e-6;
    return code;
}

/* ---- printing ---- */

static const struct finding *finding_of(const struct answers *x, size_t i)
{
    return x->of[i] == MALFORMED ? NULL : &x->findings[x->of[i]];
}

static const char *word_of(const struct answers *x, const struct finding *f)
{
    if (!f)
        return "malformed";
    return expr_equal(&x->question, &f->x) ? "same" : verdict_word(f->verdict);
}

static void print_json(const struct writing *w, const struct answers *x, struct arena *a)
{
    json_t *o = json_object(), *list = json_array();
    for (size_t i = 0; i < x->n; i++) {
        const struct finding *f = finding_of(x, i);
        json_t *one = json_object();
        json_object_set_new(one, "score", json_real(x->written[i].score));
        json_object_set_new(one, "log_probability", json_real(x->written[i].log_probability));
        json_object_set_new(one, "verdict", json_string(word_of(x, f)));
        if (f) {
            json_object_set_new(one, "why", json_string(f->why));
            json_object_set_new(one, "expression", json_string(expr_infix(a, &f->x)));
        }
        json_object_set_new(one, "prefix", json_string(x->written[i].prefix));
        json_array_append_new(list, one);
    }
    json_object_set_new(o, "question", json_string(expr_infix(a, &x->question)));
    json_object_set_new(o, "answers", list);
    json_object_set_new(o, "ms", json_real(x->ms));
    queries_print_line(w->args->out,
                       json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9)));
    json_decref(o);
}

static void print_words(const struct writing *w, const struct answers *x, struct arena *a)
{
    FILE *out = w->args->out;
    fprintf(out, "%s\n", expr_infix(a, &x->question));
    for (size_t i = 0; i < x->n; i++) {
        const struct finding *f = finding_of(x, i);
        const char *color = verdict_color(f ? f->verdict : VERDICT_REFUTED);
        fprintf(out, "  %9.4f  %s%-9s%s  %s", x->written[i].score, w->args->color ? color : "",
                word_of(x, f), w->args->color ? "\033[0m" : "",
                f ? expr_infix(a, &f->x) : x->written[i].prefix);
        if (f && f->verdict != VERDICT_PROVED)
            fprintf(out, "  (%s)", f->why);
        fprintf(out, "\n");
    }
    if (x->n == 0)
        fprintf(out, "  nothing that ends within %u tokens\n", w->options.max_tokens);
    fflush(out);
    fprintf(w->args->narration, "%zu answers in %.1f ms\n", x->n, x->ms);
}

/* ---- the command ---- */

static enum err_code read_penalty(double *out, const struct tool_args *args, struct err *e)
{
    const char *text = tool_value(args, "length-penalty");
    char *end;
    *out = text ? strtod(text, &end) : 0;
    if (text && (end == text || *end || !(*out >= 0 && *out <= 10)))
        return err_fail(e, ERR_INPUT, "--length-penalty takes a number from 0 to 10, not '%.40s'",
                        text);
    return OK;
}

static enum err_code read_precision(enum gpu_precision *out, const struct tool_args *args,
                                    struct err *e)
{
    const char *text = tool_value(args, "precision");
    *out = text && strcmp(text, "bf16") == 0 ? GPU_BF16 : GPU_F32;
    if (text && *out == GPU_F32 && strcmp(text, "f32") != 0)
        return err_fail(e, ERR_INPUT, "--precision is f32 or bf16, not '%.40s'", text);
    return OK;
}

static enum err_code load(struct writing *w, enum gpu_precision precision, struct err *e)
{
    static const struct choice choice = {
        "model", KIND_CHECKPOINT, "writer", "a trained model",
        "'eqloom run jobs/seq2seq.yaml' trains one that has a decoder"};
    uint64_t start = os_monotonic_ns();
    enum err_code code = err_up(e, choose_record(&w->checkpoint, w->args, &choice, e));
    if (!code)
        code = err_up(e, text_model_load(&w->model, w->args, &w->checkpoint.id, e));
    if (code)
        return code;
    text_model_set_precision(w->model, precision);
    fprintf(w->args->narration, "%s, step %llu, loaded in %.0f ms\n", w->checkpoint.name,
            (unsigned long long)text_model_step(w->model),
            (double)(os_monotonic_ns() - start) * 1e-6);
    return OK;
}

static enum err_code answer(void *arg, const struct expr *question, struct arena *a, struct err *e)
{
    const struct writing *w = arg;
    struct answers x = {.question = *question};
    enum err_code code = err_up(e, generate(&x, w, a, e));
    if (!code)
        (w->args->json ? print_json : print_words)(w, &x, a);
    return code;
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    struct writing w = {.args = args};
    struct queries q = {0};
    enum gpu_precision precision;
    uint32_t max_nodes;
    enum err_code code;
    if ((code = err_up(e, queries_number(&w.options.beam, args, "beams", 5, 1024, e))) ||
        (code = err_up(
             e, queries_number(&w.options.max_tokens, args, "max-tokens", 64, 1048576, e))) ||
        (code = err_up(e, queries_number(&max_nodes, args, "max-nodes", 10000, 50000000, e))) ||
        (code = err_up(e, read_penalty(&w.options.length_penalty, args, e))) ||
        (code = err_up(e, read_precision(&precision, args, e))) ||
        (code = err_up(e, queries_language(&w.lang, args, e))) ||
        (code = err_up(e, queries_open(&q, args, w.lang, e))) ||
        (code = err_up(e, load(&w, precision, e))))
        goto out;
    w.judge = judge_new(max_nodes);
    code = w.judge ? err_up(e, queries_answer(&q, answer, &w, e))
                   : err_fail(e, ERR_NOMEM, "no memory");
out:
    queries_close(&q);
    judge_free(w.judge);
    text_model_free(w.model);
    return code;
}

static const struct tool_option options[] = {
    {"beams", "N", false, "hypotheses kept, and answers at most; 5 if not given; 1: greedy", 'b'},
    {"max-tokens", "N", false, "of an answer, at most (default 64)"},
    {"length-penalty", "X", false,
     "the score is log-probability / tokens^X; 0 (default) favours the short, 1 is the mean"},
    {"model", "REF", false,
     "a checkpoint with a decoder; else the tag 'writer', else the only one in the store"},
    {"precision", "NAME", false, "of the products: f32 (default) or bf16"},
    {"max-nodes", "N", false, "e-nodes of the search for a proof, at most (default 10000)"},
    QUERIES_SYNTAX,
    QUERIES_LANGUAGE,
    {0}};

const struct tool tool_generate = {
    .name = "generate",
    .arguments = "EXPR...",
    .summary = "Print what a trained model writes for expressions, and which answers are equal",
    .help = "The most probable answers that beam search finds, best first: each with its score, "
            "whether it equals the question, and the expression. `same`: the question itself; "
            "`proved`: certified rules lead from one to the other; `refuted`: values differ at a "
            "point; `undecided`: they agree as far as was tried, and no proof was found; "
            "`malformed`: no expression, printed as the model's tokens. An argument '-' reads "
            "expressions from standard input, one a line. For a whole corpus use the ops "
            "'generate' and 'evaluate-generation'.",
    .example = "eqloom generate --model seq2seq/model 'sin(x)^2'\n"
               "eqloom generate -b 10 --json - <expressions.txt",
    .options = options,
    .run = run,
};
