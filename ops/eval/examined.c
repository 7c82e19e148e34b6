#include "ops/eval/examined.h"

#include "ops/expr/expr.h"
#include "ops/expr/own/own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool belongs(const Eqloom__EmbeddingBatch *b, const Eqloom__Exercise *x, struct digest id)
{
    return b->count == x->n_terms && b->source_id.len == sizeof id.bytes &&
           memcmp(b->source_id.data, id.bytes, sizeof id.bytes) == 0;
}

enum err_code examined_load(struct examined *out, struct op_ctx *ctx, const char *exercises,
                            const char *embeddings, struct err *e)
{
    struct arena *a = op_arena(ctx);
    size_t n = op_count(ctx, exercises), rows = 0;
    if (op_count(ctx, embeddings) != n)
        return err_fail(e, ERR_INPUT, "%zu exercises in '%s', but %zu batches in '%s'", n,
                        exercises, (size_t)op_count(ctx, embeddings), embeddings);
    Eqloom__EmbeddingBatch **batches = arena_array(a, Eqloom__EmbeddingBatch *, n + 1);
    *out = (struct examined){.exercises = arena_array(a, const Eqloom__Exercise *, n + 1),
                             .first = arena_array(a, uint32_t, n + 1),
                             .n = n};
    for (size_t i = 0; i < n; i++) {
        ProtobufCMessage *exercise;
        enum err_code code;
        if ((code = err_up(e, op_get(&exercise, ctx, exercises, i, e))) ||
            (code = err_up(e, op_get(&batches[i], ctx, embeddings, i, e))))
            return code;
        out->exercises[i] = (const Eqloom__Exercise *)exercise;
        if (!belongs(batches[i], out->exercises[i], op_input_id(ctx, exercises, i)))
            return err_fail(e, ERR_INPUT, "batch %zu of '%s' is not exercise %zu of '%s', embedded",
                            i + 1, embeddings, i + 1, exercises);
        out->first[i] = (uint32_t)rows;
        rows += out->exercises[i]->n_terms;
    }
    enum err_code code = err_up(e, vectors_load(&out->v, a, batches, n, 0, e));
    if (!code)
        vectors_normalize(&out->v);
    return code;
}

char *examined_infix(struct arena *a, const Eqloom__Exercise *x, size_t term)
{
    const struct language *lang = &lang_calculus;
    language_read(&lang, a, x->language, NULL);
    return expr_infix_of(a, language_guess(a, lang, x->terms[term]->prefix),
                         x->terms[term]->prefix);
}

/* ---- questions ---- */

bool choice_is_possible(const struct examined *x, size_t k)
{
    const Eqloom__Exercise *q = x->exercises[k];
    /* A derivation's second term says its rule. */
    bool possible = q->n_terms > QUESTION_MISSES && !q->terms[QUESTION_ANSWER]->reason[0];
    for (size_t i = 0; i < q->n_terms; i++)
        possible = possible && q->terms[i]->wrong == (i >= QUESTION_MISSES) &&
                   q->terms[i]->like <= QUESTION_ANSWER;
    return possible;
}

void choice_find(struct choice *out, const struct examined *x, size_t k)
{
    *out = (struct choice){.term = QUESTION_ANSWER, .n_best = 1, .answer_best = true};
    out->answer = examined_similarity(x, k, QUESTION_QUERY, QUESTION_ANSWER);
    out->similarity = out->answer;
    for (uint32_t i = QUESTION_MISSES; i < x->exercises[k]->n_terms; i++) {
        float similarity = examined_similarity(x, k, QUESTION_QUERY, i);
        if (!(similarity >= out->similarity))
            continue;
        if (similarity > out->similarity)
            *out = (struct choice){.term = i, .similarity = similarity, .answer = out->answer};
        out->term = out->term == QUESTION_ANSWER ? i : out->term;
        out->n_best++;
        out->n_like[x->exercises[k]->terms[i]->like]++;
    }
}

void choices_sum(struct choices *out, const struct examined *x, const struct choice *found)
{
    *out = (struct choices){0};
    for (size_t k = 0; k < x->n; k++) {
        const struct choice *c = &found[k];
        out->accuracy += c->answer_best ? 1.0 / c->n_best : 0;
        out->like_query += (double)c->n_like[QUESTION_QUERY] / c->n_best;
        out->like_answer += (double)c->n_like[QUESTION_ANSWER] / c->n_best;
        out->random += 1 / (double)(x->exercises[k]->n_terms - 1);
    }
    double by = 1 / (double)(x->n ? x->n : 1);
    out->accuracy *= by;
    out->like_query *= by;
    out->like_answer *= by;
    out->random *= by;
}

/* ---- derivations ---- */

bool detection_is_possible(const struct examined *x, size_t k)
{
    const Eqloom__Exercise *d = x->exercises[k];
    bool possible = d->n_terms > 0 && !d->terms[0]->wrong;
    for (size_t i = 1; i < d->n_terms; i++)
        possible = possible && (d->terms[i]->wrong || d->terms[i]->reason[0]);
    return possible;
}

bool detection_threshold(double *out, const struct examined *x)
{
    double sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < x->n; k++) {
        double least = INFINITY;
        for (size_t i = 1; i < x->exercises[k]->n_terms; i++)
            if (!x->exercises[k]->terms[i]->wrong)
                least = fmin(least, examined_similarity(x, k, i - 1, i));
        if (least == INFINITY)
            continue;
        sum += least;
        n++;
    }
    *out = n ? sum / (double)n : 0;
    return n > 0;
}

struct step {
    float similarity;
    bool wrong;
};

static int by_similarity(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    return (x->similarity > y->similarity) - (x->similarity < y->similarity);
}

static struct step *all_steps(size_t *n, struct arena *a, const struct examined *x)
{
    struct step *steps = arena_array(a, struct step, x->v.n);
    *n = 0;
    for (size_t k = 0; k < x->n; k++)
        for (size_t i = 1; i < x->exercises[k]->n_terms; i++)
            steps[(*n)++] = (struct step){examined_similarity(x, k, i - 1, i),
                                          x->exercises[k]->terms[i]->wrong};
    qsort(steps, *n, sizeof *steps, by_similarity);
    return steps;
}

/* Pairs of a wrong step and a right one, by runs of equal similarity. */
static double area(const struct step *steps, size_t n, size_t n_wrong)
{
    double pairs = 0, wrong_before = 0;
    for (size_t i = 0, end; i < n; i = end) {
        double wrong = 0, right = 0;
        for (end = i; end < n && steps[end].similarity == steps[i].similarity; end++) {
            wrong += steps[end].wrong;
            right += !steps[end].wrong;
        }
        pairs += right * (wrong_before + wrong / 2);
        wrong_before += wrong;
    }
    double all = (double)n_wrong * (double)(n - n_wrong);
    return all > 0 ? pairs / all : 0.5;
}

static struct detected detected_of(size_t right, size_t found, size_t there)
{
    struct detected d = {.precision = found ? (double)right / (double)found : 0,
                         .recall = there ? (double)right / (double)there : 0};
    d.f1 = right ? 2 * d.precision * d.recall / (d.precision + d.recall) : 0;
    return d;
}

void detection_measure(struct detection *out, struct arena *a, const struct examined *x,
                       double threshold)
{
    size_t n, flagged = 0, wrong = 0, both = 0;
    const struct step *steps = all_steps(&n, a, x);
    for (size_t i = 0; i < n; i++) {
        bool flag = steps[i].similarity < threshold;
        flagged += flag;
        wrong += steps[i].wrong;
        both += flag && steps[i].wrong;
    }
    *out = (struct detection){.mistake = detected_of(both, flagged, wrong),
                              .no_mistake =
                                  detected_of(n - flagged - wrong + both, n - flagged, n - wrong),
                              .auc = area(steps, n, wrong),
                              .steps = n,
                              .wrong = wrong};
}
