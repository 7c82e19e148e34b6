/* The state of a search: the active rules and their cost, and sorting of matches; see ematch.h. */
#include "ops/egraph/match/ematch.h"

#include <stdlib.h>
#include <string.h>

#define NEVER UINT32_MAX
enum { SORT_FEW = 16 };

static struct activity activity_of(const struct ematch_rule *r)
{
    if (r->banned || r->exceeded)
        return (struct activity){NEVER, NEVER};
    const struct moment *s = &r->since[r->since[1].cells <= r->since[0].cells];
    return (struct activity){s->cells, s->epoch};
}

static struct activity older(struct activity a, struct activity b)
{
    return (struct activity){a.cells < b.cells ? a.cells : b.cells,
                             a.epoch < b.epoch ? a.epoch : b.epoch};
}

static struct activity activity_below(const struct ematch *m, const struct state *s)
{
    struct activity a = {NEVER, NEVER};
    if (s->kind == STATE_DONE)
        return activity_of(&m->rules[s->x]);
    for (uint32_t i = s->first; i < s->first + s->n; i++)
        a = older(a, m->active[i]);
    return a;
}

/* Switches to a separate state for each rule. */
static void separate_rules(struct ematch *m)
{
    m->uniform = false;
    for (size_t i = 0; i < m->set->n; i++)
        m->rules[i] = (struct ematch_rule){.since = {m->since, m->since}};
    for (uint32_t s = 0; s < m->set->automaton.n; s++)
        m->active[s] = (struct activity){m->since.cells, m->since.epoch};
}

/* ---- what searching costs ---- */

void ematch_profile(struct ematch *m, struct rule_profile *profile)
{
    size_t n = m->set->automaton.n + 1;
    m->profile = profile;
    if (!profile)
        return;
    m->steps = must_calloc(n, sizeof *m->steps);
    m->n_active = must_calloc(n, sizeof *m->n_active);
    m->share = must_calloc(n, sizeof *m->share);
}

/* Rules whose left side is a constant have no state. */
static bool is_active(const struct ematch *m, size_t rule)
{
    const struct ematch_rule *r = &m->rules[rule];
    return m->set->automaton.done[rule] != NO_STATE && (m->uniform || (!r->banned && !r->exceeded));
}

/* Relies on states coming after their parents. */
static void share_steps(struct ematch *m)
{
    const struct automaton *automaton = &m->set->automaton;
    const uint32_t *parent = automaton->parent;
    memset(m->n_active, 0, automaton->n * sizeof *m->n_active);
    for (size_t i = 0; i < m->set->n; i++)
        if (is_active(m, i))
            m->n_active[automaton->done[i]]++;
    for (uint32_t s = automaton->n; s-- > 0;)
        if (parent[s] != NO_STATE)
            m->n_active[parent[s]] += m->n_active[s];
    for (uint32_t s = 0; s < automaton->n; s++) {
        double own = m->n_active[s] ? (double)m->steps[s] / m->n_active[s] : 0;
        m->share[s] = (parent[s] == NO_STATE ? 0 : m->share[parent[s]]) + own;
    }
}

void ematch_settle(struct ematch *m)
{
    const struct automaton *automaton = &m->set->automaton;
    if (!m->profile)
        return;
    share_steps(m);
    for (size_t i = 0; i < m->set->n; i++) {
        if (!is_active(m, i))
            continue;
        struct rule_profile *rule = &m->profile[i];
        uint32_t root = automaton->done[i];
        rule->steps += m->share[root];
        while (automaton->parent[root] != NO_STATE)
            root = automaton->parent[root];
        rule->searched += m->steps[root];
    }
    memset(m->steps, 0, automaton->n * sizeof *m->steps);
}

/* ---- bans, and sorting the matches ---- */

void ematch_ban(struct ematch *m, uint32_t rule)
{
    const struct automaton *automaton = &m->set->automaton;
    ematch_settle(m);
    if (m->uniform)
        separate_rules(m);
    m->rules[rule].exceeded = true;
    m->rules[rule].cursor = m->node;
    for (uint32_t s = automaton->done[rule]; s != NO_STATE; s = automaton->parent[s]) {
        struct activity a = activity_below(m, &automaton->states[s]);
        if (a.cells == m->active[s].cells && a.epoch == m->active[s].epoch)
            return;
        m->active[s] = a;
    }
}

static void sort_few(struct ematch_match *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct ematch_match one = x[i];
        size_t k = i;
        for (; k > 0 && x[k - 1].rule > one.rule; k--)
            x[k] = x[k - 1];
        x[k] = one;
    }
}

/* A counting sort; `counted` has a bit for each rule with matches, so that only these are read. All
 * counts are zero before and after. */
static void sort_many(struct ematch *m)
{
    size_t n = m->n_matches, words = m->set->n / 64 + 1;
    uint32_t begin = 0;
    m->sorted = egraph_memory_grow(m->sorted, &m->cap_sorted, m->cap_matches, sizeof *m->sorted);
    for (size_t i = 0; i < n; i++) {
        uint32_t rule = m->matches[i].rule;
        m->count[rule]++;
        m->counted[rule / 64] |= 1ull << rule % 64;
    }
    for (size_t w = 0; w < words; w++)
        for (uint64_t bits = m->counted[w]; bits; bits &= bits - 1) {
            uint32_t *count = &m->count[64 * w + (unsigned)__builtin_ctzll(bits)], k = *count;
            *count = begin;
            begin += k;
        }
    for (size_t i = 0; i < n; i++)
        m->sorted[m->count[m->matches[i].rule]++] = m->matches[i];
    for (size_t i = 0; i < n; i++)
        m->count[m->matches[i].rule] = 0;
    memset(m->counted, 0, words * sizeof *m->counted);
    memcpy(m->matches, m->sorted, n * sizeof *m->matches);
}

void ematch_sort(struct ematch *m)
{
    if (m->n_matches <= SORT_FEW)
        sort_few(m->matches, m->n_matches);
    else
        sort_many(m);
}

void ematch_begin(struct ematch *m, uint32_t until)
{
    const struct automaton *automaton = &m->set->automaton;
    m->until = until;
    for (size_t i = 0; i < m->set->leaves.n; i++) {
        uint32_t n = m->g->leaves[m->leaf[i]].node;
        m->leaf_node[i] = n < until ? n : NO_NODE;
    }
    for (uint32_t s = m->uniform ? 0 : automaton->n; s-- > 0;)
        m->active[s] = activity_below(m, &automaton->states[s]);
}

void ematch_init(struct ematch *m, struct egraph *g, const struct ruleset *set,
                 const uint32_t *leaf, struct ematch_rule *rules, uint64_t *matched)
{
    *m = (struct ematch){.g = g,
                         .set = set,
                         .states = set->automaton.states,
                         .leaf = leaf,
                         .uniform = true,
                         .rules = rules,
                         .matched = matched};
    m->left = must_calloc(set->n + 1, sizeof *m->left);
    m->leaf_node = must_calloc(set->leaves.n + 1, sizeof *m->leaf_node);
    m->active = must_calloc(set->automaton.n + 1, sizeof *m->active);
    m->count = must_calloc(set->n + 1, sizeof *m->count);
    m->counted = must_calloc(set->n / 64 + 1, sizeof *m->counted);
}

void ematch_free(struct ematch *m)
{
    egraph_memory_free(m->matches, m->cap_matches * sizeof *m->matches);
    egraph_memory_free(m->sorted, m->cap_sorted * sizeof *m->sorted);
    u32_free(&m->records);
    free(m->count);
    free(m->counted);
    free(m->left);
    free(m->leaf_node);
    free(m->active);
    free(m->steps);
    free(m->n_active);
    free(m->share);
}
