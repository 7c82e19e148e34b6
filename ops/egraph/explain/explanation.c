/* Turns the proof forest into a list of rewriting steps. The term is kept as a tree and rewritten
 * in place: at any time it is the result of the steps so far.
 *
 * `term(n)` of a node is the term that was added: its operator over the terms of its first
 * arguments. An edge by a rule joins the root of a match to the root of the right-hand side that
 * was built. The term of the former becomes an instance of the left side by proving its arguments
 * equal to the nodes that the pattern matched (expand); the rule makes it an instance of the right
 * side; and that becomes the term of the latter in the opposite way. */
#include "ops/egraph/explain/explanation.h"
#include "ops/egraph/graph/egraph_core.h"
#include "ops/egraph/match/ematch.h"
#include "ops/expr/normal/normal.h"

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
    bool failed; /* too long or too deep: all functions return as soon as possible */
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

/* Returns an instance of e, whose variables, if any, are replaced by the terms of their nodes. */
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

/* Also returns the position of a subtree in the term. */
static struct expr tree_term(uint32_t *position, struct explainer *x, const struct tree *t,
                             const struct tree *mark)
{
    uint32_t n = flatten(NULL, t, mark, position, 0);
    struct expr_node *nodes = arena_array(x->a, struct expr_node, n);
    flatten(nodes, t, mark, position, 0);
    return (struct expr){x->g->lang, nodes, n};
}

bool explanation_node_term(struct expr *out, struct arena *a, struct egraph *g, uint32_t n)
{
    struct explainer x = {.g = g, .a = a};
    uint32_t budget = MAX_TERM;
    *out = tree_term(NULL, &x, node_tree(&x, n, &budget), NULL);
    return !x.failed;
}

static void emit(struct explainer *x, const char *rule, bool backwards, const struct tree *at)
{
    if (x->n >= MAX_STEPS) {
        x->failed = true;
        return;
    }
    struct explain_step s = {.rule = rule, .backwards = backwards};
    s.term = tree_term(&s.position, x, x->root, at);
    x->steps = vec_grow(x->steps, &x->cap, x->n + 1, sizeof *x->steps);
    x->steps[x->n++] = s;
}

/* ---- steps ---- */

/* *at is term(from); afterwards it is term(to). */
static void prove(struct explainer *x, struct tree **at, uint32_t from, uint32_t to);

/* *at is term(ids[position]); afterwards it is the instance of e. `back` reverses this. */
static void expand(struct explainer *x, struct tree **at, const struct expr *e, uint32_t position,
                   const uint32_t *ids, bool back)
{
    const struct expr_node *node = &e->nodes[position];
    uint32_t q = position + 1;
    for (uint32_t i = 0; i < node->arity && !x->failed; i++) {
        struct tree **to = &(*at)->kids[i];
        uint32_t kid = x->g->proofs->kid[2 * (size_t)ids[position] + i];
        if (!back)
            prove(x, to, kid, ids[q]);
        if (!x->failed)
            expand(x, to, e, q, ids, back);
        if (back && !x->failed)
            prove(x, to, ids[q], kid);
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

/* Finds the nodes at each position of a rule's sides when it was applied. */
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

/* Makes a step between instances of two terms; `backwards` from the second to the first. */
static void step_between(struct explainer *x, struct tree **at, const char *name,
                         const struct expr *l, const uint32_t *lhs, const struct expr *r,
                         const uint32_t *rhs, bool backwards)
{
    const struct expr *from = backwards ? r : l, *to = backwards ? l : r;
    const uint32_t *ids_from = backwards ? rhs : lhs, *ids_to = backwards ? lhs : rhs;
    expand(x, at, from, 0, ids_from, false);
    if (x->failed)
        return;
    *at = instance_tree(x, to, 0, ids_to);
    emit(x, name, backwards, *at);
    expand(x, at, to, 0, ids_to, true);
}

static void step_by_rule(struct explainer *x, struct tree **at, uint32_t match, bool backwards)
{
    const uint32_t *m = x->g->proofs->matches + match;
    const struct compiled_rule *r = &x->rules->rules[m[0]];
    const struct expr *l = &r->rule->lhs, *e = &r->rule->rhs;
    uint32_t *lhs = arena_array(x->a, uint32_t, l->n), *rhs = arena_array(x->a, uint32_t, e->n);
    match_ids(x, r, m + 1, lhs, rhs);
    step_between(x, at, arena_printf(x->a, "%s/%s", r->rule->group, r->rule->name), l, lhs, e, rhs,
                 backwards);
}

/* Returns the term with these nodes. */
static struct expr term_of(struct explainer *x, const uint32_t *ids, uint32_t n)
{
    struct expr_node *nodes = arena_array(x->a, struct expr_node, n);
    for (uint32_t i = n; i-- > 0;) {
        uint32_t op = graph_op(x->g, ids[i]), size = 1;
        const struct leaf *l = op & OP_LEAF ? &x->g->leaves[op & ~OP_LEAF] : NULL;
        uint16_t arity = (uint16_t)graph_arity(x->g, op);
        for (uint32_t k = 0; k < arity; k++)
            size += nodes[i + size].size;
        nodes[i] = (struct expr_node){l ? l->op : (uint16_t)op, arity, size,
                                      l ? arena_strdup(x->a, l->text) : NULL};
    }
    return (struct expr){x->g->lang, nodes, n};
}

static void step_by_form(struct explainer *x, struct tree **at, uint32_t match, bool backwards)
{
    const uint32_t *m = x->g->proofs->matches + match, n = m[1];
    const uint32_t *ids[] = {m + 3, m + 3 + n};
    struct expr sides[] = {term_of(x, ids[0], n), term_of(x, ids[1], m[2])};
    /* a backwards step is recorded as a forwards one with its sides swapped */
    step_between(x, at, normal_ways[m[0]], &sides[backwards], ids[backwards], &sides[!backwards],
                 ids[!backwards], false);
}

/* Makes a step by arithmetic: node n evaluates to the number in node `leaf`. */
static void step_by_arithmetic(struct explainer *x, struct tree **at, uint32_t n, uint32_t leaf,
                               bool backwards)
{
    struct egraph *g = x->g;
    uint32_t arity = graph_arity(g, graph_op(g, n)), numbers[2], kid[2], budget = MAX_TERM;
    x->failed = arity > 2;
    for (uint32_t i = 0; i < arity && !x->failed; i++) {
        kid[i] = g->proofs->kid[2 * (size_t)n + i];
        uint32_t constant = graph_fact(g, graph_find(g, kid[i]))->constant;
        x->failed = constant == NO_CONSTANT;
        if (!x->failed)
            numbers[i] = graph_add_leaf(
                g, graph_leaf(g, X_NUM, constant_text(&g->facts.constants, constant)));
    }
    if (x->failed)
        return;
    if (backwards) {
        *at = make_tree(x, (uint16_t)graph_op(g, n), (uint16_t)arity, NULL);
        for (uint32_t i = 0; i < arity; i++)
            (*at)->kids[i] = node_tree(x, numbers[i], &budget);
        emit(x, "arithmetic", true, *at);
    }
    for (uint32_t i = 0; i < arity && !x->failed; i++)
        prove(x, &(*at)->kids[i], backwards ? numbers[i] : kid[i], backwards ? kid[i] : numbers[i]);
    if (!backwards && !x->failed) {
        *at = node_tree(x, leaf, &budget);
        emit(x, "arithmetic", false, *at);
    }
}

/* Follows the edge above `node`, up to its parent or down from it. */
static void follow(struct explainer *x, struct tree **at, uint32_t node, bool up)
{
    const struct proof_forest *p = x->g->proofs;
    struct proof_edge edge = p->edges[node];
    uint32_t from = up ? node : edge.parent, to = up ? edge.parent : node, budget = MAX_TERM;
    bool backwards = up == edge.from_parent;
    switch ((enum reason_kind)edge.why.kind) {
    case REASON_GIVEN:
        *at = node_tree(x, to, &budget);
        emit(x, "given", backwards, *at);
        break;
    case REASON_CONGRUENCE:
        for (uint32_t i = 0; i < (*at)->arity && !x->failed; i++)
            prove(x, &(*at)->kids[i], p->kid[2 * (size_t)from + i], p->kid[2 * (size_t)to + i]);
        break;
    case REASON_CONSTANT:
        step_by_arithmetic(x, at, backwards ? to : from, backwards ? from : to, backwards);
        break;
    case REASON_RULE: step_by_rule(x, at, edge.why.match, backwards); break;
    case REASON_FORM: step_by_form(x, at, edge.why.match, backwards); break;
    }
}

static uint32_t nesting_of(const struct proof_forest *p, uint32_t node)
{
    uint32_t depth = 0;
    while ((node = p->edges[node].parent) != NO_PARENT)
        depth++;
    return depth;
}

/* Returns NO_PARENT if the nodes are in different trees. */
static uint32_t common_ancestor(const struct proof_forest *p, uint32_t a, uint32_t b)
{
    uint32_t m = nesting_of(p, a), n = nesting_of(p, b);
    for (; m > n; m--)
        a = p->edges[a].parent;
    for (; n > m; n--)
        b = p->edges[b].parent;
    for (; a != b; m--) {
        a = p->edges[a].parent;
        b = p->edges[b].parent;
    }
    return a;
}

static void prove(struct explainer *x, struct tree **at, uint32_t from, uint32_t to)
{
    struct proof_forest *p = x->g->proofs;
    if (from == to || x->failed)
        return;
    uint32_t top = common_ancestor(p, from, to), n = 0;
    /* numbers that were left out of a class of constants are in separate trees */
    x->failed = top == NO_PARENT || x->depth == MAX_DEPTH;
    if (x->failed)
        return;
    uint32_t *down = arena_array(x->a, uint32_t, nesting_of(p, to) + 1);
    for (; to != top; to = p->edges[to].parent)
        down[n++] = to;
    x->depth++;
    for (; from != top && !x->failed; from = p->edges[from].parent)
        follow(x, at, from, true);
    while (n > 0 && !x->failed)
        follow(x, at, down[--n], false);
    x->depth--;
}

enum err_code explanation_connect(struct explanation *out, struct arena *a, struct egraph *g,
                                  const struct ruleset *rules, const struct expr *from,
                                  const struct expr *to, struct err *e)
{
    struct explainer x = {.g = g, .a = a, .rules = rules};
    uint32_t *p = arena_array(a, uint32_t, from->n), *q = arena_array(a, uint32_t, to->n);
    *out = (struct explanation){0};
    if (!g->proofs)
        return err_fail(e, ERR_INPUT, "this e-graph keeps no proofs");
    if (!graph_lookup_term(p, g, from) || !graph_lookup_term(q, g, to) ||
        graph_find(g, p[0]) != graph_find(g, q[0]))
        return err_fail(e, ERR_NOTFOUND, "the two terms are not equal in the e-graph");
    x.root = instance_tree(&x, from, 0, NULL);
    expand(&x, &x.root, from, 0, p, true);
    prove(&x, &x.root, p[0], q[0]);
    if (!x.failed)
        expand(&x, &x.root, to, 0, q, false);
    if (!x.failed) {
        out->n = x.n;
        out->steps = arena_memdup(a, x.steps, x.n * sizeof *x.steps);
    }
    free(x.steps);
    return x.failed ? err_fail(e, ERR_LIMIT, "the proof has more than %d steps", MAX_STEPS) : OK;
}
