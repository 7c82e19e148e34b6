/* What a cluster is made from: whenever two e-graphs are said to have the same reads, their
 * clusters are the same, for all options. The pairs come from random edits of rules, as they
 * happen, and from e-graphs that were tampered with node by node, of which most do differ. Reads do
 * not depend on what they need not: classes out of reach, the numbers of classes, statistics. The
 * seed is printed and may be given in EQLOOM_TEST_SEED. */
#include "tests/ops/egraph/help_edits.h"
#include "tests/ops/egraph/help_reuse.h"

#include "ops/extract/extract_cluster.h"
#include "ops/extract/extract_reads.h"
#include "tests/ops/extract/hand_graph.h"

enum { TRIALS = CASES(3000, 600), EDITS = 3, TAMPERINGS = 3 };

struct tally {
    int asked, same_record, same_reads, same_cluster;
};

struct drawn {
    struct span reads, cluster;
};

static struct extract_options random_options(struct rng *r)
{
    return (struct extract_options){
        /* the longer ones are beyond what is followed exactly */
        .grammar = {.max_tokens = rng_below(r, 8) ? 1 + (uint32_t)rng_below(r, 18)
                                                  : 62 + (uint32_t)rng_below(r, 8),
                    .max_digits = (uint32_t)rng_below(r, 3)},
        .per_cluster = 1 + (uint32_t)rng_below(r, 40),
        .draw = {.lengths = (enum draw_lengths)rng_below(r, 2),
                 .shapes = (enum draw_shapes)rng_below(r, 2),
                 .mean_tokens = 7},
        .verify = rng_below(r, 8) == 0,
        .points = 2,
    };
}

/* As the op does it; a cluster that is refuted has no bytes. */
static struct drawn draw(struct arena *a, const Eqloom__EGraph *m, const struct extract_options *o)
{
    struct err e = {0};
    struct extraction x;
    Eqloom__Cluster cluster;
    struct drawn d = {0};
    struct rng rng = rng_new(7, 0);
    if (extract_begin(&x, a, m, o, &e))
        fail_msg("%s", e.message);
    d.reads = extract_reads(a, &x.grammar, m);
    if (!extract_cluster(&cluster, a, &x, &rng, &e))
        assert_int_equal(canonical_pack(&d.cluster, a, &cluster.base, &e), OK);
    return d;
}

static void compare(struct tally *t, struct arena *a, const Eqloom__EGraph *x,
                    const Eqloom__EGraph *y, const struct extract_options *o)
{
    struct drawn p = draw(a, x, o), q = draw(a, y, o);
    bool reads = span_equal(p.reads, q.reads), cluster = span_equal(p.cluster, q.cluster);
    struct span m, n;
    assert_int_equal(canonical_pack(&m, a, &x->base, NULL), OK);
    assert_int_equal(canonical_pack(&n, a, &y->base, NULL), OK);
    t->asked++;
    t->same_record += span_equal(m, n);
    t->same_reads += reads;
    t->same_cluster += cluster;
    if (reads && !cluster)
        fail_msg("%s: the same reads gave another cluster", x->seed->prefix);
}

static Eqloom__Expr *seed_of(struct arena *a, const struct language *lang, const char *text)
{
    Eqloom__Expr *m = arena_new(a, Eqloom__Expr);
    struct expr x = infix_term(a, lang, text);
    eqloom__expr__init(m);
    m->language = (char *)lang->name;
    m->prefix = expr_prefix(a, &x);
    return m;
}

/* ---- edits of rules ---- */

static struct saturate_options random_budgets(struct rng *r)
{
    return (struct saturate_options){.iterations = 1 + (uint32_t)rng_below(r, 5),
                                     .max_nodes = 20 + (uint32_t)rng_below(r, 200),
                                     .match_limit = 1 + (uint32_t)rng_below(r, 30),
                                     .ban_length = (uint32_t)rng_below(r, 4)};
}

static void run_edits(struct tally *t, struct rng *r)
{
    struct arena a = {0};
    struct set s = {0};
    struct buf text = {0};
    struct compiled before;
    struct saturate_options budgets = random_budgets(r);
    for (uint64_t n = 8 + rng_below(r, SET_MAX - 12); n > 0; n--)
        add_rule(&s, any_rule(r), r);
    random_term(&text, r, &words, 2 + (unsigned)rng_below(r, 3));
    compile_rules(&before, &a, rules_of_set(&a, &s));
    struct action_result old = make(&a, &before, text.data, &budgets);
    old.message.seed = old.failed ? NULL : seed_of(&a, before.rules.lang, text.data);
    for (int k = 0; k < EDITS && !old.failed; k++) {
        struct set edited = s;
        struct compiled now;
        struct extract_options o = random_options(r);
        for (uint64_t n = 1 + rng_below(r, 4); n > 0; n--)
            edit_set(&edited, &a, r);
        compile_rules(&now, &a, rules_of_set(&a, &edited));
        struct action_result new = make(&a, &now, text.data, &budgets);
        new.message.seed = old.message.seed;
        if (!new.failed)
            compare(t, &a, &old.message, &new.message, &o);
        release(&now);
    }
    release(&before);
    buf_free(&text);
    arena_free(&a);
}

TEST(equal_reads_give_equal_clusters)
{
    struct rng r = rng_new(test_seed(1), 1);
    struct tally t = {0};
    for (int trial = 0; trial < TRIALS; trial++)
        run_edits(&t, &r);
    print_message("%d pairs: %d the same e-graph, %d with the same reads, %d the same cluster\n",
                  t.asked, t.same_record, t.same_reads, t.same_cluster);
    assert_true(t.same_reads > t.same_record && t.same_cluster < t.asked);
    /* hardly a cluster is the same by chance */
    assert_true(10 * (t.same_cluster - t.same_record) < 13 * (t.same_reads - t.same_record));
}

/* ---- e-graphs that were tampered with ---- */

static Eqloom__EGraph copy_of(struct arena *a, const Eqloom__EGraph *m)
{
    struct span bytes;
    Eqloom__EGraph *copy;
    assert_int_equal(canonical_pack(&bytes, a, &m->base, NULL), OK);
    assert_int_equal(canonical_unpack(&copy, a, &eqloom__egraph__descriptor, bytes, NULL), OK);
    return *copy;
}

static void remove_node(Eqloom__EGraph *m, struct egraph_arrays *x, uint32_t node)
{
    uint32_t begin = x->child_begin[node], end = x->child_begin[node + 1];
    memmove(x->child + begin, x->child + end,
            (x->child_begin[x->n_nodes] - end) * sizeof *x->child);
    memmove(m->node_ops + node, m->node_ops + node + 1,
            (x->n_nodes - node - 1) * sizeof *m->node_ops);
    for (uint32_t i = node + 1; i <= x->n_nodes; i++)
        x->child_begin[i - 1] = x->child_begin[i] - (end - begin);
    for (uint32_t c = 0; c <= x->n_classes; c++)
        x->class_begin[c] -= x->class_begin[c] > node;
    m->n_node_ops--;
    x->n_nodes--;
}

static void tamper(Eqloom__EGraph *m, struct arena *a, struct rng *r)
{
    struct egraph_arrays x;
    assert_int_equal(egraph_arrays_read(&x, a, m, NULL), OK);
    uint32_t node = (uint32_t)rng_below(r, x.n_nodes), children = x.child_begin[x.n_nodes];
    switch (rng_below(r, 5)) {
    case 0:
        if (x.n_nodes > 1)
            remove_node(m, &x, node);
        break;
    case 1:
        if (children)
            x.child[rng_below(r, children)] = (uint32_t)rng_below(r, x.n_classes);
        break;
    case 2:
        if (m->node_ops[node] >= m->n_operators)
            m->node_ops[node] = (uint32_t)(m->n_operators + rng_below(r, m->n_leaves));
        break;
    case 3: m->basis = EQLOOM__BASIS__SAMPLE; break;
    case 4: m->seed->prefix = "+ x y"; break;
    }
    egraph_arrays_write(m, a, &x);
}

/* Class c becomes class n - 1 - c: e-nodes keep their order within a class. */
static Eqloom__EGraph turned_around(struct arena *a, const Eqloom__EGraph *m)
{
    Eqloom__EGraph out = copy_of(a, m);
    struct egraph_arrays x, y;
    assert_int_equal(egraph_arrays_read(&x, a, m, NULL), OK);
    assert_int_equal(egraph_arrays_read(&y, a, m, NULL), OK);
    uint32_t at = 0, kid = 0;
    for (uint32_t c = 0; c < x.n_classes; c++) {
        uint32_t from = x.n_classes - 1 - c;
        y.class_begin[c] = at;
        for (uint32_t n = x.class_begin[from]; n < x.class_begin[from + 1]; n++) {
            y.child_begin[at] = kid;
            out.node_ops[at++] = m->node_ops[n];
            for (uint32_t k = x.child_begin[n]; k < x.child_begin[n + 1]; k++)
                y.child[kid++] = x.n_classes - 1 - x.child[k];
        }
    }
    out.root = x.n_classes - 1 - m->root;
    egraph_arrays_write(&out, a, &y);
    return out;
}

static void run_tampering(struct tally *t, struct tally *turned, struct rng *r)
{
    struct arena a = {0};
    struct set s = {0};
    struct buf text = {0};
    struct compiled rules;
    struct saturate_options budgets = random_budgets(r);
    for (uint64_t n = rng_below(r, SET_MAX - 4); n > 0; n--)
        add_rule(&s, any_rule(r), r);
    random_term(&text, r, &words, 1 + (unsigned)rng_below(r, 4));
    compile_rules(&rules, &a, rules_of_set(&a, &s));
    struct action_result made = make(&a, &rules, text.data, &budgets);
    if (!made.failed) {
        struct extract_options o = random_options(r);
        o.verify = false; /* what is tampered with is refuted */
        made.message.seed = seed_of(&a, rules.rules.lang, text.data);
        for (int k = 0; k < TAMPERINGS; k++) {
            Eqloom__EGraph other = copy_of(&a, &made.message);
            tamper(&other, &a, r);
            compare(t, &a, &made.message, &other, &o);
        }
        Eqloom__EGraph other = turned_around(&a, &made.message);
        compare(turned, &a, &made.message, &other, &o);
    }
    release(&rules);
    buf_free(&text);
    arena_free(&a);
}

TEST(tampering_is_seen)
{
    struct rng r = rng_new(test_seed(1), 2);
    struct tally t = {0}, turned = {0};
    for (int trial = 0; trial < TRIALS; trial++)
        run_tampering(&t, &turned, &r);
    print_message("%d tampered with: %d as before, %d with the same reads, %d the same cluster\n",
                  t.asked, t.same_record, t.same_reads, t.same_cluster);
    assert_true(t.same_reads > t.same_record && t.same_cluster < t.asked / 2 + t.same_reads);
    /* and numbers of classes are not */
    assert_int_equal(turned.same_reads, turned.asked);
}

/* ---- e-graphs made by hand: of each two, only what is named tells them apart ---- */

static struct extract_options plain_options(uint32_t max_tokens)
{
    return (struct extract_options){
        .grammar = {.max_tokens = max_tokens}, .per_cluster = 10, .points = 2};
}

static void expect_told_apart(struct arena *a, const Eqloom__EGraph *x, const Eqloom__EGraph *y,
                              const struct extract_options *o)
{
    struct drawn p = draw(a, x, o), q = draw(a, y, o);
    assert_false(span_equal(p.cluster, q.cluster));
    assert_false(span_equal(p.reads, q.reads));
}

TEST_IN_ARENA(ends_of_classes_are_told)
{
    static const char *const x[] = {"0 x", "0 sin 1", "1 y", "1 z", NULL};
    static const char *const y[] = {"0 x", "0 sin 1", "0 y", "1 z", NULL};
    struct extract_options o = plain_options(5);
    expect_told_apart(a, hand_graph(a, x, 0, "x"), hand_graph(a, y, 0, "x"), &o);
}

/* A second operand, or the length of a name: names may begin with any byte. */
TEST_IN_ARENA(ends_of_operands_are_told)
{
    static const char *const x[] = {"0 f 1", "0 \001y", "1 sin 2", "2 x", NULL};
    static const char *const y[] = {"0 f 1 2", "0 y", "1 sin 2", "2 x", NULL};
    struct extract_options o = plain_options(5);
    expect_told_apart(a, hand_graph(a, x, 0, "x"), hand_graph(a, y, 0, "x"), &o);
}

#define CIRCLE(class, next)                                                                        \
    class " y", class " z", class " + " next " " next, class " - " next " " next,                  \
        class " * " next " " next, class " / " next " " next, class " pow " next " " next

/* No derivative is by 1, so nothing of classes 2 to 4 is in a term; but they have too many terms to
 * count, and then all counts are said to be lower bounds. */
TEST_IN_ARENA(lower_bounds_are_told)
{
    static const char *const x[] = {
        "0 x", "0 d 1 2", "1 1", CIRCLE("2", "3"), CIRCLE("3", "4"), CIRCLE("4", "2"), NULL};
    static const char *const y[] = {"0 x", NULL};
    struct extract_options o = plain_options(63);
    expect_told_apart(a, hand_graph(a, x, 0, "x"), hand_graph(a, y, 0, "x"), &o);
}

/* What an operator without operands is equal to, points cannot say; of a variable they can. */
TEST_IN_ARENA(operators_are_told_from_variables)
{
    static const char *const x[] = {"0 c", NULL}, *const y[] = {"0 c ()", NULL};
    struct extract_options o = plain_options(5);
    o.verify = true;
    expect_told_apart(a, hand_graph(a, x, 0, "c"), hand_graph(a, y, 0, "c"), &o);
}

TEST_IN_ARENA(domains_are_told)
{
    static const char *const nodes[] = {"0 x", NULL};
    struct extract_options o = plain_options(5);
    Eqloom__EGraph *m[4];
    for (int i = 0; i < 4; i++) {
        m[i] = hand_graph(a, nodes, 0, "x");
        m[i]->seed->variables = arena_array(a, Eqloom__VariableDomain *, 1);
        m[i]->seed->variables[0] = arena_new(a, Eqloom__VariableDomain);
        m[i]->seed->n_variables = i > 0;
        eqloom__variable_domain__init(m[i]->seed->variables[0]);
        m[i]->seed->variables[0]->name = i == 3 ? "y" : "x";
        m[i]->seed->variables[0]->domain = i == 2 ? "integer" : "real";
        for (int k = 0; k < i; k++)
            expect_told_apart(a, m[k], m[i], &o);
    }
}
