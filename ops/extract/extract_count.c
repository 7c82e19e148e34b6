/* Counts terms exactly by dynamic programming over length, and maps a rank to its term; see
 * extract_grammar.h. An alternative with two operands has, at length L, the sum over i of left(i) *
 * right(L - own - i) terms. Operands are shorter than the term that contains them, so one pass over
 * the lengths is enough, cyclic or not. 128 bits suffice in practice; beyond them counts stay at
 * the maximum and grammar.saturated is set. */
#include "ops/extract/extract_grammar.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

char *count_text(char out[48], count_t n, bool saturated)
{
    char digits[40];
    int at = sizeof digits;
    digits[--at] = '\0';
    do {
        digits[--at] = (char)('0' + (int)(n % 10));
        n /= 10;
    } while (n);
    snprintf(out, 48, "%s%s", saturated ? ">=" : "", digits + at);
    return out;
}

count_t grammar_terms(const struct grammar *g)
{
    count_t sum = 0;
    bool saturated = false;
    for (uint32_t length = 1; g->root != GRAMMAR_NONE && length <= g->max_tokens; length++)
        sum = count_add(sum, grammar_total(g, g->root, length), &saturated);
    return sum;
}

static count_t count_alt(const struct grammar *g, const struct grammar_alt *alt, uint32_t length,
                         bool *saturated)
{
    const struct grammar_node *node = &g->nodes[alt->node];
    if (node->arity == 0)
        return length == node->tokens;
    uint32_t rest = length - node->tokens; /* length of the operands together */
    const struct grammar_slot *left = &g->slots[alt->slot[0]];
    const count_t *l = g->totals + (size_t)alt->slot[0] * (g->max_tokens + 1);
    if (node->arity == 1)
        return l[rest];
    const struct grammar_slot *right = &g->slots[alt->slot[1]];
    const count_t *r = g->totals + (size_t)alt->slot[1] * (g->max_tokens + 1);
    count_t sum = 0;
    for (uint32_t i = left->least; i + right->least <= rest; i++)
        sum = count_add(sum, count_mul(l[i], r[rest - i], saturated), saturated);
    return sum;
}

static void set_total(struct grammar *g, uint32_t slot, uint32_t length, count_t total)
{
    g->totals[(size_t)slot * (g->max_tokens + 1) + length] = total;
    g->slots[slot].lengths |= length < 64 ? (uint64_t)(total != 0) << length : 0;
    if (total && g->slots[slot].least == UINT16_MAX)
        g->slots[slot].least = (uint16_t)length;
}

static void count_class(struct grammar *g, uint32_t class, uint32_t length)
{
    uint32_t n = g->alt_begin[class + 1] - g->alt_begin[class];
    const struct grammar_alt *alts = g->alts + g->alt_begin[class];
    count_t *row = g->counts + g->alt_counts[class] + (size_t)(length - 1) * n;
    for (uint32_t k = 0; k < n; k++)
        row[k] = count_alt(g, &alts[k], length, &g->saturated);
    for (uint32_t s = g->first_slot[class]; s != GRAMMAR_NONE; s = g->slots[s].next) {
        count_t total = 0;
        for (uint32_t k = 0; k < n; k++)
            if (grammar_alt_in_slot(&g->slots[s], &alts[k]))
                total = count_add(total, row[k], &g->saturated);
        set_total(g, s, length, total);
    }
}

enum err_code grammar_count(struct grammar *g, struct arena *a, struct err *e)
{
    size_t need = 0;
    g->alt_counts = arena_zalloc_array(a, g->n_classes, sizeof *g->alt_counts);
    for (uint32_t i = 0; i < g->n_used; i++) {
        uint32_t c = g->used[i];
        g->alt_counts[c] = need;
        need += (size_t)g->budget[c] * (g->alt_begin[c + 1] - g->alt_begin[c]);
    }
    size_t n_totals = (size_t)g->n_slots * (g->max_tokens + 1);
    g->counts = arena_try_alloc(a, need + 1, sizeof *g->counts);
    g->totals = arena_try_alloc(a, n_totals + 1, sizeof *g->totals);
    if (!g->counts || !g->totals)
        return err_fail(e, ERR_NOMEM, "no memory to count the terms of an e-graph of %u e-nodes",
                        g->n_nodes);
    for (size_t i = 0; i < n_totals; i++)
        g->totals[i] = 0;
    for (uint32_t length = 1; length <= g->max_tokens; length++)
        for (uint32_t i = 0; i < g->n_used; i++)
            if (length <= g->budget[g->used[i]])
                count_class(g, g->used[i], length);
    g->saturated |= grammar_terms(g) == COUNT_MAX;
    return OK;
}

/* ---- from a rank to its term ---- */

/* If counts are saturated, ranks still identify different terms, but not all of them. */
static void unrank_slot(struct term *t, const struct grammar *g, uint32_t slot, uint32_t length,
                        count_t rank);

static void unrank_children(struct term *t, const struct grammar *g, const struct grammar_alt *alt,
                            uint32_t rest, count_t rank)
{
    uint32_t l = alt->slot[0], r = alt->slot[1];
    bool saturated = false;
    for (uint32_t i = 1; i < rest; i++) {
        count_t nl = grammar_total(g, l, i), nr = grammar_total(g, r, rest - i);
        count_t n = count_mul(nl, nr, &saturated);
        if (rank < n) {
            unrank_slot(t, g, l, i, rank / nr);
            unrank_slot(t, g, r, rest - i, rank % nr);
            return;
        }
        rank -= n;
    }
    assert(!"rank is below the count");
}

static void unrank_alt(struct term *t, const struct grammar *g, const struct grammar_alt *alt,
                       uint32_t length, count_t rank)
{
    const struct grammar_node *node = &g->nodes[alt->node];
    t->nodes[t->n++] = alt->node;
    if (node->arity == 1)
        unrank_slot(t, g, alt->slot[0], length - node->tokens, rank);
    else if (node->arity == 2)
        unrank_children(t, g, alt, length - node->tokens, rank);
}

static void unrank_slot(struct term *t, const struct grammar *g, uint32_t slot, uint32_t length,
                        count_t rank)
{
    uint32_t c = g->slots[slot].class, begin = g->alt_begin[c], n = g->alt_begin[c + 1] - begin;
    const count_t *row = g->counts + g->alt_counts[c] + (size_t)(length - 1) * n;
    for (uint32_t k = 0; k < n; k++) {
        if (!grammar_alt_in_slot(&g->slots[slot], &g->alts[begin + k]))
            continue;
        if (rank < row[k]) {
            unrank_alt(t, g, &g->alts[begin + k], length, rank);
            return;
        }
        rank -= row[k];
    }
    assert(!"rank is below the total");
}

void grammar_unrank(struct term *out, const struct grammar *g, uint32_t slot, uint32_t length,
                    count_t rank)
{
    assert(rank < grammar_total(g, slot, length));
    out->n = 0;
    out->length = length;
    unrank_slot(out, g, slot, length, rank);
}

char *grammar_term_text(struct arena *a, const struct grammar *g, const struct term *t)
{
    size_t size = 1;
    for (uint32_t i = 0; i < t->n; i++)
        size += strlen(g->nodes[t->nodes[i]].text) + 1;
    char *text = arena_alloc(a, size), *at = text;
    for (uint32_t i = 0; i < t->n; i++) {
        if (i)
            *at++ = ' ';
        at = stpcpy(at, g->nodes[t->nodes[i]].text);
    }
    *at = '\0';
    return text;
}
