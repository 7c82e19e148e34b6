/* The op `classes`: enumerates all expressions of a small grammar and groups equal ones exactly.
 * Expressions are built bottom-up by number of nodes, each once. An operator and the classes of its
 * operands determine a class; for the first expression with this combination the class is looked up
 * by a 64-bit value (exact_fingerprint), and the normal forms of the language decide. */
#include "base/map.h"
#include "cluster.pb-c.h"
#include "engine/op.h"
#include "ops/expr/equality/exact.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 25, MAX_TERMS = 16000000, MAX_OPS = 16 };

struct term {
    uint32_t class, next; /* next: in the same class, or UINT32_MAX */
    uint32_t kid[2];
    uint16_t op, variable;
};

struct class
{
    uint64_t word;
    uint32_t first, last, n;
};

struct grammar {
    struct arena *a;
    const struct language *lang;
    const char *const *variables;
    size_t n_variables;
    uint16_t ops[MAX_OPS];
    size_t n_ops;
    struct term *terms;
    size_t n, cap;
    size_t begin[MAX_NODES + 2]; /* by number of nodes */
    struct class *classes;
    size_t n_classes, classes_cap;
    struct map64 index;   /* by fingerprint */
    struct map64 results; /* by operator and the operands' classes */
};

/* ---- the grammar ---- */

/* SemVec's sets; the largest are samples, with at most max_members expressions of a class. */
static const struct set {
    const char *name;
    const struct language *lang;
    const char *operators, *variables;
    size_t max_nodes, max_members;
} sets[] = {
    {"BOOL5", &lang_boolean, "not and xor or implies", "a b c", 5, 0},
    {"BOOL8", &lang_boolean, "not and xor or implies", "a b c", 8, 0},
    {"BOOL10", &lang_boolean, "not and xor or implies", "a b c", 10, 500},
    {"SIMPBOOL8", &lang_boolean, "not and or", "a b c", 8, 0},
    {"SIMPBOOL10", &lang_boolean, "not and or", "a b c", 10, 500},
    {"BOOLL5", &lang_boolean, "not and xor or implies", "a b c t u x y z n m", 5, 0},
    {"SIMPBOOLL5", &lang_boolean, "not and or", "a b c t u x y z n m", 5, 0},
    {"POLY5", &lang_polynomial, "+ - *", "a b c", 5, 0},
    {"POLY8", &lang_polynomial, "+ - *", "a b c", 8, 0},
    {"SIMPPOLY5", &lang_polynomial, "+ -", "a b c", 5, 0},
    {"SIMPPOLY8", &lang_polynomial, "+ -", "a b c", 8, 0},
    {"SIMPPOLY10", &lang_polynomial, "+ -", "a b c", 10, 0},
    {"ONEV-POLY10", &lang_polynomial, "+ - *", "x", 10, 0},
    {"ONEV-POLY13", &lang_polynomial, "+ - *", "x", 13, 0},
};
#define SET_NAMES                                                                                  \
    "none|BOOL5|BOOL8|BOOL10|SIMPBOOL8|SIMPBOOL10|BOOLL5|SIMPBOOLL5|POLY5|POLY8|SIMPPOLY5|"        \
    "SIMPPOLY8|SIMPPOLY10|ONEV-POLY10|ONEV-POLY13"

static const struct set *set_of(const struct op_ctx *ctx)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (strcmp(sets[i].name, op_string(ctx, "set")) == 0)
            return &sets[i];
    return NULL;
}

/* Splits text into words. */
static size_t cut(const char *const **out, struct arena *a, const char *text)
{
    const char **words = arena_array(a, const char *, strlen(text));
    char *copy = arena_strdup(a, text), *rest;
    size_t n = 0;
    for (char *w = strtok_r(copy, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
        words[n++] = w;
    *out = words;
    return n;
}

static enum err_code read_operators(struct grammar *g, struct op_ctx *ctx, const struct set *set,
                                    struct err *e)
{
    const char *const *names;
    size_t n = set ? cut(&names, g->a, set->operators) : op_strings(&names, ctx, "operators");
    for (unsigned op = X_ADD; n == 0 && op < g->lang->n_ops && g->n_ops < MAX_OPS; op++)
        if (g->lang->ops[op].name[0] && g->lang->ops[op].arity)
            g->ops[g->n_ops++] = (uint16_t)op;
    for (size_t i = 0; i < n; i++) {
        int op = lang_find(g->lang, names[i], strlen(names[i]));
        if (op < 0 || !g->lang->ops[op].arity)
            return err_fail(e, ERR_INPUT, "the %s language has no operator '%s' with arguments",
                            g->lang->name, names[i]);
        for (size_t k = 0; k < g->n_ops; k++)
            if (g->ops[k] == op)
                return err_fail(e, ERR_INPUT, "operator '%s' is named twice", names[i]);
        g->ops[g->n_ops++] = (uint16_t)op;
    }
    return OK;
}

static enum err_code read_variables(struct grammar *g, struct op_ctx *ctx, const struct set *set,
                                    struct err *e)
{
    static const char *const usual[] = {"a", "b", "c"};
    g->n_variables = set ? cut(&g->variables, g->a, set->variables)
                         : op_strings(&g->variables, ctx, "variables");
    if (g->n_variables == 0) {
        g->variables = usual;
        g->n_variables = 3;
    }
    if (g->n_variables > EXACT_MAX_VARIABLES)
        return err_fail(e, ERR_INPUT, "there are more than %d variables", EXACT_MAX_VARIABLES);
    for (size_t i = 0; i < g->n_variables; i++) {
        struct expr x;
        struct err why = {0};
        for (size_t k = 0; k < i; k++)
            if (strcmp(g->variables[k], g->variables[i]) == 0)
                return err_fail(e, ERR_INPUT, "variable '%s' is named twice", g->variables[i]);
        if (expr_from_prefix(&x, g->a, g->lang, g->variables[i], &why) || x.n != 1 ||
            x.nodes[0].op != X_SYM)
            return err_fail(e, ERR_INPUT, "'%s' is not a variable", g->variables[i]);
    }
    return OK;
}

static void write_prefix(struct buf *out, const struct grammar *g, uint32_t i)
{
    const struct term *t = &g->terms[i];
    if (out->len)
        buf_putc(out, ' ');
    buf_puts(out, t->op == X_SYM ? g->variables[t->variable] : g->lang->ops[t->op].name);
    for (unsigned k = 0; t->op != X_SYM && k < g->lang->ops[t->op].arity; k++)
        write_prefix(out, g, t->kid[k]);
}

static char *prefix_of(struct arena *a, const struct grammar *g, uint32_t i)
{
    struct buf text = {0};
    write_prefix(&text, g, i);
    return buf_text(&text, a);
}

/* ---- classes ---- */

static enum err_code are_equal(bool *equal, const struct grammar *g, uint32_t i, uint32_t k,
                               struct err *e)
{
    struct arena a = {0};
    struct expr x, y;
    struct exact_result result;
    enum err_code code = expr_from_prefix(&x, &a, g->lang, prefix_of(&a, g, i), e);
    if (!code)
        code = expr_from_prefix(&y, &a, g->lang, prefix_of(&a, g, k), e);
    if (!code)
        code = exact_compare(&result, &a, &x, &y, e);
    if (!code)
        *equal = result.equal;
    arena_free(&a);
    return err_up(e, code);
}

/* Classes whose words collide are stored under the following keys. */
static enum err_code find_class(uint32_t *out, struct grammar *g, uint32_t i, uint64_t word,
                                struct err *e)
{
    bool added, equal = false;
    for (uint64_t key = word; !equal; key++) {
        *out = (uint32_t)*map64_put(&g->index, key, g->n_classes, &added);
        if (added) {
            g->classes =
                vec_grow(g->classes, &g->classes_cap, g->n_classes + 1, sizeof *g->classes);
            g->classes[g->n_classes++] = (struct class){word, i, i, 0};
            return OK;
        }
        enum err_code code = are_equal(&equal, g, i, g->classes[*out].first, e);
        if (code)
            return err_up(e, code);
    }
    return OK;
}

static void join(struct grammar *g, uint32_t i, uint32_t class)
{
    struct class *c = &g->classes[class];
    g->terms[i].class = class;
    if (c->n++)
        g->terms[c->last].next = i;
    c->last = i;
}

static enum err_code add(struct grammar *g, struct term t, struct err *e)
{
    if (g->n == MAX_TERMS)
        return err_fail(e, ERR_LIMIT,
                        "there are more than %d expressions: fewer nodes, variables or operators",
                        MAX_TERMS);
    uint32_t i = (uint32_t)g->n++, class;
    enum err_code code = OK;
    t.next = UINT32_MAX;
    g->terms = vec_grow(g->terms, &g->cap, g->n, sizeof *g->terms);
    g->terms[i] = t;
    if (t.op == X_SYM) {
        struct expr leaf = expr_leaf(g->a, g->lang, X_SYM, g->variables[t.variable]);
        code = find_class(&class, g, i, exact_fingerprint(&leaf), e);
    } else {
        uint32_t left = g->terms[t.kid[0]].class, right = g->terms[t.kid[1]].class;
        bool added;
        uint64_t key = ((uint64_t)t.op << 48 | (uint64_t)left << 24) | right;
        uint64_t *known = map64_put(&g->results, key, 0, &added);
        uint64_t word = exact_word(g->lang, t.op, g->classes[left].word, g->classes[right].word);
        class = (uint32_t)*known;
        if (added && !(code = find_class(&class, g, i, word, e)))
            *known = class;
    }
    if (!code)
        join(g, i, class);
    return err_up(e, code);
}

/* Adds all expressions with this number of nodes and the root op. */
static enum err_code apply(struct grammar *g, uint16_t op, size_t nodes, struct err *e)
{
    enum err_code code = OK;
    if (g->lang->ops[op].arity == 1) {
        for (size_t k = g->begin[nodes - 1]; k < g->begin[nodes] && !code; k++)
            code = add(g, (struct term){.op = op, .kid = {(uint32_t)k, 0}}, e);
        return err_up(e, code);
    }
    for (size_t left = 1; left + 2 <= nodes; left++)
        for (size_t l = g->begin[left]; l < g->begin[left + 1]; l++)
            for (size_t r = g->begin[nodes - 1 - left]; r < g->begin[nodes - left] && !code; r++)
                code = add(g, (struct term){.op = op, .kid = {(uint32_t)l, (uint32_t)r}}, e);
    return err_up(e, code);
}

static enum err_code enumerate(struct grammar *g, struct op_ctx *ctx, size_t max_nodes,
                               struct err *e)
{
    enum err_code code = OK;
    for (size_t v = 0; v < g->n_variables && !code; v++)
        code = add(g, (struct term){.op = X_SYM, .variable = (uint16_t)v}, e);
    g->begin[2] = g->n;
    for (size_t nodes = 2; nodes <= max_nodes && !code; nodes++) {
        for (size_t i = 0; i < g->n_ops && !code; i++)
            code = op_cancelled(ctx) ? err_fail(e, ERR_CANCELLED, "classes was interrupted")
                                     : apply(g, g->ops[i], nodes, e);
        g->begin[nodes + 1] = g->n;
        op_progress(ctx, nodes, max_nodes, arena_printf(g->a, "%zu expressions", g->n));
    }
    return err_up(e, code);
}

/* ---- clusters ---- */

struct choice {
    uint64_t hash;
    uint32_t term;
};

static int by_hash(const void *x, const void *y)
{
    const struct choice *a = x, *b = y;
    return a->hash != b->hash ? (a->hash > b->hash) - (a->hash < b->hash)
                              : (a->term > b->term) - (a->term < b->term);
}

static int by_term(const void *x, const void *y)
{
    const struct choice *a = x, *b = y;
    return (a->term > b->term) - (a->term < b->term);
}

/* Chooses the first expression, and of the others those with the lowest hashes of the seed and the
 * expression's number. */
static size_t choose(struct choice *out, const struct grammar *g, const struct class *c,
                     size_t most, uint64_t seed)
{
    size_t n = 0;
    for (uint32_t i = c->first; i != UINT32_MAX; i = g->terms[i].next, n++)
        out[n] = (struct choice){rng_at(seed, 0, i), i};
    if (n <= most)
        return n;
    qsort(out + 1, n - 1, sizeof *out, by_hash);
    qsort(out + 1, most - 1, sizeof *out, by_term);
    return most;
}

static uint32_t count_nodes(const struct grammar *g, uint32_t i)
{
    uint32_t nodes = 1;
    while (g->begin[nodes + 1] <= i)
        nodes++;
    return nodes;
}

static enum err_code emit(struct op_ctx *ctx, const struct grammar *g, const struct class *c,
                          size_t most, size_t max_nodes, struct err *e)
{
    struct arena a = {0};
    struct choice *chosen = arena_array(&a, struct choice, c->n);
    Eqloom__Cluster cluster = EQLOOM__CLUSTER__INIT;
    Eqloom__Expr seed = EQLOOM__EXPR__INIT;
    size_t n = choose(chosen, g, c, most, (uint64_t)op_int(ctx, "seed"));
    cluster.members = arena_array(&a, Eqloom__Member *, n);
    for (size_t i = 0; i < n; i++) {
        Eqloom__Member *m = cluster.members[cluster.n_members++] = arena_new(&a, Eqloom__Member);
        eqloom__member__init(m);
        m->prefix = prefix_of(&a, g, chosen[i].term);
        m->tokens = count_nodes(g, chosen[i].term);
        m->standing = EQLOOM__STANDING__AGREES;
    }
    seed.prefix = cluster.members[0]->prefix;
    seed.language = (char *)g->lang->name;
    cluster.seed = &seed;
    cluster.terms = arena_printf(&a, "%" PRIu32, c->n);
    cluster.max_tokens = (uint32_t)max_nodes;
    enum err_code code = op_emit(NULL, ctx, "clusters", &cluster.base, e);
    arena_free(&a);
    return err_up(e, code);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const struct set *set = set_of(ctx);
    size_t max_nodes = set ? set->max_nodes : (size_t)op_int(ctx, "max_nodes");
    size_t most = (size_t)op_int(ctx, "max_members"), least = (size_t)op_int(ctx, "min_members");
    struct grammar g = {.a = op_arena(ctx),
                        .lang = set ? set->lang : lang_by_name(op_string(ctx, "language"))};
    most = set && !most ? set->max_members : most;
    enum err_code code = read_operators(&g, ctx, set, e);
    if (!code)
        code = read_variables(&g, ctx, set, e);
    if (!code)
        code = enumerate(&g, ctx, max_nodes, e);
    for (size_t i = 0; i < g.n_classes && !code; i++)
        if (g.classes[i].n >= least)
            code = emit(ctx, &g, &g.classes[i], most ? most : g.classes[i].n, max_nodes, e);
    free(g.terms);
    free(g.classes);
    map64_free(&g.index);
    map64_free(&g.results);
    return err_up(e, code);
}

static const struct op_param params[] = {
    {"set", OP_ENUM, "none", SET_NAMES, 0, 0,
     "One of SemVec's sets: overrides language, variables, operators and max_nodes; BOOL10 and "
     "SIMPBOOL10 also set max_members to 500."},
    {"language", OP_ENUM, "boolean", "boolean|polynomial", 0, 0, "Of the expressions."},
    {"variables", OP_STRINGS, "", NULL, 0, 0, "The leaves; a, b and c if empty."},
    {"operators", OP_STRINGS, "", NULL, 0, 0,
     "The operators by name (not, and, or, xor, implies; +, -, *); all of the language if empty."},
    {"max_nodes", OP_INT, "5", NULL, 1, MAX_NODES,
     "The maximum number of operators and variables of an expression."},
    {"min_members", OP_INT, "1", NULL, 1, 1e6, "Smaller classes are left out."},
    {"max_members", OP_INT, "0", NULL, 0, 1e6,
     "Larger classes keep their first expression and others chosen by hash; 0: all."},
    {"seed", OP_INT, "0", NULL, 0, 9007199254740992.0,
     "Seed for the choice of members that are "
     "kept."},
    {NULL},
};

const struct op op_classes = {
    .name = "classes",
    .version = 2,
    .node = OP_TASK,
    .doc = "Enumerates all expressions of a grammar up to a size and groups equal ones: decided "
           "exactly, by truth tables or expansion. This generates SemVec's data sets "
           "(docs/rules.md).",
    .params = params,
    .outputs = OP_PORTS({"clusters", KIND_CLUSTER, OP_COLLECTION, false,
                         "One for each class, in order of their smallest expressions."}),
    .run = run,
};
