/* Semijoins; see semijoin.h. */
#include "ops/egraph/large/semijoin.h"

#include "ops/egraph/graph/node_index.h"

#include <string.h>

/* Which argument of the node bound by s register x holds; at least s->arity if none. */
static uint32_t argument_at(const struct state *s, uint32_t x)
{
    return x & AUTOMATON_LEAF ? UINT32_MAX : x - s->out;
}

bool semijoin_applies(const struct state *s, const struct state *next)
{
    bool some = false;
    if (next->kind != STATE_BIND || !next->whole || argument_at(s, next->a) < s->arity)
        return false;
    for (uint32_t k = 0; k < next->arity; k++)
        some |= argument_at(s, next->bound[k]) < s->arity;
    return some;
}

/* The arguments that node q of the second class requires of the first node; false if it cannot
 * match. */
static bool read_candidate(uint32_t *value, struct ematch *m, const struct state *s,
                           const struct state *next, uint32_t q)
{
    struct egraph *g = m->g;
    bool set[2] = {false, false};
    value[0] = value[1] = 0;
    if (g->cells[q].op != next->x)
        return false;
    for (uint32_t k = 0; k < next->arity; k++) {
        uint32_t c = graph_find(g, g->cells[q].kid[k]), i = argument_at(s, next->bound[k]);
        if (i < s->arity && !set[i]) {
            value[i] = c;
            set[i] = true;
        } else if (i < s->arity ? value[i] != c : ematch_bound(m, next->bound[k]) != c) {
            return false;
        }
    }
    return true;
}

/* Some node of class c has these arguments. */
static bool is_there(struct ematch *m, const struct state *s, uint32_t c, const uint32_t *value)
{
    uint32_t n = graph_lookup(m->g, s->x, value);
    return n < m->until && graph_find(m->g, n) == c;
}

enum semijoin_found semijoin_find(struct semijoin *out, struct ematch *m, const struct state *s,
                                  const struct state *next, uint32_t c, uint32_t n)
{
    struct node_index *j = m->g->node_index;
    struct node_range range;
    const struct node_index_key key = {m->reg[next->a], next->x, NODE_INDEX_ANY};
    if (n < SEMIJOIN_MIN || !node_index_find(&range, m->g, &key, NO_NODE, true))
        return SEMIJOIN_UNKNOWN;
    uint32_t semijoin = range.end - range.begin, value[2];
    if (semijoin > 2 * n || semijoin > SEMIJOIN_MAX)
        return SEMIJOIN_UNKNOWN;
    uint32_t bound = 0;
    for (uint32_t k = 0; k < 2; k++)
        out->argument[k] = SEMIJOIN_FREE;
    for (uint32_t k = 0; k < next->arity; k++) {
        uint32_t i = argument_at(s, next->bound[k]);
        if (i < s->arity) {
            bound += out->argument[i] == SEMIJOIN_FREE;
            out->argument[i] = 0;
        }
    }
    /* few candidates with all arguments determined: look them up */
    bool depth = bound == s->arity && 2 * semijoin < n, found = false;
    memset(out->filter, 0, sizeof out->filter);
    for (; range.begin < range.end; range.begin++) {
        if (!read_candidate(value, m, s, next, node_index_node(j, range.begin)) ||
            (depth && !is_there(m, s, c, value)))
            continue;
        uint32_t h = semijoin_hash(value[0], value[1]);
        out->filter[h / 64] |= 1ull << h % 64;
        found = true;
    }
    return found ? SEMIJOIN_SOME : SEMIJOIN_NONE;
}
