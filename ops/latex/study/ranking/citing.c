#include "ops/latex/study/ranking/citing.h"

#include "base/buf.h"
#include "base/map.h"
#include "ops/eval/measure/retrieval.h"

#include <stdlib.h>
#include <string.h>

static int compare_pairs(const void *x, const void *y)
{
    const uint32_t *a = x, *b = y;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* Sorted, each once. */
static void index_pairs(struct citing *c)
{
    uint32_t n = 0;
    if (c->n_pairs)
        qsort(c->pairs, c->n_pairs, sizeof *c->pairs, compare_pairs);
    for (uint32_t i = 0; i < c->n_pairs; i++)
        if (n == 0 || compare_pairs(c->pairs[i], c->pairs[n - 1]))
            memmove(c->pairs[n++], c->pairs[i], sizeof *c->pairs);
    c->n_pairs = n;
    for (uint32_t i = 0; i < n; i++)
        c->first[c->pairs[i][0] + 1]++;
    for (uint32_t p = 0; p < c->x->n_papers; p++)
        c->first[p + 1] += c->first[p];
}

static void index_members(struct citing *c)
{
    uint32_t *first = c->member_first, n = c->x->v.n;
    for (uint32_t i = 0; i < n; i++)
        first[c->x->paper[i] + 2]++;
    for (uint32_t p = 0; p < c->x->n_papers; p++)
        first[p + 2] += first[p + 1];
    for (uint32_t i = 0; i < n; i++)
        c->member[first[c->x->paper[i] + 1]++] = i;
}

enum err_code citing_load(struct citing *c, struct op_ctx *ctx, const char *papers,
                          const struct equation_vectors *x, struct err *e)
{
    struct arena *a = op_arena(ctx), work = {0};
    struct name_map names = {0};
    size_t cap = 0;
    enum err_code code = OK;
    *c = (struct citing){x,
                         NULL,
                         0,
                         arena_array(a, uint32_t, x->n_papers + 2),
                         arena_array(a, uint32_t, x->v.n + 1),
                         arena_array(a, uint32_t, x->n_papers + 2)};
    for (uint32_t i = 0; i < x->v.n; i++)
        name_map_put(&names, x->place[i]->paper, x->paper[i], NULL);
    for (uint64_t i = 0, n = op_count(ctx, papers); i < n && !code; i++) {
        const Eqloom__Paper *p = NULL;
        arena_reset(&work);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "reading citations was interrupted");
        else
            code = err_up(e, op_get_in(&p, ctx, papers, i, &work, e));
        const uint64_t *from = code ? NULL : name_map_get(&names, p->paper), *to;
        for (size_t k = 0; from && k < p->n_cites; k++) {
            if (!(to = name_map_get(&names, p->cites[k])) || *to == *from)
                continue;
            c->pairs = vec_grow(c->pairs, &cap, c->n_pairs + 1, sizeof *c->pairs);
            c->pairs[c->n_pairs][0] = (uint32_t)*from;
            c->pairs[c->n_pairs++][1] = (uint32_t)*to;
        }
    }
    arena_free(&work);
    name_map_free(&names);
    index_pairs(c);
    index_members(c);
    return code;
}

static void mark_paper(uint8_t *standing, const struct citing *c, uint32_t paper, uint8_t as)
{
    for (uint32_t i = c->member_first[paper]; i < c->member_first[paper + 1]; i++)
        standing[c->member[i]] = as;
}

void citing_mark(uint8_t *standing, const void *of, uint32_t query)
{
    const struct citing *c = of;
    uint32_t paper = c->x->paper[query];
    memset(standing, RETRIEVAL_NEGATIVE, c->x->v.n);
    mark_paper(standing, c, paper, RETRIEVAL_LEFT_OUT);
    for (uint32_t k = c->first[paper]; k < c->first[paper + 1]; k++)
        mark_paper(standing, c, c->pairs[k][1], RETRIEVAL_POSITIVE);
}
