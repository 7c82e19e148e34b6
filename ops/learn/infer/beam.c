/* Beam search; see beam.h. */
#include "ops/learn/infer/beam.h"

#include <math.h>
#include <string.h>

void beam_init(struct beam *b, const struct generator_options *options, struct arena *a)
{
    uint32_t width = options->beam;
    *b = (struct beam){.width = width, .max_tokens = options->max_tokens, .n_live = 1};
    b->live = arena_array(a, uint32_t, width);
    b->parent = arena_array(a, uint32_t, width);
    b->candidates = arena_array(a, struct beam_candidate, 2 * (size_t)width);
    b->ended = arena_alloc(a, width * sizeof *b->ended);
    b->live[0] = BEAM_ROOT;
}

static double score_of(const struct beam *b, size_t i)
{
    return b->live[i] == BEAM_ROOT ? 0 : b->nodes[b->live[i]].score;
}

/* Log of the sum of exponentials. */
static double log_sum(const float *x, uint32_t n)
{
    double max = -INFINITY, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        max = x[i] > max ? x[i] : max;
    for (uint32_t i = 0; i < n; i++)
        sum += exp(x[i] - max);
    return max + log(sum);
}

/* Among the best 2 * width if it belongs there; behind its equals. */
static void keep(struct beam *b, struct beam_candidate c)
{
    size_t cap = 2 * (size_t)b->width, at = b->n_candidates;
    if (at == cap && !(c.score > b->candidates[cap - 1].score))
        return;
    while (at > 0 && c.score > b->candidates[at - 1].score)
        at--;
    if (b->n_candidates < cap)
        b->n_candidates++;
    memmove(&b->candidates[at + 1], &b->candidates[at],
            (b->n_candidates - 1 - at) * sizeof *b->candidates);
    b->candidates[at] = c;
}

void beam_offer(struct beam *b, uint32_t i, const float *logits, uint32_t vocabulary)
{
    double base = score_of(b, i) - log_sum(logits, vocabulary);
    if (i == 0)
        b->n_candidates = 0;
    for (uint32_t token = 0; token < vocabulary; token++)
        if (token != NN_PAD && token != NN_START)
            keep(b, (struct beam_candidate){i, token, base + logits[token]});
}

static void end(struct beam *b, const struct beam_candidate *c)
{
    if (b->n_ended == b->width && !(c->score > b->ended[b->n_ended - 1].score))
        return;
    size_t at = b->n_ended < b->width ? b->n_ended++ : b->n_ended - 1;
    for (; at > 0 && c->score > b->ended[at - 1].score; at--)
        b->ended[at] = b->ended[at - 1];
    b->ended[at].node = b->live[c->live];
    b->ended[at].length = b->at;
    b->ended[at].score = c->score;
}

static uint32_t add_node(struct beam *b, const struct beam_candidate *c, struct arena *a)
{
    b->nodes = arena_grow(a, b->nodes, b->n_nodes, &b->cap, sizeof *b->nodes);
    b->nodes[b->n_nodes] = (struct beam_node){b->live[c->live], c->token, c->score};
    return (uint32_t)b->n_nodes++;
}

void beam_choose(struct beam *b, struct arena *a)
{
    uint32_t *next = arena_array(a, uint32_t, b->width);
    size_t n = 0;
    for (size_t i = 0; i < b->n_candidates && n < b->width; i++) {
        const struct beam_candidate *c = &b->candidates[i];
        if (c->token == NN_END) {
            if (i < b->width)
                end(b, c);
        } else if (b->at < b->max_tokens) {
            b->parent[n] = c->live;
            next[n++] = add_node(b, c, a);
        }
    }
    memcpy(b->live, next, n * sizeof *next);
    b->n_live = n;
    b->at++;
    /* The best that can become of a hypothesis is that it ends as probable. */
    if (n && b->n_ended == b->width && score_of(b, 0) <= b->ended[b->width - 1].score)
        b->n_live = 0;
}

uint32_t beam_token(const struct beam *b, size_t i)
{
    return b->live[i] == BEAM_ROOT ? NN_START : b->nodes[b->live[i]].token;
}

void beam_results(struct generated *out, const struct beam *b, struct arena *a)
{
    out->n = b->n_ended;
    out->best = arena_array(a, struct hypothesis, b->n_ended);
    for (size_t i = 0; i < b->n_ended; i++) {
        struct hypothesis *h = &out->best[i];
        h->n = b->ended[i].length;
        h->log_probability = b->ended[i].score;
        h->tokens = arena_array(a, uint32_t, h->n);
        for (uint32_t node = b->ended[i].node, at = (uint32_t)h->n; node != BEAM_ROOT;
             node = b->nodes[node].parent)
            h->tokens[--at] = b->nodes[node].token;
    }
}
