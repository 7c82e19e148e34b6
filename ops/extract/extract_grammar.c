/* Turns a stored e-graph into a grammar; see extract_grammar.h. It keeps only what terms within the
 * budget can use. A class's budget is the maximum length that its terms can have in a term of the
 * root; it is computed from the root down, from the least lengths of the sibling operands. */
#include "ops/extract/extract_grammar.h"

#include "base/map.h"
#include "base/rng.h"
#include "schemas/egraph/egraph_arrays.h"

#include <ctype.h>
#include <string.h>

struct builder {
    struct grammar *g;
    struct arena *a;
    const struct grammar_options *options;
    struct filter filter;
    bool *constant;   /* by class: it contains a number */
    kinds_t *present; /* by class: kinds that its terms may have (a superset) */
    size_t cap_alts;
    struct map64 edges; /* (class, class of an operand) */
    struct map64 index; /* from hash to slot */
};

static bool is_number(const char *leaf)
{
    return isdigit((unsigned char)leaf[leaf[0] == '-']);
}

/* Finds the operator numbers for the positions in the message's table. */
static enum err_code find_operators(int **out, struct builder *b, const Eqloom__EGraph *m,
                                    struct err *e)
{
    enum err_code code;
    int *op = arena_array(b->a, int, m->n_operators);
    for (size_t i = 0; i < m->n_operators; i++) {
        const char *name = m->operators[i];
        uint32_t arity = m->arities[i];
        if (lang_find(b->g->lang, name, strlen(name)) < 0 &&
            (code = lang_declare(&b->g->lang, b->a, b->g->lang, name, arity, e)))
            return err_up(e, code);
        op[i] = lang_find(b->g->lang, name, strlen(name));
        if (b->g->lang->ops[op[i]].arity != arity)
            return err_fail(e, ERR_CORRUPT, "e-graph: operator '%s' has %u operands", name, arity);
    }
    *out = op;
    return OK;
}

static enum err_code read_nodes(struct builder *b, const Eqloom__EGraph *m,
                                const struct egraph_arrays *x, struct err *e)
{
    struct grammar *g = b->g;
    int *op = NULL;
    enum err_code code;
    if ((code = find_operators(&op, b, m, e)))
        return err_up(e, code);
    g->nodes = arena_try_alloc(b->a, g->n_nodes, sizeof *g->nodes);
    if (!g->nodes)
        return err_fail(e, ERR_NOMEM, "no memory for %u e-nodes", g->n_nodes);
    for (uint32_t n = 0; n < g->n_nodes; n++) {
        struct grammar_node *node = &g->nodes[n];
        uint32_t i = m->node_ops[n], first = x->child_begin[n];
        *node = (struct grammar_node){.arity = (uint8_t)(x->child_begin[n + 1] - first),
                                      .tokens = 1,
                                      .child = {GRAMMAR_NONE, GRAMMAR_NONE}};
        for (uint32_t k = 0; k < node->arity; k++)
            node->child[k] = x->child[first + k];
        if (i < m->n_operators) {
            node->op = (uint16_t)op[i];
            node->text = lang_token(g->lang, (unsigned)op[i]);
            continue;
        }
        node->text = m->leaves[i - m->n_operators];
        node->op = is_number(node->text) ? X_NUM : X_SYM;
        if (node->op == X_NUM && strchr(node->text, '/'))
            node->tokens = 3;
    }
    return OK;
}

/* Returns whether terms may use this e-node of the class. */
static bool node_admitted(const struct builder *b, uint32_t class, const struct grammar_node *n)
{
    if (n->op != X_NUM)
        return !(b->constant[class] && class != b->g->root_class);
    if (!b->options->max_digits)
        return true;
    uint32_t digits = 0;
    for (const char *s = n->text; *s; s++) {
        digits = isdigit((unsigned char)*s) ? digits + 1 : 0;
        if (digits > b->options->max_digits)
            return false;
    }
    return true;
}

static uint32_t least_of_node(const struct grammar *g, const struct grammar_node *n)
{
    uint32_t length = n->tokens;
    for (uint32_t k = 0; k < n->arity; k++) {
        if (g->least[n->child[k]] == UINT16_MAX)
            return UINT16_MAX;
        length += g->least[n->child[k]];
    }
    return length < UINT16_MAX ? length : UINT16_MAX;
}

/* Computes a least fixed point. Classes are numbered by their least term, so few passes change
 * anything; no class improves more than max_tokens times within the budget. */
static void find_least(struct builder *b)
{
    struct grammar *g = b->g;
    g->least = arena_alloc(b->a, g->n_classes * sizeof *g->least);
    memset(g->least, 0xff, g->n_classes * sizeof *g->least);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t c = 0; c < g->n_classes; c++)
            for (uint32_t n = g->class_begin[c]; n < g->class_begin[c + 1]; n++) {
                uint32_t length = least_of_node(g, &g->nodes[n]);
                if (length > g->max_tokens || length >= g->least[c] ||
                    !node_admitted(b, c, &g->nodes[n]))
                    continue;
                g->least[c] = (uint16_t)length;
                changed = true;
            }
    }
}

/* A child's budget is below its parent's, so a class is final when taken in order of decreasing
 * budget. */
static void find_budgets(struct builder *b)
{
    struct grammar *g = b->g;
    g->budget = arena_zalloc_array(b->a, g->n_classes, sizeof *g->budget);
    if (g->least[g->root_class] == UINT16_MAX)
        return;
    uint32_t *open = arena_alloc(b->a, g->n_classes * sizeof *open);
    bool *queued = arena_zalloc_array(b->a, g->n_classes, sizeof *queued);
    g->budget[g->root_class] = (uint16_t)g->max_tokens;
    size_t n_open = 0;
    open[n_open++] = g->root_class;
    queued[g->root_class] = true;
    for (uint32_t level = g->max_tokens; level > 0; level--) {
        for (size_t i = 0; i < n_open; i++) {
            uint32_t c = open[i];
            if (g->budget[c] != level)
                continue;
            for (uint32_t n = g->class_begin[c]; n < g->class_begin[c + 1]; n++) {
                const struct grammar_node *node = &g->nodes[n];
                uint32_t length = least_of_node(g, node);
                if (length > level || !node_admitted(b, c, node))
                    continue;
                for (uint32_t k = 0; k < node->arity; k++) {
                    uint32_t child = node->child[k];
                    uint32_t budget = level - length + g->least[child];
                    if (budget > g->budget[child])
                        g->budget[child] = (uint16_t)budget;
                    if (!queued[child]) {
                        queued[child] = true;
                        open[n_open++] = child;
                    }
                }
            }
        }
    }
    g->used = arena_alloc(b->a, n_open * sizeof *g->used);
    for (uint32_t c = 0; c < g->n_classes; c++)
        if (g->budget[c])
            g->used[g->n_used++] = c;
}

/* Computes a superset of the kinds of a class's terms: rules that need a leaf which the child's
 * class lacks are excluded, but nothing more precise. */
static void find_present(struct builder *b)
{
    struct grammar *g = b->g;
    kinds_t *leaves = arena_zalloc_array(b->a, g->n_classes, sizeof *leaves);
    b->present = arena_zalloc_array(b->a, g->n_classes, sizeof *b->present);
    for (uint32_t c = 0; c < g->n_classes; c++)
        for (uint32_t n = g->class_begin[c]; n < g->class_begin[c + 1]; n++)
            if (g->nodes[n].arity == 0 && node_admitted(b, c, &g->nodes[n]))
                leaves[c] |= filter_leaf_kind(g->nodes[n].op, g->nodes[n].text);
    for (uint32_t i = 0; i < g->n_used; i++) {
        uint32_t c = g->used[i];
        b->present[c] = leaves[c];
        for (uint32_t n = g->class_begin[c]; n < g->class_begin[c + 1]; n++) {
            const struct grammar_node *node = &g->nodes[n];
            if (node->arity == 0 || !node_admitted(b, c, node))
                continue;
            const struct filter_ops *f = &b->filter.ops[node->op];
            for (uint8_t r = 0; r < f->n; r++) {
                bool possible = true;
                for (uint8_t k = 0; k < node->arity; k++) {
                    kinds_t wanted = f->rules[r].child[k];
                    if ((wanted & ~filter_leaf_kinds()) == 0 && !(wanted & leaves[node->child[k]]))
                        possible = false;
                }
                if (possible)
                    b->present[c] |= f->rules[r].kind;
            }
        }
    }
}

static uint64_t edge_key(const struct grammar *g, uint32_t class, uint32_t child)
{
    return (uint64_t) class * g->n_classes + child;
}

/* Returns GRAMMAR_NONE if the class has no term of these kinds. A restriction that excludes nothing
 * is dropped. */
static uint32_t slot_intern(struct builder *b, uint32_t class, kinds_t kinds, uint32_t without)
{
    struct grammar *g = b->g;
    kinds &= b->present[class];
    if (!kinds)
        return GRAMMAR_NONE;
    if (without != GRAMMAR_NONE && !map64_get(&b->edges, edge_key(g, class, without)))
        without = GRAMMAR_NONE;
    bool added;
    uint64_t *hit =
        map64_put(&b->index, rng_mix(edge_key(g, class, without)) ^ rng_mix(kinds), 0, &added);
    const struct grammar_slot *s = added ? NULL : &g->slots[*hit];
    if (s && s->class == class && s->kinds == kinds && s->without == without)
        return (uint32_t)*hit;
    /* A new slot. If two slots share a hash, the map finds the later one and the earlier one may be
     * made twice, which costs a slot but changes no term. */
    g->slots = arena_grow(b->a, g->slots, g->n_slots, &g->cap_slots, sizeof *g->slots);
    g->slots[g->n_slots] = (struct grammar_slot){.class = class,
                                                 .next = g->first_slot[class],
                                                 .kinds = kinds,
                                                 .without = without,
                                                 .least = UINT16_MAX};
    return (uint32_t)(*hit = g->first_slot[class] = g->n_slots++);
}

static void add_alternative(struct builder *b, struct grammar_alt alt)
{
    struct grammar *g = b->g;
    g->alts = arena_grow(b->a, g->alts, g->n_alts, &b->cap_alts, sizeof *g->alts);
    g->alts[g->n_alts++] = alt;
}

static void add_alternatives(struct builder *b, uint32_t class, uint32_t index)
{
    struct grammar *g = b->g;
    const struct grammar_node *node = &g->nodes[index];
    if (least_of_node(g, node) > g->budget[class] || !node_admitted(b, class, node) ||
        node->child[0] == class || node->child[1] == class)
        return;
    struct grammar_alt alt = {.node = index,
                              .slot = {GRAMMAR_NONE, GRAMMAR_NONE},
                              .child = {node->child[0], node->child[1]}};
    if (node->arity == 0) {
        alt.kind = filter_leaf_kind(node->op, node->text);
        add_alternative(b, alt);
        return;
    }
    const struct filter_ops *f = &b->filter.ops[node->op];
    for (uint8_t r = 0; r < f->n; r++) {
        bool possible = true;
        for (uint8_t k = 0; k < node->arity && possible; k++) {
            alt.slot[k] = slot_intern(b, node->child[k], f->rules[r].child[k], class);
            possible = alt.slot[k] != GRAMMAR_NONE;
        }
        alt.kind = f->rules[r].kind;
        if (possible)
            add_alternative(b, alt);
    }
}

static void find_alternatives(struct builder *b)
{
    struct grammar *g = b->g;
    g->alt_begin = arena_zalloc_array(b->a, g->n_classes + 1, sizeof *g->alt_begin);
    for (uint32_t c = 0; c < g->n_classes; c++) {
        g->alt_begin[c] = g->n_alts;
        for (uint32_t n = g->class_begin[c]; n < g->class_begin[c + 1] && g->budget[c]; n++)
            add_alternatives(b, c, n);
    }
    g->alt_begin[g->n_classes] = g->n_alts;
}

static void find_edges(struct builder *b)
{
    struct grammar *g = b->g;
    for (uint32_t i = 0; i < g->n_used; i++)
        for (uint32_t n = g->class_begin[g->used[i]]; n < g->class_begin[g->used[i] + 1]; n++)
            for (uint32_t k = 0; k < g->nodes[n].arity; k++)
                map64_put(&b->edges, edge_key(g, g->used[i], g->nodes[n].child[k]), 1, NULL);
}

enum err_code grammar_init(struct grammar *g, struct arena *a, const Eqloom__EGraph *message,
                           const struct language *lang, const struct grammar_options *options,
                           struct err *e)
{
    struct builder b = {.g = g, .a = a, .options = options};
    struct egraph_arrays x;
    enum err_code code;
    if (options->max_tokens < 1 || options->max_tokens >= EXTRACT_MAX_TOKENS)
        return err_fail(e, ERR_INPUT, "max_tokens is %u; it must be from 1 to %d",
                        options->max_tokens, EXTRACT_MAX_TOKENS - 1);
    if ((code = egraph_arrays_read(&x, a, message, e)))
        return err_up(e, code);
    *g = (struct grammar){.lang = lang,
                          .max_tokens = options->max_tokens,
                          .n_classes = x.n_classes,
                          .root_class = message->root,
                          .class_begin = x.class_begin,
                          .n_nodes = x.n_nodes};
    if ((code = read_nodes(&b, message, &x, e)))
        return err_up(e, code);
    filter_init(&b.filter, a, g->lang);
    b.constant = arena_zalloc_array(a, g->n_classes, sizeof *b.constant);
    for (uint32_t c = 0; c < g->n_classes; c++)
        for (uint32_t n = g->class_begin[c]; n < g->class_begin[c + 1]; n++)
            b.constant[c] |= g->nodes[n].op == X_NUM;
    find_least(&b);
    find_budgets(&b);
    find_present(&b);
    g->first_slot = arena_alloc(a, g->n_classes * sizeof *g->first_slot);
    memset(g->first_slot, 0xff, g->n_classes * sizeof *g->first_slot);
    find_edges(&b);
    g->root = slot_intern(&b, g->root_class, KINDS_ALL, GRAMMAR_NONE);
    find_alternatives(&b);
    code = grammar_count(g, a, e);
    map64_free(&b.edges);
    map64_free(&b.index);
    return err_up(e, code);
}
