/* See extract_reads.h. Lengths below LENGTHS are bits of a word; at longer ones everything that the
 * grammar has counts as reached, which is more than is read, and so safe. */
#include "ops/egraph/extract_reads.h"

#include "base/buf.h"
#include "ops/egraph/extract_draw.h"

#include <string.h>

enum { LENGTHS = 64 };
typedef uint64_t lengths_t;
#define LENGTH(n) ((lengths_t)1 << (n))

struct reads {
    const struct grammar *g;
    lengths_t *has, *mirror; /* by slot: lengths with terms; the same from the other end */
    lengths_t *reached;      /* by slot */
    uint32_t *open, n_open;  /* slots reached */
    bool *used;              /* by e-node: some term has it */
    uint32_t *number, *classes, n_classes; /* in the order in which they are met */
    struct buf out;
};

static const count_t *row_of(const struct grammar *g, uint32_t class, uint32_t length)
{
    uint32_t n = g->alt_begin[class + 1] - g->alt_begin[class];
    return g->counts + g->alt_counts[class] + (size_t)(length - 1) * n;
}

/* ---- what is reached ---- */

static void find_lengths(struct reads *r)
{
    const struct grammar *g = r->g;
    for (uint32_t s = 0; s < g->n_slots; s++)
        for (uint32_t length = 1; length <= g->max_tokens; length++)
            if (grammar_total(g, s, length)) {
                r->has[s] |= LENGTH(length);
                r->mirror[s] |= LENGTH(LENGTHS - 1 - length);
            }
}

static void reach(struct reads *r, uint32_t slot, lengths_t lengths)
{
    if (!r->reached[slot] && lengths)
        r->open[r->n_open++] = slot;
    r->reached[slot] |= lengths;
}

static void reach_operands(struct reads *r, const struct grammar_alt *alt, uint32_t length)
{
    const struct grammar_node *node = &r->g->nodes[alt->node];
    uint32_t rest = length - node->tokens, left = alt->slot[0], right = alt->slot[1];
    if (node->arity == 1)
        reach(r, left, LENGTH(rest));
    if (node->arity != 2)
        return;
    uint32_t turn = LENGTHS - 1 - rest; /* length n of one side is rest - n of the other */
    reach(r, left, r->has[left] & (r->mirror[right] >> turn));
    reach(r, right, r->has[right] & (r->mirror[left] >> turn));
}

/* Operands are shorter, so the slots of a length are all known when it is its turn. */
static void find_reached(struct reads *r)
{
    const struct grammar *g = r->g;
    reach(r, g->root, r->has[g->root]);
    for (uint32_t length = g->max_tokens; length > 0; length--)
        for (uint32_t i = 0, n = r->n_open; i < n; i++) {
            const struct grammar_slot *s = &g->slots[r->open[i]];
            if (!(r->reached[r->open[i]] & LENGTH(length)))
                continue;
            const count_t *row = row_of(g, s->class, length);
            for (uint32_t k = g->alt_begin[s->class]; k < g->alt_begin[s->class + 1]; k++) {
                if (!row[k - g->alt_begin[s->class]] || !grammar_alt_in_slot(s, &g->alts[k]))
                    continue;
                r->used[g->alts[k].node] = true;
                reach_operands(r, &g->alts[k], length);
            }
        }
}

static void reach_all(struct reads *r)
{
    for (uint32_t k = 0; k < r->g->n_alts; k++)
        r->used[r->g->alts[k].node] = true;
}

/* ---- the bytes ---- */

static void put_number(struct buf *b, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        buf_putc(b, (char)(n | 0x80));
    buf_putc(b, (char)n);
}

static void put_text(struct buf *b, const char *text)
{
    size_t n = strlen(text);
    put_number(b, n);
    buf_add(b, text, n);
}

static void put_seed(struct buf *b, const Eqloom__EGraph *m)
{
    put_text(b, m->seed->language);
    put_text(b, m->seed->prefix);
    put_number(b, m->seed->n_variables);
    for (size_t i = 0; i < m->seed->n_variables; i++) {
        put_text(b, m->seed->variables[i]->name);
        put_text(b, m->seed->variables[i]->domain);
    }
    put_number(b, m->unsound);
}

static uint32_t meet(struct reads *r, uint32_t class)
{
    if (r->number[class] == GRAMMAR_NONE) {
        r->number[class] = r->n_classes;
        r->classes[r->n_classes++] = class;
    }
    return r->number[class];
}

static void put_node(struct reads *r, const struct grammar_node *node)
{
    put_text(&r->out, node->text);
    put_number(&r->out, node->op >= DRAW_OPS - 1);
    put_number(&r->out, node->arity);
    for (uint32_t k = 0; k < node->arity; k++)
        put_number(&r->out, meet(r, node->child[k]));
}

static void put_class(struct reads *r, uint32_t class)
{
    const struct grammar *g = r->g;
    uint64_t n = 0;
    for (uint32_t i = g->class_begin[class]; i < g->class_begin[class + 1]; i++)
        n += r->used[i];
    put_number(&r->out, n);
    for (uint32_t i = g->class_begin[class]; i < g->class_begin[class + 1]; i++)
        if (r->used[i])
            put_node(r, &g->nodes[i]);
}

struct span extract_reads(struct arena *a, const struct grammar *g, const Eqloom__EGraph *egraph)
{
    struct reads r = {.g = g,
                      .has = arena_array(a, lengths_t, g->n_slots),
                      .mirror = arena_array(a, lengths_t, g->n_slots),
                      .reached = arena_array(a, lengths_t, g->n_slots),
                      .open = arena_array(a, uint32_t, g->n_slots),
                      .used = arena_array(a, bool, g->n_nodes),
                      .number = arena_array(a, uint32_t, g->n_classes),
                      .classes = arena_array(a, uint32_t, g->n_classes)};
    memset(r.number, 0xff, g->n_classes * sizeof *r.number);
    put_seed(&r.out, egraph);
    put_number(&r.out, g->saturated); /* of any count, so that lower bounds are said to be such */
    if (g->root != GRAMMAR_NONE && g->max_tokens < LENGTHS) {
        find_lengths(&r);
        find_reached(&r);
    } else if (g->root != GRAMMAR_NONE) {
        reach_all(&r);
    }
    meet(&r, g->root_class);
    for (uint32_t i = 0; i < r.n_classes; i++)
        put_class(&r, r.classes[i]);
    struct span bytes = span_of(arena_memdup(a, r.out.data, r.out.len), r.out.len);
    buf_free(&r.out);
    return bytes;
}
