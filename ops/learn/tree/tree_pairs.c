#include "ops/learn/tree/tree_pairs.h"

#include "base/rng.h"
#include "ops/expr/near_miss.h"

#include <string.h>

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

/* The first token that means it, or the specials' first. */
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

/* False if nothing was altered at this place. */
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

/* Some tries, after which there is none. */
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

/* The epoch's order of classes. */
static uint32_t *order_of(struct arena *a, const struct tree_pairs *x, uint64_t seed,
                          uint64_t epoch)
{
    struct rng r = rng_new(rng_at(seed, STREAM_ORDER, epoch), 0);
    uint32_t *order = arena_memdup(a, x->classes, x->n_classes * sizeof *order);
    rng_shuffle_u32(&r, order, x->n_classes);
    return order;
}

static void add(struct tree_batch *out, const uint32_t **tokens, uint32_t *length, uint32_t *class,
                const uint32_t *t, uint32_t n, uint32_t of)
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
    uint64_t steps = x->n_classes / pairs; /* of an epoch */
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
            add(out, tokens, length, class, c->tokens + c->offset[at],
                (uint32_t)(c->offset[at + 1] - c->offset[at]), k);
        }
    }
    for (uint32_t i = 0; i < 2 * pairs; i++) {
        uint32_t *other =
            rng_double(&r) < how->near_share ? near_miss(a, &altering, tokens[i], length[i]) : NULL;
        if (!other)
            continue;
        from[out->set.n] = i;
        add(out, tokens, length, class, other, length[i], c->classes + i);
    }
}
