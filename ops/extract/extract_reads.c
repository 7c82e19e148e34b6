/* See extract_reads.h. Reached pairs are tracked by class, not by slot: an e-node is used if it has
 * terms of a length at which its class is reached, whatever kinds are allowed there. Lengths are
 * bits of a word; if terms may be longer, the whole grammar is used. Either way the result covers
 * everything that draws read, which is what the argument needs. */
#include "ops/extract/extract_reads.h"

#include "base/buf.h"
#include "ops/extract/extract_draw.h"

#include <string.h>

enum { LENGTHS = 64 };
typedef uint64_t lengths_t;
#define LENGTH(n) ((lengths_t)1 << (n))

struct reads {
    const struct grammar *g;
    lengths_t *mirror;            /* by slot: the lengths of its terms, with the bits reversed */
    lengths_t *reached;           /* by class */
    bool *used;                   /* by e-node */
    uint32_t *number;             /* by class: in the order of the walk */
    uint32_t *classes, n_classes; /* classes met on the walk, or reached */
    struct buf out;
};

/* ---- what is used ---- */

static lengths_t mirrored(lengths_t x)
{
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(x);
}

static void reach(struct reads *r, uint32_t class, lengths_t lengths)
{
    if (!r->reached[class])
        r->classes[r->n_classes++] = class;
    r->reached[class] |= lengths;
}

/* Returns whether the alternative has terms of the length; marks the lengths of their operands as
 * reached. */
static bool reach_operands(struct reads *r, const struct grammar_alt *alt, uint32_t length)
{
    const struct grammar_node *node = &r->g->nodes[alt->node];
    if (node->arity == 0)
        return length == node->tokens;
    uint32_t rest = length - node->tokens;
    const struct grammar_slot *left = &r->g->slots[alt->slot[0]];
    lengths_t of_left = LENGTH(rest) & left->lengths;
    if (node->arity == 2) {
        const struct grammar_slot *right = &r->g->slots[alt->slot[1]];
        uint32_t turn = LENGTHS - 1 - rest; /* length n of one side: rest - n of the other */
        of_left = left->lengths & r->mirror[alt->slot[1]] >> turn;
        if (of_left)
            reach(r, alt->child[1], right->lengths & r->mirror[alt->slot[0]] >> turn);
    }
    if (of_left)
        reach(r, alt->child[0], of_left);
    return of_left != 0;
}

/* Operands are shorter, so going down in length finds all classes reached at a length before they
 * are processed. */
static void find_used(struct reads *r)
{
    const struct grammar *g = r->g;
    for (uint32_t s = 0; s < g->n_slots; s++)
        r->mirror[s] = mirrored(g->slots[s].lengths);
    reach(r, g->root_class, g->slots[g->root].lengths);
    for (uint32_t length = g->max_tokens; length > 0; length--)
        for (uint32_t i = 0, n = r->n_classes; i < n; i++) {
            uint32_t c = r->classes[i];
            for (uint32_t k = g->alt_begin[c];
                 r->reached[c] & LENGTH(length) && k < g->alt_begin[c + 1]; k++)
                r->used[g->alts[k].node] |= reach_operands(r, &g->alts[k], length);
        }
    r->n_classes = 0;
}

static void use_all(struct reads *r)
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
        put_text(b, m->seed->variables[i]->low);
        put_text(b, m->seed->variables[i]->high);
    }
    put_number(b, m->seed->real_values);
    put_number(b, m->basis);
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
    /* besides the name: whether it is among the operators that draws count as one, or has no
     * operands */
    put_number(&r->out, node->op >= DRAW_OPS - 1                ? 1
                        : node->arity == 0 && node->op >= X_ADD ? 2
                                                                : 0);
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
                      .mirror = arena_array(a, lengths_t, g->n_slots),
                      .reached = arena_array(a, lengths_t, g->n_classes),
                      .used = arena_array(a, bool, g->n_nodes),
                      .number = arena_array(a, uint32_t, g->n_classes),
                      .classes = arena_array(a, uint32_t, g->n_classes)};
    memset(r.number, 0xff, g->n_classes * sizeof *r.number);
    put_seed(&r.out, egraph);
    put_number(&r.out, g->saturated); /* of any count, so that lower bounds are marked as such */
    if (g->root != GRAMMAR_NONE && g->max_tokens < LENGTHS)
        find_used(&r);
    else if (g->root != GRAMMAR_NONE)
        use_all(&r);
    meet(&r, g->root_class);
    for (uint32_t i = 0; i < r.n_classes; i++)
        put_class(&r, r.classes[i]);
    struct span bytes = span_of(arena_memdup(a, r.out.data, r.out.len), r.out.len);
    buf_free(&r.out);
    return bytes;
}
