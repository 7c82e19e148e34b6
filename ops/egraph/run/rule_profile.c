/* Dividing what a search costs among rules; see rule_profile.h. */
#include "ops/egraph/run/rule_profile.h"

#include <stdlib.h>
#include <string.h>

static void *zeroed(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    if (!p)
        abort();
    return p;
}

struct search_profile *search_profile_new(const struct saturate_profile *out,
                                          const struct automaton *automaton)
{
    struct search_profile *p = zeroed(1, sizeof *p);
    size_t n = automaton->n;
    *p = (struct search_profile){.out = out, .at = NO_STATE};
    p->steps = zeroed(n, sizeof *p->steps);
    p->tried = zeroed(n, sizeof *p->tried);
    p->ns = zeroed(n, sizeof *p->ns);
    p->n_active = zeroed(n, sizeof *p->n_active);
    p->root = zeroed(n, sizeof *p->root);
    p->share = zeroed(n, sizeof *p->share);
    p->whole = zeroed(n, sizeof *p->whole);
    for (uint32_t s = 0; s < n; s++)
        p->root[s] = automaton->parent[s] == NO_STATE ? s : p->root[automaton->parent[s]];
    return p;
}

void search_profile_free(struct search_profile *p)
{
    if (!p)
        return;
    free(p->steps);
    free(p->tried);
    free(p->ns);
    free(p->n_active);
    free(p->root);
    free(p->share);
    free(p->whole);
    free(p);
}

static bool is_active(const struct ematch *m, size_t rule)
{
    const struct ematch_rule *r = &m->rules[rule];
    return m->set->automaton.done[rule] != NO_STATE && (m->alike || (!r->banned && !r->exceeded));
}

/* A state comes before what follows it. */
static void count_active(struct ematch *m)
{
    const struct automaton *automaton = &m->set->automaton;
    struct search_profile *p = m->profile;
    memset(p->n_active, 0, automaton->n * sizeof *p->n_active);
    for (size_t i = 0; i < m->set->n; i++)
        if (is_active(m, i))
            p->n_active[automaton->done[i]]++;
    for (uint32_t s = automaton->n; s-- > 0;)
        if (automaton->parent[s] != NO_STATE)
            p->n_active[automaton->parent[s]] += p->n_active[s];
}

static void share_steps(struct ematch *m)
{
    const struct automaton *automaton = &m->set->automaton;
    struct search_profile *p = m->profile;
    for (uint32_t s = 0; s < automaton->n; s++) {
        uint32_t above = automaton->parent[s];
        double own = p->n_active[s] ? (double)p->steps[s] / p->n_active[s] : 0;
        p->share[s] = (above == NO_STATE ? 0 : p->share[above]) + own;
        p->whole[s] = 0;
    }
    for (size_t i = 0; i < m->set->n; i++)
        if (is_active(m, i)) {
            uint32_t done = automaton->done[i];
            p->whole[p->root[done]] += p->share[done];
        }
}

void search_profile_settle(struct ematch *m)
{
    const struct automaton *automaton = &m->set->automaton;
    struct search_profile *p = m->profile;
    if (p->at != NO_STATE) { /* in the middle of a search: up to here */
        uint64_t now = search_profile_now(p);
        p->ns[p->at] += now - p->begun;
        p->begun = now;
    }
    count_active(m);
    share_steps(m);
    for (size_t i = 0; i < m->set->n; i++) {
        if (!is_active(m, i))
            continue;
        struct rule_profile *rule = &p->out->rules[i];
        uint32_t done = automaton->done[i], root = p->root[done];
        rule->searched += p->tried[root];
        rule->steps += p->share[done];
        if (p->whole[root] > 0)
            rule->search_ns += (double)p->ns[root] * p->share[done] / p->whole[root];
    }
    memset(p->steps, 0, automaton->n * sizeof *p->steps);
    memset(p->tried, 0, automaton->n * sizeof *p->tried);
    memset(p->ns, 0, automaton->n * sizeof *p->ns);
}
