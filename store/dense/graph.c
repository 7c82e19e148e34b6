/* See graph.h.
 *
 * Class by class, node by node: the operator (0 ends the class), the number of children, and each
 * child. Within a class, nodes of an operator are sorted by their children, so the next is coded by
 * its step from the one before. An e-graph that holds a + b mostly holds b + a: each pair promises
 * its mirror image, and one bit says whether the next node is the least of what is promised. Facts
 * come last, in the context of an operator and its children's facts. */
#include "store/dense/graph.h"

#include "egraph.pb-c.h"

#include <stdlib.h>
#include <string.h>

enum { MIXER_FLAG = 14, MIXER_CHILD = 16, MIXER_OPERATOR = 20 };
enum { OPERATOR = 1, ARITY, STEP, CHILD, PROMISE, CLASSES, REGULAR };

bool graph_has_field(const ProtobufCFieldDescriptor *field)
{
    static const char *const names[] = {"class_begin", "node_op", "child_begin", "child", "facts"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(field->name, names[i]) == 0)
            return true;
    return false;
}

struct pair {
    uint32_t first, second;
};

static bool pair_less(struct pair a, struct pair b)
{
    return a.first != b.first ? a.first < b.first : a.second < b.second;
}

struct list {
    uint32_t *v;
    size_t n, cap;
};

struct graph {
    struct walk *walk;
    const Eqloom__EGraph *from;                       /* NULL when reading */
    struct list classes, operators, starts, children; /* what has been coded */
    struct pair *promised; /* a heap, of the operator and class at hand */
    size_t n_promised, cap_promised;
    bool kept; /* the last promise was */
};

static void promise(struct graph *s, struct pair p)
{
    s->promised = vec_grow(s->promised, &s->cap_promised, s->n_promised + 1, sizeof *s->promised);
    size_t i = s->n_promised++;
    for (; i && pair_less(p, s->promised[(i - 1) / 2]); i = (i - 1) / 2)
        s->promised[i] = s->promised[(i - 1) / 2];
    s->promised[i] = p;
}

static void drop_least(struct graph *s)
{
    struct pair last = s->promised[--s->n_promised];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < s->n_promised; i = child) {
        if (child + 1 < s->n_promised && pair_less(s->promised[child + 1], s->promised[child]))
            child++;
        if (!pair_less(s->promised[child], last))
            break;
        s->promised[i] = s->promised[child];
    }
    if (s->n_promised)
        s->promised[i] = last;
}

static unsigned log_of(uint32_t v)
{
    return v ? 32 - (unsigned)__builtin_clz(v) : 0;
}

static uint32_t code(struct graph *s, unsigned what, unsigned mixer, uint64_t c1, uint64_t c2,
                     uint64_t c3, uint64_t c4, uint32_t value)
{
    uint64_t h[5] = {what, bits_hash(what + 16, c1), bits_hash(what + 32, c2),
                     bits_hash(what + 48, c3), bits_hash(what + 64, c4)};
    return bits_number(s->walk->bits, h, 5, mixer, value);
}

/* What is read makes the lists grow, so that a damaged count costs nothing. */
static void append(struct list *l, uint32_t value)
{
    l->v = vec_grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
    l->v[l->n++] = value;
}

struct node {
    uint32_t op, arity, class;
    size_t first; /* of its children in the list */
};

/* One that the children of another are compared with; `before` has the same operator. */
struct base {
    bool there, ordered; /* ordered: in the same class, so that it comes first */
    struct node node;
};

static uint32_t zigzag(uint32_t step)
{
    return step << 1 ^ (step >> 31 ? UINT32_MAX : 0);
}

static uint32_t unzigzag(uint32_t z)
{
    return z >> 1 ^ (z & 1 ? UINT32_MAX : 0);
}

/* The first child that differs from the base's is coded by its step, those after it as they are. */
static uint32_t code_child(struct graph *s, const struct node *node, const struct base *base,
                           bool *same, uint32_t k, uint32_t value)
{
    const uint32_t *all = s->children.v;
    uint32_t parent = node->op * 8 + (k < 3 ? k : 3) * 2 + base->ordered;
    uint32_t earlier = k ? all[node->first + k - 1] : 0;
    if (*same && base->there && k < base->node.arity) {
        uint32_t last = all[base->node.first + k], step = value - last;
        step = code(s, STEP, MIXER_CHILD, parent, bits_hash(parent, log_of(last)),
                    bits_hash(parent, log_of(node->class)), bits_hash(parent, k ? earlier : last),
                    base->ordered ? step : zigzag(step));
        step = base->ordered ? step : unzigzag(step);
        *same = step == 0;
        return last + step;
    }
    return code(s, CHILD, MIXER_CHILD + 2, parent, bits_hash(parent, log_of(node->class)),
                bits_hash(parent, earlier),
                bits_hash(parent, bits_hash(log_of(earlier), log_of(node->class))), value);
}

/* Whether the node is the least that is promised. */
static bool code_promise(struct graph *s, const struct node *node, const struct base *base,
                         const uint32_t *actual)
{
    const uint32_t *before = s->children.v + base->node.first;
    struct pair last = {0, 0};
    if (base->ordered)
        last = (struct pair){before[0], before[1]};
    while (s->n_promised && base->ordered && !pair_less(last, s->promised[0]))
        drop_least(s);
    if (!s->n_promised)
        return false;
    struct pair p = s->promised[0];
    bool is = actual && actual[0] == p.first && actual[1] == p.second;
    uint32_t gap = p.first - last.first;
    uint64_t h[3] = {
        bits_hash(PROMISE, node->op * 2 + s->kept),
        bits_hash(PROMISE + 16, bits_hash(node->op, log_of(gap))),
        bits_hash(PROMISE + 32, bits_hash(node->op, s->n_promised < 8 ? s->n_promised : 8))};
    is = bits_flag(s->walk->bits, h, 3, MIXER_FLAG, is);
    s->kept = is;
    if (is) {
        append(&s->children, p.first);
        append(&s->children, p.second);
        drop_least(s);
    }
    return is;
}

/* `actual` is NULL when reading. */
static void code_children(struct graph *s, const struct node *node, const struct base *base,
                          const uint32_t *actual)
{
    if (node->arity == 2 && base->there && code_promise(s, node, base, actual))
        return;
    bool same = true;
    for (uint32_t k = 0; k < node->arity; k++)
        append(&s->children, code_child(s, node, base, &same, k, actual ? actual[k] : 0));
    const uint32_t *made = s->children.v + node->first;
    if (node->arity == 2 && made[0] < made[1])
        promise(s, (struct pair){made[1], made[0]});
}

/* The next operator plus 1, or 0 for the end of the class. */
static uint32_t code_operator(struct graph *s, const struct node *before, const struct node *first,
                              uint32_t in_class)
{
    const Eqloom__EGraph *from = s->from;
    uint32_t value = 0, last = in_class ? before->op + 1 : 0;
    if (from && s->operators.n < from->class_begin[s->classes.n])
        value = from->node_op[s->operators.n] + 1;
    uint32_t two = in_class > 1 ? s->operators.v[s->operators.n - 2] + 1 : 0;
    uint32_t bucket = in_class < 4 ? in_class : 3 + log_of(in_class);
    return code(s, OPERATOR, MIXER_OPERATOR, last, bits_hash(last, two), bits_hash(last, bucket),
                bits_hash(last, bits_hash(first->op, s->kept)), value);
}

/* False when the class ends. */
static bool code_node(struct graph *s, struct node *before, struct node *first, uint32_t in_class)
{
    uint32_t op = code_operator(s, before, first, in_class);
    if (!op)
        return false;
    const Eqloom__EGraph *from = s->from;
    struct node node = {op - 1, 0, (uint32_t)s->classes.n - 1, s->children.n};
    size_t n = s->operators.n;
    node.arity = code(s, ARITY, MIXER_OPERATOR, node.op, 0, 0, 0,
                      from ? from->child_begin[n + 1] - from->child_begin[n] : 0);
    if (!walk_afford(s->walk, 1, 2 + (size_t)node.arity))
        return false;
    const struct node *like = in_class ? before : first;
    struct base base = {.there = s->operators.n && like->op == node.op && like->arity == node.arity,
                        .node = *like};
    base.ordered = base.there && in_class;
    if (!base.ordered)
        s->n_promised = 0;
    code_children(s, &node, &base, from ? from->child + from->child_begin[n] : NULL);
    append(&s->operators, node.op);
    append(&s->starts, (uint32_t)s->children.n);
    *before = node;
    if (!in_class)
        *first = node;
    return !bits_overrun(s->walk->bits);
}

static void code_nodes(struct graph *s, size_t classes)
{
    struct node before = {0}, first = {0};
    append(&s->classes, 0);
    append(&s->starts, 0);
    for (size_t c = 0; c < classes && !s->walk->bad; c++) {
        uint32_t in_class = 0;
        while (code_node(s, &before, &first, in_class))
            in_class++;
        s->n_promised = 0;
        append(&s->classes, (uint32_t)s->operators.n);
        s->walk->bad = s->walk->bad || bits_overrun(s->walk->bits);
    }
}

static uint64_t hash_text(const char *text)
{
    uint64_t h = 1;
    for (; *text; text++)
        h = bits_hash(h, (uint8_t)*text);
    return h;
}

/* A fact follows mostly from an operator and what is known of its children. Takes the first node of
 * the class whose children come before it. */
static void fact_hints(uint64_t hints[WORDS_HINTS], const struct graph *s, const uint64_t *known,
                       size_t class)
{
    hints[0] = hints[1] = hints[2] = 0;
    for (size_t n = s->classes.v[class]; n < s->classes.v[class + 1]; n++) {
        uint32_t begin = s->starts.v[n], end = s->starts.v[n + 1];
        uint64_t h = s->operators.v[n] + 1, head = 0;
        bool earlier = true;
        for (uint32_t k = begin; k < end; k++) {
            earlier = earlier && s->children.v[k] < class;
            uint64_t of_child = earlier ? known[s->children.v[k]] : 0;
            h = bits_hash(h, of_child);
            head = k == begin ? of_child : head;
        }
        if (n == s->classes.v[class]) {
            hints[1] = bits_hash(s->operators.v[n], head);
            hints[2] = s->operators.v[n] + 1;
        }
        if (earlier) {
            hints[0] = h;
            return;
        }
    }
}

static void code_facts(struct graph *s, char **facts, size_t classes)
{
    struct walk *w = s->walk;
    uint64_t *known = arena_try_alloc(w->arena, classes, sizeof *known);
    uint64_t field = walk_field("facts");
    w->bad = w->bad || !known;
    for (size_t c = 0; c < classes && !w->bad; c++) {
        uint64_t hints[WORDS_HINTS];
        fact_hints(hints, s, known, c);
        walk_text(w, field, hints, &facts[c]);
        known[c] = hash_text(facts[c]);
    }
}

static bool ascends_to(const uint32_t *v, size_t n, size_t end)
{
    for (size_t i = 1; i < n; i++)
        if (v[i] < v[i - 1])
            return false;
    return n && v[0] == 0 && v[n - 1] == end;
}

static bool is_regular(const Eqloom__EGraph *g)
{
    for (size_t i = 0; i < g->n_node_op; i++)
        if (g->node_op[i] == UINT32_MAX)
            return false;
    return ascends_to(g->class_begin, g->n_class_begin, g->n_node_op) &&
           ascends_to(g->child_begin, g->n_child_begin, g->n_child) &&
           g->n_child_begin == g->n_node_op + 1 && g->n_facts == g->n_class_begin - 1 &&
           g->n_class_begin > 1;
}

/* Hands the lists over to the message. */
static void keep(struct arena *a, uint32_t **to, size_t *n, const struct list *l)
{
    *n = l->n;
    *to = l->n ? arena_memdup(a, l->v, l->n * sizeof *l->v) : NULL;
}

bool graph_code(struct walk *w, ProtobufCMessage *message)
{
    Eqloom__EGraph *g = (Eqloom__EGraph *)message;
    bool reading = bits_reading(w->bits);
    uint64_t h = REGULAR;
    if (!bits_flag(w->bits, &h, 1, MIXER_FLAG, !reading && is_regular(g)))
        return false;
    struct graph s = {.walk = w, .from = reading ? NULL : g};
    size_t classes = walk_number(w, CLASSES, 0, 0, 0, (uint32_t)(g->n_class_begin - !reading));
    char **facts = g->facts;
    if (walk_afford(w, classes, 2)) {
        if (reading && !(facts = arena_try_alloc(w->arena, classes, sizeof *facts)))
            w->bad = true;
        code_nodes(&s, classes);
        if (!w->bad)
            code_facts(&s, facts, classes);
    }
    if (reading && !w->bad) {
        keep(w->arena, &g->class_begin, &g->n_class_begin, &s.classes);
        keep(w->arena, &g->node_op, &g->n_node_op, &s.operators);
        keep(w->arena, &g->child_begin, &g->n_child_begin, &s.starts);
        keep(w->arena, &g->child, &g->n_child, &s.children);
        g->facts = facts;
        g->n_facts = classes;
    }
    free(s.classes.v);
    free(s.operators.v);
    free(s.starts.v);
    free(s.children.v);
    free(s.promised);
    return true;
}
