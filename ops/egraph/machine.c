/* The matching machine; see machine.h. */
#include "ops/egraph/machine.h"

#include "ops/egraph/join.h"

#include <string.h>

struct machine {
    struct egraph *g;
    const struct pattern *p;
    const uint32_t *leaf;
    struct u32_list *out;
    size_t found, limit;
    uint32_t until; /* nodes from here on are not looked at */
    uint32_t reg[PATTERN_MAX_REGISTERS];
    uint32_t bound[PATTERN_MAX_REGISTERS];
    uint32_t n_bound;
};

static void record(struct machine *m)
{
    const struct pattern *p = m->p;
    struct u32_list *out = m->out;
    size_t size = machine_record(m->g, p);
    if (out->n + size > out->cap)
        out->items = vec_grow(out->items, &out->cap, out->n + size, sizeof *out->items);
    uint32_t *r = out->items + out->n;
    r[0] = m->bound[0];
    for (uint32_t v = 0; v < p->n_vars; v++)
        r[1 + v] = m->reg[p->var_register[v]];
    if (size > 1u + p->n_vars)
        memcpy(r + 1 + p->n_vars, m->bound + 1, (size - 1 - p->n_vars) * sizeof *r);
    out->n += size;
    m->found++;
}

static void run(struct machine *m, const struct instruction *i);

/* The class of a leaf of the rule set, or NO_NODE. */
static uint32_t leaf_class(struct machine *m, uint32_t leaf)
{
    uint32_t n = m->g->leaves[m->leaf[leaf]].node;
    return n == NO_NODE ? NO_NODE : graph_find(m->g, n);
}

static uint32_t known_class(struct machine *m, const struct known_argument *k)
{
    return k->kind == KNOWN_LEAF ? leaf_class(m, k->x) : m->reg[k->x];
}

/* The one node of class c that has all known arguments; false if there is none. */
static bool bind_whole(struct machine *m, const struct instruction *i, uint32_t c)
{
    uint32_t *kids = m->reg + i->out;
    for (uint32_t k = 0; k < i->arity; k++)
        if ((kids[k] = known_class(m, &i->known[k])) == NO_NODE)
            return false;
    uint32_t n = graph_lookup(m->g, i->x, kids);
    if (n == NO_NODE || n >= m->until || graph_find(m->g, n) != c)
        return false;
    m->bound[m->n_bound++] = n;
    return true;
}

static void bind_node(struct machine *m, const struct instruction *i, uint32_t n)
{
    uint32_t depth = m->n_bound;
    const uint32_t *kid = &m->g->kid[2 * (size_t)n];
    for (uint32_t k = 0; k < i->arity; k++)
        m->reg[i->out + k] = graph_find(m->g, kid[k]);
    m->bound[m->n_bound++] = n;
    run(m, i + 1);
    m->n_bound = depth;
}

static void bind_each(struct machine *m, const struct instruction *i, uint32_t c)
{
    struct egraph *g = m->g;
    bool keyed = i->key != PATTERN_NO_KEY;
    uint32_t value = keyed ? known_class(m, &i->known[i->key]) : NO_NODE;
    if (keyed && value == NO_NODE)
        return;
    struct join_range range;
    struct join_key key = {c, i->x, keyed ? i->key : (uint32_t)JOIN_ANY};
    if (joins_find(&range, g, key, value)) {
        for (; range.begin < range.end && m->found < m->limit; range.begin++) {
            uint32_t n = join_node(g->joins, range.begin);
            if (n < m->until && (!keyed || graph_find(g, g->kid[2 * (size_t)n + i->key]) == value))
                bind_node(m, i, n);
        }
        return;
    }
    uint32_t n = c;
    do {
        if (g->op[n] == i->x && n < m->until && /* a dead node's operator differs by its bit */
            (!keyed || graph_find(g, g->kid[2 * (size_t)n + i->key]) == value))
            bind_node(m, i, n);
        n = g->next[n];
    } while (n != c && m->found < m->limit);
}

static void run(struct machine *m, const struct instruction *i)
{
    for (;; i++) {
        uint32_t c = m->reg[i->a];
        switch ((enum instruction_kind)i->kind) {
        case I_LEAF:
            if (leaf_class(m, i->x) != c)
                return;
            break;
        case I_SAME:
            if (c != m->reg[i->x])
                return;
            break;
        case I_HAS:
            if (!(m->g->mask[c] & pattern_op_mask(i->x)))
                return;
            break;
        case I_BIND:
            if (!i->whole) {
                bind_each(m, i, c);
                return;
            }
            if (!bind_whole(m, i, c))
                return;
            break;
        case I_DONE: record(m); return;
        }
    }
}

/* Has anything that the pattern could see below these classes changed? */
static bool is_touched(const struct egraph *g, const uint32_t *classes, uint32_t n, unsigned levels,
                       uint16_t epoch)
{
    for (uint32_t i = 0; i < n; i++)
        if (g->stamp[STAMPS * (size_t)classes[i] + levels - 1] >= epoch)
            return true;
    return false;
}

static void search_classes(struct machine *m, const struct compiled_rule *r,
                           struct machine_since since)
{
    struct egraph *g = m->g;
    bool all = r->levels == LEVELS_ALWAYS || !since.epoch;
    for (uint32_t c = all || r->levels ? 0 : since.cells; c < m->until; c++) {
        if (g->uf[c] != c)
            continue;
        if (!all && c < since.cells && g->stamp[STAMPS * (size_t)c] < since.epoch)
            continue;
        m->reg[0] = m->bound[0] = c;
        if (!r->lhs.n_vars) /* a constant: its own node stands for it in proofs */
            m->bound[0] = g->leaves[m->leaf[r->lhs.program->x]].node;
        m->n_bound = 1;
        run(m, r->lhs.program);
        if (m->found >= m->limit)
            return;
    }
}

static size_t lower_bound(const struct u32_list *l, uint32_t at_least)
{
    size_t lo = 0, hi = l->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (l->items[mid] < at_least)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void search_nodes(struct machine *m, const struct compiled_rule *r,
                         struct machine_since since)
{
    struct egraph *g = m->g;
    const struct pattern *p = m->p;
    const struct u32_list *nodes = &g->by_op[p->op];
    bool all = r->levels == LEVELS_ALWAYS || !since.epoch;
    const struct machine_fresh *fresh = all ? NULL : since.fresh;
    if (fresh && fresh->cells == since.cells && fresh->epoch == since.epoch) {
        const struct fresh_nodes *f = &fresh->by_op[p->op];
        if ((p->need[0] & ~f->mask[0]) || (p->need[1] & ~f->mask[1]))
            return;
        nodes = &f->nodes;
    }
    for (size_t i = all || r->levels ? 0 : lower_bound(nodes, since.cells); i < nodes->n; i++) {
        uint32_t n = nodes->items[i], *reg = m->reg;
        if (n >= m->until)
            return;
        if (g->op[n] & OP_DEAD)
            continue;
        for (uint32_t k = 0; k < p->arity; k++)
            reg[1 + k] = graph_find(g, g->kid[2 * (size_t)n + k]);
        if ((p->need[0] && p->need[0] & ~g->mask[reg[1]]) ||
            (p->need[1] && p->need[1] & ~g->mask[reg[2]]))
            continue;
        if (!all && n < since.cells && !is_touched(g, reg + 1, p->arity, r->levels, since.epoch))
            continue;
        reg[0] = graph_find(g, n);
        m->bound[0] = n;
        m->n_bound = 1;
        run(m, p->program);
        if (m->found >= m->limit)
            return;
    }
}

void machine_freshen(struct machine_fresh *out, struct egraph *g, uint32_t cells, uint16_t epoch)
{
    out->cells = cells;
    out->epoch = epoch;
    for (uint32_t op = 0; op < g->lang->n_ops; op++) {
        const struct u32_list *all = &g->by_op[op];
        struct fresh_nodes *f = &out->by_op[op];
        uint32_t arity = g->lang->ops[op].arity;
        f->nodes.n = 0;
        f->mask[0] = f->mask[1] = 0;
        for (size_t i = 0; i < all->n; i++) {
            uint32_t n = all->items[i];
            const uint32_t *kid = &g->kid[2 * (size_t)n];
            if (g->op[n] & OP_DEAD ||
                (n < cells && !is_touched(g, kid, arity, g->stamp_levels + 1, epoch)))
                continue;
            u32_push(&f->nodes, n);
            for (uint32_t k = 0; k < arity && k < 2; k++)
                f->mask[k] |= g->mask[kid[k]];
        }
    }
}

size_t machine_search(struct u32_list *out, struct egraph *g, const struct compiled_rule *r,
                      const uint32_t *leaf, struct machine_since since, size_t limit)
{
    struct machine m = {.g = g, .p = &r->lhs, .leaf = leaf, .out = out, .limit = limit};
    m.until = since.until ? since.until : g->n_cells;
    if (limit == 0 || r->lhs.ops & ~g->ops)
        return 0;
    joins_begin(g->joins);
    if (r->lhs.any)
        search_classes(&m, r, since);
    else
        search_nodes(&m, r, since);
    return m.found;
}
