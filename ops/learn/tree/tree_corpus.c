#include "ops/learn/tree/tree_corpus.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/rng.h"
#include "ops/expr/lang.h"
#include "ops/expr/near_miss.h"

#include <stdlib.h>
#include <string.h>

static char arity_of(const char *name)
{
    static const struct language *const all[] = {&lang_calculus, &lang_boolean, &lang_polynomial};
    size_t n = strcspn(name, "@"); /* the rest is the token's position */
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int op = lang_find(all[i], name, n);
        if (op >= 0 && all[i]->ops[op].arity)
            return (char)('0' + all[i]->ops[op].arity);
    }
    return strncmp(name, "INT", 3) == 0 ? 'x' : '0';
}

char *tree_arities(struct arena *a, const Eqloom__Vocabulary *v)
{
    char *out = arena_array(a, char, v->n_tokens + 1);
    for (size_t i = 0; i < v->n_tokens; i++)
        out[i] = i < 3 ? 'x' : arity_of(v->tokens[i]);
    return out;
}

void tree_corpus_free(struct tree_corpus *c)
{
    free(c->tokens);
    free(c->offset);
    free(c->class);
    *c = (struct tree_corpus){0};
}

static enum err_code check(const Eqloom__TokenBatch *b, const struct tree_model *m, struct err *e)
{
    if (b->n_offset == 0 || b->offset[0] != 0 || b->offset[b->n_offset - 1] != b->n_tokens ||
        b->n_cluster != b->n_offset - 1)
        return err_fail(e, ERR_CORRUPT, "token batch: offsets do not fit its tokens");
    for (size_t i = 0; i + 1 < b->n_offset; i++) {
        bool has_text = i < b->n_text;
        if (b->offset[i + 1] < b->offset[i] || b->offset[i + 1] > b->n_tokens)
            return err_fail(e, ERR_CORRUPT, "token batch: offsets do not fit its tokens");
        if (!tree_is_well_formed(m, b->tokens + b->offset[i], b->offset[i + 1] - b->offset[i]))
            return err_fail(e, ERR_INPUT,
                            "sequence %zu%s%.60s%s is not a tree of single tokens: a tree network "
                            "reads operators, symbols and, in the encodings plain and placed, "
                            "integers from -99 to 99; 'trees' spells longer ones",
                            i, has_text ? " (" : "", has_text ? b->text[i] : "",
                            has_text ? ")" : "");
    }
    return OK;
}

enum err_code tree_corpus_add(struct tree_corpus *c, const Eqloom__TokenBatch *b,
                              const struct tree_model *m, struct err *e)
{
    struct map64 classes = {0};
    size_t n = b->n_offset ? b->n_offset - 1 : 0;
    bool added;
    enum err_code code = check(b, m, e);
    if (code)
        return err_up(e, code);
    c->tokens = vec_grow(c->tokens, &c->tokens_cap, c->n_tokens + b->n_tokens, sizeof *c->tokens);
    c->offset = vec_grow(c->offset, &c->offset_cap, c->trees + n + 1, sizeof *c->offset);
    c->class = vec_grow(c->class, &c->class_cap, c->trees + n, sizeof *c->class);
    if (b->n_tokens)
        memcpy(c->tokens + c->n_tokens, b->tokens, b->n_tokens * sizeof *c->tokens);
    for (size_t i = 0; i < n; i++) {
        c->offset[c->trees + i] = c->n_tokens + b->offset[i];
        c->class[c->trees + i] = (uint32_t)*map64_put(&classes, b->cluster[i], c->classes, &added);
        c->classes += added;
    }
    c->trees += n;
    c->n_tokens += b->n_tokens;
    c->offset[c->trees] = c->n_tokens;
    map64_free(&classes);
    return OK;
}

static size_t length_of(const struct tree_corpus *c, size_t i)
{
    return c->offset[i + 1] - c->offset[i];
}

static void gather(struct tree_batch *out, struct arena *a, const struct tree_corpus *c,
                   const uint32_t *trees, size_t n)
{
    const uint32_t **tokens = arena_array(a, const uint32_t *, n);
    uint32_t *length = arena_array(a, uint32_t, n), *class = arena_array(a, uint32_t, n);
    for (size_t i = 0; i < n; i++) {
        tokens[i] = c->tokens + c->offset[trees[i]];
        length[i] = (uint32_t)length_of(c, trees[i]);
        class[i] = c->class[trees[i]];
    }
    *out = (struct tree_batch){.set = {tokens, length, n}, .class = class};
}

void tree_order_free(struct tree_order *x)
{
    free(x->trees);
}

void tree_batch_draw(struct tree_batch *out, struct arena *a, struct tree_order *order,
                     const struct tree_corpus *c, const struct tree_curriculum *how, uint64_t index)
{
    uint64_t stage = index / how->stage;
    double most = how->first + (double)stage * how->growth;
    if (order->of != stage + 1) {
        struct rng r = rng_new(how->seed, stage);
        size_t cap = 0;
        free(order->trees);
        *order =
            (struct tree_order){vec_grow(NULL, &cap, c->trees, sizeof *order->trees), 0, stage + 1};
        for (size_t i = 0; i < c->trees; i++)
            if ((double)length_of(c, i) <= most)
                order->trees[order->n++] = (uint32_t)i;
        rng_shuffle_u32(&r, order->trees, order->n);
    }
    size_t n = how->batch < order->n ? how->batch : order->n;
    uint32_t *trees = arena_array(a, uint32_t, n);
    uint64_t first = index % how->stage * how->batch;
    for (size_t i = 0; i < n; i++)
        trees[i] = order->trees[(first + i) % order->n];
    gather(out, a, c, trees, n);
}

static uint32_t *count_up(struct arena *a, size_t n)
{
    uint32_t *out = arena_array(a, uint32_t, n);
    for (size_t i = 0; i < n; i++)
        out[i] = (uint32_t)i;
    return out;
}

void tree_batch_all(struct tree_batch *out, struct arena *a, const struct tree_corpus *c)
{
    gather(out, a, c, count_up(a, c->trees), c->trees);
}

void tree_batch_sample(struct tree_batch *out, struct arena *a, const struct tree_corpus *c,
                       size_t most, uint64_t seed)
{
    struct rng r = rng_new(seed, 0);
    uint32_t *trees = count_up(a, c->trees);
    rng_shuffle_u32(&r, trees, c->trees);
    gather(out, a, c, trees, c->trees < most ? c->trees : most);
}

/* ---- pairs ---- */

enum stream { STREAM_ORDER = 1, STREAM_STEP };
enum { TRIES = 8 };

void tree_pairs_make(struct tree_pairs *out, struct arena *a, const struct tree_corpus *c)
{
    *out = (struct tree_pairs){c, arena_array(a, uint32_t, c->trees + 1),
                               arena_array(a, uint32_t, c->classes + 1),
                               arena_array(a, uint32_t, c->classes + 1), 0};
    uint32_t *at = arena_array(a, uint32_t, c->classes + 1);
    for (size_t i = 0; i < c->trees; i++)
        out->first[c->class[i] + 1]++;
    for (uint32_t i = 0; i < c->classes; i++) {
        if (out->first[i + 1] >= 2)
            out->classes[out->n_classes++] = i;
        at[i + 1] = out->first[i + 1] += out->first[i];
    }
    for (size_t i = 0; i < c->trees; i++)
        out->members[at[c->class[i]]++] = (uint32_t)i;
}

/* ---- near misses ---- */

struct altering {
    const struct tree_model *m;
    const struct tree_meaning *meaning;
    struct rng *r;
};

/* Returns the first token with this meaning, or the first special token. */
static uint32_t token_of(const struct altering *x, uint16_t op, double number)
{
    for (uint32_t i = 0; i < x->m->tokens; i++)
        if (x->meaning[i].op == op && x->m->config.arity[i] != 'x' &&
            (op != X_NUM || x->meaning[i].number == number))
            return i;
    return 0;
}

static uint32_t another_number(const struct altering *x, double number)
{
    double sign = number < 0 ? -1 : 1;
    if (rng_below(x->r, 4) == 0)
        return token_of(x, X_NUM, -number);
    return token_of(x, X_NUM, sign * (double)(2 + rng_below(x->r, 8)));
}

static uint32_t end_of(const struct tree_model *m, const uint32_t *tokens, uint32_t at)
{
    for (uint32_t missing = 1; missing; at++)
        missing += tree_arity(m, tokens[at]) - 1;
    return at;
}

static void exchange(const struct altering *x, uint32_t *to, const uint32_t *tokens, uint32_t at)
{
    uint32_t middle = end_of(x->m, tokens, at + 1), end = end_of(x->m, tokens, middle);
    memcpy(to + at + 1, tokens + middle, (end - middle) * sizeof *to);
    memcpy(to + at + 1 + end - middle, tokens + at + 1, (middle - at - 1) * sizeof *to);
}

/* Returns false if it altered nothing at this place. */
static bool alter(const struct altering *x, uint32_t *to, const uint32_t *tokens, uint32_t at)
{
    uint16_t alike[NEAR_MISS_ALIKE], op = x->meaning[tokens[at]].op;
    if (op == X_NUM)
        to[at] = another_number(x, x->meaning[tokens[at]].number);
    if (op < X_ADD || op >= X_DECLARED || op == X_D)
        return to[at] && to[at] != tokens[at];
    if (!lang_calculus.ops[op].commutative && tree_arity(x->m, tokens[at]) == 2 &&
        rng_below(x->r, 2)) {
        exchange(x, to, tokens, at);
        return true;
    }
    size_t n = near_miss_alike(alike, &lang_calculus, op);
    to[at] = n ? token_of(x, alike[rng_below(x->r, n)], 0) : 0;
    return to[at] != 0;
}

/* Returns NULL after some failed tries. */
static uint32_t *near_miss(struct arena *a, const struct altering *x, const uint32_t *tokens,
                           uint32_t n)
{
    uint32_t *to = arena_array(a, uint32_t, n);
    for (int i = 0; i < TRIES; i++) {
        memcpy(to, tokens, n * sizeof *to);
        if (alter(x, to, tokens, (uint32_t)rng_below(x->r, n)))
            return to;
    }
    return NULL;
}

/* ---- batches ---- */

/* Returns the epoch's order of classes. */
static uint32_t *order_of(struct arena *a, const struct tree_pairs *x, uint64_t seed,
                          uint64_t epoch)
{
    struct rng r = rng_new(rng_at(seed, STREAM_ORDER, epoch), 0);
    uint32_t *order = arena_memdup(a, x->classes, x->n_classes * sizeof *order);
    rng_shuffle_u32(&r, order, x->n_classes);
    return order;
}

static void add_tree(struct tree_batch *out, const uint32_t **tokens, uint32_t *length,
                     uint32_t *class, const uint32_t *t, uint32_t n, uint32_t of)
{
    tokens[out->set.n] = t;
    length[out->set.n] = n;
    class[out->set.n++] = of;
}

void tree_pairs_draw(struct tree_batch *out, struct arena *a, const struct tree_pairs *x,
                     const struct tree_model *m, const struct tree_meaning *meaning,
                     const struct tree_pairs_config *how, uint64_t index)
{
    const struct tree_corpus *c = x->corpus;
    size_t pairs = how->pairs < x->n_classes ? how->pairs : x->n_classes;
    uint64_t steps = x->n_classes / pairs; /* per epoch */
    struct rng r = rng_new(rng_at(how->seed, STREAM_STEP, index), 0);
    struct altering altering = {m, meaning, &r};
    const uint32_t **tokens = arena_array(a, const uint32_t *, 4 * pairs);
    uint32_t *length = arena_array(a, uint32_t, 4 * pairs);
    uint32_t *class = arena_array(a, uint32_t, 4 * pairs);
    const uint32_t *order = order_of(a, x, how->seed, index / steps);
    uint32_t *from = arena_array(a, uint32_t, 4 * pairs);
    *out = (struct tree_batch){{tokens, length, 0}, class, 2 * pairs, from};
    for (size_t i = 0; i < pairs; i++) {
        uint32_t k = order[index % steps * pairs + i];
        uint32_t members = x->first[k + 1] - x->first[k];
        uint32_t one = (uint32_t)rng_below(&r, members), two = (uint32_t)rng_below(&r, members - 1);
        uint32_t trees[] = {one, two + (two >= one)};
        for (int side = 0; side < 2; side++) {
            size_t at = x->members[x->first[k] + trees[side]];
            add_tree(out, tokens, length, class, c->tokens + c->offset[at],
                     (uint32_t)(c->offset[at + 1] - c->offset[at]), k);
        }
    }
    for (uint32_t i = 0; i < 2 * pairs; i++) {
        uint32_t *other =
            rng_double(&r) < how->near_share ? near_miss(a, &altering, tokens[i], length[i]) : NULL;
        if (!other)
            continue;
        from[out->set.n] = i;
        add_tree(out, tokens, length, class, other, length[i], c->classes + i);
    }
}
