/* The pattern compiler; see pattern.h. Tests that cost little come first: all that can be said of
 * the arguments of a node is said before the next node is bound. */
#include "ops/egraph/pattern.h"

#include "base/buf.h"

#include <string.h>

struct compiler {
    struct pattern *p;
    struct arena *arena;
    struct pattern_leaves *leaves;
    const struct expr *x;
    struct instruction *program;
    uint32_t n_program;
    uint16_t *var_register;
    const char **var_name;
    uint32_t *bind_position;
    uint16_t *bind_register; /* register of the class to bind, by bind */
    uint8_t *bind_depth;
    uint8_t *bind_side; /* 0: below the root's first argument, 1: below another */
    uint16_t *watched;
    uint32_t *watched_leaves;
};

static uint32_t leaf_index(struct pattern_leaves *t, uint16_t op, const char *text)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->items[i].op == op && strcmp(t->items[i].text, text) == 0)
            return (uint32_t)i;
    t->items = vec_grow(t->items, &t->cap, t->n + 1, sizeof *t->items);
    t->items[t->n] = (struct pattern_leaf){op, text};
    return (uint32_t)t->n++;
}

static int find_var(const struct pattern *p, const char *name)
{
    for (int v = 0; v < p->n_vars; v++)
        if (strcmp(p->var_name[v], name) == 0)
            return v;
    return -1;
}

static void emit(struct compiler *c, enum instruction_kind kind, uint16_t a, uint32_t x)
{
    c->program[c->n_program++] = (struct instruction){.kind = (uint8_t)kind, .a = a, .x = x};
}

static bool add_var(struct compiler *c, const char *name, uint16_t reg)
{
    if (c->p->n_vars == PATTERN_MAX_VARS)
        return false;
    c->var_name[c->p->n_vars] = name;
    c->var_register[c->p->n_vars++] = reg;
    return true;
}

/* What argument `position` of a node is known to be, before the node is bound. */
static struct known_argument known_before(struct compiler *c, uint32_t position)
{
    const struct expr_node *node = &c->x->nodes[position];
    if (node->op == X_VAR) {
        int v = find_var(c->p, node->leaf);
        if (v >= 0)
            return (struct known_argument){KNOWN_REGISTER, c->var_register[v]};
    } else if (node->leaf) {
        return (struct known_argument){KNOWN_LEAF, leaf_index(c->leaves, node->op, node->leaf)};
    }
    return (struct known_argument){KNOWN_NOT, 0};
}

/* How many arguments are known; an application without unknown ones counts as more than any. */
static uint32_t count_known(struct compiler *c, uint32_t position)
{
    uint32_t arity = c->x->nodes[position].arity, known = 0, at = position + 1;
    for (uint32_t i = 0; i < arity; i++) {
        known += known_before(c, at).kind != KNOWN_NOT;
        at += c->x->nodes[at].size;
    }
    return known == arity ? UINT32_MAX : known;
}

static void deepen(uint8_t *reach, uint8_t depth)
{
    if (depth > *reach)
        *reach = depth;
}

/* The tests of one argument, unless it is known to pass them, and its place in the queue if it is
 * an application. */
static bool compile_argument(struct compiler *c, uint32_t position, uint16_t reg, uint8_t depth,
                             unsigned side, bool tested)
{
    const struct expr_node *node = &c->x->nodes[position];
    struct pattern *p = c->p;
    int v = node->op == X_VAR ? find_var(p, node->leaf) : -1;
    if (node->op == X_VAR)
        deepen(&p->var_reach[side], depth);
    if (node->op == X_VAR && v < 0)
        return add_var(c, node->leaf, reg);
    deepen(&p->reach[side], depth);
    c->watched[p->n_watched++] = reg;
    if (node->leaf && node->op != X_VAR)
        c->watched_leaves[p->n_leaves++] = leaf_index(c->leaves, node->op, node->leaf);
    if (tested)
        return true;
    if (node->op == X_VAR) {
        emit(c, I_SAME, reg, c->var_register[v]);
        return true;
    }
    if (node->leaf) {
        emit(c, I_LEAF, reg, leaf_index(c->leaves, node->op, node->leaf));
        return true;
    }
    emit(c, I_HAS, reg, node->op);
    c->bind_position[p->n_binds] = position;
    c->bind_register[p->n_binds] = reg;
    c->bind_side[p->n_binds] = (uint8_t)side;
    c->bind_depth[p->n_binds++] = depth;
    return true;
}

static void emit_bind(struct compiler *c, uint32_t position, uint16_t reg, uint16_t out)
{
    const struct expr_node *node = &c->x->nodes[position];
    struct known_argument *known = arena_array(c->arena, struct known_argument, node->arity);
    struct instruction *i = &c->program[c->n_program++];
    *i = (struct instruction){.kind = I_BIND,
                              .arity = (uint8_t)node->arity,
                              .key = PATTERN_NO_KEY,
                              .whole = true,
                              .a = reg,
                              .out = out,
                              .x = node->op,
                              .known = known};
    uint32_t at = position + 1;
    for (uint32_t k = 0; k < node->arity; k++) {
        known[k] = known_before(c, at);
        i->whole &= known[k].kind != KNOWN_NOT;
        if (known[k].kind != KNOWN_NOT && i->key == PATTERN_NO_KEY)
            i->key = (uint8_t)k;
        at += c->x->nodes[at].size;
    }
}

/* Of the applications in the queue, the one of which most is known is bound next: it has the
 * fewest candidates. */
static void choose_next(struct compiler *c, uint32_t bind)
{
    uint32_t best = bind, most = 0;
    for (uint32_t i = bind; i < c->p->n_binds; i++) {
        uint32_t known = count_known(c, c->bind_position[i]);
        if (known > most) {
            best = i;
            most = known;
        }
    }
    uint32_t position = c->bind_position[best];
    uint16_t reg = c->bind_register[best];
    uint8_t depth = c->bind_depth[best], side = c->bind_side[best];
    for (uint32_t i = best; i > bind; i--) {
        c->bind_position[i] = c->bind_position[i - 1];
        c->bind_register[i] = c->bind_register[i - 1];
        c->bind_depth[i] = c->bind_depth[i - 1];
        c->bind_side[i] = c->bind_side[i - 1];
    }
    c->bind_position[bind] = position;
    c->bind_register[bind] = reg;
    c->bind_depth[bind] = depth;
    c->bind_side[bind] = side;
}

static bool compile_node(struct compiler *c, uint32_t bind)
{
    struct pattern *p = c->p;
    if (bind > 0)
        choose_next(c, bind);
    uint32_t position = c->bind_position[bind];
    const struct expr_node *node = &c->x->nodes[position];
    if (p->n_registers + node->arity > PATTERN_MAX_REGISTERS || c->bind_depth[bind] == UINT8_MAX)
        return false;
    uint16_t out = p->n_registers;
    p->n_registers = (uint16_t)(p->n_registers + node->arity);
    const struct instruction *i = NULL;
    if (bind > 0) {
        emit_bind(c, position, c->bind_register[bind], out);
        i = &c->program[c->n_program - 1];
    }
    uint32_t at = position + 1;
    for (uint16_t k = 0; k < node->arity; k++) {
        bool tested = i && (i->whole || i->key == k);
        unsigned side = bind ? c->bind_side[bind] : k > 0;
        if (!compile_argument(c, at, (uint16_t)(out + k), (uint8_t)(c->bind_depth[bind] + 1), side,
                              tested))
            return false;
        at += c->x->nodes[at].size;
    }
    return true;
}

enum err_code pattern_compile(struct pattern *out, struct arena *a, struct pattern_leaves *leaves,
                              const struct expr *x, struct err *e)
{
    *out = (struct pattern){.n_registers = 1};
    struct compiler c = {out, a, leaves, x};
    c.program = arena_array(a, struct instruction, 2 * x->n + 2);
    c.var_register = arena_array(a, uint16_t, PATTERN_MAX_VARS);
    c.var_name = arena_array(a, const char *, PATTERN_MAX_VARS);
    c.bind_position = arena_array(a, uint32_t, x->n);
    c.bind_register = arena_array(a, uint16_t, x->n);
    c.bind_depth = arena_array(a, uint8_t, x->n);
    c.bind_side = arena_array(a, uint8_t, x->n);
    c.watched = arena_array(a, uint16_t, x->n);
    c.watched_leaves = arena_array(a, uint32_t, x->n);
    out->watched = c.watched;
    out->leaves = c.watched_leaves;
    for (uint32_t i = 0; i < x->n; i++)
        if (!x->nodes[i].leaf)
            out->ops |= pattern_op_mask(x->nodes[i].op);
    out->program = c.program;
    out->var_register = c.var_register;
    out->var_name = c.var_name;
    out->bind_position = c.bind_position;
    const struct expr_node *root = &x->nodes[0];
    if (root->op == X_VAR) {
        out->any = true;
        add_var(&c, root->leaf, 0);
    } else if (root->leaf) {
        out->constant = true;
        c.watched_leaves[out->n_leaves++] = leaf_index(leaves, root->op, root->leaf);
    } else {
        out->op = root->op;
        out->arity = (uint8_t)root->arity;
        out->n_binds = 1;
        for (uint32_t bind = 0; bind < out->n_binds; bind++)
            if (!compile_node(&c, bind))
                return err_fail(e, ERR_LIMIT, "a pattern with more than %d variables or places",
                                PATTERN_MAX_VARS);
    }
    emit(&c, I_DONE, 0, 0);
    out->n_program = c.n_program;
    return OK;
}

enum err_code build_compile(struct build *out, struct arena *a, struct pattern_leaves *leaves,
                            const struct pattern *p, const struct expr *x, struct err *e)
{
    if (x->n + p->n_vars > UINT16_MAX)
        return err_fail(e, ERR_LIMIT, "a right-hand side of more than %d nodes", UINT16_MAX);
    uint16_t *ref = arena_array(a, uint16_t, x->n); /* by position */
    uint16_t *refs = arena_array(a, uint16_t, x->n), n_refs = 0;
    *out = (struct build){.n_vars = p->n_vars, .refs = refs};
    out->nodes = arena_array(a, struct build_node, x->n);
    for (uint32_t i = x->n; i-- > 0;) {
        const struct expr_node *node = &x->nodes[i];
        if (node->op == X_VAR) {
            int v = find_var(p, node->leaf);
            if (v < 0)
                return err_fail(e, ERR_INPUT, "?%s does not occur on the left side",
                                node->leaf + (node->leaf[0] == '?'));
            ref[i] = (uint16_t)v;
            continue;
        }
        struct build_node *b = &out->nodes[out->n];
        *b = (struct build_node){
            .is_leaf = node->leaf, .arity = (uint8_t)node->arity, .ref = n_refs, .op = node->op};
        if (node->leaf)
            b->op = leaf_index(leaves, node->op, node->leaf);
        uint32_t at = i + 1;
        for (uint16_t k = 0; k < node->arity; k++) {
            if (k < 2)
                b->first[k] = ref[at];
            refs[n_refs++] = ref[at];
            at += x->nodes[at].size;
        }
        ref[i] = (uint16_t)(p->n_vars + out->n++);
    }
    out->root = ref[0];
    return OK;
}
