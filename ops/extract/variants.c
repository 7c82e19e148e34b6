#include "ops/extract/variants.h"

#include "base/buf.h"
#include "base/map.h"
#include "ops/expr/edit_distance.h"
#include "ops/expr/equality/equality.h"
#include "ops/extract/extract_grammar.h"

#include <stdlib.h>
#include <string.h>

enum {
    RANKS = 2000, /* terms of one length that are looked at */
    POOL = 300,   /* forms among which the most different ones are chosen */
    POINTS = 8
};
#define SELF UINT64_MAX /* in place of a form: the expression itself */

struct search {
    struct arena *a;
    const struct expr *x;
    const struct language *lang; /* of the e-graph's terms */
    struct equality_test test;
    struct name_map seen;
    struct expr *found;
    uint32_t n, most;
};

/* ---- one text for all orders, groupings and places of signs ---- */

struct chain {
    struct arena *a;
    const struct expr *x;
    bool sum;
    bool negative; /* of a product */
    char **texts;
    size_t n, cap;
};

static char *canonical(bool *negative, struct arena *a, const struct expr *x, uint32_t at);

static char *with_sign(struct arena *a, bool negative, char *text)
{
    return negative ? arena_printf(a, "-%s", text) : text;
}

static void collect(struct chain *c, uint32_t at, bool negative)
{
    const struct expr_node *nodes = c->x->nodes;
    uint16_t op = nodes[at].op;
    if (c->sum ? op == X_ADD || op == X_SUB : op == X_MUL) {
        collect(c, at + 1, negative);
        collect(c, at + 1 + nodes[at + 1].size, negative != (op == X_SUB));
        return;
    }
    bool minus;
    char *text = canonical(&minus, c->a, c->x, at);
    c->negative ^= minus;
    if (!c->sum && strcmp(text, "1") == 0)
        return;
    c->texts = vec_grow(c->texts, &c->cap, c->n + 1, sizeof *c->texts);
    c->texts[c->n++] = c->sum ? with_sign(c->a, minus != negative, text) : text;
}

static char *canonical(bool *negative, struct arena *a, const struct expr *x, uint32_t at)
{
    const struct expr_node *node = &x->nodes[at];
    const struct op_info *op = &x->lang->ops[node->op];
    struct chain c = {.a = a, .x = x, .sum = node->op == X_ADD || node->op == X_SUB};
    *negative = node->leaf && node->leaf[0] == '-';
    if (node->leaf)
        return arena_strdup(a, node->leaf + *negative);
    if (c.sum || node->op == X_MUL) {
        collect(&c, at, false);
        qsort(c.texts, c.n, sizeof *c.texts, text_compare);
        *negative = !c.sum && c.negative;
    } else {
        c.texts = vec_grow(NULL, &c.cap, op->arity, sizeof *c.texts);
        for (uint32_t child = at + 1; c.n < op->arity; child += x->nodes[child].size) {
            bool minus;
            char *text = canonical(&minus, a, x, child);
            c.texts[c.n++] = with_sign(a, minus && node->op != X_DIV, text);
            *negative ^= minus && node->op == X_DIV;
        }
        if (op->commutative)
            qsort(c.texts, c.n, sizeof *c.texts, text_compare);
    }
    struct buf b = {0};
    bool alone = c.n == 1 && node->op == X_MUL; /* -1*x is x with a sign */
    if (!alone)
        buf_printf(&b, "(%s", c.sum ? "+" : op->name);
    for (size_t i = 0; i < c.n; i++)
        buf_printf(&b, alone ? "%s" : " %s", c.texts[i]);
    if (!alone)
        buf_putc(&b, ')');
    free(c.texts);
    return buf_text(&b, a);
}

static char *canonical_text(struct arena *a, const struct expr *x)
{
    bool negative;
    char *text = canonical(&negative, a, x, 0);
    return with_sign(a, negative, text);
}

/* ---- candidates ---- */

static unsigned count_signs(const struct expr *x)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < x->n; i++)
        n += x->nodes[i].leaf && x->nodes[i].leaf[0] == '-';
    return n;
}

/* Of forms that count as one, the first of the fewest negative numbers among the shortest is kept.
 * `room`: whether a new form is wanted. */
static enum err_code add(struct search *s, const struct grammar *g, const struct term *t, bool room,
                         struct err *e)
{
    struct expr y;
    const char *witness;
    char *text = grammar_term_text(s->a, g, t);
    enum err_code code = expr_from_prefix(&y, s->a, s->lang, text, e);
    if (code)
        return err_up(e, code);
    const char *name = canonical_text(s->a, &y);
    const uint64_t *index = name_map_get(&s->seen, name);
    struct expr *before = index && *index != SELF ? &s->found[*index] : NULL;
    bool better =
        before && expr_tokens(&y) == expr_tokens(before) && count_signs(&y) < count_signs(before);
    if (index ? !better : !room)
        return OK;
    enum equality equal = expr_is_interpreted(&y) ? equality_test_ask(&witness, s->a, &s->test, &y)
                                                  : EQUALITY_UNDECIDED;
    if (equal == EQUALITY_REFUTED) {
        code = err_fail(e, ERR_FAILED, "the rules derive '%s', which is not equal: %s",
                        expr_infix(s->a, &y), witness);
        err_hint(e, "'eqloom explain' with both expressions and these rules shows which is false");
        return code;
    }
    if (equal == EQUALITY_AGREES && better) {
        *before = y;
    } else if (equal == EQUALITY_AGREES) {
        name_map_put(&s->seen, name, s->n, NULL);
        s->found[s->n++] = y;
    }
    return OK;
}

/* From the shortest on; of a length with many terms, ones that are evenly apart. `most_each`: forms
 * of one length, at most. */
static enum err_code collect_forms(struct search *s, const struct grammar *g, uint32_t most_each,
                                   struct err *e)
{
    enum err_code code = OK;
    for (uint32_t length = 1;
         !code && g->root != GRAMMAR_NONE && length <= g->max_tokens && s->n < s->most; length++) {
        count_t total = grammar_total(g, g->root, length);
        count_t step = total > RANKS ? total / RANKS : 1;
        uint32_t end = s->most - s->n < most_each ? s->most : s->n + most_each;
        for (count_t rank = 0, looked = 0; !code && looked < RANKS && rank < total;
             rank += step, looked++) {
            struct term t = {0};
            grammar_unrank(&t, g, g->root, length, rank);
            code = add(s, g, &t, s->n < end, e);
        }
    }
    return err_up(e, code);
}

/* Farthest first: each next form is the one whose nearest chosen form, x among them, is farthest.
 */
static enum err_code choose_different(struct search *s, uint32_t wanted, struct err *e)
{
    uint32_t *nearest = arena_array(s->a, uint32_t, s->n + 1);
    memset(nearest, 0xff, (s->n + 1) * sizeof *nearest);
    const struct expr *last = s->x;
    uint32_t n = 0;
    for (; n < wanted && n < s->n; n++) {
        uint32_t best = n;
        for (uint32_t i = n; i < s->n; i++) {
            uint32_t distance;
            enum err_code code = edit_distance(&distance, s->a, last, &s->found[i], e);
            if (code)
                return err_up(e, code);
            nearest[i] = distance < nearest[i] ? distance : nearest[i];
            best = nearest[i] > nearest[best] ? i : best;
        }
        struct expr form = s->found[best];
        uint32_t near = nearest[best];
        s->found[best] = s->found[n];
        nearest[best] = nearest[n];
        s->found[n] = form;
        nearest[n] = near;
        last = &s->found[n];
    }
    s->n = n;
    return OK;
}

enum err_code variants_find(struct variants *out, struct arena *a, struct egraph *graph,
                            eclass_id root, const struct expr *x,
                            const struct variants_options *options, struct err *e)
{
    Eqloom__EGraph message;
    struct grammar g;
    const struct grammar_options limits = {.max_tokens = options->max_tokens};
    const struct ball_options points = {.points = POINTS, .low = 0.05, .high = 12};
    egraph_to_message(&message, a, graph, root);
    enum err_code code = grammar_init(&g, a, &message, x->lang, &limits, e);
    if (code)
        return err_up(e, code);
    struct search s = {.a = a, .x = x, .lang = g.lang};
    s.most = options->different && options->n < POOL ? POOL : options->n;
    s.found = arena_array(a, struct expr, s.most);
    equality_test_begin(&s.test, x, &points);
    name_map_put(&s.seen, canonical_text(a, x), SELF, NULL);
    code = collect_forms(&s, &g, options->different ? s.most / 10 : s.most, e);
    if (!code && options->different)
        code = choose_different(&s, options->n, e);
    name_map_free(&s.seen);
    equality_test_end(&s.test);
    *out = (struct variants){.forms = s.found, .n = s.n};
    count_text(out->terms, grammar_terms(&g), g.saturated);
    return err_up(e, code);
}
