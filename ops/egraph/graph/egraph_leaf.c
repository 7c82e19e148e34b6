/* Leaves: numbers, constants and variables with their domains, interned by their text. */
#include "base/buf.h"
#include "ops/egraph/graph/egraph_core.h"

#include <string.h>

/* The values that a variable may take: a domain, and optionally an interval within it. */
struct values {
    enum variable_domain domain;
    struct interval interval;
};

static uint32_t symbol_fact(struct egraph *g, struct leaf *l, const struct values *values)
{
    bool constant = g->interpreted && lang_is_constant(l->text);
    if (l->op == X_SYM && constant)
        return facts_known_symbol(&g->facts, l->text);
    l->is_variable = true;
    /* All further variables share the last bit. */
    l->bit =
        (uint8_t)(g->n_variables < FACT_MAX_SYMBOLS - 1 ? g->n_variables : FACT_MAX_SYMBOLS - 1);
    g->n_variables++;
    if (l->op == X_VAR || !g->interpreted)
        return facts_unknown(&g->facts, 1ull << l->bit);
    return facts_variable(&g->facts, values->domain, values->interval, l->bit);
}

static uint32_t add_leaf_text(struct egraph *g, uint16_t op, const char *text,
                              const struct values *values)
{
    bool added;
    uint64_t *known = name_map_put(&g->leaf_index, text, g->n_leaves, &added);
    if (!added)
        return (uint32_t)*known;
    struct leaf l = {.text = strdup(text), .op = op, .node = NO_NODE};
    if (!l.text)
        abort();
    if (op == X_NUM) {
        uint32_t number = constant_parse(&g->facts.constants, text);
        l.fact =
            number == NO_CONSTANT ? facts_unknown(&g->facts, 0) : facts_constant(&g->facts, number);
    } else {
        l.fact = symbol_fact(g, &l, values);
    }
    g->leaves = vec_grow(g->leaves, &g->leaves_cap, g->n_leaves + 1, sizeof *g->leaves);
    g->leaves[g->n_leaves] = l;
    return (uint32_t)g->n_leaves++;
}

uint32_t graph_leaf(struct egraph *g, uint16_t op, const char *text)
{
    return add_leaf_text(g, op, text, &(struct values){DOMAIN_POSITIVE, interval_all()});
}

enum err_code egraph_declare(struct egraph *g, const struct ball_domain *declared, struct err *e)
{
    const char *variable = declared->name, *domain = declared->domain;
    static const char *const names[] = {
        [DOMAIN_POSITIVE] = "positive", [DOMAIN_NONNEGATIVE] = "nonnegative",
        [DOMAIN_REAL] = "real",         [DOMAIN_INTEGER] = "integer",
        [DOMAIN_COMPLEX] = "complex",
    };
    enum { N = sizeof names / sizeof *names };
    size_t d = 0;
    while (d < N && strcmp(names[d], domain) != 0)
        d++;
    /* zero is nowhere dense */
    if (d == N && strcmp(domain, "nonzero") == 0)
        d = DOMAIN_REAL;
    if (d == N && strcmp(g->lang->name, "boolean") == 0 && strcmp(domain, "boolean") == 0)
        d = DOMAIN_COMPLEX; /* no fact about numbers holds */
    if (d == N) {
        enum err_code code =
            err_fail(e, ERR_INPUT, "unknown domain '%s' of the variable %s", domain, variable);
        return err_suggest(code, domain, names, N, e);
    }
    if (name_map_get(&g->leaf_index, variable))
        return err_fail(e, ERR_INPUT, "the variable %s is declared twice, or after its use",
                        variable);
    struct values values = {(enum variable_domain)d, fact_interval_of(&g->facts, declared)};
    /* closed or open does not matter: facts have isolated exceptions */
    values.interval.lo_open = values.interval.hi_open = true;
    add_leaf_text(g, X_SYM, variable, &values);
    g->domains = vec_grow(g->domains, &g->cap_domains, g->n_domains + 1, sizeof *g->domains);
    g->domains[g->n_domains++] = *declared;
    return OK;
}
