/* Indexes; see node_index.h. The index of a class is valid until the class takes part in a union of
 * classes with frozen nodes. An index by argument is outdated only for classes that took part in
 * such a union since it was built. */
#include "ops/egraph/graph/node_index.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

enum {
    MIN_POOL = 1 << 20,
    MAX_BUCKETS = 1 << 12,
    PATIENCE = 8, /* a table is rebuilt after being outdated this often */
    POOL_KEPT = 1 << 16,
    KEPT = 1 << 9, /* entries kept for the next graph */
};

struct node_index *node_index_new(void)
{
    struct node_index *j = must_calloc(1, sizeof *j);
    j->age = 1;
    j->limit = SIZE_MAX;
    return j;
}

static void free_arrays(struct node_index *j)
{
    free(j->large);
    free(j->tables);
    map64_free(&j->large_of);
    map64_free(&j->table_of);
    j->large = NULL;
    j->tables = NULL;
    j->n_large = j->large_cap = j->n_tables = j->tables_cap = 0;
}

void node_index_free(struct node_index *j)
{
    if (!j)
        return;
    u32_free(&j->pool);
    u32_free(&j->listed);
    free_arrays(j);
    free(j);
}

void node_index_forget(struct node_index *j)
{
    j->age++;
    j->pool.n = j->n_large = j->n_tables = 0;
    map64_clear(&j->large_of);
    map64_clear(&j->table_of);
    u32_release(&j->listed);
}

void node_index_release(struct node_index *j)
{
    node_index_forget(j);
    if (j->pool.cap > POOL_KEPT)
        u32_free(&j->pool);
    if (j->large_cap > KEPT || j->tables_cap > KEPT)
        free_arrays(j);
}

/* Returns the maximum size of all indexes together: a fraction of a large graph. */
static size_t max_pool(const struct egraph *g)
{
    size_t most = g->n_cells / 2 > MIN_POOL ? g->n_cells / 2 : MIN_POOL;
    return most < g->node_index->limit ? most : g->node_index->limit;
}

void node_index_begin(struct egraph *g)
{
    struct node_index *j = g->node_index;
    if (j->pool.n > max_pool(g) / 2)
        node_index_forget(j);
}

static uint32_t *pool_take(struct node_index *j, uint32_t n)
{
    if (j->pool.n + n > j->pool.cap)
        j->pool.items =
            egraph_memory_grow(j->pool.items, &j->pool.cap, j->pool.n + n, sizeof(uint32_t));
    uint32_t *p = j->pool.items + j->pool.n;
    j->pool.n += n;
    return p;
}

/* ---- the nodes of a class by operator ---- */

/* Returns whether n is a live node that is not a leaf. */
static inline bool is_listed(const struct egraph *g, uint32_t n, uint32_t end)
{
    return n < end && g->kind[n] >= X_ADD && g->kind[n] <= MASK_OTHERS;
}

/* Lists these nodes of a class, in the order of its circular list, and counts them by operator. The
 * list is scattered in memory, so it is walked only once. */
static uint64_t list_nodes(uint32_t *count, struct u32_list *out, const struct egraph *g,
                           uint32_t class)
{
    uint32_t n = class, end = g->frozen ? g->frozen : NO_NODE;
    uint64_t mask = 0;
    out->n = 0;
    do {
        if (is_listed(g, n, end)) {
            unsigned place = g->kind[n];
            uint64_t bit = 1ull << place;
            count[place] = mask & bit ? count[place] + 1 : 1;
            mask |= bit;
            u32_push(out, n);
        }
        n = graph_next(g, n);
    } while (n != class);
    return mask;
}

/* Writes into the pool where the nodes of each operator begin, then the last end, then the
 * nodes. */
static void build_group(struct node_index *j, struct egraph *g, struct class_index *s)
{
    uint32_t count[64];
    uint64_t mask = list_nodes(count, &j->listed, g, s->class);
    uint32_t n_ops = count_bits(mask);
    s->begin = (uint32_t)j->pool.n;
    s->mask = mask;
    uint32_t *p = pool_take(j, n_ops + 1 + (uint32_t)j->listed.n), at = s->begin + n_ops + 1;
    for (uint64_t bits = mask; bits; bits &= bits - 1) {
        unsigned place = (unsigned)__builtin_ctzll(bits);
        uint32_t c = count[place];
        *p++ = count[place] = at;
        at += c;
    }
    *p = at;
    for (size_t i = 0; i < j->listed.n; i++)
        j->pool.items[count[g->kind[j->listed.items[i]]]++] = j->listed.items[i];
    s->built = true;
}

static struct class_index *find_large(const struct node_index *j, uint32_t class)
{
    const uint64_t *at = j->n_large ? map64_get(&j->large_of, class) : NULL;
    return at ? &j->large[*at] : NULL;
}

static struct class_index *add_large(struct node_index *j, uint32_t class)
{
    bool added;
    uint64_t at = *map64_put(&j->large_of, class, j->n_large, &added);
    if (added) {
        j->large = vec_grow(j->large, &j->large_cap, j->n_large + 1, sizeof *j->large);
        j->large[j->n_large++] = (struct class_index){.class = class};
    }
    return &j->large[at];
}

void node_index_note_union(struct node_index *j, uint32_t a, uint32_t b)
{
    const uint32_t both[] = {a, b};
    j->unions++;
    for (int i = 0; i < 2; i++) {
        struct class_index *s = find_large(j, both[i]),
                           *small = &j->groups[node_index_slot(both[i])];
        if (small->class == both[i])
            small->age = 0;
        if (s)
            s->built = false;
    }
}

/* Returns the index of a class. Indexes a large class at once, others at the second request; until
 * then returns NULL. */
static struct class_index *group_of(struct node_index *j, uint32_t class, bool large)
{
    struct class_index *s = &j->groups[node_index_slot(class)];
    if (large)
        return add_large(j, class);
    if (s->class == class && s->age == j->age)
        return s;
    struct class_index *known = find_large(j, class);
    if (known)
        return known;
    *s = (struct class_index){.class = class, .age = j->age};
    return NULL;
}

static struct class_index *find_group(struct node_range *out, struct egraph *g, uint32_t class,
                                      uint32_t op, bool large)
{
    struct node_index *j = g->node_index;
    struct class_index *s = group_of(j, class, large);
    if (!s)
        return NULL;
    if (!s->built && j->pool.n < max_pool(g))
        build_group(j, g, s);
    if (!s->built)
        return NULL;
    *out = node_index_range(j, s, op);
    return s;
}

/* ---- nodes of one operator by an argument ---- */

static uint32_t bucket_of(uint32_t value, uint32_t buckets)
{
    return (value * 0x9e3779b1u >> 16) & (buckets - 1);
}

/* Builds a table. An older table of the same key stays in the pool, since it may be in use. */
static void build_table(struct node_index *j, struct egraph *g, struct argument_index *t,
                        uint32_t k, struct node_range nodes)
{
    uint32_t n = nodes.end - nodes.begin;
    t->buckets = 1;
    while (t->buckets < n && t->buckets < MAX_BUCKETS)
        t->buckets *= 2;
    t->begin = (uint32_t)j->pool.n;
    uint32_t *start = pool_take(j, t->buckets + 1 + n);
    memset(start, 0, (t->buckets + 1) * sizeof *start);
    const uint32_t *from = j->pool.items + nodes.begin;
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
    t->unions = j->unions;
    t->asked = 0;
}

/* *known: the table was requested before. */
static struct argument_index *table_of(bool *known, struct node_index *j,
                                       const struct node_index_key *key)
{
    bool added;
    uint64_t place = (uint64_t)key->class << 32 | key->op << 8 | key->argument;
    uint64_t at = *map64_put(&j->table_of, place, j->n_tables, &added);
    *known = !added;
    if (added) {
        j->tables = vec_grow(j->tables, &j->tables_cap, j->n_tables + 1, sizeof *j->tables);
        j->tables[j->n_tables++] = (struct argument_index){0};
    }
    return &j->tables[at];
}

/* Returns whether the table can be used; builds it at the second request. */
static bool table_knows(struct argument_index *t, struct egraph *g, const struct class_index *s,
                        uint32_t argument, struct node_range nodes, uint32_t value)
{
    struct node_index *j = g->node_index;
    if (t->group != s->begin) {
        t->group = s->begin;
        t->built = false;
    }
    bool stale = t->built && t->unions != j->unions && graph_eclass(g, value)->joined == g->epoch;
    if (t->built && !stale)
        return true;
    if ((stale && t->asked++ < PATIENCE) || j->pool.n >= max_pool(g))
        return false;
    build_table(j, g, t, argument, nodes);
    return true;
}

bool node_index_find_far(struct node_range *out, struct egraph *g, const struct node_index_key *key,
                         uint32_t value, bool large)
{
    struct node_index *j = g->node_index;
    const struct class_index *s = find_group(out, g, key->class, key->op, large);
    if (!s)
        return false;
    if (key->argument == NODE_INDEX_ANY || out->end - out->begin <= NODE_INDEX_SMALL)
        return true;
    bool known;
    struct argument_index *t = table_of(&known, j, key);
    if (!known || !table_knows(t, g, s, key->argument, *out, value))
        return true;
    const uint32_t *start = j->pool.items + t->begin;
    uint32_t b = bucket_of(value, t->buckets);
    *out = (struct node_range){start[b], start[b + 1]};
    return true;
}
