/* The product itself: blocks of 32 by 32 of the result in four tiles. Panels of left rows, packed
 * for as much of k as DEEP_WORDS hold, are multiplied by all of the right operand, column of blocks
 * after column; a panel is one block high where what it needs of the right operand stays in the
 * second cache, so that its own rows stay in the first, else HIGH blocks. While tiles multiply, the
 * vector units finish the block before and pack the next panel (amx_side.h). */
#include "gpu/cpu/amx.h"

#include "gpu/cpu/amx_side.h"
#include "gpu/cpu/cpu.h"
#include "gpu/cpu/packs.h"

#include <immintrin.h>
#include <string.h>

enum { DEEP_WORDS = 96 * 256 /* 96 KiB */, NEAR_WORDS = 768 * 256, HIGH = 4 };

/* All eight tiles whole: 16 rows of 64 bytes. */
static void configure(void)
{
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } __attribute__((aligned(64))) config = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        config.bytes[i] = 64;
        config.rows[i] = 16;
    }
    /* The intrinsic says that it reads the first 8 bytes only. */
    __asm__ volatile("" : : "r"(&config) : "memory");
    _tile_loadconfig(&config);
}

/* ---- one block ---- */

enum { ROW_BYTES = 64 };

/* Tiles 0..3 hold the result, 4 and 5 the left operand's two, 6 and 7 the right one's. Macros, for
 * tiles are named by constants. A tile is loaded anew as soon as its last product has been asked
 * for, so that the loads run beside the products.
 *
 * The gap: while the core's other hardware thread is busy (a neighbour's, in a virtual machine),
 * tile instructions close upon each other take 26 ns a product, with 8 instructions of any kind
 * between them 17; while it is idle, 7.2 either way. */
#define GAP() __asm__ volatile(".rept 8\n\tnop\n\t.endr")
#define LOAD(tile, at)                                                                             \
    _tile_loadd(tile, at, ROW_BYTES);                                                              \
    GAP()
/* Product `i` of a block of k. */
#define PRODUCT(i, to, left, right)                                                                \
    _tile_dpbf16ps(to, left, right);                                                               \
    gap(ahead, i)
#define LEFT_UPPER(part) LOAD(4, left + (part)*2 * AMX_TILE)
#define LEFT_LOWER(part) LOAD(5, left + ((part)*2 + 1) * AMX_TILE)
#define RIGHT_FIRST(part) LOAD(6, right + (part)*2 * AMX_TILE)
#define RIGHT_SECOND(part) LOAD(7, right + ((part)*2 + 1) * AMX_TILE)
/* All four products, then other left or right tiles. */
#define MULTIPLY_THEN_LEFT(i, part)                                                                \
    PRODUCT(i, 0, 4, 6);                                                                           \
    PRODUCT((i) + 1, 1, 4, 7);                                                                     \
    LEFT_UPPER(part);                                                                              \
    PRODUCT((i) + 2, 2, 5, 6);                                                                     \
    PRODUCT((i) + 3, 3, 5, 7);                                                                     \
    LEFT_LOWER(part)
#define MULTIPLY_THEN_RIGHT(i, part)                                                               \
    PRODUCT(i, 0, 4, 6);                                                                           \
    PRODUCT((i) + 1, 2, 5, 6);                                                                     \
    RIGHT_FIRST(part);                                                                             \
    PRODUCT((i) + 2, 1, 4, 7);                                                                     \
    PRODUCT((i) + 3, 3, 5, 7);                                                                     \
    RIGHT_SECOND(part)
/* Both, for the next k. */
#define MULTIPLY_THEN_BOTH(i, left_part, right_part)                                               \
    PRODUCT(i, 0, 4, 6);                                                                           \
    PRODUCT((i) + 1, 1, 4, 7);                                                                     \
    LEFT_UPPER(left_part);                                                                         \
    PRODUCT((i) + 2, 2, 5, 6);                                                                     \
    RIGHT_FIRST(right_part);                                                                       \
    PRODUCT((i) + 3, 3, 5, 7);                                                                     \
    LEFT_LOWER(left_part);                                                                         \
    RIGHT_SECOND(right_part)

#define MULTIPLY_LAST(i)                                                                           \
    PRODUCT(i, 0, 4, 6);                                                                           \
    PRODUCT((i) + 1, 1, 4, 7);                                                                     \
    PRODUCT((i) + 2, 2, 5, 6);                                                                     \
    PRODUCT((i) + 3, 3, 5, 7)

/* The gap behind product i of 24, put to use: four of the 96 lines of the right operand's block
 * after come into the first cache, where a tile is loaded in two thirds of the time. The left one's
 * mostly are there. Not where there is nothing ahead. */
static inline __attribute__((always_inline)) void gap(const uint32_t *ahead, size_t i)
{
    enum { LINES = 4, LINE_WORDS = 16 };
    if (!ahead) {
        GAP();
        return;
    }
    for (size_t line = LINES * i; line < LINES * (i + 1); line++)
        _mm_prefetch((const char *)(ahead + line * LINE_WORDS), _MM_HINT_T0);
    __asm__ volatile(".rept 4\n\tnop\n\t.endr");
}

static inline __attribute__((always_inline)) void
sum_one_part(const uint32_t *left, const uint32_t *right, size_t blocks, struct amx_side *side)
{
    const uint32_t *const ahead = NULL; /* so few products leave no time for it */
    LEFT_UPPER(0);
    RIGHT_FIRST(0);
    RIGHT_SECOND(0);
    LEFT_LOWER(0);
    for (size_t i = 1; i < blocks; i++) {
        left += 2 * AMX_TILE;
        right += 2 * AMX_TILE;
        MULTIPLY_THEN_BOTH(0, 0, 0);
        amx_side_step(side);
    }
    MULTIPLY_LAST(0);
}

/* The six products in an order that changes one operand between two. */
static inline __attribute__((always_inline)) void
sum_three_parts(const uint32_t *left, const uint32_t *right, size_t blocks, struct amx_side *side)
{
    LEFT_UPPER(0);
    RIGHT_FIRST(2);
    RIGHT_SECOND(2);
    LEFT_LOWER(0);
    for (size_t i = 1;; i++) {
        const uint32_t *ahead = right + 6 * AMX_TILE;
        MULTIPLY_THEN_RIGHT(0, 1);
        MULTIPLY_THEN_LEFT(4, 1);
        MULTIPLY_THEN_RIGHT(8, 0);
        MULTIPLY_THEN_LEFT(12, 2);
        MULTIPLY_THEN_LEFT(16, 0);
        if (i == blocks)
            break;
        amx_side_step(side);
        left += 6 * AMX_TILE;
        right += 6 * AMX_TILE;
        MULTIPLY_THEN_BOTH(20, 0, 2);
    }
    const uint32_t *const ahead = NULL;
    MULTIPLY_LAST(20);
}

/* Where the result goes is fetched while it is worked out: training writes it to memory that was
 * not touched for long. */
static void fetch_result(const struct amx_finish *f)
{
    const float *other = f->base ? f->base : f->mask;
    for (size_t i = 0; i < f->rows; i++) {
        __builtin_prefetch(f->c + i * f->ldc, 1, 3);
        __builtin_prefetch(f->c + i * f->ldc + 16, 1, 3);
        if (other && other != f->c) {
            __builtin_prefetch(other + i * f->ldc, 0, 3);
            __builtin_prefetch(other + i * f->ldc + 16, 0, 3);
        }
    }
}

/* The sums of a block; its finish is left to `side`, which has finished with `sums` before. */
static void block(const struct amx_finish *f, float *sums, const uint32_t *left,
                  const uint32_t *right, size_t blocks, int parts, struct amx_side *side)
{
    fetch_result(f);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    if (blocks && parts == 1)
        sum_one_part(left, right, blocks, side);
    else if (blocks)
        sum_three_parts(left, right, blocks, side);
    bool whole = f->rows == AMX_BLOCK && f->cols == AMX_BLOCK && !f->base && !f->bias && !f->mask &&
                 f->alpha == 1 && !f->relu;
    float *to = whole ? f->c : sums;
    size_t ld = whole ? f->ldc : AMX_BLOCK;
    _tile_stored(0, to, ld * sizeof *to);
    _tile_stored(1, to + 16, ld * sizeof *to);
    _tile_stored(2, to + 16 * ld, ld * sizeof *to);
    _tile_stored(3, to + 16 * ld + 16, ld * sizeof *to);
    amx_side_step(side);
    amx_side_finish(side);
    if (!whole) {
        side->finish = *f;
        side->sums = sums;
        side->row = 0;
    }
}

/* ---- the product ---- */

struct product {
    const struct gpu_matmul *mm;
    struct amx_operand left, right;
    size_t words;               /* of a block */
    size_t all_m, all_n, all_k; /* blocks */
    size_t deep, high;          /* of a panel: blocks of k and of m */
    uint32_t *panel[2];         /* left rows: the present panel's and the next one's */
    uint32_t *right_packed;     /* all of it */
    bool right_ready;
    struct amx_side side;
    bool turn; /* whose sums: this block's, while the block's before are being finished */
    _Alignas(64) float sums[2][AMX_BLOCK * AMX_BLOCK];
};

static inline size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Panel i: blocks m0..m1 of rows by k0..k1. */
struct panel {
    size_t m0, m1, k0, k1;
};

static size_t panels_of(const struct product *p)
{
    size_t high = (p->all_m + p->high - 1) / p->high;
    return high * (p->all_k ? (p->all_k + p->deep - 1) / p->deep : 1);
}

static struct panel panel_at(const struct product *p, size_t i)
{
    size_t high = (p->all_m + p->high - 1) / p->high;
    size_t m = i % high * p->high, k = i / high * p->deep;
    return (struct panel){m, least(m + p->high, p->all_m), k, least(k + p->deep, p->all_k)};
}

static size_t panel_quarters(const struct panel *a)
{
    return (a->m1 - a->m0) * (a->k1 - a->k0) * AMX_QUARTERS;
}

/* Sets out to pack the left rows of panel i. */
static void begin_left(struct product *p, size_t i)
{
    struct panel a = panel_at(p, i);
    p->side.left_rows = (struct amx_packing){
        .o = &p->left, .at = p->panel[i % 2], .f = a.m0, .k = a.k0, .k0 = a.k0, .k1 = a.k1};
}

/* Adds to what is due the right operand's column n of blocks k0..k1. */
static void begin_right(struct product *p, size_t n, size_t k0, size_t k1)
{
    p->side.right = (struct amx_packing){.o = &p->right,
                                         .at = p->right_packed + (n * p->all_k + k0) * p->words,
                                         .f = n,
                                         .k = k0,
                                         .k0 = k0,
                                         .k1 = k1,
                                         .left = (k1 - k0) * AMX_QUARTERS};
}

/* What has to be packed while column n of panel i is multiplied: the right operand's next column,
 * if this panel is the first that needs it, and a share of the next panel's left rows. */
static void plan_column(struct product *p, size_t i, const struct panel *a, size_t n)
{
    size_t next = n + 1 < p->all_n ? i : i + 1, column = n + 1 < p->all_n ? n + 1 : 0;
    if (!p->right_ready && next < panels_of(p)) {
        struct panel b = panel_at(p, next);
        if (b.m0 == 0)
            begin_right(p, column, b.k0, b.k1);
    }
    if (i + 1 < panels_of(p)) {
        struct panel b = panel_at(p, i + 1);
        size_t all = panel_quarters(&b);
        p->side.left_rows.left = all * (n + 1) / p->all_n - all * n / p->all_n;
    }
    amx_side_plan(&p->side, (a->m1 - a->m0) * (a->k1 - a->k0));
}

/* What is added comes with the first panel of k, what is done to the sum with the last. */
static struct amx_finish finish_of(const struct product *p, const struct panel *a, size_t m,
                                   size_t n)
{
    const struct gpu_matmul *mm = p->mm;
    size_t row = m * AMX_BLOCK, col = n * AMX_BLOCK, at = row * mm->ldc + col;
    const float *base = a->k0 || mm->accumulate ? mm->c : mm->base;
    bool last = a->k1 == p->all_k;
    return (struct amx_finish){
        .c = mm->c + at,
        .base = base ? base + at : NULL,
        .bias = last && mm->bias ? mm->bias + col : NULL,
        .mask = mm->mask ? mm->mask + at : NULL,
        .ldc = mm->ldc,
        .rows = least(mm->m - row, AMX_BLOCK),
        .cols = least(mm->n - col, AMX_BLOCK),
        .alpha = mm->alpha,
        .relu = last && mm->relu,
    };
}

static void multiply_panel(struct product *p, size_t i)
{
    struct panel a = panel_at(p, i);
    size_t deep = a.k1 - a.k0;
    if (i + 1 < panels_of(p))
        begin_left(p, i + 1);
    for (size_t n = 0; n < p->all_n; n++) {
        plan_column(p, i, &a, n);
        for (size_t m = a.m0; m < a.m1; m++) {
            struct amx_finish f = finish_of(p, &a, m, n);
            p->turn = !p->turn;
            block(&f, p->sums[p->turn], p->panel[i % 2] + (m - a.m0) * deep * p->words,
                  p->right_packed + (n * p->all_k + a.k0) * p->words, deep, p->left.parts,
                  &p->side);
        }
    }
    amx_side_finish(&p->side);
}

/* All that the first column of the first panel needs. */
static void begin(struct product *p)
{
    struct panel a = panel_at(p, 0);
    begin_left(p, 0);
    p->side.left_rows.left = panel_quarters(&a);
    if (!p->right_ready)
        begin_right(p, 0, a.k0, a.k1);
    amx_side_plan(&p->side, 1);
    amx_side_step(&p->side);
}

void amx_matmul(struct gpu_queue *q, const struct gpu_matmul *mm)
{
    int parts = mm->precision == GPU_BF16 ? 1 : AMX_MOST_PARTS;
    struct product p = {
        .mm = mm,
        .left = {mm->a, mm->lda, mm->m, mm->k, mm->ta, true, parts},
        .right = {mm->b, mm->ldb, mm->n, mm->k, !mm->tb, false, parts},
        .words = amx_block_words(parts),
        .all_m = amx_blocks(mm->m),
        .all_n = amx_blocks(mm->n),
        .all_k = amx_blocks(mm->k),
    };
    if (q->failure.code || mm->m == 0 || mm->n == 0)
        return;
    p.deep = least(DEEP_WORDS / p.words, p.all_k);
    p.high = p.all_n * p.deep * p.words <= NEAR_WORDS ? 1 : least(HIGH, p.all_m);
    struct cpu_packs *packs = ((struct cpu_queue *)q)->packs;
    p.right_packed = mm->stable ? (uint32_t *)packs_get(packs, &p.right, amx_pack) : NULL;
    p.right_ready = p.right_packed != NULL;
    size_t panel = p.high * p.deep * p.words, right = p.right_ready ? 0 : amx_words(&p.right);
    uint32_t *scratch = cpu_scratch(q, (2 * panel + right) * sizeof *scratch);
    if (!scratch)
        return;
    p.panel[0] = scratch;
    p.panel[1] = scratch + panel;
    if (!p.right_ready)
        p.right_packed = scratch + 2 * panel;
    configure();
    begin(&p);
    for (size_t i = 0; i < panels_of(&p); i++)
        multiply_panel(&p, i);
    _tile_release();
}
