/* From a rank to its term; see extract_grammar.h for the order. Where counts are saturated the
 * ranks still name different terms, but not all of them. */
#include "ops/extract/extract_grammar.h"

#include <assert.h>
#include <string.h>

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
