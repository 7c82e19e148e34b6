/* Explanations: from the proof forest to a list of rewriting steps. The term is kept as a tree and
 * rewritten in place, so that at each moment it is exactly what the steps so far have made of it.
 *
 * `term(n)` of a node is what was added: its operator over the terms of its first arguments. An
 * edge of the forest by a rule joins the root of a match to the root of what was built; the term
 * of the former becomes an instance of the left side by proving its arguments equal to what the
 * pattern bound (expand), the rule makes it an instance of the right side, and the other way
 * round that becomes the term of the latter (contract). */
#include "ops/egraph/machine.h"

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

/* *at is term(from); afterwards it is term(to). */
static void prove(struct explainer *x, struct tree **at, uint32_t from, uint32_t to);

/* *at is term(ids[position]); afterwards it is the instance of e. */
static void expand(struct explainer *x, struct tree **at, const struct expr *e, uint32_t position,
                   const uint32_t *ids)
{
    const struct expr_node *node = &e->nodes[position];
    uint32_t q = position + 1;
    for (uint32_t i = 0; i < node->arity && !x->failed; i++) {
        uint32_t kid = x->g->proofs->kid[2 * (size_t)ids[position] + i];
        prove(x, &(*at)->kids[i], kid, ids[q]);
        if (!x->failed)
            expand(x, &(*at)->kids[i], e, q, ids);
        q += e->nodes[q].size;
    }
}

/* The other way round. */
static void contract(struct explainer *x, struct tree **at, const struct expr *e, uint32_t position,
                     const uint32_t *ids)
{
    const struct expr_node *node = &e->nodes[position];
    uint32_t q = position + 1;
    for (uint32_t i = 0; i < node->arity && !x->failed; i++) {
        contract(x, &(*at)->kids[i], e, q, ids);
        if (!x->failed)
            prove(x, &(*at)->kids[i], ids[q], x->g->proofs->kid[2 * (size_t)ids[position] + i]);
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
    const uint32_t *built = record + machine_record(x->g, &r->lhs);
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

static void step_by_rule(struct explainer *x, struct tree **at, uint32_t match, bool backwards)
{
    const uint32_t *m = x->g->proofs->matches + match;
    const struct compiled_rule *r = &x->rules->rules[m[0]];
    const struct expr *l = &r->rule->lhs, *e = &r->rule->rhs;
    uint32_t *lhs = arena_array(x->a, uint32_t, l->n), *rhs = arena_array(x->a, uint32_t, e->n);
    match_ids(x, r, m + 1, lhs, rhs);
    const struct expr *before = backwards ? e : l, *after = backwards ? l : e;
    const uint32_t *ids_before = backwards ? rhs : lhs, *ids_after = backwards ? lhs : rhs;
    expand(x, at, before, 0, ids_before);
    if (x->failed)
        return;
    *at = instance_tree(x, after, 0, ids_after);
    emit(x, arena_printf(x->a, "%s/%s", r->rule->group, r->rule->name), backwards, *at);
    contract(x, at, after, 0, ids_after);
}

/* Node n computes to the number that node leaf is. */
static void step_by_arithmetic(struct explainer *x, struct tree **at, uint32_t n, uint32_t leaf,
                               bool backwards)
{
    struct egraph *g = x->g;
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
        prove(x, &(*at)->kids[i], backwards ? numbers[i] : kid[i], backwards ? kid[i] : numbers[i]);
    if (!backwards && !x->failed) {
        *at = node_tree(x, leaf, &budget);
        emit(x, "arithmetic", false, *at);
    }
}

/* Along the edge between u and its neighbour v. */
static void follow(struct explainer *x, struct tree **at, uint32_t u, uint32_t v, struct reason why,
                   bool backwards)
{
    uint32_t budget = MAX_TERM;
    const uint32_t *kid = x->g->proofs->kid;
    switch ((enum reason_kind)why.kind) {
    case REASON_GIVEN:
        *at = node_tree(x, v, &budget);
        emit(x, "given", backwards, *at);
        break;
    case REASON_CONGRUENCE:
        for (uint32_t i = 0; i < (*at)->arity && !x->failed; i++)
            prove(x, &(*at)->kids[i], kid[2 * (size_t)u + i], kid[2 * (size_t)v + i]);
        break;
    case REASON_CONSTANT:
        step_by_arithmetic(x, at, backwards ? v : u, backwards ? u : v, backwards);
        break;
    case REASON_RULE: step_by_rule(x, at, why.match, backwards); break;
    }
}

static uint32_t depth_of(const struct proofs *p, uint32_t n)
{
    uint32_t d = 0;
    for (; p->to[n] != NO_NODE; n = p->to[n])
        d++;
    return d;
}

static void prove(struct explainer *x, struct tree **at, uint32_t from, uint32_t to)
{
    if (from == to || x->failed)
        return;
    if (++x->depth > MAX_DEPTH) {
        x->failed = true;
        return;
    }
    const struct proofs *p = x->g->proofs;
    uint32_t a = from, b = to, da = depth_of(p, a), db = depth_of(p, b), n_down = 0;
    uint32_t *down = arena_array(x->a, uint32_t, db + 1);
    while (a != b) {
        bool up = da >= db;
        if ((up ? da : db) == 0) { /* two trees: constants whose numbers were left out */
            x->failed = true;
            break;
        }
        if (up) {
            uint32_t next = p->to[a];
            follow(x, at, a, next, p->why[a], p->backwards[a]);
            a = next;
            da--;
        } else {
            down[n_down++] = b;
            b = p->to[b];
            db--;
        }
        if (x->failed)
            break;
    }
    while (n_down > 0 && !x->failed) {
        uint32_t v = down[--n_down];
        follow(x, at, p->to[v], v, p->why[v], !p->backwards[v]);
    }
    x->depth--;
}

/* Leaves out what comes back to a term that was there before. */
static void shorten(struct explainer *x, const struct expr *from)
{
    size_t kept = 0;
    for (size_t i = 0; i < x->n; i++) {
        size_t back = 0;
        bool again = expr_equal(&x->steps[i].term, from);
        for (; !again && back < kept; back++)
            if (expr_equal(&x->steps[i].term, &x->steps[back].term))
                break;
        if (again)
            kept = 0;
        else if (back < kept)
            kept = back + 1;
        else
            x->steps[kept++] = x->steps[i];
    }
    x->n = kept;
}

enum err_code egraph_explain(struct explanation *out, struct arena *a, struct egraph *g,
                             const struct ruleset *rules, const struct expr *from,
                             const struct expr *to, struct err *e)
{
    *out = (struct explanation){0};
    if (!g->proofs)
        return err_fail(e, ERR_INPUT, "this e-graph keeps no proofs");
    uint32_t *p = arena_array(a, uint32_t, from->n), *q = arena_array(a, uint32_t, to->n);
    if (!graph_lookup_term(p, g, from) || !graph_lookup_term(q, g, to) ||
        graph_find(g, p[0]) != graph_find(g, q[0]))
        return err_fail(e, ERR_NOTFOUND, "the e-graph does not hold the two terms equal");
    struct explainer x = {.g = g, .a = a, .rules = rules};
    x.root = expr_tree(&x, from, 0);
    contract(&x, &x.root, from, 0, p);
    prove(&x, &x.root, p[0], q[0]);
    if (!x.failed)
        expand(&x, &x.root, to, 0, q);
    if (!x.failed) {
        shorten(&x, from);
        out->n = x.n;
        out->steps = arena_memdup(a, x.steps, x.n * sizeof *x.steps);
    }
    free(x.steps);
    if (x.failed)
        return err_fail(e, ERR_LIMIT, "the proof has more than %d steps", MAX_STEPS);
    return OK;
}
