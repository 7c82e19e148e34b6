/* Answering analogies; see analogy.h. A pass over all vectors keeps the nearest, and these are
 * compared with the terms, nearest first, until enough are found. */
#include "ops/eval/measure/analogy.h"

#include "ops/expr/equality/equality.h"

#include <math.h>
#include <string.h>

void analogy_aim(struct analogy *x, struct arena *a, const struct vectors *v)
{
    const float *x1 = vectors_at(v, x->row[0]), *y1 = vectors_at(v, x->row[1]);
    const float *x2 = vectors_at(v, x->row[2]);
    x->target = arena_array(a, float, v->stride);
    for (uint32_t d = 0; d < v->dim; d++)
        x->target[d] = y1[d] - x1[d] + x2[d];
    float norm = sqrtf(vector_dot(x->target, x->target, v->stride));
    x->aimless = !(norm > 0 && isfinite(norm));
    for (uint32_t d = 0; !x->aimless && d < v->dim; d++)
        x->target[d] /= norm;
}

/* ---- the nearest ---- */

enum { CANDIDATES = 200 }; /* more matter only where most of them equal an input */

static size_t find_nearest(struct neighbour *list, const struct analogy *x, const struct vectors *v)
{
    size_t n = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        bool term = false;
        for (int t = 0; t + 1 < ANALOGY_TERMS; t++)
            term = term || strcmp(v->text[i], v->text[x->row[t]]) == 0;
        if (!term)
            n = neighbours_insert(
                list, n, CANDIDATES,
                (struct neighbour){vector_dot(x->target, vectors_at(v, i), v->stride), i});
    }
    return n;
}

/* ---- what they are ---- */

static enum err_code read_term(struct equality_test *out, struct arena *a, const char *text,
                               const struct analogy_rules *how, struct err *e)
{
    struct ball_options options = {.points = how->points, .seed = 1};
    struct expr x;
    enum err_code code = err_up(e, expr_from_prefix(&x, a, how->lang, text, e));
    if (!code)
        equality_test_begin(out, &x, &options);
    return code;
}

/* In the calculus: values agree at all points tried. */
static bool is_equal(struct equality_test *t, const struct expr *y, struct arena *a)
{
    return equality_test_ask(NULL, a, t, y) == EQUALITY_AGREES;
}

static bool is_there(const struct analogy_answer *x, const struct vectors *v, const char *text)
{
    for (size_t i = 0; i < x->n; i++)
        if (strcmp(v->text[x->found[i]], text) == 0)
            return true;
    return false;
}

static enum err_code sift(struct analogy_answer *out, const struct neighbour *list, size_t n,
                          struct equality_test *terms, uint32_t y2, const struct vectors *v,
                          const struct analogy_rules *how, struct arena *a, struct err *e)
{
    for (size_t i = 0; i < n && out->n < ANALOGY_DEPTH; i++) {
        const char *text = v->text[list[i].row];
        struct expr y;
        if (is_there(out, v, text))
            continue;
        enum err_code code = err_up(e, expr_from_prefix(&y, a, how->lang, text, e));
        if (code)
            return code;
        bool right = how->text ? strcmp(text, v->text[y2]) == 0 : is_equal(&terms[3], &y, a);
        if (!right && (is_equal(&terms[2], &y, a) ||
                       (how->text ? is_equal(&terms[3], &y, a)
                                  : is_equal(&terms[0], &y, a) || is_equal(&terms[1], &y, a))))
            continue;
        out->similarity[out->n] = list[i].similarity;
        out->found[out->n++] = list[i].row;
        if (right && !out->rank)
            out->rank = (uint32_t)out->n;
    }
    return OK;
}

enum err_code analogy_find(struct analogy_answer *out, struct arena *a, const struct analogy *x,
                           const struct vectors *v, const struct analogy_rules *how, struct err *e)
{
    struct neighbour list[CANDIDATES];
    struct equality_test terms[ANALOGY_TERMS] = {0};
    enum err_code code = OK;
    *out = (struct analogy_answer){0};
    size_t n = x->aimless ? 0 : find_nearest(list, x, v);
    for (int t = 0; t < ANALOGY_TERMS && !code; t++)
        code = err_up(e, read_term(&terms[t], a, v->text[x->row[t]], how, e));
    if (!code)
        code = err_up(e, sift(out, list, n, terms, x->row[3], v, how, a, e));
    for (int t = 0; t < ANALOGY_TERMS; t++)
        equality_test_end(&terms[t]);
    return code;
}
