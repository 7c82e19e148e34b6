/* No search misses a match: what a plain walk over a rebuilt graph finds when an iteration begins
 * has been applied when it ends, whatever the automaton, its indexes, ground terms found by their
 * hash and the stamps of changes left out; and with rests, when the run says that it is saturated.
 * Random rules and terms; the seed is printed and may be given in EQLOOM_TEST_SEED. */
#include "tests/ops/egraph/help_edits.h"

#include "ops/egraph/graph/node_index.h"

enum { MAX_BOUND = 8, GROWING = 6, MOST_LATE = 3 }; /* the first of the pool make graphs grow */

/* Left sides with terms that are ground once their neighbours are bound. */
static const char *const deep[] = {
    "sin(?a) * (?b + sin(?a)) -> ?b * sin(?a)",
    "(?a + ?b) * ((?a + ?b) + ?c) -> ?c * (?a + ?b)",
    "?a + (?b * (?a * ?a)) -> ?b * ?a",
    "(?a * ?b) + cos(?a + (?a * ?b)) -> cos(?b)",
    "(1 + ?a) * sin((1 + ?a) * ?b) -> ?b + ?a",
    "?a * (?b + (?a * (?b + 1))) -> ?a + ?b",
    "sin(x + 1) * ?a -> ?a",
    "(?a + ?a) * (?b * (?a + ?a)) -> ?b",
    "?a - (?b - ?a) -> ?b",
};
enum { DEEP = sizeof deep / sizeof *deep };
/* Few, so that parts of a term recur. */
static const struct term_words few_words = {
    .leaves = {"x", "y", "1", "2*x", "x+1"},
    .functions = {"sin", "cos"},
    .n_leaves = 5,
    .n_functions = 2,
};

/* ---- a plain walk ---- */

struct found {
    uint32_t rule, root, class[MAX_BOUND]; /* of each variable, by name */
    uint32_t late;                         /* iterations in which it was not applied */
};

struct walk {
    struct egraph *g;
    const struct rule *rule;
    const char *name[MAX_BOUND];
    uint32_t class[MAX_BOUND], n_bound, root, index;
    struct found *found; /* vec */
    size_t n, cap;
};

struct goal {
    uint32_t position, class;
    const struct goal *next;
};

static uint32_t bound_to(const struct walk *w, const char *name)
{
    uint32_t v = 0;
    while (v < w->n_bound && strcmp(w->name[v], name))
        v++;
    return v;
}

static void walk(struct walk *w, const struct goal *goal);

static void walk_nodes(struct walk *w, const struct goal *goal)
{
    const struct expr_node *x = w->rule->lhs.nodes + goal->position;
    uint32_t n = goal->class;
    do {
        if (graph_is_live(w->g, n) && w->g->cells[n].op == x->op) {
            struct goal kids[4];
            const struct goal *next = goal->next;
            for (uint32_t k = x->arity; k-- > 0; next = &kids[k]) {
                uint32_t at = goal->position + 1;
                for (uint32_t i = 0; i < k; i++)
                    at += w->rule->lhs.nodes[at].size;
                kids[k] = (struct goal){at, graph_find(w->g, *graph_kid(w->g, n, k)), next};
            }
            walk(w, next);
        }
        n = graph_next(w->g, n);
    } while (n != goal->class);
}

static void walk(struct walk *w, const struct goal *goal)
{
    if (!goal) {
        w->found = vec_grow(w->found, &w->cap, w->n + 1, sizeof *w->found);
        struct found *f = &w->found[w->n++];
        *f = (struct found){w->index, w->root, {0}, 0};
        memcpy(f->class, w->class, sizeof f->class);
        return;
    }
    const struct expr_node *x = w->rule->lhs.nodes + goal->position;
    if (x->op == X_VAR) {
        uint32_t v = bound_to(w, x->leaf);
        assert_true(v < MAX_BOUND);
        if (v < w->n_bound) {
            if (w->class[v] == goal->class)
                walk(w, goal->next);
            return;
        }
        w->name[v] = x->leaf;
        w->class[v] = goal->class;
        w->n_bound++;
        walk(w, goal->next);
        w->n_bound--;
    } else if (x->leaf) {
        const uint64_t *leaf = name_map_get(&w->g->leaf_index, x->leaf);
        uint32_t n = leaf ? w->g->leaves[*leaf].node : NO_NODE;
        if (n != NO_NODE && graph_find(w->g, n) == goal->class)
            walk(w, goal->next);
    } else {
        walk_nodes(w, goal);
    }
}

/* Of rules without conditions: others may have failed. */
static void walk_all(struct walk *w, const struct rules *rules)
{
    w->n = 0;
    for (w->index = 0; w->index < rules->n; w->index++) {
        w->rule = &rules->rules[w->index];
        for (uint32_t c = 0; c < w->g->n_cells && !w->rule->n_conditions; c++)
            if (graph_is_class(w->g, c)) {
                w->root = c;
                walk(w, &(struct goal){0, c, NULL});
            }
    }
}

/* ---- what was found is there ---- */

/* Variables in the order in which a walk binds them, which is that of the left side's tokens. */
static uint32_t class_of_variable(const struct rule *r, const struct found *f, const char *name)
{
    const char *seen[MAX_BOUND];
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->lhs.n; i++) {
        const struct expr_node *x = &r->lhs.nodes[i];
        uint32_t v = 0;
        if (x->op != X_VAR)
            continue;
        while (v < n && strcmp(seen[v], x->leaf))
            v++;
        if (strcmp(x->leaf, name) == 0)
            return f->class[v];
        if (v == n)
            seen[n++] = x->leaf;
    }
    fail_msg("?%s is not bound", name);
    return 0;
}

static bool is_applied(struct egraph *g, const struct rule *r, const struct found *f)
{
    const struct expr *x = &r->rhs;
    uint32_t class[64];
    assert_true(x->n <= 64);
    for (uint32_t i = x->n; i-- > 0;) {
        const struct expr_node *node = &x->nodes[i];
        uint32_t n, kids[4], at = i + 1;
        if (node->op == X_VAR) {
            n = class_of_variable(r, f, node->leaf);
        } else if (node->leaf) {
            const uint64_t *leaf = name_map_get(&g->leaf_index, node->leaf);
            n = leaf ? g->leaves[*leaf].node : NO_NODE;
        } else {
            for (uint32_t k = 0; k < node->arity; at += x->nodes[at].size, k++)
                kids[k] = class[at];
            n = graph_lookup(g, node->op, kids);
        }
        if (n == NO_NODE)
            return false;
        class[i] = graph_find(g, n);
    }
    return class[0] == graph_find(g, f->root);
}

struct watch {
    struct walk walk;
    const struct rules *rules;
    const struct saturate_options *options;
    const struct expr *x;
    int round;
    struct found *late; /* vec: not applied yet in iterations after they were found */
    size_t n_late, late_cap;
    uint64_t checked, hidden;
};

/* An iteration's own unions may hide a match from it, where a younger node stands for an older one;
 * the next iteration applies it, unless its own unions hide it once more. */
static void expect_applied(struct watch *w, bool now)
{
    struct egraph *g = w->walk.g;
    size_t kept = 0, n_late = w->n_late;
    w->late = vec_grow(w->late, &w->late_cap, n_late + w->walk.n + 1, sizeof *w->late);
    for (size_t i = 0; i < n_late + w->walk.n; i++) {
        struct found f = i < n_late ? w->late[i] : w->walk.found[i - n_late];
        const struct rule *r = &w->rules->rules[f.rule];
        if (is_applied(g, r, &f))
            continue;
        if (now || f.late++ == MOST_LATE) {
            struct arena a = {0};
            fail_msg("round %d: %s: %s was not applied at class %u", w->round, expr_infix(&a, w->x),
                     r->name, f.root);
        }
        w->late[kept++] = f;
    }
    w->n_late = kept;
    w->hidden += kept;
    w->checked += w->walk.n;
}

static void after_iteration(void *arg, const struct saturate_iteration *i)
{
    struct watch *w = arg;
    if (!w->walk.g->watched) /* a budget was spent */
        return;
    if (!w->options->ban_length)
        expect_applied(w, false);
    walk_all(&w->walk, w->rules);
}

/* ---- random runs ---- */

static struct rules some_rules(struct arena *a, struct rng *r)
{
    struct set s = {0};
    for (int i = 0; i < GROWING; i++)
        if (rng_below(r, 3))
            add_rule(&s, pool[i], r);
    for (uint64_t n = 4 + rng_below(r, 12); n > 0; n--)
        add_rule(&s, any_rule(r), r);
    for (uint64_t n = 1 + rng_below(r, 5); n > 0; n--)
        add_rule(&s, deep[rng_below(r, DEEP)], r);
    return rules_of_set(a, &s);
}

/* Most small; now and then one whose classes are large enough to be indexed. */
static struct expr some_term(struct arena *a, const struct language *lang, struct rng *r,
                             bool large)
{
    struct buf text = {0};
    if (!large)
        random_term(&text, r, &few_words, 2 + (unsigned)rng_below(r, 3));
    else
        for (int i = 0; i < 5; i++) {
            buf_puts(&text, i ? " + " : "");
            random_term(&text, r, &few_words, 1);
        }
    struct expr x = infix_term(a, lang, text.data);
    buf_free(&text);
    return x;
}

TEST(no_match_is_missed)
{
    struct rng r = rng_new(test_seed(1), 21);
    uint64_t checked = 0, hidden = 0;
    int saturated = 0, rested = 0;
    for (int round = 0; round < 500; round++) {
        struct arena a = {0};
        struct err e = {0};
        bool large = round % 20 == 10;
        struct rules rules = some_rules(&a, &r);
        struct expr x = some_term(&a, rules.lang, &r, large);
        struct saturate_options o = {.iterations = 2 + (uint32_t)rng_below(&r, 9),
                                     .max_nodes = large ? 2500 : 30 + (uint32_t)rng_below(&r, 370)};
        if (round % 3 == 0) {
            o.iterations = 60;
            o.match_limit = 1 + (uint32_t)rng_below(&r, 12);
            o.ban_length = 1 + (uint32_t)rng_below(&r, 3);
        }
        struct egraph *g = egraph_new(rules.lang);
        struct watch w = {.walk = {.g = g}, .rules = &rules, .options = &o, .x = &x};
        w.round = round;
        o.observe = after_iteration;
        o.observe_arg = &w;
        g->compact_at.dead = UINT32_MAX; /* ids are remembered */
        if (round % 4 == 1) {
            g->size_order_at = 0;
            o.max_nodes = 2500; /* of few nodes, hardly an iteration goes in rounds */
        }
        egraph_add_expr(g, &x);
        egraph_rebuild(g);
        walk_all(&w.walk, &rules);
        struct saturate_result result;
        struct ruleset *set = ruleset_new(&rules);
        bool failed = egraph_saturate(&result, g, set, &o, &a, &e) != OK;
        if (failed && !egraph_contradicts(g))
            fail_msg("%s", e.message);
        if (!failed && result.stop == EQLOOM__STOP_REASON__SATURATED) {
            expect_applied(&w, true);
            saturated++;
            rested += o.ban_length != 0;
        }
        checked += w.checked;
        hidden += w.hidden;
        ruleset_free(set);
        free(w.walk.found);
        free(w.late);
        egraph_free(g);
        arena_free(&a);
    }
    print_message("%llu matches, %llu of them late, %d runs saturated, %d of them with rests\n",
                  (unsigned long long)checked, (unsigned long long)hidden, saturated, rested);
    assert_true(checked > 10000 && saturated > 50 && rested > 15);
}
