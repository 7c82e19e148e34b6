#include "ops/extract/cheapest_term.h"

#include "base/buf.h"
#include "schemas/egraph/egraph_arrays.h"

#include <string.h>

struct cheapest {
    const struct language *lang;
    Eqloom__EGraph m;
    struct egraph_arrays x;
    uint32_t *cost, *best; /* by class: cost, UINT32_MAX if it has no term yet; the best e-node */
};

/* Mainly counts tokens. Functions cost more than arithmetic, inverse ones even more; x^2 less than
 * x*x. A derivative that was not evaluated costs more than any term without one. */
static uint32_t token_cost(const struct language *lang, int op, const char *leaf)
{
    if (!leaf) {
        bool inverse = (op >= X_ASIN && op <= X_ACOT) || (op >= X_ASINH && op <= X_ACOTH);
        return op == X_D ? 10000 : inverse ? 25 : lang->ops[op].infix ? 10 : 15;
    }
    bool number = leaf[0] == '-' || (leaf[0] >= '0' && leaf[0] <= '9');
    return 10 + !number + (leaf[0] == '-') + (strchr(leaf, '/') ? 20 : 0);
}

static uint32_t node_cost(const struct cheapest *c, uint32_t node)
{
    uint32_t i = c->m.node_ops[node], n = (uint32_t)c->m.n_operators;
    if (i >= n)
        return token_cost(c->lang, -1, c->m.leaves[i - n]);
    const char *name = c->m.operators[i];
    return token_cost(c->lang, lang_find(c->lang, name, strlen(name)), NULL);
}

uint64_t expr_cost(const struct expr *x)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < x->n; i++)
        sum += token_cost(x->lang, x->nodes[i].op, x->nodes[i].leaf);
    return sum;
}

/* Computes a least fixed point; of e-nodes with equal cost the first is kept. */
static void find_cheapest(struct cheapest *c)
{
    memset(c->cost, 0xff, c->x.n_classes * sizeof *c->cost);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t class = 0; class < c->x.n_classes; class ++)
            for (uint32_t n = c->x.class_begin[class]; n < c->x.class_begin[class + 1]; n++) {
                uint64_t sum = node_cost(c, n);
                for (uint32_t k = c->x.child_begin[n]; k < c->x.child_begin[n + 1]; k++)
                    sum += c->cost[c->x.child[k]];
                if (sum < c->cost[class]) {
                    c->cost[class] = (uint32_t)sum;
                    c->best[class] = n;
                    changed = true;
                }
            }
    }
}

static void write_term(struct buf *out, const struct cheapest *c, uint32_t class)
{
    uint32_t n = c->best[class], op = c->m.node_ops[n];
    buf_printf(out, "%s%s", out->len ? " " : "",
               op < c->m.n_operators ? c->m.operators[op] : c->m.leaves[op - c->m.n_operators]);
    for (uint32_t k = c->x.child_begin[n]; k < c->x.child_begin[n + 1]; k++)
        write_term(out, c, c->x.child[k]);
}

static enum err_code read_term(struct expr *out, struct arena *a, struct cheapest *c, struct err *e)
{
    struct buf text = {0};
    enum err_code code = egraph_arrays_read(&c->x, a, &c->m, e);
    if (code)
        return err_up(e, code);
    c->cost = arena_array(a, uint32_t, c->x.n_classes);
    c->best = arena_array(a, uint32_t, c->x.n_classes);
    find_cheapest(c);
    write_term(&text, c, c->m.root);
    code = expr_from_prefix(out, a, c->lang, text.data, e);
    buf_free(&text);
    return err_up(e, code);
}

enum err_code cheapest_term(struct expr *out, struct arena *a, const struct expr *x,
                            const struct ruleset *set, const struct saturate_options *limits,
                            struct err *e)
{
    struct cheapest c = {.lang = x->lang};
    struct saturate_result run;
    struct egraph *g = egraph_new(x->lang);
    eclass_id root = egraph_add_expr(g, x);
    enum err_code code = egraph_saturate(&run, g, set, limits, a, e);
    if (!code)
        egraph_to_message(&c.m, a, g, root);
    egraph_free(g);
    return err_up(e, code ? code : read_term(out, a, &c, e));
}
