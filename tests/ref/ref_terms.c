/* All terms of small e-graphs by plain recursion; see ref_terms.h. */
#include "ref_terms.h"
#include "base/buf.h"
#include "schemas/egraph/egraph_arrays.h"
#include "tests/unit.h"

enum { MAX_TERMS = 1500 };

static const char *const op_names[] = {"+",   "-",  "*",   "/",    "pow", "sqrt",
                                       "abs", "ln", "sin", "asin", "d"};
static const uint32_t op_arity[] = {2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 2};
static const char *const leaf_names[] = {"x", "y", "e", "0", "1", "-1", "2", "3", "3/2"};
enum { N_OPS = 11, N_LEAVES = 9 };

static struct arena records; /* of the packed numbers of all graphs */

/* The numbers of the message from the arrays. */
void ref_graph_pack(struct graph *g, uint32_t classes, uint32_t nodes)
{
    struct egraph_arrays x = {.n_classes = classes,
                              .n_nodes = nodes,
                              .class_begin = g->class_begin,
                              .child_begin = g->child_begin,
                              .child = g->child};
    g->m.n_arities = g->m.n_operators;
    g->m.node_ops = g->node_op;
    g->m.n_node_ops = nodes;
    egraph_arrays_write(&g->m, &records, &x);
}

struct raw_node {
    int what, a, b; /* leaf: what >= N_OPS */
};

static bool raw_equal(const struct raw_node *x, const struct raw_node *y)
{
    return x->what == y->what && x->a == y->a && x->b == y->b;
}

void ref_graph_random(struct graph *g, struct rng *rng)
{
    struct raw_node nodes[MAX_CLASSES][MAX_NODES];
    int n[MAX_CLASSES] = {0}, classes = 2 + (int)rng_below(rng, 5), total = 0;
    struct raw_node all[MAX_NODES];
    for (int tries = 0; tries < 24; tries++) {
        int c = tries < classes ? tries : (int)rng_below(rng, (uint64_t)classes);
        struct raw_node node = {N_OPS + (int)rng_below(rng, N_LEAVES), -1, -1};
        if (tries >= classes || rng_below(rng, 3) == 0) {
            node.what = (int)rng_below(rng, N_OPS);
            node.a = (int)rng_below(rng, (uint64_t)classes);
            node.b = op_arity[node.what] == 2 ? (int)rng_below(rng, (uint64_t)classes) : -1;
        }
        bool seen = false;
        for (int i = 0; i < total; i++)
            seen |= raw_equal(&all[i], &node);
        if (!seen)
            all[total++] = nodes[c][n[c]++] = node;
    }
    memset(g, 0, sizeof *g);
    eqloom__egraph__init(&g->m);
    uint32_t at = 0, kids = 0;
    for (int c = 0; c < classes; c++) {
        g->class_begin[c] = at;
        for (int i = 0; i < n[c]; i++) {
            struct raw_node *r = &nodes[c][i];
            g->node_op[at] = (uint32_t)r->what;
            g->child_begin[at++] = kids;
            if (r->a >= 0)
                g->child[kids++] = (uint32_t)r->a;
            if (r->b >= 0)
                g->child[kids++] = (uint32_t)r->b;
        }
    }
    g->class_begin[classes] = at;
    g->child_begin[at] = kids;
    g->m.operators = (char **)op_names;
    g->m.n_operators = N_OPS;
    g->m.leaves = (char **)leaf_names;
    g->m.n_leaves = N_LEAVES;
    g->m.arities = (uint32_t *)op_arity;
    ref_graph_pack(g, (uint32_t)classes, at);
}

/* ---- the oracle ---- */
static void texts_add(struct texts *t, struct arena *a, char *text)
{
    t->text = arena_grow(a, t->text, t->n, &t->cap, sizeof *t->text);
    t->text[t->n++] = text;
}

static int leaf_length(const char *leaf)
{
    return strchr(leaf, '/') ? 3 : 1;
}

static bool leaf_is_number(const char *leaf)
{
    return (leaf[0] >= '0' && leaf[0] <= '9') || leaf[0] == '-';
}

static bool class_is_number(const struct graph *g, uint32_t c)
{
    for (uint32_t n = g->class_begin[c]; n < g->class_begin[c + 1]; n++)
        if (g->node_op[n] >= N_OPS && leaf_is_number(leaf_names[g->node_op[n] - N_OPS]))
            return true;
    return false;
}

/* False when there are too many. */
static bool list_terms(struct texts *out, struct arena *a, const struct graph *g, uint32_t c,
                       int length)
{
    *out = (struct texts){0};
    bool only_number = c != g->m.root && class_is_number(g, c);
    for (uint32_t n = g->class_begin[c]; n < g->class_begin[c + 1]; n++) {
        uint32_t op = g->node_op[n];
        if (op >= N_OPS) {
            const char *leaf = leaf_names[op - N_OPS];
            if (leaf_length(leaf) == length && (!only_number || leaf_is_number(leaf)))
                texts_add(out, a, arena_strdup(a, leaf));
            continue;
        }
        const uint32_t *child = g->child + g->child_begin[n];
        for (int i = 1; i < length && !only_number; i++) {
            struct texts left, right = {.n = 1};
            int rest = op_arity[op] == 2 ? length - 1 - i : 0;
            if (op_arity[op] == 2 ? rest < 1 : i != length - 1)
                continue;
            if (!list_terms(&left, a, g, child[0], i) ||
                (rest && !list_terms(&right, a, g, child[1], rest)) ||
                out->n + left.n * right.n > MAX_TERMS)
                return false;
            for (size_t l = 0; l < left.n; l++)
                for (size_t r = 0; r < right.n; r++)
                    texts_add(out, a,
                              rest ? arena_printf(a, "%s %s %s", op_names[op], left.text[l],
                                                  right.text[r])
                                   : arena_printf(a, "%s %s", op_names[op], left.text[l]));
        }
    }
    return true;
}

struct tree {
    char token[8];
    struct tree *kid[2];
};

static struct tree *read_tree(struct arena *a, const char **text)
{
    struct tree *t = arena_new(a, struct tree);
    int used;
    assert_int_equal(sscanf(*text, "%7s%n", t->token, &used), 1);
    *text += used;
    for (int op = 0; op < N_OPS; op++)
        for (uint32_t k = 0; strcmp(t->token, op_names[op]) == 0 && k < op_arity[op]; k++)
            t->kid[k] = read_tree(a, text);
    return t;
}

static bool named(const struct tree *t, const char *name)
{
    return t && strcmp(t->token, name) == 0;
}

static bool number(const struct tree *t)
{
    return !t->kid[0] && leaf_is_number(t->token);
}

static bool negated(const struct tree *t)
{
    return named(t, "*") && (named(t->kid[0], "-1") || named(t->kid[1], "-1"));
}

static bool rejected(const struct tree *t)
{
    const struct tree *a = t->kid[0], *b = t->kid[1];
    if (!a)
        return false;
    if (rejected(a) || (b && rejected(b)))
        return true;
    if (named(t, "d") && (a->kid[0] || number(a) || named(a, "e")))
        return true;
    bool zero = named(a, "0") || named(b, "0"), one_left = named(a, "1"), one_right = named(b, "1");
    bool numbers = b && number(a) && number(b);
    if (named(t, "+"))
        return zero || numbers;
    if (named(t, "-"))
        return zero || numbers || negated(b);
    if (named(t, "*"))
        return zero || one_left || one_right || numbers || (named(a, "-1") && negated(b)) ||
               (named(b, "-1") && negated(a));
    if (named(t, "/"))
        return zero || one_right || named(b, "-1") || numbers ||
               (named(b, "/") && named(b->kid[0], "1"));
    if (named(t, "pow"))
        return zero || one_left || one_right || (named(a, "e") && named(b, "ln")) ||
               (named(a, "sqrt") && named(b, "2"));
    if (named(t, "sqrt"))
        return zero || one_left ||
               (named(a, "pow") && named(a->kid[1], "2") && !named(a->kid[0], "e"));
    if (named(t, "abs"))
        return number(a) || named(a, "abs");
    if (named(t, "ln"))
        return zero || one_left || named(a, "e") || (named(a, "pow") && named(a->kid[0], "e"));
    if (named(t, "sin"))
        return named(a, "asin");
    if (named(t, "asin"))
        return named(a, "sin");
    return named(t, "d") && number(b);
}

/* The class of a tree by congruence over the arrays. */
static uint32_t class_of_tree(const struct graph *g, const struct tree *t)
{
    uint32_t kids[2] = {0, 0}, arity = 0, what = UINT32_MAX;
    for (; arity < 2 && t->kid[arity]; arity++)
        kids[arity] = class_of_tree(g, t->kid[arity]);
    for (uint32_t i = 0; i < N_OPS + N_LEAVES; i++)
        if (named(t, i < N_OPS ? op_names[i] : leaf_names[i - N_OPS]))
            what = i;
    for (uint32_t c = 0; c < g->m.n_class_sizes; c++)
        for (uint32_t n = g->class_begin[c]; n < g->class_begin[c + 1]; n++)
            if (g->node_op[n] == what &&
                memcmp(g->child + g->child_begin[n], kids, arity * sizeof *kids) == 0)
                return c;
    fail();
    return 0;
}

static bool has_loop(const struct graph *g, const struct tree *t)
{
    uint32_t class = class_of_tree(g, t);
    for (int k = 0; k < 2 && t->kid[k]; k++) {
        if (class_of_tree(g, t->kid[k]) == class || has_loop(g, t->kid[k]))
            return true;
        for (int q = 0; q < 2 && t->kid[k]->kid[q]; q++)
            if (class_of_tree(g, t->kid[k]->kid[q]) == class)
                return true;
    }
    return false;
}

void ref_texts_sort(struct texts *t)
{
    if (t->n)
        qsort(t->text, t->n, sizeof *t->text, text_compare);
    size_t kept = 0;
    for (size_t i = 0; i < t->n; i++)
        if (kept == 0 || strcmp(t->text[kept - 1], t->text[i]) != 0)
            t->text[kept++] = t->text[i];
    t->n = kept;
}

bool ref_terms(struct texts *out, struct arena *a, const struct graph *g, int length)
{
    if (!list_terms(out, a, g, g->m.root, length))
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < out->n; i++) {
        const char *at = out->text[i];
        struct tree *t = read_tree(a, &at);
        if (!rejected(t) && !has_loop(g, t))
            out->text[kept++] = out->text[i];
    }
    out->n = kept;
    ref_texts_sort(out);
    assert_int_equal(out->n, kept); /* one derivation for each term */
    return true;
}

void ref_graphs_free(void)
{
    arena_free(&records);
}
