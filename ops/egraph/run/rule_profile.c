/* Dividing the cost of searching among rules; see rule_profile.h. */
#include "ops/egraph/run/rule_profile.h"

#include <stdlib.h>
#include <string.h>

static void settle(void *arg)
{
    search_profile_settle(arg);
}

void search_profile_init(struct search_profile *p, struct rule_profile *rules, struct ematch *m)
{
    size_t n = m->set->automaton.n;
    *p = (struct search_profile){.rules = rules,
                                 .m = m,
                                 .steps = must_calloc(n + 1, sizeof *p->steps),
                                 .n_active = must_calloc(n + 1, sizeof *p->n_active),
                                 .share = must_calloc(n + 1, sizeof *p->share)};
    m->steps = p->steps;
    m->settle = settle;
    m->settle_arg = p;
}

void search_profile_free(struct search_profile *p)
{
    free(p->steps);
    free(p->n_active);
    free(p->share);
}

/* Rules whose left side is a constant have no state. */
static bool is_active(const struct ematch *m, size_t rule)
{
    const struct ematch_rule *r = &m->rules[rule];
    return m->set->automaton.done[rule] != NO_STATE && (m->uniform || (!r->banned && !r->exceeded));
}

/* States come after their parents. */
static void share_steps(struct search_profile *p)
{
    const struct automaton *automaton = &p->m->set->automaton;
    const uint32_t *parent = automaton->parent;
    memset(p->n_active, 0, automaton->n * sizeof *p->n_active);
    for (size_t i = 0; i < p->m->set->n; i++)
        if (is_active(p->m, i))
            p->n_active[automaton->done[i]]++;
    for (uint32_t s = automaton->n; s-- > 0;)
        if (parent[s] != NO_STATE)
            p->n_active[parent[s]] += p->n_active[s];
    for (uint32_t s = 0; s < automaton->n; s++) {
        double own = p->n_active[s] ? (double)p->steps[s] / p->n_active[s] : 0;
        p->share[s] = (parent[s] == NO_STATE ? 0 : p->share[parent[s]]) + own;
    }
}

void search_profile_settle(struct search_profile *p)
{
    const struct automaton *automaton = &p->m->set->automaton;
    share_steps(p);
    for (size_t i = 0; i < p->m->set->n; i++) {
        if (!is_active(p->m, i))
            continue;
        struct rule_profile *rule = &p->rules[i];
        uint32_t root = automaton->done[i];
        rule->steps += p->share[root];
        while (automaton->parent[root] != NO_STATE)
            root = automaton->parent[root];
        rule->searched += p->steps[root];
    }
    memset(p->steps, 0, automaton->n * sizeof *p->steps);
}
