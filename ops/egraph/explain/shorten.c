/* Shortens an explanation. The path through the proof forest is unique, so it makes detours. Steps
 * between two equal terms are cut out. Then a shortest derivation is searched for among the terms
 * of the e-graph: first between the ends of every few steps, then between those of the whole
 * explanation. */
#include "ops/egraph/explain/explanation.h"
#include "ops/egraph/graph/egraph_core.h"
#include "ops/expr/normal/normal.h"

#include <string.h>

enum { WINDOW = 7, MAX_TERMS = 60000, MAX_WINDOW_TERMS = 8000, MAX_SEARCHES = 1000 };

struct shortener {
    struct arena *a;
    struct egraph *g;
    const struct ruleset *rules;
    const struct expr *from;
    struct explain_step *steps;
    size_t n;
};

/* Term 0 is the first one, term k the result of step k - 1. */
static const struct expr *term_at(const struct shortener *s, size_t k)
{
    return k ? &s->steps[k - 1].term : s->from;
}

/* Replaces the steps from `begin` to `end`. */
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

static void cut_loops(struct shortener *s)
{
    for (size_t begin = 0; begin < s->n; begin++) {
        size_t end = s->n;
        while (end > begin && !expr_equal(term_at(s, begin), term_at(s, end)))
            end--;
        if (end > begin)
            splice(s, begin, end, NULL, 0);
    }
}

/* Returns the deepest position that contains all differences of the two terms. */
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

/* Returns `whole` with the subterm at a position replaced by `part`. */
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

/* Searches for a shorter derivation of the result of the steps from `begin` to `end`. */
static bool search_between(struct shortener *s, size_t begin, size_t end)
{
    const struct expr *x = term_at(s, begin), *y = term_at(s, end);
    uint32_t position = common_position(x, y);
    struct expr u = expr_sub(x, position), v = expr_sub(y, position);
    struct explanation p = {.n = end - begin};
    struct arena_mark mark = arena_mark(s->a);
    explanation_search(&p, s->a, s->g, s->rules, &u, &v, MAX_WINDOW_TERMS);
    if (p.n == end - begin) {
        arena_release(s->a, mark);
        return false;
    }
    for (size_t i = 0; i < p.n; i++) {
        p.steps[i].term = embed(s->a, x, position, &p.steps[i].term);
        p.steps[i].position += position;
    }
    splice(s, begin, end, p.steps, p.n);
    return true;
}

static bool is_form(const struct explain_step *s)
{
    return normal_way_number(s->rule) < NORMAL_WAYS;
}

/* Lets a step by a normal form replace as many steps around it as it can. */
static void absorb_neighbours(struct shortener *s)
{
    for (size_t i = 0; i < s->n; i++) {
        size_t begin = i, end = i + 1, tries = 0;
        const char *way = s->steps[i].rule, *last = way;
        if (!is_form(&s->steps[i]))
            continue;
        for (size_t k = s->n; k > end && tries++ < WINDOW; k--)
            if (normal_equal(&last, term_at(s, begin), term_at(s, k), s->g->domains,
                             s->g->n_domains)) {
                way = last;
                end = k;
            }
        for (size_t k = tries = 0; k < begin && tries++ < WINDOW; k++)
            if (normal_equal(&last, term_at(s, k), term_at(s, end), s->g->domains,
                             s->g->n_domains)) {
                way = last;
                begin = k;
            }
        if (end - begin == 1)
            continue;
        const struct expr *x = term_at(s, begin), *y = term_at(s, end);
        uint32_t position = common_position(x, y);
        struct expr u = expr_sub(x, position), v = expr_sub(y, position);
        if (normal_equal(&last, &u, &v, s->g->domains, s->g->n_domains))
            way = last;
        else
            position = 0; /* |x| = |-x| */
        struct explain_step step = {.rule = way, .position = position, .term = *y};
        splice(s, begin, end, &step, 1);
        i = begin;
    }
}

enum err_code egraph_explain(struct explanation *out, struct arena *a, struct egraph *g,
                             const struct ruleset *rules, const struct expr *from,
                             const struct expr *to, struct err *e)
{
    enum err_code code = explanation_connect(out, a, g, rules, from, to, e);
    if (code)
        return err_up(e, code);
    struct shortener s = {a, g, rules, from, out->steps, out->n};
    cut_loops(&s);
    for (size_t begin = 0, i = 0; begin + 2 < s.n && i < MAX_SEARCHES; i++) {
        size_t end = begin + WINDOW < s.n ? begin + WINDOW : s.n;
        if (search_between(&s, begin, end))
            begin = begin < WINDOW ? 0 : begin - WINDOW + 1;
        else
            begin++;
    }
    absorb_neighbours(&s);
    *out = (struct explanation){
        .steps = s.steps, .n = s.n, .domains = g->domains, .n_domains = g->n_domains};
    explanation_search(out, a, g, rules, from, to, MAX_TERMS);
    for (size_t i = 0; i < out->n; i++) /* do not search for steps that normal forms can do */
        out->shortest = out->shortest && !is_form(&out->steps[i]);
    return OK;
}

void explanation_write(struct buf *out, struct arena *a, const struct explanation *x,
                       expr_printer *show, const char *indent, size_t mark)
{
    for (size_t i = 0; i < x->n; i++) {
        const struct explain_step *s = &x->steps[i];
        size_t n;
        bool other = rule_is_reverse(&n, s->rule);
        buf_printf(out, "%s%s = %s   [%.*s%s]%s\n", indent, i == mark ? "?" : " ",
                   show(a, &s->term), (int)n, s->rule, s->backwards != other ? ", backwards" : "",
                   i == mark ? "   false" : "");
    }
}
