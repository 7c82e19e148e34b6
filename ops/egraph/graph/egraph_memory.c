/* Memory of an e-graph: its arrays, the hash-consing table (hashcons.h), cells and classes. */
#include "base/err.h"
#include "ops/egraph/graph/egraph_core.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

enum { MAPPED = 1 << 18, PAGE = 4096 };
enum {
    FIRST = 1024, /* initial number of cells, classes and slots of the table */
    LARGE = 1 << 16,
    MAX_CELLS = 1 << 28,
    SPARE_BITS = 2, /* ids may be at least four times the number of slots */
};

static size_t pages(size_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

static void *map_new(size_t size)
{
    void *p = mmap(NULL, pages(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void *egraph_memory_resize(void *array, size_t old, size_t size)
{
    void *p;
    if (size < MAPPED && old < MAPPED) {
        p = realloc(array, size);
    } else if (size >= MAPPED && old >= MAPPED) {
        p = mremap(array, pages(old), pages(size), MREMAP_MAYMOVE);
        p = p == MAP_FAILED ? NULL : p;
    } else {
        p = size < MAPPED ? malloc(size) : map_new(size);
        if (p && old)
            memcpy(p, array, old < size ? old : size);
        if (p)
            egraph_memory_free(array, old);
    }
    if (!p)
        out_of_memory(size);
    return p;
}

void *egraph_memory_grow(void *array, size_t *cap, size_t need, size_t element_size)
{
    if (need <= *cap)
        return array;
    size_t more = *cap ? *cap + *cap / 2 : 16;
    more = more < need ? need : more;
    array = egraph_memory_resize(array, *cap * element_size, more * element_size);
    *cap = more;
    return array;
}

void egraph_memory_free(void *array, size_t size)
{
    if (size < MAPPED)
        free(array);
    else
        munmap(array, pages(size));
}

/* ---- the hash-consing table ---- */

void hashcons_free(struct hashcons *t)
{
    egraph_memory_free(t->slots, t->size * sizeof *t->slots);
    *t = (struct hashcons){0};
}

void hashcons_grow(struct hashcons *t, uint32_t cells)
{
    uint32_t size = t->size ? t->size : FIRST;
    while ((t->n + 1) * 2ull >= size)
        size *= 2;
    if (size != t->size) {
        egraph_memory_free(t->slots, t->size * sizeof *t->slots);
        t->slots = egraph_memory_resize(NULL, 0, size * sizeof *t->slots);
    }
    uint32_t id_mask = (size << SPARE_BITS) - 1;
    while (cells > id_mask - 2)
        id_mask = 2 * id_mask + 1;
    /* as long as the table fits into the caches, a low load makes most probes end at the first
     * slot */
    *t = (struct hashcons){.slots = t->slots,
                           .size = size,
                           .most = (size > LARGE ? size / 3 * 2 : size / 2) - 1,
                           .id_mask = id_mask};
    memset(t->slots, 0xff, size * sizeof *t->slots);
}

void hashcons_clear(struct hashcons *t)
{
    if (t->size > LARGE) {
        hashcons_free(t);
        return;
    }
    t->n = t->n_gaps = 0;
    if (t->size)
        memset(t->slots, 0xff, t->size * sizeof *t->slots);
}

void hashcons_remove(struct hashcons *t, uint32_t hash, uint32_t node)
{
    uint32_t mask = t->size - 1, i = hash & mask, slot = (hash & ~t->id_mask) | node;
    while (t->slots[i] != slot) {
        assert(t->slots[i] != (uint32_t)HASHCONS_EMPTY);
        i = (i + 1) & mask;
    }
    /* an empty slot needs no gap before it */
    bool last = t->slots[(i + 1) & mask] == (uint32_t)HASHCONS_EMPTY;
    t->slots[i] = last ? (uint32_t)HASHCONS_EMPTY : (uint32_t)HASHCONS_GAP;
    t->n_gaps += !last;
    t->n--;
}

/* ---- cells and classes ---- */

static void resize_cells(struct egraph *g, uint32_t cap)
{
    g->cells = egraph_memory_resize(g->cells, g->cap * sizeof *g->cells, cap * sizeof *g->cells);
    g->members =
        egraph_memory_resize(g->members, g->cap * sizeof *g->members, cap * sizeof *g->members);
    g->kind = egraph_memory_resize(g->kind, g->cap, cap);
    g->touched = egraph_memory_resize(g->touched, g->cap, cap);
    size_t blocks = g->cap ? g->cap / 64 + 1 : 0, more = cap / 64 + 1;
    g->touched_block = egraph_memory_resize(g->touched_block, blocks, more);
    memset(g->touched_block + blocks, 0, more - blocks);
    g->cap = cap;
}

void graph_grow_entries(struct egraph *g)
{
    uint32_t old = g->cap_entries, cap = old ? old + (old < LARGE ? old : old / 8) : FIRST;
    g->classes =
        egraph_memory_resize(g->classes, old * sizeof *g->classes, cap * sizeof *g->classes);
    g->cap_entries = cap;
}

/* A large graph grows by an eighth, so that peak memory is close to what it needs. */
bool graph_reserve_cell(struct egraph *g)
{
    if (g->n_cells < g->cap)
        return false;
    uint32_t cap = g->cap ? g->cap + (g->cap < LARGE ? g->cap : g->cap / 8) : FIRST;
    assert(cap < MAX_CELLS * 2u);
    resize_cells(g, cap);
    if (g->proofs)
        proofs_grow(g->proofs, cap);
    bool ids_fit = cap <= g->cons.id_mask - 2;
    if (!ids_fit) /* if ids fit, the table has room whenever it is not full */
        graph_grow_table(g);
    return !ids_fit;
}

void graph_free_cells(struct egraph *g)
{
    egraph_memory_free(g->cells, g->cap * sizeof *g->cells);
    egraph_memory_free(g->members, g->cap * sizeof *g->members);
    egraph_memory_free(g->classes, g->cap_entries * sizeof *g->classes);
    egraph_memory_free(g->kind, g->cap);
    egraph_memory_free(g->touched, g->cap);
    egraph_memory_free(g->touched_block, g->cap ? g->cap / 64 + 1 : 0);
    g->cells = NULL;
    g->members = NULL;
    g->classes = NULL;
    g->kind = g->touched = g->touched_block = NULL;
    g->cap = g->n_entries = g->cap_entries = 0;
    g->free_entry = NO_NODE;
}

void graph_grow_table(struct egraph *g)
{
    hashcons_grow(&g->cons, g->cap);
    for (uint32_t n = 0; n < g->n_cells; n++)
        if (graph_is_live(g, n))
            hashcons_insert(&g->cons, hash_pair(g->cells[n].op, graph_pair(&g->cells[n])), n);
}
