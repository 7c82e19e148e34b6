/* The pattern compiler; see pattern.h. Cheap tests come first: the arguments of a node are tested
 * before the next node is bound. */
#include "ops/egraph/match/pattern.h"

#include "base/buf.h"

#include <string.h>

/* An application in the pattern, and the register that holds its class. */
struct place {
    uint32_t position;
    uint16_t reg;
    uint8_t depth;
    uint8_t side; /* 0: below the root's first argument, 1: below another */
};

struct compiler {
    struct pattern *p;
    struct arena *arena;
    struct pattern_leaves *leaves;
    const struct expr *x;
    struct place *queue; /* still to be bound */
    uint32_t n_queue;
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
    c->p->program[c->p->n_program++] = (struct instruction){.kind = (uint8_t)kind, .a = a, .x = x};
}

static bool add_var(struct compiler *c, const char *name, uint16_t reg)
{
    if (c->p->n_vars == PATTERN_MAX_VARS)
        return false;
    c->p->var_name[c->p->n_vars] = name;
    c->p->var_register[c->p->n_vars++] = reg;
    return true;
}

/* Returns how argument `position` is bound before its node, or BOUND_NOT. */
static uint32_t bound_before(struct compiler *c, uint32_t position)
{
    const struct expr_node *node = &c->x->nodes[position];
    if (node->op == X_VAR) {
        int v = find_var(c->p, node->leaf);
        if (v >= 0)
            return c->p->var_register[v];
    } else if (node->leaf) {
        return BOUND_LEAF | leaf_index(c->leaves, node->op, node->leaf);
    }
    return BOUND_NOT;
}

/* Returns whether all variables of the term are bound, so that its class is found without a
 * search. */
static bool is_ground(const struct compiler *c, uint32_t position)
{
    for (uint32_t i = position; i < position + c->x->nodes[position].size; i++)
        if (c->x->nodes[i].op == X_VAR && find_var(c->p, c->x->nodes[i].leaf) < 0)
            return false;
    return true;
}

/* Returns how selective an application is: 2 for each ground argument, which few classes match, 1
 * for each leaf, which has many parents. A ground application counts more than any other. */
static uint32_t count_bound(struct compiler *c, uint32_t position)
{
    if (is_ground(c, position))
        return UINT32_MAX;
    uint32_t arity = c->x->nodes[position].arity, bound = 0, at = position + 1;
    for (uint32_t i = 0; i < arity; i++) {
        bool leaf = c->x->nodes[at].leaf && c->x->nodes[at].op != X_VAR;
        bound += leaf ? 1 : 2 * is_ground(c, at);
        at += c->x->nodes[at].size;
    }
    return bound;
}

/* Returns whether some argument is a leaf or a bound variable. */
static bool has_bound_argument(struct compiler *c, uint32_t position)
{
    uint32_t at = position + 1;
    for (uint32_t i = 0; i < c->x->nodes[position].arity; i++) {
        if (bound_before(c, at) != BOUND_NOT)
            return true;
        at += c->x->nodes[at].size;
    }
    return false;
}

static void deepen(uint8_t *reach, uint8_t depth)
{
    if (depth > *reach)
        *reach = depth;
}

/* Emits the tests of one argument, unless they were emitted, and queues it if it is an
 * application. */
static bool compile_argument(struct compiler *c, const struct place *at, bool tested)
{
    const struct expr_node *node = &c->x->nodes[at->position];
    struct pattern *p = c->p;
    int v = node->op == X_VAR ? find_var(p, node->leaf) : -1;
    if (node->op == X_VAR)
        deepen(&p->var_reach[at->side], at->depth);
    if (node->op == X_VAR && v < 0)
        return add_var(c, node->leaf, at->reg);
    deepen(&p->reach[at->side], at->depth);
    p->watched[p->n_watched++] = at->reg;
    if (node->leaf && node->op != X_VAR)
        p->leaves[p->n_leaves++] = leaf_index(c->leaves, node->op, node->leaf);
    if (tested)
        return true;
    if (node->op == X_VAR) {
        emit(c, I_SAME, at->reg, c->p->var_register[v]);
        return true;
    }
    if (node->leaf) {
        emit(c, I_LEAF, at->reg, leaf_index(c->leaves, node->op, node->leaf));
        return true;
    }
    emit(c, I_HAS, at->reg, node->op);
    c->queue[c->n_queue++] = *at;
    return true;
}

/* Allocates registers for the arguments of an application. */
static bool take_registers(uint16_t *out, struct compiler *c, const struct place *at)
{
    struct pattern *p = c->p;
    uint32_t arity = c->x->nodes[at->position].arity;
    if (p->n_registers + arity > PATTERN_MAX_REGISTERS || at->depth == UINT8_MAX)
        return false;
    *out = p->n_registers;
    p->n_registers = (uint16_t)(p->n_registers + arity);
    return true;
}

static struct place argument_of(const struct place *at, uint32_t position, uint16_t reg)
{
    return (struct place){position, reg, (uint8_t)(at->depth + 1), at->side};
}

static bool emit_find(struct compiler *c, const struct place *at);

/* Emits I_BIND or I_FIND with the bound arguments. In a ground application all arguments are bound;
 * in another, a ground argument is found first if no other argument is bound. */
static bool emit_application(struct compiler *c, enum instruction_kind kind, const struct place *at,
                             uint16_t out)
{
    const struct expr_node *node = &c->x->nodes[at->position];
    uint32_t *bound = arena_array(c->arena, uint32_t, node->arity);
    struct instruction i = {.kind = (uint8_t)kind,
                            .arity = (uint8_t)node->arity,
                            .key = PATTERN_NO_KEY,
                            .whole = is_ground(c, at->position),
                            .a = at->reg,
                            .out = out,
                            .x = node->op,
                            .bound = bound};
    bool find = i.whole || !has_bound_argument(c, at->position);
    uint32_t k = 0;
    for (uint32_t x = at->position + 1; k < node->arity; x += c->x->nodes[x].size, k++) {
        struct place argument = argument_of(at, x, (uint16_t)(out + k));
        bound[k] = bound_before(c, x);
        if (find && !c->x->nodes[x].leaf && is_ground(c, x)) {
            if (!emit_find(c, &argument))
                return false;
            bound[k] = argument.reg;
            find = i.whole;
        }
        if (bound[k] != BOUND_NOT && i.key == PATTERN_NO_KEY)
            i.key = (uint8_t)k;
    }
    c->p->program[c->p->n_program++] = i;
    c->p->bind_position[c->p->n_binds++] = at->position;
    return true;
}

static bool compile_arguments(struct compiler *c, const struct place *at, uint16_t out,
                              const struct instruction *bound)
{
    uint32_t x = at->position + 1;
    for (uint32_t k = 0; k < c->x->nodes[at->position].arity; k++) {
        struct place argument = argument_of(at, x, (uint16_t)(out + k));
        if (at->position == 0)
            argument.side = k > 0;
        if (!compile_argument(c, &argument, bound && (bound->whole || bound->key == k)))
            return false;
        x += c->x->nodes[x].size;
    }
    return true;
}

/* Finds a ground application without a search, and puts its class into the register. */
static bool emit_find(struct compiler *c, const struct place *at)
{
    uint16_t out;
    return take_registers(&out, c, at) && emit_application(c, I_FIND, at, out) &&
           compile_arguments(c, at, out, &c->p->program[c->p->n_program - 1]);
}

/* Returns the most selective application, which has the fewest candidates, to be bound next. */
static struct place take_next(struct compiler *c)
{
    uint32_t best = 0, most = 0;
    for (uint32_t i = 0; i < c->n_queue; i++) {
        uint32_t bound = count_bound(c, c->queue[i].position);
        if (bound > most) {
            best = i;
            most = bound;
        }
    }
    struct place next = c->queue[best];
    c->n_queue--;
    memmove(c->queue + best, c->queue + best + 1, (c->n_queue - best) * sizeof *c->queue);
    return next;
}

static bool compile_applications(struct compiler *c)
{
    const struct place root = {0};
    uint16_t out;
    c->p->n_binds = 1;
    if (!take_registers(&out, c, &root) || !compile_arguments(c, &root, out, NULL))
        return false;
    while (c->n_queue) {
        struct place next = take_next(c);
        if (!take_registers(&out, c, &next) || !emit_application(c, I_BIND, &next, out) ||
            !compile_arguments(c, &next, out, &c->p->program[c->p->n_program - 1]))
            return false;
    }
    return true;
}

enum err_code pattern_compile(struct pattern *out, struct arena *a, struct pattern_leaves *leaves,
                              const struct expr *x, struct err *e)
{
    *out = (struct pattern){.n_registers = 1};
    struct compiler c = {out, a, leaves, x, arena_array(a, struct place, x->n), 0};
    out->program = arena_array(a, struct instruction, 2 * x->n + 2);
    out->var_register = arena_array(a, uint16_t, PATTERN_MAX_VARS);
    out->var_name = arena_array(a, const char *, PATTERN_MAX_VARS);
    out->bind_position = arena_array(a, uint32_t, x->n);
    out->watched = arena_array(a, uint16_t, x->n);
    out->leaves = arena_array(a, uint32_t, x->n);
    for (uint32_t i = 0; i < x->n; i++)
        if (!x->nodes[i].leaf)
            out->ops |= pattern_op_mask(x->nodes[i].op);
    const struct expr_node *root = &x->nodes[0];
    if (root->op == X_VAR) {
        out->any = true;
        add_var(&c, root->leaf, 0);
    } else if (root->leaf) {
        out->constant = true;
        out->leaves[out->n_leaves++] = leaf_index(leaves, root->op, root->leaf);
    } else {
        out->op = root->op;
        out->arity = (uint8_t)root->arity;
        if (!compile_applications(&c))
            return err_fail(e, ERR_LIMIT, "the pattern has more than %d variables or subterms",
                            PATTERN_MAX_VARS);
    }
    emit(&c, I_DONE, 0, 0);
    return OK;
}

enum err_code build_compile(struct build *out, struct arena *a, struct pattern_leaves *leaves,
                            const struct pattern *p, const struct expr *x, struct err *e)
{
    if (x->n + p->n_vars > UINT16_MAX)
        return err_fail(e, ERR_LIMIT, "the right-hand side has more than %d nodes", UINT16_MAX);
    uint16_t *ref = arena_array(a, uint16_t, x->n); /* by position */
    *out = (struct build){.n_vars = p->n_vars};
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
            .is_leaf = node->leaf, .arity = (uint8_t)node->arity, .op = node->op};
        if (node->leaf)
            b->op = leaf_index(leaves, node->op, node->leaf);
        uint32_t at = i + 1;
        for (uint16_t k = 0; k < node->arity; k++) {
            b->kid[k] = ref[at];
            at += x->nodes[at].size;
        }
        ref[i] = (uint16_t)(p->n_vars + out->n++);
    }
    out->root = ref[0];
    return OK;
}
