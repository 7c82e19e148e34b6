/* The search at one node: runs the automaton from its root, binding nodes and testing classes, and
 * records the matches that are new; see ematch.h. */
#include "ops/egraph/graph/node_index.h"
#include "ops/egraph/match/ematch.h"

#include <string.h>

static inline void count_step(const struct ematch *m, const struct state *s)
{
    if (__builtin_expect(m->steps != NULL, 0))
        m->steps[s - m->states]++;
}

static inline bool is_active(const struct ematch *m, const struct state *s)
{
    return m->uniform || m->active[s - m->states].cells != UINT32_MAX;
}

/* ---- matches ---- */

/* For a node that is not new. */
static __attribute__((noinline)) bool is_new(const struct ematch *m, const struct rule_match *r,
                                             const struct moment *since)
{
    const uint16_t *watched = m->set->registers + r->registers + r->n_vars;
    const uint32_t *leaves = m->set->watched_leaves + r->leaves;
    for (uint32_t i = 0; i < m->n_bound; i++)
        if (m->bound[i] >= since->cells)
            return true;
    for (uint32_t i = 0; i < r->n_watched; i++)
        if (graph_eclass(m->g, m->reg[watched[i]])->joined >= since->epoch)
            return true;
    for (uint32_t i = 0; i < r->n_leaves; i++)
        if (m->leaf_node[leaves[i]] >= since->cells)
            return true;
    return false;
}

static __attribute__((noinline)) void make_room(struct ematch *m, size_t ids)
{
    struct u32_list *out = &m->records;
    out->items = egraph_memory_grow(out->items, &out->cap, out->n + ids, sizeof *out->items);
    m->matches =
        egraph_memory_grow(m->matches, &m->cap_matches, m->n_matches + 1, sizeof *m->matches);
}

/* For rules of more than RULE_FIRST_VARS variables. */
static __attribute__((noinline)) void write_variables(const struct ematch *m, uint32_t *out,
                                                      const struct rule_match *r)
{
    const uint16_t *vars = m->set->registers + r->registers;
    for (uint32_t v = RULE_FIRST_VARS; v < r->n_vars; v++)
        out[v] = m->reg[vars[v]];
}

static void record(struct ematch *m, uint32_t rule)
{
    const struct rule_match *r = &m->set->matches[rule];
    __builtin_prefetch(&m->set->rhs[rule]); /* read soon if this is a match */
    const struct moment *since = &m->since;
    if (!m->uniform) {
        const struct ematch_rule *own = &m->rules[rule];
        if (own->exceeded)
            return;
        since = &own->since[m->node >= own->cursor];
    }
    if (m->node < since->cells && !is_new(m, r, since))
        return;
    m->matched[rule]++;
    if (m->left[rule] == 0) {
        ematch_ban(m, rule);
        return;
    }
    m->left[rule]--;
    uint32_t binds = ematch_record_binds(m->g, r->n_binds), ids = 1u + r->n_vars + binds;
    size_t at = m->records.n;
    if (at + ids + RULE_FIRST_VARS > m->records.cap || m->n_matches == m->cap_matches)
        make_room(m, ids + RULE_FIRST_VARS); /* readers may read this padding */
    m->records.n = at + ids;
    m->matches[m->n_matches++] = (struct ematch_match){rule, (uint32_t)at};
    uint32_t *out = m->records.items + at;
    out[0] = m->node;
    uint32_t v0 = m->reg[r->first[0]], v1 = m->reg[r->first[1]], v2 = m->reg[r->first[2]],
             v3 = m->reg[r->first[3]];
    *++out = v0;
    out[1] = v1;
    out[2] = v2;
    out[3] = v3;
    if (r->n_vars > RULE_FIRST_VARS)
        write_variables(m, out, r);
    if (binds)
        memcpy(out + r->n_vars, m->bound, binds * sizeof *out);
}

/* ---- states ---- */

/* Returns whether anything that the rules of this state read may be new to them. */
static inline bool may_be_new(const struct ematch *m, const struct state *s)
{
    if (m->uniform)
        return m->fresh >> s->depth & 1;
    const struct activity *a = &m->active[s - m->states];
    return m->node >= a->cells || m->age[0][depth_level(s->depth, 0)] >= a->epoch ||
           m->age[1][depth_level(s->depth, 1)] >= a->epoch;
}

static void enter_each(struct ematch *m, const struct state *k, uint32_t n);

static inline void follow(struct ematch *m, const struct state *s)
{
    const struct state *k = m->states + s->first;
    uint32_t n_done = s->n_done;
    for (uint32_t i = 0; i < n_done; i++) {
        count_step(m, &k[i]);
        if (may_be_new(m, &k[i]))
            record(m, k[i].x);
    }
    if (s->n > n_done)
        enter_each(m, k + n_done, s->n - n_done);
}

/* Returns the class of argument k, which is already bound. */
static inline uint32_t bound_class(struct ematch *m, const struct state *s, uint32_t k)
{
    return ematch_bound(m, s->bound[k]);
}

/* Returns the only node with all bound arguments, or NO_NODE. */
static uint32_t find_whole(struct ematch *m, const struct state *s)
{
    uint32_t *kids = m->reg + s->out;
    for (uint32_t k = 0; k < s->arity; k++)
        if ((kids[k] = bound_class(m, s, k)) == NO_NODE)
            return NO_NODE;
    uint32_t n = graph_lookup(m->g, s->x, kids);
    return n < m->until ? n : NO_NODE;
}

static void bind_found(struct ematch *m, const struct state *s, uint32_t n)
{
    m->bound[m->n_bound++] = n;
    follow(m, s);
    m->n_bound--;
}

/* Binds node n if it fits. */
static inline void bind_node(struct ematch *m, const struct state *s, uint32_t n, uint32_t value)
{
    struct egraph *g = m->g;
    const struct cell *c = &g->cells[n];
    count_step(m, s);
    /* the op of a dead node has one more bit */
    if (c->op != s->x || n >= m->until ||
        (s->key != PATTERN_NO_KEY && graph_find(g, *graph_kid(g, n, s->key)) != value))
        return;
    uint32_t *out = m->reg + s->out;
    if (s->arity > 0)
        out[0] = graph_find(g, c->kid[0]);
    if (s->arity > 1)
        out[1] = graph_find(g, c->kid[1]);
    bind_found(m, s, n);
}

/* Binds the nodes of a range of the index. */
static void bind_range(struct ematch *m, const struct state *s, struct node_range range,
                       uint32_t value)
{
    for (; range.begin < range.end && is_active(m, s); range.begin++)
        bind_node(m, s, node_index_node(m->g->node_index, range.begin), value);
}

/* Binds the nodes of a class without an index. */
static __attribute__((noinline)) void bind_walked(struct ematch *m, const struct state *s,
                                                  uint32_t c, uint32_t value)
{
    struct egraph *g = m->g;
    uint32_t few[NODE_INDEX_LARGE], n_few = 0, walked = 0, n = c;
    do {
        few[n_few] = n; /* written always and kept if it fits, to avoid a branch */
        n_few += (g->cells[n].op == s->x) & (n < m->until);
        n = graph_next(g, n);
    } while (n != c && ++walked < NODE_INDEX_LARGE);
    if (n == c) {
        for (uint32_t k = 0; k < n_few; k++)
            bind_node(m, s, few[k], value);
        return;
    }
    struct node_range range;
    struct node_index_key key = {c, s->x,
                                 s->key == PATTERN_NO_KEY ? (uint32_t)NODE_INDEX_ANY : s->key};
    if (node_index_find(&range, g, &key, value, true)) {
        bind_range(m, s, range, value);
        return;
    }
    n = c;
    do {
        uint32_t next = graph_next(g, n);
        bind_node(m, s, n, value);
        n = next;
    } while (n != c && is_active(m, s));
}

static void bind_each(struct ematch *m, const struct state *s, uint32_t c)
{
    struct egraph *g = m->g;
    uint32_t value = NO_NODE;
    if (s->key != PATTERN_NO_KEY && (value = bound_class(m, s, s->key)) == NO_NODE)
        return;
    if (graph_next(g, c) == c) {
        bind_node(m, s, c, value);
        return;
    }
    struct node_range range;
    struct node_index_key key = {c, s->x,
                                 s->key == PATTERN_NO_KEY ? (uint32_t)NODE_INDEX_ANY : s->key};
    if (node_index_find(&range, g, &key, value, false))
        bind_range(m, s, range, value);
    else
        bind_walked(m, s, c, value);
}

static void enter_switch(struct ematch *m, const struct state *s, uint32_t c)
{
    const struct automaton *automaton = &m->set->automaton;
    const struct state *steps = m->states + s->first;
    for (uint64_t bits = node_index_mask(m->g, c) & s->mask; bits; bits &= bits - 1) {
        const struct state *k = steps + automaton->steps[s->x + (unsigned)__builtin_ctzll(bits)];
        count_step(m, k);
        if (may_be_new(m, k))
            follow(m, k);
    }
}

static inline void enter(struct ematch *m, const struct state *s)
{
    uint32_t c = m->reg[s->a], n;
    switch ((enum state_kind)s->kind) {
    case STATE_SWITCH:
        if (graph_eclass(m->g, c)->mask & s->mask)
            enter_switch(m, s, c);
        return;
    case STATE_BIND:
        if (!s->whole)
            bind_each(m, s, c);
        else if ((n = find_whole(m, s)) != NO_NODE && graph_find(m->g, n) == c)
            bind_found(m, s, n);
        return;
    case STATE_FIND:
        if ((n = find_whole(m, s)) == NO_NODE)
            return;
        m->reg[s->a] = graph_find(m->g, n);
        bind_found(m, s, n);
        return;
    case STATE_LEAF:
        if (!(graph_eclass(m->g, c)->mask & MASK_LEAVES) || ematch_leaf(m, s->x) != c)
            return;
        break;
    case STATE_SAME:
        if (c != m->reg[s->x])
            return;
        break;
    case STATE_DONE: record(m, s->x); return;
    case STATE_ROOT:
    case STATE_STEP: break;
    }
    follow(m, s);
}

static void enter_each(struct ematch *m, const struct state *k, uint32_t n)
{
    for (const struct state *end = k + n; k < end; k++) {
        count_step(m, k);
        if (may_be_new(m, k))
            enter(m, k);
    }
}

/* ---- nodes ---- */

/* A change since the last rebuild is stamped at its own level only. Rules that look deeper must see
 * it, too: otherwise the matches of a rule would depend on how deep rules with the same prefix
 * look. */
static void add_age(uint8_t *age, const struct eclass *c)
{
    uint8_t newest = 0;
    for (int k = 0; k < STAMPS; k++) {
        newest = c->stamp[k] > newest ? c->stamp[k] : newest;
        if (newest > age[k + 1])
            age[k + 1] = newest;
    }
}

/* Returns the first level at which something is new. */
static unsigned first_fresh(const struct ematch *m, int i)
{
    unsigned k = 0;
    while (k <= STAMPS && m->age[i][k] < m->since.epoch)
        k++;
    return k;
}

/* Starts at a root, after the ages below it were computed. A rule that looks deeper sees no
 * less. */
static void start(struct ematch *m, uint32_t root)
{
    const struct state *s = &m->states[root];
    if (m->uniform)
        m->fresh = m->node >= m->since.cells
                       ? UINT64_MAX
                       : (UINT8_MAX << first_fresh(m, 0) & UINT8_MAX) * 0x0101010101010101u |
                             UINT64_MAX << 8 * first_fresh(m, 1);
    if (!may_be_new(m, s))
        return;
    count_step(m, s);
    follow(m, s);
}

static void search_class(struct ematch *m, uint32_t c)
{
    uint32_t root = m->set->automaton.any;
    if (root == NO_STATE || !graph_is_class(m->g, c))
        return;
    memset(m->age, 0, sizeof m->age);
    add_age(m->age[0], graph_eclass(m->g, c));
    m->reg[0] = c;
    m->n_bound = 0;
    start(m, root);
}

static void search_leaf(struct ematch *m, uint32_t n)
{
    uint32_t leaf = m->g->cells[n].op & ~OP_LEAF;
    for (size_t i = 0; i < m->set->n_constants; i++) {
        uint32_t rule = m->set->constants[i];
        if (m->leaf[m->set->rules[rule].lhs.leaves[0]] != leaf ||
            (!m->uniform && m->rules[rule].banned))
            continue;
        m->n_bound = 0;
        record(m, rule);
    }
}

static void search_operator(struct ematch *m, uint32_t n)
{
    struct egraph *g = m->g;
    uint32_t op = g->cells[n].op, arity = graph_arity(g, op);
    const struct automaton *automaton = &m->set->automaton;
    if (op >= automaton->n_ops || automaton->root[op] == NO_STATE)
        return;
    memset(m->age, 0, sizeof m->age);
    for (uint32_t k = 0; k < arity; k++) {
        uint32_t c = graph_find(g, *graph_kid(g, n, k));
        m->reg[1 + k] = c;
        add_age(m->age[k > 0], graph_eclass(g, c));
    }
    m->reg[0] = graph_find(g, n);
    m->n_bound = 0;
    start(m, automaton->root[op]);
}

void ematch_search(struct ematch *m, uint32_t n)
{
    m->n_matches = m->records.n = 0;
    m->node = n;
    uint32_t op = m->g->cells[n].op;
    node_index_begin(m->g);
    search_class(m, n);
    if (op & OP_DEAD)
        return;
    if (op & OP_LEAF)
        search_leaf(m, n);
    else
        search_operator(m, n);
    ematch_sort(m);
}
