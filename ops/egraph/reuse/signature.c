/* See signature.h. `under` holds bit (operator * arity + argument) * tokens + token; tokens are the
 * operators, then the leaves. While bits are collected, each (operator, argument) has a row of
 * whole words. */
#include "ops/egraph/reuse/signature.h"

#include "ops/egraph/graph/egraph_core.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX

enum { LEAVES_MAX = 128 }; /* in a union; more leaves are not distinguished */

static size_t count_tokens(const Eqloom__SaturationTrace *t)
{
    return t->n_operators + t->n_leaves;
}

/* ---- bits ---- */

static void set_bit(uint64_t *bits, size_t i)
{
    bits[i / 64] |= 1ull << (i % 64);
}

static bool has_bit(const ProtobufCBinaryData *bits, size_t i)
{
    return i / 8 < bits->len && bits->data[i / 8] >> (i % 8) & 1;
}

struct rows {
    size_t n, width, words; /* number of rows; bits per row; words per row */
    uint64_t *bits;
};

static struct rows new_rows(struct arena *a, size_t n, size_t width)
{
    struct rows r = {n, width, width / 64 + 1, NULL};
    r.bits = arena_array(a, uint64_t, n * r.words + 1);
    return r;
}

static ProtobufCBinaryData pack_rows(struct arena *a, const struct rows *r)
{
    ProtobufCBinaryData out = {.len = (r->n * r->width + 7) / 8};
    out.data = arena_alloc(a, out.len + 1);
    memset(out.data, 0, out.len + 1);
    for (size_t i = 0; i < r->n; i++)
        for (size_t w = 0; w < r->words; w++)
            for (uint64_t bits = r->bits[i * r->words + w]; bits; bits &= bits - 1) {
                size_t at = i * r->width + 64 * w + (size_t)__builtin_ctzll(bits);
                out.data[at / 8] |= (uint8_t)(1 << (at % 8));
            }
    return out;
}

/* ---- of a run ---- */

struct signing {
    struct egraph *g;
    uint32_t searched; /* later nodes count only if they are leaves */
    uint32_t roots;    /* later nodes do not count as roots */
    uint32_t *token;   /* by operator, then by leaf; NOWHERE: not in the graph */
    struct rows in;    /* by class: the tokens of its nodes */
};

static uint32_t *token_of(struct signing *s, uint32_t node)
{
    uint32_t op = graph_op(s->g, node);
    return &s->token[op & OP_LEAF ? s->g->lang->n_ops + (op & ~OP_LEAF) : op];
}

/* A search reads no node from `searched` on, but sees all leaves, including new ones. Dead nodes
 * count, since earlier searches could see them. */
static bool is_node(const struct signing *s, uint32_t cell)
{
    return cell < s->searched || s->g->cells[cell].op & OP_LEAF;
}

static void name_tokens(Eqloom__SaturationTrace *t, struct arena *a, struct signing *s)
{
    struct egraph *g = s->g;
    size_t n_ops = g->lang->n_ops, n = n_ops + g->n_leaves;
    s->token = arena_array(a, uint32_t, n + 1);
    memset(s->token, 0xff, (n + 1) * sizeof *s->token);
    for (uint32_t i = 0; i < g->n_cells; i++)
        if (is_node(s, i))
            *token_of(s, i) = 0;
    t->operators = arena_array(a, char *, n_ops);
    t->leaves = arena_array(a, char *, g->n_leaves);
    for (size_t i = 0; i < n; i++) {
        if (s->token[i] == NOWHERE)
            continue;
        s->token[i] = (uint32_t)count_tokens(t);
        if (i >= n_ops) {
            t->leaves[t->n_leaves++] = g->leaves[i - n_ops].text;
            continue;
        }
        t->operators[t->n_operators++] = (char *)g->lang->ops[i].name;
        if (g->lang->ops[i].arity > t->arity)
            t->arity = g->lang->ops[i].arity;
    }
}

static ProtobufCBinaryData write_under(const Eqloom__SaturationTrace *t, struct arena *a,
                                       struct signing *s, uint32_t until)
{
    struct egraph *g = s->g;
    struct rows under = new_rows(a, t->n_operators * t->arity, count_tokens(t));
    for (uint32_t n = 0; n < until; n++) {
        if (!is_node(s, n))
            continue;
        uint64_t *to = under.bits + *token_of(s, n) * t->arity * under.words;
        for (uint32_t k = 0; k < graph_arity(g, graph_op(g, n)); k++, to += under.words) {
            const uint64_t *from = s->in.bits + graph_find(g, *graph_kid(g, n, k)) * s->in.words;
            for (size_t w = 0; w < under.words; w++)
                to[w] |= from[w];
        }
    }
    return pack_rows(a, &under);
}

void signature_write(Eqloom__SaturationTrace *t, struct arena *a,
                     const struct saturate_result *result, struct egraph *g)
{
    struct signing s = {.g = g, .searched = result->searched, .roots = result->roots};
    name_tokens(t, a, &s);
    s.in = new_rows(a, g->n_cells, count_tokens(t));
    for (uint32_t n = 0; n < g->n_cells; n++)
        if (is_node(&s, n))
            set_bit(s.in.bits + graph_find(g, n) * s.in.words, *token_of(&s, n));
    t->under = write_under(t, a, &s, s.searched);
    t->under_root = write_under(t, a, &s, s.roots);
    struct rows root = new_rows(a, 1, count_tokens(t));
    for (uint32_t n = 0; n < g->n_cells; n++)
        if (is_node(&s, n) && (n < s.roots || g->cells[n].op & OP_LEAF))
            set_bit(root.bits, *token_of(&s, n));
    t->root = pack_rows(a, &root);
}

/* ---- of many ---- */

static size_t find_name(char *const *names, size_t n, const char *name)
{
    char **at = bsearch(&name, names, n, sizeof *names, text_compare);
    return (size_t)(at - names); /* the name is present */
}

/* Sorts the names and removes duplicates. */
static size_t unite_names(char ***out, struct arena *a,
                          const Eqloom__SaturationTrace *const *traces, size_t n, bool leaves)
{
    size_t total = 0, kept = 0;
    for (size_t i = 0; i < n; i++)
        total += leaves ? traces[i]->n_leaves : traces[i]->n_operators;
    char **names = arena_array(a, char *, total + 1);
    total = 0;
    for (size_t i = 0; i < n; i++) {
        size_t count = leaves ? traces[i]->n_leaves : traces[i]->n_operators;
        if (count)
            memcpy(names + total, leaves ? traces[i]->leaves : traces[i]->operators,
                   count * sizeof *names);
        total += count;
    }
    qsort(names, total, sizeof *names, text_compare);
    for (size_t i = 0; i < total; i++)
        if (i == 0 || strcmp(names[i], names[kept - 1]) != 0)
            names[kept++] = names[i];
    *out = names;
    return kept;
}

static void add_row(uint64_t *to, const ProtobufCBinaryData *from, size_t row, size_t tokens,
                    const uint32_t *token)
{
    for (size_t i = row * tokens, end = i + tokens; i < end; i++)
        if (i % 8 == 0 && i / 8 < from->len && !from->data[i / 8])
            i += 7;
        else if (has_bit(from, i) && token[i - row * tokens] != NOWHERE)
            set_bit(to, token[i - row * tokens]);
}

void signature_unite(Eqloom__SaturationTrace *out, struct arena *a,
                     const Eqloom__SaturationTrace *const *traces, size_t n)
{
    out->n_operators = unite_names(&out->operators, a, traces, n, false);
    out->n_leaves = unite_names(&out->leaves, a, traces, n, true);
    out->any_leaf = out->n_leaves > LEAVES_MAX;
    for (size_t i = 0; i < n; i++) {
        out->any_leaf |= traces[i]->any_leaf;
        if (traces[i]->arity > out->arity)
            out->arity = traces[i]->arity;
    }
    if (out->any_leaf)
        out->n_leaves = 0;
    size_t tokens = count_tokens(out);
    struct rows under = new_rows(a, out->n_operators * out->arity, tokens);
    struct rows under_root = new_rows(a, under.n, tokens), root = new_rows(a, 1, tokens);
    for (size_t i = 0; i < n; i++) {
        const Eqloom__SaturationTrace *t = traces[i];
        uint32_t *token = arena_array(a, uint32_t, count_tokens(t) + 1);
        for (size_t k = 0; k < t->n_operators; k++)
            token[k] = (uint32_t)find_name(out->operators, out->n_operators, t->operators[k]);
        for (size_t k = 0; k < t->n_leaves; k++)
            token[t->n_operators + k] =
                out->any_leaf ? NOWHERE
                              : (uint32_t)(out->n_operators +
                                           find_name(out->leaves, out->n_leaves, t->leaves[k]));
        for (size_t row = 0; row < t->n_operators * t->arity; row++) {
            size_t to = (token[row / t->arity] * out->arity + row % t->arity) * under.words;
            add_row(under.bits + to, &t->under, row, count_tokens(t), token);
            add_row(under_root.bits + to, &t->under_root, row, count_tokens(t), token);
        }
        add_row(root.bits, &t->root, 0, count_tokens(t), token);
    }
    out->under = pack_rows(a, &under);
    out->under_root = pack_rows(a, &under_root);
    out->root = pack_rows(a, &root);
}

/* ---- matching patterns ---- */

/* Finds the token of a pattern's node. *any: the node matches any token. Returns false if the token
 * occurs nowhere. */
static bool find_place(bool *any, size_t *token, const Eqloom__SaturationTrace *t,
                       const struct language *lang, const struct expr_node *node)
{
    char **table = node->leaf ? t->leaves : t->operators;
    size_t n = node->leaf ? t->n_leaves : t->n_operators, i = 0;
    *token = 0;
    *any = node->op == X_VAR || (node->leaf && t->any_leaf);
    if (*any)
        return true;
    const char *name = node->leaf ? node->leaf : lang->ops[node->op].name;
    while (i < n && strcmp(table[i], name) != 0)
        i++;
    *token = node->leaf ? t->n_operators + i : i;
    return i < n;
}

bool signature_may_match(const Eqloom__SaturationTrace *t, const struct expr *x)
{
    size_t tokens = count_tokens(t), op, token;
    bool any;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expr_node *node = &x->nodes[i];
        const ProtobufCBinaryData *under = i == 0 ? &t->under_root : &t->under;
        if (!find_place(&any, &op, t, x->lang, node) || (i == 0 && !any && !has_bit(&t->root, op)))
            return false;
        uint32_t at = i + 1;
        for (uint32_t k = 0; k < node->arity; at += x->nodes[at].size, k++)
            if (!find_place(&any, &token, t, x->lang, &x->nodes[at]) ||
                (!any && (k >= t->arity || !has_bit(under, (op * t->arity + k) * tokens + token))))
                return false;
    }
    return true;
}
