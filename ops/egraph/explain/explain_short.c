/* Making a proof shorter. A path through the proof graph is short by an estimate, and what an edge
 * needs is proved by earlier edges only; but any two terms of a finished proof may be connected
 * anew, with all edges, where they differ. That is tried for all pairs that are not far apart,
 * until nothing gets shorter or the tries are spent. Short proofs are then searched for among the
 * terms themselves (explain_search.c). */
#include "ops/egraph/explain/explanation.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TRIES = 3000, MAX_SPAN = 40, WINDOW = 6, MAX_SEARCHES = 60 };

struct shortener {
    struct explainer *x;
    struct arena *a;
    const struct expr *from;
    struct explain_step *steps;
    size_t n;
    int tries;
};

/* Term 0 is where the proof begins, term k what step k made. */
static const struct expr *term_at(const struct shortener *s, size_t k)
{
    return k ? &s->steps[k - 1].term : s->from;
}

/* Puts steps in the place of those from `begin` to `end`. */
static void splice(struct shortener *s, size_t begin, size_t end, const struct explain_step *steps,
                   size_t n)
{
    size_t tail = s->n - end;
    struct explain_step *all = arena_array(s->a, struct explain_step, begin + n + tail + 1);
    memcpy(all, s->steps, begin * sizeof *all);
    if (n)
        memcpy(all + begin, steps, n * sizeof *all);
    memcpy(all + begin + n, s->steps + end, tail * sizeof *all);
    s->steps = all;
    s->n = begin + n + tail;
}

/* The deepest position below which all differences of two terms lie. */
static uint32_t common_position(const struct expr *x, const struct expr *y)
{
    uint32_t position = 0;
    for (;;) {
        const struct expr_node *a = &x->nodes[position], *b = &y->nodes[position];
        if (a->leaf || b->leaf || a->op != b->op || a->arity != b->arity)
            return position;
        uint32_t p = position + 1, q = p, differ = 0, next = 0;
        for (uint32_t i = 0; i < a->arity; i++) {
            struct expr u = expr_sub(x, p), v = expr_sub(y, q);
            if (!expr_equal(&u, &v)) {
                differ++;
                next = p; /* the arguments before it are equal, so p is q */
            }
            p += u.n;
            q += v.n;
        }
        if (differ != 1)
            return position;
        position = next;
    }
}

/* `whole` with `part` at a position. */
static struct expr embed(struct arena *a, const struct expr *whole, uint32_t position,
                         const struct expr *part)
{
    uint32_t old = whole->nodes[position].size, n = whole->n - old + part->n;
    struct expr_node *nodes = arena_array(a, struct expr_node, n);
    memcpy(nodes, whole->nodes, position * sizeof *nodes);
    memcpy(nodes + position, part->nodes, part->n * sizeof *nodes);
    memcpy(nodes + position + part->n, whole->nodes + position + old,
           (whole->n - position - old) * sizeof *nodes);
    for (uint32_t i = 0; i < position; i++)
        if (i + nodes[i].size > position)
            nodes[i].size = nodes[i].size - old + part->n;
    return (struct expr){whole->lang, nodes, n};
}

/* Takes a proof of the subterms at a position for what changes there from `begin` to `end`. */
static void replace(struct shortener *s, size_t begin, size_t end, struct explanation *p,
                    uint32_t position)
{
    const struct expr *x = term_at(s, begin);
    for (size_t i = 0; i < p->n; i++) {
        p->steps[i].term = embed(s->a, x, position, &p->steps[i].term);
        p->steps[i].position += position;
    }
    splice(s, begin, end, p->steps, p->n);
}

static bool shorten_between(struct shortener *s, size_t begin, size_t end)
{
    const struct expr *x = term_at(s, begin), *y = term_at(s, end);
    if (expr_equal(x, y)) {
        splice(s, begin, end, NULL, 0);
        return true;
    }
    if (end - begin < 2)
        return false;
    s->tries++;
    uint32_t position = common_position(x, y);
    struct expr u = expr_sub(x, position), v = expr_sub(y, position);
    struct explanation p;
    struct err e = {0};
    struct arena_mark mark = arena_mark(s->a);
    if (explainer_connect(&p, s->x, &u, &v, &e) || p.n >= end - begin) {
        /* Thousands of tries leave a gigabyte of terms otherwise. */
        arena_release(s->a, mark);
        return false;
    }
    replace(s, begin, end, &p, position);
    return true;
}

static void shorten(struct shortener *s)
{
    for (size_t begin = 0; begin < s->n && s->tries < MAX_TRIES;) {
        size_t end = begin + MAX_SPAN < s->n ? begin + MAX_SPAN : s->n;
        while (end > begin && !shorten_between(s, begin, end))
            end--;
        if (end == begin)
            begin++;
    }
}

enum err_code egraph_explain(struct explanation *out, struct arena *a, struct egraph *g,
                             const struct ruleset *rules, const struct expr *from,
                             const struct expr *to, struct err *e)
{
    *out = (struct explanation){0};
    if (!g->proofs)
        return err_fail(e, ERR_INPUT, "this e-graph keeps no proofs");
    struct shortener s = {.x = explainer_new(a, g, rules), .a = a, .from = from};
    struct explanation p;
    enum err_code code = err_up(e, explainer_connect(&p, s.x, from, to, e));
    if (!code) {
        s.steps = p.steps;
        s.n = p.n;
        size_t before;
        do {
            before = s.n;
            shorten(&s);
        } while (s.n < before && s.tries < MAX_TRIES);
        *out = (struct explanation){.steps = s.steps, .n = s.n};
        explain_search(out, a, g, rules, from, to);
    }
    explainer_free(s.x);
    return code;
}

/* A shortest proof of what so many steps do, where one is found. */
static bool search_between(struct shortener *s, struct egraph *g, const struct ruleset *rules,
                           size_t begin, size_t end)
{
    const struct expr *x = term_at(s, begin), *y = term_at(s, end);
    uint32_t position = common_position(x, y);
    struct expr u = expr_sub(x, position), v = expr_sub(y, position);
    struct explanation p = {.n = end - begin};
    struct arena_mark mark = arena_mark(s->a);
    explain_search(&p, s->a, g, rules, &u, &v);
    if (p.n == end - begin) {
        arena_release(s->a, mark);
        return false;
    }
    replace(s, begin, end, &p, position);
    return true;
}

void explanation_tighten(struct explanation *p, struct arena *a, struct egraph *g,
                         const struct ruleset *rules, const struct expr *from)
{
    struct shortener s = {.a = a, .from = from, .steps = p->steps, .n = p->n};
    int searches = 0;
    for (size_t begin = 0; !p->shortest && begin + 2 < s.n && searches < MAX_SEARCHES; searches++) {
        size_t end = begin + WINDOW < s.n ? begin + WINDOW : s.n;
        if (search_between(&s, g, rules, begin, end))
            begin = begin < WINDOW ? 0 : begin - WINDOW + 1;
        else
            begin++;
    }
    p->steps = s.steps;
    p->n = s.n;
}
