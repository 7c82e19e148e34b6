/* Statistics of clusters; see corpus_stats.h. */
#include "ops/eval/report/corpus_stats.h"

#include "base/rng.h"
#include "ops/expr/equality/exact.h"
#include "ops/expr/own/own.h"

#include <math.h>
#include <string.h>

const char *corpus_op_name(const struct corpus_stats *s, uint32_t op)
{
    if (op == STATS_EXP)
        return lang_is(s->lang, &lang_calculus) ? "exp" : NULL;
    return op >= X_ADD && lang_has(s->lang, op) && s->lang->ops[op].arity ? s->lang->ops[op].name
                                                                          : NULL;
}

static const char *trivial_rewrites(const struct corpus_stats *s)
{
    return lang_is(s->lang, &lang_boolean)
               ? "a double negation, or a connective of true or false"
               : "a neutral element (x + 0, x * 1, x^1), a double negation or reciprocal, or a "
                 "function applied to its own inverse";
}

static double deviation(double sum, double squares, double n)
{
    double variance = squares / n - sum / n * (sum / n);
    return variance > 0 ? sqrt(variance) : 0;
}

struct figures corpus_stats_figures(struct arena *a, const struct corpus_stats *s)
{
    static char *columns[] = {"", "corpus"};
    struct figures f = figures_new(a, "Corpus", columns);
    double members = s->members ? (double)s->members : 1, clusters = (double)s->clusters;
    uint32_t occur = 0, all = 0;
    for (uint32_t op = X_ADD; op < STATS_OPS; op++) {
        bool known = corpus_op_name(s, op) != NULL;
        all += known;
        occur += known && s->by_op[op] > 0;
    }
    figures_put(&f, "clusters", "%.0f", clusters);
    if (lang_is(s->lang, &lang_calculus))
        figures_put(&f, "clusters of derivatives", "%.0f", (double)s->derivatives);
    figures_put(&f, "expressions", "%.0f", (double)s->members);
    figures_put(&f, "expressions per cluster", "%.1f", (double)s->members / clusters);
    figures_put(&f, "mean length", "%.2f", (double)s->tokens / members);
    figures_put(&f, "its deviation", "%.2f",
                deviation((double)s->tokens, s->tokens_squared, members));
    figures_put(&f, "operators per expression", "%.2f", s->operators / members);
    figures_put(&f, "their deviation", "%.2f",
                deviation(s->operators, s->operators_squared, members));
    if (lang_is(s->lang, &lang_calculus))
        for (uint32_t k = 1; k <= STATS_KINDS; k++)
            figures_put(
                &f, k == 1 ? "operators of one kind" : arena_printf(a, "operators of %u kinds", k),
                "%.0f", (double)s->by_kinds[k]);
    *figures_put(&f, "operators", "", occur) = arena_printf(a, "%u of %u", occur, all);
    figures_put(&f, "shapes", "%.0f", (double)s->shapes.n);
    figures_put(&f, "shapes per cluster", "%.1f", (double)s->shapes_each / clusters);
    figures_put(&f, "trivial rewrites in per cent", "%.2f", 100 * (double)s->reducible / members);
    figures_put(&f,
                exact_applies(s->lang) ? "compared exactly, in per cent"
                                       : "checked numerically, in per cent",
                "%.2f", 100 * (double)s->by_standing[EQLOOM__STANDING__AGREES] / members);
    static const char *const verified[] = {[EQLOOM__STANDING__PROVED] = "proved",
                                           [EQLOOM__STANDING__UNDECIDED] = "undecided",
                                           [EQLOOM__STANDING__REFUTED] = "refuted",
                                           [EQLOOM__STANDING__NO_VALUE] = "without a value"};
    for (size_t i = 0; i < STATS_STANDINGS; i++)
        if (verified[i] && s->by_standing[i])
            figures_put(&f, verified[i], "%.0f", (double)s->by_standing[i]);
    f.table->note = arena_printf(a, "a trivial rewrite contains %s", trivial_rewrites(s));
    return f;
}

/* ---- trivial rewrites; independent of the filter of extraction: of terms, not of e-graphs ---- */

static bool is_number(const struct expr *x, uint32_t i, const char *number)
{
    return x->nodes[i].op == X_NUM && strcmp(x->nodes[i].leaf, number) == 0;
}

static bool is_e(const struct expr *x, uint32_t i)
{
    return x->nodes[i].op == X_SYM && strcmp(x->nodes[i].leaf, "e") == 0;
}

static uint32_t left_of(uint32_t i)
{
    return i + 1;
}

static uint32_t right_of(const struct expr *x, uint32_t i)
{
    return i + 1 + x->nodes[i + 1].size;
}

static bool is_negated(const struct expr *x, uint32_t i)
{
    if (x->nodes[i].op == X_MUL)
        return is_number(x, left_of(i), "-1") || is_number(x, right_of(x, i), "-1");
    return x->nodes[i].op == X_SUB && is_number(x, left_of(i), "0");
}

static bool is_reciprocal(const struct expr *x, uint32_t i)
{
    return x->nodes[i].op == X_DIV && is_number(x, left_of(i), "1");
}

static bool is_binary_trivial(const struct expr *x, uint32_t i, uint32_t l, uint32_t r)
{
    switch (x->nodes[i].op) {
    case X_ADD: return is_number(x, l, "0") || is_number(x, r, "0");
    case X_SUB: return is_number(x, r, "0") || is_negated(x, r);
    case X_MUL:
        return is_number(x, l, "0") || is_number(x, r, "0") || is_number(x, l, "1") ||
               is_number(x, r, "1") || (is_number(x, l, "-1") && is_negated(x, r)) ||
               (is_number(x, r, "-1") && is_negated(x, l));
    case X_DIV: return is_number(x, l, "0") || is_number(x, r, "1") || is_reciprocal(x, r);
    case X_POW:
        return is_number(x, r, "0") || is_number(x, r, "1") || is_number(x, l, "1") ||
               (is_e(x, l) && x->nodes[r].op == X_LN) ||
               (x->nodes[l].op == X_SQRT && is_number(x, r, "2"));
    default: return false;
    }
}

static bool is_unary_trivial(const struct expr *x, uint32_t i, uint32_t child)
{
    uint16_t op = x->nodes[i].op, below = x->nodes[child].op;
    if (op == X_ABS)
        return below == X_ABS;
    if (op == X_LN)
        return below == X_POW && is_e(x, left_of(child));
    if (op == X_SQRT)
        return below == X_POW && is_number(x, right_of(x, child), "2");
    int16_t inverse = x->lang->ops[op].inverse;
    return inverse > 0 && below == (uint16_t)inverse;
}

static bool is_connective_trivial(const struct expr *x, uint32_t l, uint32_t r)
{
    uint16_t left = x->nodes[l].op, right = x->nodes[r].op;
    return left == X_TRUE || left == X_FALSE || right == X_TRUE || right == X_FALSE;
}

bool corpus_term_is_reducible(const struct expr *x)
{
    bool boolean = lang_is(x->lang, &lang_boolean);
    for (uint32_t i = 0; i < x->n; i++) {
        uint16_t arity = x->nodes[i].arity;
        if (arity == 2 && (boolean ? is_connective_trivial(x, left_of(i), right_of(x, i))
                                   : is_binary_trivial(x, i, left_of(i), right_of(x, i))))
            return true;
        if (arity == 1 && is_unary_trivial(x, i, left_of(i)))
            return true;
    }
    return false;
}

/* ---- counting ---- */

static bool is_exp(const struct expr *x, uint32_t i)
{
    return x->nodes[i].op == X_POW && is_e(x, i + 1);
}

static void add_term(struct corpus_stats *s, struct map64 *own, const struct expr *x, bool is_seed)
{
    bool seen[STATS_OPS] = {false}, added;
    uint64_t shape = x->n;
    uint32_t operators = 0, kinds = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        uint16_t op = x->nodes[i].op;
        shape = rng_mix(shape ^ (op < X_ADD ? 0 : op));
        if (op < STATS_EXP)
            seen[is_exp(x, i) ? STATS_EXP : op] = true;
        operators += x->nodes[i].arity > 0;
        kinds |= op <= X_VAR                  ? 0
                 : op == X_LN || is_exp(x, i) ? 8
                 : op >= X_SINH               ? 4
                 : op >= X_SIN                ? 2
                                              : 1;
    }
    for (int op = X_ADD; op < STATS_OPS; op++)
        s->by_op[op] += seen[op];
    s->operators += operators;
    s->operators_squared += (double)operators * operators;
    s->by_kinds[__builtin_popcount(kinds)]++;
    map64_put(&s->shapes, shape, 1, NULL);
    map64_put(own, shape, 1, &added);
    s->shapes_each += added;
    s->reducible += !is_seed && corpus_term_is_reducible(x);
}

static void add_member(struct corpus_stats *s, struct map64 *own, struct arena *scratch,
                       const Eqloom__Member *m, bool is_seed)
{
    struct expr x;
    if (expr_from_prefix(&x, scratch, s->lang, m->prefix, NULL) == OK)
        add_term(s, own, &x, is_seed);
    s->members++;
    s->tokens += m->tokens;
    s->tokens_squared += (double)m->tokens * m->tokens;
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
    if (c->seed)
        language_join(&s->lang, a, c->seed->language, NULL);
    if (!s->lang)
        s->lang = &lang_calculus;
    s->clusters++;
    s->basis = c->basis > s->basis ? c->basis : s->basis;
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
