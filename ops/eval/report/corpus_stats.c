/* Statistics of clusters; see corpus_stats.h. */
#include "ops/eval/report/corpus_stats.h"

#include "base/rng.h"
#include "ops/eval/report/trivial.h"

#include <string.h>

const char *corpus_op_name(const struct corpus_stats *s, uint32_t op)
{
    if (op == STATS_EXP)
        return lang_is(s->lang, &lang_calculus) ? "exp" : NULL;
    return op >= X_ADD && lang_has(s->lang, op) && s->lang->ops[op].arity ? s->lang->ops[op].name
                                                                          : NULL;
}

uint32_t corpus_stats_operators(uint32_t *all, const struct corpus_stats *s)
{
    uint32_t n = 0;
    *all = 0;
    for (uint32_t op = X_ADD; op < STATS_OPS; op++) {
        bool known = corpus_op_name(s, op) != NULL;
        *all += known;
        n += known && s->by_op[op] > 0;
    }
    return n;
}

const char *corpus_stats_trivial(const struct corpus_stats *s)
{
    return lang_is(s->lang, &lang_boolean)
               ? "a double negation, or a connective of true or false"
               : "a neutral element (x + 0, x * 1, x^1), a double negation or reciprocal, or a "
                 "function of its own inverse";
}

static bool is_exp(const struct expr *x, uint32_t i)
{
    return x->nodes[i].op == X_POW && x->nodes[i + 1].op == X_SYM &&
           strcmp(x->nodes[i + 1].leaf, "e") == 0;
}

static void add_term(struct corpus_stats *s, struct map64 *own, const struct expr *x, bool is_seed)
{
    bool seen[STATS_OPS] = {false}, added;
    uint64_t shape = x->n;
    for (uint32_t i = 0; i < x->n; i++) {
        uint16_t op = x->nodes[i].op;
        shape = rng_mix(shape ^ (op < X_ADD ? 0 : op));
        if (op < STATS_EXP)
            seen[is_exp(x, i) ? STATS_EXP : op] = true;
    }
    for (int op = X_ADD; op < STATS_OPS; op++)
        s->by_op[op] += seen[op];
    map64_put(&s->shapes, shape, 1, NULL);
    map64_put(own, shape, 1, &added);
    s->shapes_each += added;
    s->reducible += !is_seed && term_is_reducible(x);
}

static void add_member(struct corpus_stats *s, struct map64 *own, struct arena *scratch,
                       const Eqloom__Member *m, bool is_seed)
{
    struct expr x;
    if (expr_from_prefix(&x, scratch, s->lang, m->prefix, NULL) == OK)
        add_term(s, own, &x, is_seed);
    s->members++;
    s->tokens += m->tokens;
    s->by_length[m->tokens < STATS_LENGTHS ? m->tokens : STATS_LENGTHS - 1]++;
    if ((unsigned)m->standing < STATS_STANDINGS)
        s->by_standing[m->standing]++;
}

static void add_example(struct corpus_stats *s, struct arena *a, const Eqloom__Cluster *c)
{
    struct corpus_example *example = &s->examples[s->n_examples++];
    example->seed = arena_strdup(a, c->seed->prefix);
    example->terms = arena_strdup(a, c->terms);
    example->n_members = (uint32_t)c->n_members;
    for (size_t k = 1; k < c->n_members && example->n_shown < STATS_SHOWN; k++)
        if (c->members[k]->tokens <= STATS_SHORT)
            example->members[example->n_shown++] = arena_strdup(a, c->members[k]->prefix);
}

void corpus_stats_add(struct corpus_stats *s, struct arena *a, const Eqloom__Cluster *c, uint64_t i,
                      uint64_t n)
{
    struct map64 own = {0};
    struct arena scratch = {0};
    if (!s->lang)
        s->lang = c->seed ? lang_by_name(c->seed->language) : NULL;
    if (!s->lang)
        s->lang = &lang_calculus;
    s->clusters++;
    s->unsound |= c->unsound;
    s->derivatives += c->seed && strncmp(c->seed->prefix, "d ", 2) == 0;
    for (size_t k = 0; k < c->n_members; k++) {
        arena_reset(&scratch);
        add_member(s, &own, &scratch, c->members[k], k == 0);
    }
    if (s->n_examples < STATS_EXAMPLES && c->seed && c->n_members > 1 &&
        i >= n * (2 * s->n_examples + 1) / (2 * STATS_EXAMPLES))
        add_example(s, a, c);
    map64_free(&own);
    arena_free(&scratch);
}

void corpus_stats_free(struct corpus_stats *s)
{
    map64_free(&s->shapes);
}
