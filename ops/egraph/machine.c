/* The matching machine; see machine.h. */
#include "ops/egraph/machine.h"

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

static void run(struct machine *m, const struct instruction *i)
{
    struct egraph *g = m->g;
    for (;; i++) {
        uint32_t c = m->reg[i->a];
        switch ((enum instruction_kind)i->kind) {
        case I_LEAF: {
            uint32_t n = g->leaves[m->leaf[i->x]].node;
            if (n == NO_NODE || graph_find(g, n) != c)
                return;
            break;
        }
        case I_SAME:
            if (c != m->reg[i->x])
                return;
            break;
        case I_HAS:
            if (!(g->mask[c] & pattern_op_mask(i->x)))
                return;
            break;
        case I_BIND: {
            uint32_t n = c;
            do {
                if (g->op[n] == i->x && n < m->until) { /* a dead node's differs by its bit */
                    const uint32_t *kid = &g->kid[2 * (size_t)n];
                    for (uint32_t k = 0; k < i->arity; k++)
                        m->reg[i->out + k] = graph_find(g, kid[k]);
                    m->bound[m->n_bound++] = n;
                    run(m, i + 1);
                    m->n_bound--;
                    if (m->found >= m->limit)
                        return;
                }
                n = g->next[n];
            } while (n != c);
            return;
        }
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

size_t machine_search(struct u32_list *out, struct egraph *g, const struct compiled_rule *r,
                      const uint32_t *leaf, struct machine_since since, size_t limit)
{
    struct machine m = {.g = g, .p = &r->lhs, .leaf = leaf, .out = out, .limit = limit};
    m.until = since.until ? since.until : g->n_cells;
    if (limit == 0)
        return 0;
    if (r->lhs.any)
        search_classes(&m, r, since);
    else
        search_nodes(&m, r, since);
    return m.found;
}
