/* Explanations: from the proof graph to a list of rewriting steps. The term is kept as a tree and
 * rewritten in place, so that at each moment it is exactly what the steps so far have made of it.
 *
 * `term(n)` of a node is what was added: its operator over the terms of its first arguments. An
 * edge by a rule joins the root of a match to the root of what was built; the term of the former
 * becomes an instance of the left side by proving its arguments equal to what the pattern bound
 * (expand), the rule makes it an instance of the right side, and the other way round that becomes
 * the term of the latter (contract). What an edge needs is proved with earlier edges only. Of the
 * paths between two nodes the one is taken whose edges seem to need the least. */
#include "ops/egraph/explain/explanation.h"
#include "ops/egraph/match/ematch.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 4000, MAX_DEPTH = 400, MAX_TERM = 20000 };

struct tree {
    uint16_t op, arity;
    const char *leaf;
    struct tree **kids;
};

struct explainer {
    struct egraph *g;
    struct arena *a;
    const struct ruleset *rules;
    struct tree *root;
    struct explain_step *steps;
    size_t n, cap;
    uint32_t depth;
    uint32_t *distance, *via; /* by cell, of one search for a path: the edge that leads there */
    uint32_t *reached;        /* by cell: in which search */
    uint32_t *weight;         /* by edge: what it seems to need, and 1; 0: not asked yet */
    uint32_t search, n_cells; /* nodes made by the explanation itself have no edges */
    struct heap_entry {
        uint32_t distance, node;
    } * heap;
    size_t n_heap, heap_cap;
    bool failed; /* too long or too deep: everything returns as soon as it can */
};

/* ---- trees ---- */

static struct tree *make_tree(struct explainer *x, uint16_t op, uint16_t arity, const char *leaf)
{
    struct tree *t = arena_new(x->a, struct tree);
    *t = (struct tree){op, arity, leaf, arena_array(x->a, struct tree *, arity)};
    return t;
}

static struct tree *node_tree(struct explainer *x, uint32_t n, uint32_t *budget)
{
    struct egraph *g = x->g;
    uint32_t op = graph_op(g, n);
    if (*budget == 0) {
        x->failed = true;
        return make_tree(x, X_NUM, 0, "0");
    }
    --*budget;
    if (op & OP_LEAF) {
        const struct leaf *l = &g->leaves[op & ~OP_LEAF];
        return make_tree(x, l->op, 0, arena_strdup(x->a, l->text));
    }
    struct tree *t = make_tree(x, (uint16_t)op, (uint16_t)graph_arity(g, op), NULL);
    for (uint32_t i = 0; i < t->arity; i++)
        t->kids[i] = node_tree(x, g->proofs->kid[2 * (size_t)n + i], budget);
    return t;
}

static struct tree *expr_tree(struct explainer *x, const struct expr *e, uint32_t position)
{
    const struct expr_node *node = &e->nodes[position];
    struct tree *t = make_tree(x, node->op, node->arity, node->leaf);
    uint32_t at = position + 1;
    for (uint32_t i = 0; i < node->arity; i++) {
        t->kids[i] = expr_tree(x, e, at);
        at += e->nodes[at].size;
    }
    return t;
}

/* An instance of e: variables become the terms of their nodes. */
static struct tree *instance_tree(struct explainer *x, const struct expr *e, uint32_t position,
                                  const uint32_t *ids)
{
    const struct expr_node *node = &e->nodes[position];
    uint32_t budget = MAX_TERM, at = position + 1;
    if (node->op == X_VAR)
        return node_tree(x, ids[position], &budget);
    struct tree *t = make_tree(x, node->op, node->arity, node->leaf);
    for (uint32_t i = 0; i < node->arity; i++) {
        t->kids[i] = instance_tree(x, e, at, ids);
        at += e->nodes[at].size;
    }
    return t;
}

static uint32_t flatten(struct expr_node *out, const struct tree *t, const struct tree *mark,
                        uint32_t *marked, uint32_t at)
{
    uint32_t begin = at++;
    if (t == mark)
        *marked = begin;
    for (uint32_t i = 0; i < t->arity; i++)
        at = flatten(out, t->kids[i], mark, marked, at);
    if (out)
        out[begin] = (struct expr_node){t->op, t->arity, at - begin, t->leaf};
    return at;
}

bool explain_node_term(struct expr *out, struct arena *a, struct egraph *g, uint32_t n)
{
    struct explainer x = {.g = g, .a = a};
    uint32_t budget = MAX_TERM;
    struct tree *t = node_tree(&x, n, &budget);
    uint32_t size = flatten(NULL, t, NULL, NULL, 0);
    struct expr_node *nodes = arena_array(a, struct expr_node, size);
    flatten(nodes, t, NULL, NULL, 0);
    *out = (struct expr){g->lang, nodes, size};
    return !x.failed;
}

static void emit(struct explainer *x, const char *rule, bool backwards, const struct tree *at)
{
    if (x->n >= MAX_STEPS) {
        x->failed = true;
        return;
    }
    struct explain_step s = {.rule = rule, .backwards = backwards};
    uint32_t n = flatten(NULL, x->root, at, &s.position, 0);
    struct expr_node *nodes = arena_array(x->a, struct expr_node, n);
    flatten(nodes, x->root, at, &s.position, 0);
    s.term = (struct expr){x->g->lang, nodes, n};
    x->steps = vec_grow(x->steps, &x->cap, x->n + 1, sizeof *x->steps);
    x->steps[x->n++] = s;
}

/* ---- steps ---- */

/* *at is term(from); afterwards it is term(to). Only edges before `before` are used. */
static void prove(struct explainer *x, struct tree **at, uint32_t from, uint32_t to,
                  uint32_t before);

/* *at is term(ids[position]); afterwards it is the instance of e. */
static void expand(struct explainer *x, struct tree **at, const struct expr *e, uint32_t position,
                   const uint32_t *ids, uint32_t before)
{
    const struct expr_node *node = &e->nodes[position];
    uint32_t q = position + 1;
    for (uint32_t i = 0; i < node->arity && !x->failed; i++) {
        uint32_t kid = x->g->proofs->kid[2 * (size_t)ids[position] + i];
        prove(x, &(*at)->kids[i], kid, ids[q], before);
        if (!x->failed)
            expand(x, &(*at)->kids[i], e, q, ids, before);
        q += e->nodes[q].size;
    }
}

/* The other way round. */
static void contract(struct explainer *x, struct tree **at, const struct expr *e, uint32_t position,
                     const uint32_t *ids, uint32_t before)
{
    const struct expr_node *node = &e->nodes[position];
    uint32_t q = position + 1;
    for (uint32_t i = 0; i < node->arity && !x->failed; i++) {
        uint32_t kid = x->g->proofs->kid[2 * (size_t)ids[position] + i];
        contract(x, &(*at)->kids[i], e, q, ids, before);
        if (!x->failed)
            prove(x, &(*at)->kids[i], ids[q], kid, before);
        q += e->nodes[q].size;
    }
}

static uint32_t var_id(const struct pattern *p, const uint32_t *record, const char *name)
{
    for (uint32_t v = 0; v < p->n_vars; v++)
        if (strcmp(p->var_name[v], name) == 0)
            return record[1 + v];
    return record[0];
}

/* The nodes that stood at each position of a rule's sides when it was applied. */
static void match_ids(struct explainer *x, const struct compiled_rule *r, const uint32_t *record,
                      uint32_t *lhs, uint32_t *rhs)
{
    const struct expr *l = &r->rule->lhs, *e = &r->rule->rhs;
    const uint32_t *built = record + ematch_record(x->g, &r->lhs);
    for (uint32_t i = 0; i < l->n; i++) {
        if (l->nodes[i].op == X_VAR)
            lhs[i] = var_id(&r->lhs, record, l->nodes[i].leaf);
        else if (l->nodes[i].leaf)
            lhs[i] = graph_add_leaf(x->g, graph_leaf(x->g, l->nodes[i].op, l->nodes[i].leaf));
    }
    for (uint32_t b = 0; b < r->lhs.n_binds; b++)
        lhs[r->lhs.bind_position[b]] = b ? record[r->lhs.n_vars + b] : record[0];
    for (uint32_t i = e->n, k = 0; i-- > 0;)
        rhs[i] = e->nodes[i].op == X_VAR ? var_id(&r->lhs, record, e->nodes[i].leaf) : built[k++];
}

static void step_by_rule(struct explainer *x, struct tree **at, uint32_t edge, bool backwards)
{
    const uint32_t *m = x->g->proofs->matches + x->g->proofs->edges[edge].why.match;
    const struct compiled_rule *r = &x->rules->rules[m[0]];
    const struct expr *l = &r->rule->lhs, *e = &r->rule->rhs;
    uint32_t *lhs = arena_array(x->a, uint32_t, l->n), *rhs = arena_array(x->a, uint32_t, e->n);
    match_ids(x, r, m + 1, lhs, rhs);
    const struct expr *from = backwards ? e : l, *to = backwards ? l : e;
    const uint32_t *ids_from = backwards ? rhs : lhs, *ids_to = backwards ? lhs : rhs;
    expand(x, at, from, 0, ids_from, edge);
    if (x->failed)
        return;
    *at = instance_tree(x, to, 0, ids_to);
    emit(x, arena_printf(x->a, "%s/%s", r->rule->group, r->rule->name), backwards, *at);
    contract(x, at, to, 0, ids_to, edge);
}

/* Node n computes to the number that node leaf is. */
static void step_by_arithmetic(struct explainer *x, struct tree **at, uint32_t edge, bool backwards)
{
    struct egraph *g = x->g;
    uint32_t n = g->proofs->edges[edge].node[0], leaf = g->proofs->edges[edge].node[1];
    uint32_t arity = graph_arity(g, graph_op(g, n)), numbers[2] = {0}, budget = MAX_TERM;
    const uint32_t *kid = &g->proofs->kid[2 * (size_t)n];
    for (uint32_t i = 0; i < arity && i < 2; i++) {
        uint32_t constant = graph_fact(g, graph_find(g, kid[i]))->constant;
        if (constant == NO_NUMBER) {
            x->failed = true;
            return;
        }
        numbers[i] =
            graph_add_leaf(g, graph_leaf(g, X_NUM, numbers_text(&g->facts.numbers, constant)));
    }
    if (backwards) {
        *at = make_tree(x, (uint16_t)graph_op(g, n), (uint16_t)arity, NULL);
        for (uint32_t i = 0; i < arity; i++)
            (*at)->kids[i] = node_tree(x, numbers[i], &budget);
        emit(x, "arithmetic", true, *at);
    }
    for (uint32_t i = 0; i < arity && !x->failed; i++)
        prove(x, &(*at)->kids[i], backwards ? numbers[i] : kid[i], backwards ? kid[i] : numbers[i],
              edge);
    if (!backwards && !x->failed) {
        *at = node_tree(x, leaf, &budget);
        emit(x, "arithmetic", false, *at);
    }
}

/* Along an edge; backwards: from its second node to its first. */
static void follow(struct explainer *x, struct tree **at, uint32_t edge, bool backwards)
{
    const struct proof_edge e = x->g->proofs->edges[edge];
    uint32_t budget = MAX_TERM, u = e.node[backwards], v = e.node[!backwards];
    const uint32_t *kid = x->g->proofs->kid;
    switch ((enum reason_kind)e.why.kind) {
    case REASON_GIVEN:
        *at = node_tree(x, v, &budget);
        emit(x, "given", backwards, *at);
        break;
    case REASON_CONGRUENCE:
        for (uint32_t i = 0; i < (*at)->arity && !x->failed; i++)
            prove(x, &(*at)->kids[i], kid[2 * (size_t)u + i], kid[2 * (size_t)v + i], edge);
        break;
    case REASON_CONSTANT: step_by_arithmetic(x, at, edge, backwards); break;
    case REASON_RULE: step_by_rule(x, at, edge, backwards); break;
    }
}

/* ---- paths ---- */

/* At how many places of a side the term that was added differs from the instance: each takes at
 * least one step. */
static uint32_t count_gaps(struct explainer *x, const struct expr *e, const uint32_t *ids)
{
    uint32_t gaps = 0;
    for (uint32_t p = 0; p < e->n; p++)
        for (uint32_t i = 0, q = p + 1; i < e->nodes[p].arity; i++) {
            gaps += x->g->proofs->kid[2 * (size_t)ids[p] + i] != ids[q];
            q += e->nodes[q].size;
        }
    return gaps;
}

/* What an edge seems to need: a gap counts as two steps. */
static uint32_t weigh(struct explainer *x, uint32_t edge)
{
    enum { STEP = 1, GAP = 2, MAX_SIDE = 256 };
    const struct witness_counts *p = x->g->proofs;
    const struct proof_edge *e = &p->edges[edge];
    uint32_t gaps = 0, lhs[MAX_SIDE], rhs[MAX_SIDE];
    switch ((enum reason_kind)e->why.kind) {
    case REASON_GIVEN: return STEP;
    case REASON_CONSTANT:
        for (uint32_t i = 0, n = graph_arity(x->g, graph_op(x->g, e->node[0])); i < n; i++)
            gaps += !(graph_op(x->g, p->kid[2 * (size_t)e->node[0] + i]) & OP_LEAF);
        return STEP + GAP * gaps;
    case REASON_CONGRUENCE:
        for (uint32_t i = 0, n = graph_arity(x->g, graph_op(x->g, e->node[0])); i < n; i++)
            gaps += p->kid[2 * (size_t)e->node[0] + i] != p->kid[2 * (size_t)e->node[1] + i];
        return GAP * gaps;
    case REASON_RULE: {
        const struct compiled_rule *r = &x->rules->rules[p->matches[e->why.match]];
        if (r->rule->lhs.n > MAX_SIDE || r->rule->rhs.n > MAX_SIDE)
            return STEP + GAP * MAX_SIDE;
        match_ids(x, r, p->matches + e->why.match + 1, lhs, rhs);
        return STEP + GAP * (count_gaps(x, &r->rule->lhs, lhs) + count_gaps(x, &r->rule->rhs, rhs));
    }
    }
    return STEP;
}

static uint32_t weight_of(struct explainer *x, uint32_t edge)
{
    if (!x->weight[edge])
        x->weight[edge] = 1 + weigh(x, edge);
    return x->weight[edge] - 1;
}

static bool is_nearer(struct heap_entry a, struct heap_entry b)
{
    return a.distance < b.distance || (a.distance == b.distance && a.node < b.node);
}

static void heap_push(struct explainer *x, struct heap_entry entry)
{
    x->heap = vec_grow(x->heap, &x->heap_cap, x->n_heap + 1, sizeof *x->heap);
    size_t i = x->n_heap++;
    for (; i > 0 && is_nearer(entry, x->heap[(i - 1) / 2]); i = (i - 1) / 2)
        x->heap[i] = x->heap[(i - 1) / 2];
    x->heap[i] = entry;
}

static struct heap_entry heap_pop(struct explainer *x)
{
    struct heap_entry top = x->heap[0], last = x->heap[--x->n_heap];
    size_t i = 0;
    for (size_t k; (k = 2 * i + 1) < x->n_heap; i = k) {
        if (k + 1 < x->n_heap && is_nearer(x->heap[k + 1], x->heap[k]))
            k++;
        if (!is_nearer(x->heap[k], last))
            break;
        x->heap[i] = x->heap[k];
    }
    x->heap[i] = last;
    return top;
}

static void reach(struct explainer *x, uint32_t node, uint32_t distance, uint32_t edge)
{
    if (x->reached[node] == x->search && x->distance[node] <= distance)
        return;
    x->reached[node] = x->search;
    x->distance[node] = distance;
    x->via[node] = edge;
    heap_push(x, (struct heap_entry){distance, node});
}

/* The edges of a best path from one node to another, first to last (Dijkstra 1959). */
static uint32_t *find_path(uint32_t *n_out, struct explainer *x, uint32_t from, uint32_t to,
                           uint32_t before)
{
    const struct witness_counts *p = x->g->proofs;
    *n_out = 0;
    if (from >= x->n_cells || to >= x->n_cells)
        return NULL;
    x->search++;
    x->n_heap = 0;
    reach(x, from, 0, NO_EDGE);
    bool found = false;
    while (x->n_heap && !found) {
        struct heap_entry at = heap_pop(x);
        found = at.node == to;
        if (found || at.distance > x->distance[at.node])
            continue;
        for (uint32_t e = p->first[at.node]; e != NO_EDGE;) {
            const struct proof_edge *edge = &p->edges[e];
            bool second = edge->node[0] != at.node;
            if (e < before)
                reach(x, edge->node[!second], at.distance + weight_of(x, e), e);
            e = edge->next[second];
        }
    }
    uint32_t n = 0;
    if (!found)
        return NULL;
    for (uint32_t v = to; v != from; n++)
        v = p->edges[x->via[v]].node[p->edges[x->via[v]].node[0] == v];
    uint32_t *path = arena_array(x->a, uint32_t, n + 1);
    *n_out = n;
    for (uint32_t v = to; v != from;) {
        path[--n] = x->via[v];
        v = p->edges[path[n]].node[p->edges[path[n]].node[0] == v];
    }
    return path;
}

static void prove(struct explainer *x, struct tree **at, uint32_t from, uint32_t to,
                  uint32_t before)
{
    if (from == to || x->failed)
        return;
    uint32_t n = 0;
    const uint32_t *path = x->depth < MAX_DEPTH ? find_path(&n, x, from, to, before) : NULL;
    if (!path) { /* constants whose numbers were left out are in no path */
        x->failed = true;
        return;
    }
    x->depth++;
    for (uint32_t i = 0; i < n && !x->failed; i++) {
        bool backwards = x->g->proofs->edges[path[i]].node[0] != from;
        from = x->g->proofs->edges[path[i]].node[!backwards];
        follow(x, at, path[i], backwards);
    }
    x->depth--;
}

struct explainer *explainer_new(struct arena *a, struct egraph *g, const struct ruleset *rules)
{
    struct explainer *x = arena_new(a, struct explainer);
    *x = (struct explainer){.g = g, .a = a, .rules = rules, .n_cells = g->n_cells};
    x->distance = arena_array(a, uint32_t, g->n_cells);
    x->via = arena_array(a, uint32_t, g->n_cells);
    x->reached = arena_array(a, uint32_t, g->n_cells);
    x->weight = arena_array(a, uint32_t, g->proofs->n_edges);
    return x;
}

void explainer_free(struct explainer *x)
{
    free(x->steps);
    free(x->heap);
}

enum err_code explainer_connect(struct explanation *out, struct explainer *x,
                                const struct expr *from, const struct expr *to, struct err *e)
{
    struct egraph *g = x->g;
    uint32_t *p = arena_array(x->a, uint32_t, from->n), *q = arena_array(x->a, uint32_t, to->n);
    *out = (struct explanation){0};
    if (!graph_lookup_term(p, g, from) || !graph_lookup_term(q, g, to) ||
        graph_find(g, p[0]) != graph_find(g, q[0]))
        return err_fail(e, ERR_NOTFOUND, "the e-graph does not hold the two terms equal");
    x->n = x->depth = 0;
    x->failed = false;
    x->root = expr_tree(x, from, 0);
    contract(x, &x->root, from, 0, p, NO_EDGE);
    prove(x, &x->root, p[0], q[0], NO_EDGE);
    if (!x->failed)
        expand(x, &x->root, to, 0, q, NO_EDGE);
    if (x->failed)
        return err_fail(e, ERR_LIMIT, "the proof has more than %d steps", MAX_STEPS);
    out->n = x->n;
    out->steps = arena_memdup(x->a, x->steps, x->n * sizeof *x->steps);
    return OK;
}
