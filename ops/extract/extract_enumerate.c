/* All terms of a slot at a length, in the order of their ranks: a depth-first walk over leftmost
 * derivations. Counts show which choices lead somewhere, so there are no dead ends, and from one
 * term to the next only what differs at the right end is redone. */
#include "ops/extract/extract_grammar.h"

/* What is still to be derived, leftmost first; on the C stack. */
struct pending {
    uint32_t slot, length;
    const struct pending *after;
};

struct walk {
    const struct grammar *g;
    bool (*visit)(void *arg, const struct term *t);
    void *arg;
    struct term term;
};

static bool derive(struct walk *w, const struct pending *p);

/* Unordered pairs of terms of equal length; their ranks form a triangle, not a rectangle. */
static bool derive_pairs(struct walk *w, const struct grammar_alt *alt, uint32_t length,
                         const struct pending *after)
{
    uint32_t n = w->term.n;
    count_t m = grammar_total(w->g, alt->slot[0], length);
    for (count_t q = 0; q < m; q++)
        for (count_t p = 0; p <= q; p++) {
            w->term.n = n;
            grammar_unrank_append(&w->term, w->g, alt->slot[0], length, p);
            grammar_unrank_append(&w->term, w->g, alt->slot[1], length, q);
            if (!derive(w, after))
                return false;
        }
    return true;
}

static bool derive_alt(struct walk *w, const struct grammar_alt *alt, uint32_t length,
                       const struct pending *after)
{
    const struct grammar_node *node = &w->g->nodes[alt->node];
    uint32_t n = w->term.n, rest = length - node->tokens;
    w->term.nodes[w->term.n++] = alt->node;
    if (node->arity == 0)
        return derive(w, after);
    if (node->arity == 1)
        return derive(w, &(struct pending){alt->slot[0], rest, after});
    for (uint32_t i = 1; i < rest && !(alt->symmetric && 2 * i > rest); i++) {
        if (!grammar_total(w->g, alt->slot[0], i) || !grammar_total(w->g, alt->slot[1], rest - i))
            continue;
        w->term.n = n + 1;
        if (alt->symmetric && 2 * i == rest) {
            if (!derive_pairs(w, alt, i, after))
                return false;
            continue;
        }
        struct pending right = {alt->slot[1], rest - i, after};
        if (!derive(w, &(struct pending){alt->slot[0], i, &right}))
            return false;
    }
    return true;
}

static bool derive(struct walk *w, const struct pending *p)
{
    if (!p)
        return w->visit(w->arg, &w->term);
    const struct grammar *g = w->g;
    uint32_t c = g->slots[p->slot].class, begin = g->alt_begin[c], n = w->term.n;
    uint32_t n_alts = g->alt_begin[c + 1] - begin;
    const count_t *row = g->counts + g->alt_counts[c] + (size_t)(p->length - 1) * n_alts;
    for (uint32_t k = 0; k < n_alts; k++) {
        if (!row[k] || !grammar_alt_in_slot(&g->slots[p->slot], &g->alts[begin + k]))
            continue;
        w->term.n = n;
        if (!derive_alt(w, &g->alts[begin + k], p->length, p->after))
            return false;
    }
    return true;
}

void grammar_enumerate(const struct grammar *g, uint32_t slot, uint32_t length,
                       bool (*visit)(void *arg, const struct term *t), void *arg)
{
    struct walk w = {.g = g, .visit = visit, .arg = arg};
    w.term.n = 0;
    w.term.length = length;
    if (grammar_total(g, slot, length))
        derive(&w, &(struct pending){slot, length, NULL});
}
