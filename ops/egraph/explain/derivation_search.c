/* Finds a shortest derivation by breadth-first search from both ends over the terms of the e-graph.
 * A term is connected with each result of a rule, at any position and in either direction, if the
 * rule's conditions hold and the result is in the e-graph; and with each result of exact
 * arithmetic. Arithmetic and rules that lose a variable (?a - ?a -> 0) are only read forwards:
 * backwards, the lost part would have to be guessed.
 *
 * The search completes levels in turn, from the end that has fewer terms. When the completed levels
 * from both ends sum up to n - 1, there is no derivation of less than n steps that, read from both
 * ends to its middle, guesses nothing. Longer derivations exceed the budget.
 *
 * Terms are hash-consed, so a rewriting of a subterm is found once for all its occurrences. */
#include "ops/egraph/explain/explanation.h"
#include "ops/egraph/graph/egraph_core.h"

#include "base/map.h"
#include "base/rng.h"
#include "ops/egraph/match/ruleset.h"
#include "ops/rules/rule.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_MOVES = 400000, ARITHMETIC = UINT32_MAX - 1, NOWHERE = UINT32_MAX };

struct move {
    uint32_t to, rule; /* rule: index, or ARITHMETIC */
    uint32_t position;
    bool backwards;
};

struct node_of_term {
    uint32_t op; /* an operator, or OP_LEAF | leaf of the graph */
    uint32_t kid[2], arity, size;
    uint32_t class;
    uint32_t moves, n_moves; /* NOWHERE: not computed yet */
};

/* How one side of the search reached a term. */
struct arrival {
    uint32_t from, distance; /* NOWHERE: not reached */
    struct move by;
};

struct side_of_rule {
    uint32_t rule;
    bool backwards;
};

struct search {
    struct egraph *g;
    struct arena *a;
    const struct ruleset *rules;
    const uint32_t *leaf;             /* the rule set's leaves in the graph */
    struct side_of_rule *sides, *any; /* by root operator; `any`: sides that are a bare variable */
    uint32_t *begin, n_any;
    struct map64 index;
    struct node_of_term *terms;
    struct move *moves;
    struct arrival *arrivals[2];
    size_t n_terms, n_moves, terms_cap, moves_cap, arrivals_cap[2];
    size_t max_terms;
    uint32_t best, meeting; /* length of the shortest derivation, and its middle term */
};

/* ---- terms ---- */

static bool is_out_of_budget(const struct search *s)
{
    return s->n_terms >= s->max_terms || s->n_moves >= MAX_MOVES;
}

static uint32_t make(struct search *s, uint32_t op, const uint32_t *kids, uint32_t arity,
                     uint32_t class)
{
    struct node_of_term t = {.op = op, .arity = arity, .size = 1, .class = class, .moves = NOWHERE};
    uint64_t h = rng_mix(op + 1);
    for (uint32_t i = 0; i < arity; i++) {
        h = rng_mix(h ^ kids[i]);
        t.kid[i] = kids[i];
        t.size += s->terms[kids[i]].size;
    }
    for (uint64_t *known; (known = map64_get(&s->index, h)); h++) {
        const struct node_of_term *old = &s->terms[*known];
        if (old->op == op && memcmp(old->kid, t.kid, sizeof t.kid) == 0)
            return (uint32_t)*known;
    }
    s->terms = vec_grow(s->terms, &s->terms_cap, s->n_terms + 1, sizeof *s->terms);
    s->terms[s->n_terms] = t;
    map64_put(&s->index, h, s->n_terms, NULL);
    return (uint32_t)s->n_terms++;
}

/* Returns NOWHERE if the term is not in the graph. */
static uint32_t make_held(struct search *s, uint32_t op, const uint32_t *kids, uint32_t arity)
{
    uint32_t classes[LANG_MAX_ARITY];
    if (op & OP_LEAF) {
        uint32_t n = s->g->leaves[op & ~OP_LEAF].node;
        return n == NO_NODE ? NOWHERE : make(s, op, NULL, 0, graph_find(s->g, n));
    }
    for (uint32_t i = 0; i < arity; i++)
        classes[i] = s->terms[kids[i]].class;
    uint32_t n = graph_lookup(s->g, op, classes);
    return n == NO_NODE ? NOWHERE : make(s, op, kids, arity, graph_find(s->g, n));
}

static uint32_t make_leaf(struct search *s, const struct expr_node *leaf)
{
    return make_held(s, OP_LEAF | graph_leaf(s->g, leaf->op, leaf->leaf), NULL, 0);
}

/* Returns an instance of a pattern; a pattern without variables is a term. */
static uint32_t instantiate(struct search *s, const struct expr *x, uint32_t position,
                            const struct pattern *p, const uint32_t *bound)
{
    const struct expr_node *node = &x->nodes[position];
    uint32_t kids[LANG_MAX_ARITY];
    if (node->op == X_VAR)
        for (uint32_t v = 0; v < p->n_vars; v++)
            if (strcmp(p->var_name[v], node->leaf) == 0)
                return bound[v];
    if (node->leaf)
        return make_leaf(s, node);
    for (uint32_t i = 0, at = position + 1; i < node->arity; at += x->nodes[at].size, i++)
        if ((kids[i] = instantiate(s, x, at, p, bound)) == NOWHERE)
            return NOWHERE;
    return make_held(s, node->op, kids, node->arity);
}

static uint32_t flatten(struct expr_node *out, const struct search *s, uint32_t term, uint32_t at)
{
    const struct node_of_term *t = &s->terms[term];
    bool is_leaf = t->op & OP_LEAF;
    const struct leaf *l = is_leaf ? &s->g->leaves[t->op & ~OP_LEAF] : NULL;
    out[at++] = (struct expr_node){is_leaf ? l->op : (uint16_t)t->op, (uint16_t)t->arity, t->size,
                                   is_leaf ? arena_strdup(s->a, l->text) : NULL};
    for (uint32_t i = 0; i < t->arity; i++)
        at = flatten(out, s, t->kid[i], at);
    return at;
}

static struct expr write_term(const struct search *s, uint32_t term)
{
    uint32_t n = s->terms[term].size;
    struct expr_node *nodes = arena_array(s->a, struct expr_node, n);
    flatten(nodes, s, term, 0);
    return (struct expr){s->g->lang, nodes, n};
}

/* ---- moves ---- */

static bool match(const struct search *s, const struct pattern *p, const struct expr *x,
                  uint32_t position, uint32_t term, uint32_t *bound)
{
    const struct expr_node *node = &x->nodes[position];
    const struct node_of_term *t = &s->terms[term];
    if (node->op == X_VAR) {
        uint32_t v = 0;
        while (strcmp(p->var_name[v], node->leaf) != 0)
            v++;
        if (bound[v] == NOWHERE)
            bound[v] = term;
        return bound[v] == term;
    }
    if (node->leaf) {
        const struct leaf *l = &s->g->leaves[t->op & ~OP_LEAF];
        return t->op & OP_LEAF && l->op == node->op && strcmp(l->text, node->leaf) == 0;
    }
    if (t->op != node->op)
        return false;
    for (uint32_t i = 0, at = position + 1; i < node->arity; at += x->nodes[at].size, i++)
        if (!match(s, p, x, at, t->kid[i], bound))
            return false;
    return true;
}

static void add_move(struct search *s, struct move m)
{
    s->moves = vec_grow(s->moves, &s->moves_cap, s->n_moves + 1, sizeof *s->moves);
    s->moves[s->n_moves++] = m;
}

static void move_by_rule(struct search *s, uint32_t term, struct side_of_rule side)
{
    const struct compiled_rule *r = &s->rules->rules[side.rule];
    const struct expr *from = side.backwards ? &r->rule->rhs : &r->rule->lhs;
    const struct expr *to = side.backwards ? &r->rule->lhs : &r->rule->rhs;
    uint32_t bound[PATTERN_MAX_VARS], classes[PATTERN_MAX_VARS];
    for (uint32_t v = 0; v < r->lhs.n_vars; v++)
        bound[v] = NOWHERE;
    if (!match(s, &r->lhs, from, 0, term, bound))
        return;
    for (uint32_t v = 0; v < r->lhs.n_vars; v++)
        classes[v] = s->terms[bound[v]].class;
    for (size_t i = 0; i < r->n_conditions; i++)
        if (!graph_condition_holds(s->g, &r->conditions[i], classes, s->leaf))
            return;
    uint32_t result = instantiate(s, to, 0, &r->lhs, bound);
    if (result != NOWHERE && result != term && s->terms[result].class == s->terms[term].class)
        add_move(s, (struct move){result, side.rule, 0, side.backwards});
}

static void move_by_arithmetic(struct search *s, uint32_t term)
{
    const struct node_of_term t = s->terms[term];
    struct constants *numbers = &s->g->facts.constants;
    uint32_t value[2] = {NO_CONSTANT, NO_CONSTANT};
    if (!s->g->interpreted || t.arity < 1)
        return;
    for (uint32_t i = 0; i < t.arity; i++) {
        uint32_t op = s->terms[t.kid[i]].op;
        if (!(op & OP_LEAF) || s->g->leaves[op & ~OP_LEAF].op != X_NUM)
            return;
        value[i] = constant_parse(numbers, s->g->leaves[op & ~OP_LEAF].text);
    }
    uint32_t folded = constant_fold(numbers, t.op, value[0], value[1]);
    if (folded == NO_CONSTANT)
        return;
    struct expr_node leaf = {X_NUM, 0, 1, constant_text(numbers, folded)};
    uint32_t result = make_leaf(s, &leaf);
    if (result != NOWHERE && s->terms[result].class == t.class)
        add_move(s, (struct move){.to = result, .rule = ARITHMETIC});
}

/* Fills terms[term].moves: first those at the root, then those in each argument. */
static void find_moves(struct search *s, uint32_t term)
{
    struct node_of_term t = s->terms[term];
    if (t.moves != NOWHERE || is_out_of_budget(s))
        return;
    for (uint32_t i = 0; i < t.arity; i++)
        find_moves(s, t.kid[i]);
    uint32_t first = (uint32_t)s->n_moves, position = 1;
    uint32_t op = t.op & OP_LEAF ? s->g->leaves[t.op & ~OP_LEAF].op : t.op;
    for (uint32_t i = s->begin[op]; i < s->begin[op + 1]; i++)
        move_by_rule(s, term, s->sides[i]);
    for (uint32_t i = 0; i < s->n_any; i++)
        move_by_rule(s, term, s->any[i]);
    move_by_arithmetic(s, term);
    for (uint32_t i = 0; i < t.arity; i++) {
        uint32_t kid = t.kid[i], kids[] = {t.kid[0], t.kid[1]};
        for (uint32_t k = 0; k < s->terms[kid].n_moves && !is_out_of_budget(s); k++) {
            struct move m = s->moves[s->terms[kid].moves + k];
            kids[i] = m.to;
            m.to = make(s, t.op, kids, t.arity, t.class); /* in the graph: equal arguments */
            m.position += position;
            add_move(s, m);
        }
        position += s->terms[kid].size;
    }
    s->terms[term].moves = first;
    s->terms[term].n_moves = (uint32_t)s->n_moves - first;
}

/* ---- rules by the operator that they look for ---- */

static bool keeps_variables(const struct rule *r)
{
    for (uint32_t i = 0; i < r->lhs.n; i++)
        if (r->lhs.nodes[i].op == X_VAR && !expr_has(&r->rhs, X_VAR, r->lhs.nodes[i].leaf))
            return false;
    return true;
}

static void sort_sides(struct search *s)
{
    const struct ruleset *rules = s->rules;
    uint32_t n_ops = (uint32_t)s->g->lang->n_ops + 1;
    s->begin = arena_array(s->a, uint32_t, n_ops + 1);
    s->sides = arena_array(s->a, struct side_of_rule, 2 * rules->n);
    s->any = arena_array(s->a, struct side_of_rule, 2 * rules->n);
    uint32_t n = 0;
    for (uint32_t op = 0; op < n_ops; op++) {
        s->begin[op] = n;
        for (uint32_t i = 0; i < rules->n; i++)
            for (int backwards = 0; backwards < 2; backwards++) {
                const struct rule *r = rules->rules[i].rule;
                if ((backwards ? &r->rhs : &r->lhs)->nodes[0].op != op ||
                    (backwards && !keeps_variables(r)))
                    continue;
                if (op == X_VAR)
                    s->any[s->n_any++] = (struct side_of_rule){i, backwards};
                else
                    s->sides[n++] = (struct side_of_rule){i, backwards};
            }
    }
    s->begin[n_ops] = n;
}

/* ---- the search ---- */

static struct arrival *arrival(struct search *s, int side, uint32_t term)
{
    size_t old = s->arrivals_cap[side];
    s->arrivals[side] =
        vec_grow(s->arrivals[side], &s->arrivals_cap[side], term + 1, sizeof *s->arrivals[side]);
    for (size_t i = old; i < s->arrivals_cap[side]; i++)
        s->arrivals[side][i].distance = NOWHERE;
    return &s->arrivals[side][term];
}

static void arrive(struct search *s, struct u32_list *level, int side, uint32_t from,
                   uint32_t distance, struct move by)
{
    struct arrival *here = arrival(s, side, by.to);
    if (here->distance != NOWHERE)
        return;
    *here = (struct arrival){from, distance, by};
    u32_push(level, by.to);
    uint32_t other = arrival(s, !side, by.to)->distance;
    if (other != NOWHERE && distance + other < s->best) {
        s->best = distance + other;
        s->meeting = by.to;
    }
}

/* Extends the search by one step from all terms of a level; returns false if the budget is
 * spent. */
static bool extend_level(struct search *s, struct u32_list *level, int side)
{
    struct u32_list next = {0};
    for (size_t i = 0; i < level->n && !is_out_of_budget(s); i++) {
        uint32_t term = level->items[i], distance = arrival(s, side, term)->distance + 1;
        find_moves(s, term);
        for (uint32_t k = 0; k < s->terms[term].n_moves; k++)
            arrive(s, &next, side, term, distance, s->moves[s->terms[term].moves + k]);
    }
    u32_free(level);
    *level = next;
    return !is_out_of_budget(s);
}

static struct explain_step step_to(const struct search *s, uint32_t term, const struct move *m,
                                   bool reversed)
{
    const struct rule *r = m->rule == ARITHMETIC ? NULL : s->rules->rules[m->rule].rule;
    return (struct explain_step){r ? arena_printf(s->a, "%s/%s", r->group, r->name) : "arithmetic",
                                 m->backwards != reversed, m->position, write_term(s, term)};
}

static void write_steps(struct explanation *out, struct search *s)
{
    uint32_t left = s->arrivals[0][s->meeting].distance, at = s->meeting;
    out->n = s->best;
    out->steps = arena_array(s->a, struct explain_step, s->best);
    for (uint32_t i = left; i-- > 0; at = s->arrivals[0][at].from)
        out->steps[i] = step_to(s, at, &s->arrivals[0][at].by, false);
    at = s->meeting;
    for (uint32_t i = left; i < s->best; i++) {
        const struct arrival *from = &s->arrivals[1][at];
        out->steps[i] = step_to(s, from->from, &from->by, true);
        at = from->from;
    }
}

void explanation_search(struct explanation *p, struct arena *a, struct egraph *g,
                        const struct ruleset *rules, const struct expr *from, const struct expr *to,
                        size_t max_terms)
{
    struct search s = {
        .g = g, .a = a, .rules = rules, .best = (uint32_t)p->n, .max_terms = max_terms};
    struct u32_list level[2] = {0};
    uint32_t depth[2] = {0, 0};
    if (p->n < 2) {
        p->shortest = true;
        return;
    }
    s.leaf = ruleset_leaves(a, rules, g);
    sort_sides(&s);
    uint32_t ends[2] = {instantiate(&s, from, 0, NULL, NULL), instantiate(&s, to, 0, NULL, NULL)};
    bool goes_on = ends[0] != NOWHERE && ends[1] != NOWHERE;
    for (int side = 0; side < 2 && goes_on; side++)
        arrive(&s, &level[side], side, NOWHERE, 0, (struct move){.to = ends[side]});
    while (goes_on && depth[0] + depth[1] + 1 < s.best) {
        int side = depth[0] > depth[1];
        goes_on = extend_level(&s, &level[side], side);
        depth[side] += goes_on;
    }
    if (s.best < p->n)
        write_steps(p, &s);
    p->shortest = goes_on;
    for (int side = 0; side < 2; side++) {
        u32_free(&level[side]);
        free(s.arrivals[side]);
    }
    free(s.terms);
    free(s.moves);
    map64_free(&s.index);
}
