/* Compiles a rule set, once for all e-graphs; see ruleset.h. */
#include "ops/egraph/match/ruleset.h"

#include <stdlib.h>
#include <string.h>

static bool asks_for_terms(const struct rule *r)
{
    for (size_t i = 0; i < r->n_conditions; i++)
        for (size_t k = 0; k < r->conditions[i].n_args; k++)
            if (r->conditions[i].args[k].nodes[0].op != X_VAR)
                return true;
    return false;
}

/* Finds the changes that make a match of this rule new. */
static void find_dependencies(struct compiled_rule *out, struct arena *a)
{
    const struct pattern *p = &out->lhs;
    memcpy(out->levels, p->reach, sizeof out->levels);
    out->watched = p->watched;
    out->n_watched = p->n_watched;
    out->waits = asks_for_terms(out->rule);
    if (out->waits || !out->n_conditions)
        return;
    uint16_t *watched = arena_array(a, uint16_t, p->n_watched + p->n_vars);
    memcpy(watched, p->watched, p->n_watched * sizeof *watched);
    memcpy(watched + p->n_watched, p->var_register, p->n_vars * sizeof *watched);
    out->watched = watched;
    out->n_watched = (uint16_t)(p->n_watched + p->n_vars);
    for (int k = 0; k < 2; k++)
        if (p->var_reach[k] > out->levels[k])
            out->levels[k] = p->var_reach[k];
    if (p->any)
        out->levels[0] = 1;
}

/* Returns the kinds of nodes at which a pattern begins. */
static uint64_t kinds_of(const struct pattern *p, const struct pattern_leaves *leaves)
{
    if (p->any)
        return UINT64_MAX;
    if (!p->constant)
        return pattern_op_mask(p->op);
    return leaves->items[p->leaves[0]].op == X_NUM ? 1ull << MASK_NUMBER
                                                   : MASK_LEAVES & ~(1ull << MASK_NUMBER);
}

static enum err_code compile_rule(struct compiled_rule *out, struct ruleset *set,
                                  const struct rule *r, struct err *e)
{
    enum err_code code;
    struct arena *a = &set->arena;
    out->rule = r;
    if ((code = pattern_compile(&out->lhs, a, &set->leaves, &r->lhs, e)) ||
        (code = build_compile(&out->rhs, a, &set->leaves, &out->lhs, &r->rhs, e)))
        return err_up(e, code);
    struct condition *conditions = arena_array(a, struct condition, r->n_conditions);
    out->n_conditions = r->n_conditions;
    out->conditions = conditions;
    for (size_t i = 0; i < r->n_conditions; i++) {
        struct condition *c = &conditions[i];
        struct build *args = arena_array(a, struct build, r->conditions[i].n_args);
        c->predicate = (uint8_t)r->conditions[i].predicate;
        c->n_args = r->conditions[i].n_args;
        for (size_t k = 0; k < c->n_args; k++)
            if ((code = build_compile(&args[k], a, &set->leaves, &out->lhs,
                                      &r->conditions[i].args[k], e)))
                return err_up(e, code);
        c->args = args;
        c->direct = RULE_OF_FACTS >> c->predicate & 1 && args[0].n == 0;
        c->variable = args[0].root;
    }
    find_dependencies(out, a);
    out->kinds = kinds_of(&out->lhs, &set->leaves);
    set->kinds |= out->kinds;
    return OK;
}

static void gather_matches(struct ruleset *set)
{
    uint32_t registers = 0, leaves = 0;
    for (size_t i = 0; i < set->n; i++) {
        registers += (uint32_t)set->rules[i].lhs.n_vars + set->rules[i].n_watched;
        leaves += set->rules[i].lhs.n_leaves;
        uint32_t values = (uint32_t)set->rules[i].rhs.n_vars + set->rules[i].rhs.n;
        set->most_values = values > set->most_values ? values : set->most_values;
    }
    set->matches = arena_array(&set->arena, struct rule_match, set->n);
    set->registers = arena_array(&set->arena, uint16_t, registers);
    set->watched_leaves = arena_array(&set->arena, uint32_t, leaves);
    registers = leaves = 0;
    for (size_t i = 0; i < set->n; i++) {
        const struct compiled_rule *r = &set->rules[i];
        const struct pattern *p = &r->lhs;
        set->matches[i] = (struct rule_match){.registers = registers,
                                              .leaves = leaves,
                                              .n_vars = p->n_vars,
                                              .n_watched = r->n_watched,
                                              .n_leaves = p->n_leaves,
                                              .n_binds = p->n_binds};
        for (uint32_t v = 0; v < p->n_vars && v < RULE_FIRST_VARS; v++)
            set->matches[i].first[v] = (uint8_t)p->var_register[v];
        memcpy(set->registers + registers, p->var_register, p->n_vars * sizeof *p->var_register);
        registers += p->n_vars;
        memcpy(set->registers + registers, r->watched, r->n_watched * sizeof *r->watched);
        registers += r->n_watched;
        memcpy(set->watched_leaves + leaves, p->leaves, p->n_leaves * sizeof *p->leaves);
        leaves += p->n_leaves;
    }
}

static void gather_rhs(struct ruleset *set)
{
    char *p = arena_alloc(&set->arena, (set->n + 1) * sizeof *set->rhs);
    p += -(uintptr_t)p & (sizeof *set->rhs - 1);
    set->rhs = (struct compiled_rhs *)p;
    for (size_t i = 0; i < set->n; i++) {
        const struct compiled_rule *r = &set->rules[i];
        struct compiled_rhs *a = &set->rhs[i];
        *a = (struct compiled_rhs){.conditions = r->conditions,
                                   .nodes = r->rhs.nodes,
                                   .n_vars = r->rhs.n_vars,
                                   .n = r->rhs.n,
                                   .root = r->rhs.root,
                                   .n_conditions = (uint8_t)r->n_conditions,
                                   .waits = r->waits};
        if (r->rhs.n > RHS_NODES)
            continue;
        memcpy(a->first, r->rhs.nodes, r->rhs.n * sizeof *a->first);
        a->nodes = a->first;
    }
}

static void gather_constants(struct ruleset *set)
{
    set->constants = arena_array(&set->arena, uint32_t, set->n);
    for (size_t i = 0; i < set->n; i++) {
        const struct compiled_rule *r = &set->rules[i];
        for (int k = 0; k < 2; k++)
            if (r->levels[k] > set->reach)
                set->reach = r->levels[k];
        if (r->lhs.constant)
            set->constants[set->n_constants++] = (uint32_t)i;
    }
}

struct ruleset *ruleset_new(const struct rules *rules)
{
    struct ruleset *set = must_calloc(1, sizeof *set);
    set->source = rules;
    set->n = rules->n;
    set->rules = arena_array(&set->arena, struct compiled_rule, rules->n);
    for (size_t i = 0; i < rules->n && !set->too_large; i++) {
        struct err e = {0};
        if (compile_rule(&set->rules[i], set, &rules->rules[i], &e)) {
            set->too_large = true;
            err_fail(&set->problem, e.code, "rule %s/%s: %s", rules->rules[i].group,
                     rules->rules[i].name, e.message);
        }
    }
    if (!set->too_large) {
        gather_matches(set);
        gather_rhs(set);
        gather_constants(set);
        automaton_build(&set->automaton, set);
    }
    return set;
}

void ruleset_free(struct ruleset *set)
{
    if (!set)
        return;
    free(set->leaves.items);
    arena_free(&set->arena);
    free(set);
}

uint32_t *ruleset_leaves(struct arena *a, const struct ruleset *set, struct egraph *g)
{
    uint32_t *leaf = arena_array(a, uint32_t, set->leaves.n + 1);
    for (size_t i = 0; i < set->leaves.n; i++)
        leaf[i] = graph_leaf(g, set->leaves.items[i].op, set->leaves.items[i].text);
    return leaf;
}
