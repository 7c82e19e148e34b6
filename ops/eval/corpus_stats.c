/* Statistics of clusters; see corpus_stats.h. */
#include "ops/eval/corpus_stats.h"

#include <string.h>

static void add_member(struct corpus_stats *s, const Eqloom__Member *m)
{
    bool seen[X_DECLARED] = {false};
    for (const char *at = m->prefix; *at;) {
        size_t len = strcspn(at, " ");
        int op = lang_find(&lang_calculus, at, len);
        if (op >= 0)
            seen[op] = true;
        at += len + (at[len] == ' ');
    }
    for (int op = 0; op < X_DECLARED; op++)
        s->by_op[op] += seen[op];
    s->members++;
    s->tokens += m->tokens;
    s->by_length[m->tokens < STATS_LENGTHS ? m->tokens : STATS_LENGTHS - 1]++;
    if ((unsigned)m->standing < STATS_STANDINGS)
        s->by_standing[m->standing]++;
}

void corpus_stats_add(struct corpus_stats *s, struct arena *a, const Eqloom__Cluster *c, uint64_t i,
                      uint64_t n)
{
    s->clusters++;
    s->unsound |= c->unsound;
    for (size_t k = 0; k < c->n_members; k++)
        add_member(s, c->members[k]);
    if (s->n_examples == STATS_EXAMPLES || !c->seed || c->n_members < 2 ||
        i < n * (2 * s->n_examples + 1) / (2 * STATS_EXAMPLES))
        return;
    struct corpus_example *example = &s->examples[s->n_examples++];
    example->seed = arena_strdup(a, c->seed->prefix);
    example->terms = arena_strdup(a, c->terms);
    example->n_members = (uint32_t)c->n_members;
    for (size_t k = 1; k < c->n_members && example->n_shown < STATS_SHOWN; k++)
        if (c->members[k]->tokens <= STATS_SHORT)
            example->members[example->n_shown++] = arena_strdup(a, c->members[k]->prefix);
}
