/* Joins; see join.h. Slots are direct-mapped: an index that loses its slot is built again when it
 * is asked for. An index is trusted until its class takes part in a union of classes with frozen
 * nodes, or, if it goes by arguments, until any such union is made. */
#include "ops/egraph/join.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_POOL = 1 << 20, MAX_BUCKETS = 1 << 12, SMALL = 8 };

struct joins *joins_new(void)
{
    struct joins *j = calloc(1, sizeof *j);
    if (!j)
        abort();
    j->age = 1;
    return j;
}

void joins_free(struct joins *j)
{
    if (!j)
        return;
    free(j->pool.items);
    free(j);
}

void joins_forget(struct joins *j)
{
    j->age++;
    j->pool.n = 0;
}

void joins_release(struct joins *j)
{
    joins_forget(j);
    free(j->pool.items);
    j->pool = (struct u32_list){0};
}

/* What all indexes together may take: little of a large graph. */
static size_t max_pool(const struct egraph *g)
{
    return g->n_cells / 2 > MIN_POOL ? g->n_cells / 2 : MIN_POOL;
}

void joins_begin(struct egraph *g)
{
    struct joins *j = g->joins;
    if (j->pool.n > max_pool(g) / 2)
        joins_forget(j);
}

static uint32_t *pool_take(struct joins *j, uint32_t n)
{
    if (j->pool.n + n > j->pool.cap)
        j->pool.items = vec_grow(j->pool.items, &j->pool.cap, j->pool.n + n, sizeof(uint32_t));
    uint32_t *p = j->pool.items + j->pool.n;
    j->pool.n += n;
    return p;
}

/* ---- the nodes of a class by operator ---- */

static bool is_listed(const struct egraph *g, uint32_t n)
{
    return !(g->cells[n].op & (OP_LEAF | OP_DEAD)) && (!g->frozen || n < g->frozen);
}

/* In the pool: where the nodes of each operator begin, and the last end; then the nodes. */
static void build_group(struct joins *j, struct egraph *g, struct join_group *s)
{
    uint32_t count[64], n_ops = 0, total = 0, n = s->class;
    uint64_t mask = 0;
    do {
        if (is_listed(g, n)) {
            uint64_t bit = pattern_op_mask(g->cells[n].op);
            unsigned place = (unsigned)__builtin_ctzll(bit);
            count[place] = mask & bit ? count[place] + 1 : 1;
            mask |= bit;
            total++;
        }
        n = graph_next(g, n);
    } while (n != s->class);
    n_ops = (uint32_t)__builtin_popcountll(mask);
    s->begin = (uint32_t)j->pool.n;
    s->mask = mask;
    uint32_t *p = pool_take(j, n_ops + 1 + total), at = s->begin + n_ops + 1;
    for (uint64_t bits = mask; bits; bits &= bits - 1) {
        unsigned place = (unsigned)__builtin_ctzll(bits);
        uint32_t c = count[place];
        *p++ = count[place] = at;
        at += c;
    }
    *p = at;
    if (total)
        do {
            if (is_listed(g, n))
                j->pool.items[count[__builtin_ctzll(pattern_op_mask(g->cells[n].op))]++] = n;
            n = graph_next(g, n);
        } while (n != s->class);
    s->built = true;
}

/* Built when it is asked for the second time, or if the class is large: `eager`. */
static bool find_group(struct join_range *out, struct egraph *g, uint32_t class, uint32_t op,
                       bool eager)
{
    struct joins *j = g->joins;
    uint32_t slot = join_slot(class);
    struct join_group *s = &j->groups[slot];
    if (!join_is_current(j, s, class)) {
        *s = (struct join_group){.class = class, .age = j->age, .merged = j->merged[slot]};
        if (!eager)
            return false;
    }
    if (!s->built && !s->refused) {
        if (j->pool.n < max_pool(g))
            build_group(j, g, s);
        s->refused = !s->built;
    }
    if (!s->built)
        return false;
    uint64_t bit = pattern_op_mask(op);
    *out = (struct join_range){0, 0};
    if (s->mask & bit) {
        const uint32_t *p = j->pool.items + s->begin + __builtin_popcountll(s->mask & (bit - 1));
        *out = (struct join_range){p[0], p[1]};
    }
    return true;
}

/* ---- nodes of one operator by an argument ---- */

static uint32_t bucket_of(uint32_t value, uint32_t buckets)
{
    return (value * 0x9e3779b1u >> 16) & (buckets - 1);
}

static void build_table(struct joins *j, struct egraph *g, struct join_table *t,
                        struct join_range nodes)
{
    uint32_t n = nodes.end - nodes.begin;
    t->buckets = 1;
    while (t->buckets < n && t->buckets < MAX_BUCKETS)
        t->buckets *= 2;
    t->begin = (uint32_t)j->pool.n;
    uint32_t *start = pool_take(j, t->buckets + 1 + n);
    memset(start, 0, (t->buckets + 1) * sizeof *start);
    const uint32_t *from = j->pool.items + nodes.begin;
    uint32_t k = t->key.argument;
    for (uint32_t i = 0; i < n; i++)
        start[bucket_of(graph_find(g, *graph_kid(g, from[i], k)), t->buckets) + 1]++;
    start[0] = t->begin + t->buckets + 1;
    for (uint32_t b = 0; b < t->buckets; b++)
        start[b + 1] += start[b];
    for (uint32_t i = 0; i < n; i++) { /* start[b] moves to its end, where b + 1 began ... */
        uint32_t b = bucket_of(graph_find(g, *graph_kid(g, from[i], k)), t->buckets);
        j->pool.items[start[b]++] = from[i];
    }
    for (uint32_t b = t->buckets; b > 0; b--) /* ... and back */
        start[b] = start[b - 1];
    start[0] = t->begin + t->buckets + 1;
    t->built = true;
}

bool joins_find(struct join_range *out, struct egraph *g, struct join_key key, uint32_t value,
                bool eager)
{
    struct joins *j = g->joins;
    if (!find_group(out, g, key.class, key.op, eager))
        return false;
    if (key.argument == JOIN_ANY || out->end - out->begin <= SMALL)
        return true;
    uint32_t hash = (key.class * 8 + key.argument) * 0x9e3779b1u + key.op * 0x85ebca6bu;
    struct join_table *t = &j->tables[hash >> 24];
    if (t->age != j->age || t->unions != j->unions || t->key.class != key.class ||
        t->key.op != key.op || t->key.argument != key.argument) {
        *t = (struct join_table){.key = key, .age = j->age, .unions = j->unions};
        return true;
    }
    if (!t->built) {
        if (j->pool.n >= max_pool(g))
            return true;
        build_table(j, g, t, *out);
    }
    const uint32_t *start = j->pool.items + t->begin;
    uint32_t b = bucket_of(value, t->buckets);
    *out = (struct join_range){start[b], start[b + 1]};
    return true;
}
