/* The product itself: blocks of 32 by 32 of the result in four tiles. LEFT_ROWS rows of the left
 * operand, packed for as much of k as LEFT_WORDS hold, stay in the second cache while all of the
 * right operand passes by columns of blocks; where k is small, as many rows as stay in the first
 * (NEAR_WORDS). The result is not fetched ahead: that took longer than it saved. */
#include "gpu/cpu/amx.h"

#include "gpu/cpu/cpu.h"
#include "gpu/cpu/packs.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

enum { LEFT_ROWS = 256, LEFT_WORDS = 768 * 256 /* 768 KiB */, NEAR_WORDS = 16 * 256 };

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
    _tile_loadconfig(&config);
}

/* ---- one block ---- */

enum { ROW_BYTES = 64 };

/* Tiles 0..3 hold the result, 4 and 5 the left operand's two, 6 and 7 the right one's. Macros, for
 * tiles are named by constants. A tile is loaded anew as soon as its last product has been asked
 * for, so that the loads run beside the products. */
#define LEFT_UPPER(part) _tile_loadd(4, left + (part)*2 * AMX_TILE, ROW_BYTES)
#define LEFT_LOWER(part) _tile_loadd(5, left + ((part)*2 + 1) * AMX_TILE, ROW_BYTES)
#define RIGHT_FIRST(part) _tile_loadd(6, right + (part)*2 * AMX_TILE, ROW_BYTES)
#define RIGHT_SECOND(part) _tile_loadd(7, right + ((part)*2 + 1) * AMX_TILE, ROW_BYTES)
/* All four products, then other left or right tiles. */
#define MULTIPLY_THEN_LEFT(part)                                                                   \
    _tile_dpbf16ps(0, 4, 6);                                                                       \
    _tile_dpbf16ps(1, 4, 7);                                                                       \
    LEFT_UPPER(part);                                                                              \
    _tile_dpbf16ps(2, 5, 6);                                                                       \
    _tile_dpbf16ps(3, 5, 7);                                                                       \
    LEFT_LOWER(part)
#define MULTIPLY_THEN_RIGHT(part)                                                                  \
    _tile_dpbf16ps(0, 4, 6);                                                                       \
    _tile_dpbf16ps(2, 5, 6);                                                                       \
    RIGHT_FIRST(part);                                                                             \
    _tile_dpbf16ps(1, 4, 7);                                                                       \
    _tile_dpbf16ps(3, 5, 7);                                                                       \
    RIGHT_SECOND(part)
/* Both, for the next k. */
#define MULTIPLY_THEN_BOTH(left_part, right_part)                                                  \
    _tile_dpbf16ps(0, 4, 6);                                                                       \
    _tile_dpbf16ps(1, 4, 7);                                                                       \
    LEFT_UPPER(left_part);                                                                         \
    _tile_dpbf16ps(2, 5, 6);                                                                       \
    RIGHT_FIRST(right_part);                                                                       \
    _tile_dpbf16ps(3, 5, 7);                                                                       \
    LEFT_LOWER(left_part);                                                                         \
    RIGHT_SECOND(right_part)

#define MULTIPLY_LAST()                                                                            \
    _tile_dpbf16ps(0, 4, 6);                                                                       \
    _tile_dpbf16ps(1, 4, 7);                                                                       \
    _tile_dpbf16ps(2, 5, 6);                                                                       \
    _tile_dpbf16ps(3, 5, 7)

static inline __attribute__((always_inline)) void sum_one_part(const uint32_t *left,
                                                               const uint32_t *right, size_t blocks)
{
    LEFT_UPPER(0);
    RIGHT_FIRST(0);
    RIGHT_SECOND(0);
    LEFT_LOWER(0);
    for (size_t i = 1; i < blocks; i++) {
        left += 2 * AMX_TILE;
        right += 2 * AMX_TILE;
        MULTIPLY_THEN_BOTH(0, 0);
    }
    MULTIPLY_LAST();
}

/* The six products in an order that changes one operand between two. */
static inline __attribute__((always_inline)) void
sum_three_parts(const uint32_t *left, const uint32_t *right, size_t blocks)
{
    LEFT_UPPER(0);
    RIGHT_FIRST(2);
    RIGHT_SECOND(2);
    LEFT_LOWER(0);
    for (size_t i = 1;; i++) {
        MULTIPLY_THEN_RIGHT(1);
        MULTIPLY_THEN_LEFT(1);
        MULTIPLY_THEN_RIGHT(0);
        MULTIPLY_THEN_LEFT(2);
        MULTIPLY_THEN_LEFT(0);
        if (i == blocks)
            break;
        left += 6 * AMX_TILE;
        right += 6 * AMX_TILE;
        MULTIPLY_THEN_BOTH(0, 2);
    }
    MULTIPLY_LAST();
}

/* What becomes of a block's sums: c = act(alpha * sums + base + bias), base being c itself, another
 * matrix of its shape or nothing. */
struct finish {
    float *c;
    const float *base, *bias;
    size_t ldc, rows, cols; /* of the block, at most 32 */
    float alpha;
    bool relu;
};

static void finish_block(const struct finish *f, const float *sums)
{
    for (size_t j = 0; j < f->cols; j += 16) {
        __mmask16 mask = (__mmask16)(f->cols - j < 16 ? (1u << (f->cols - j)) - 1 : 0xffff);
        __mmask16 mask_base = f->base ? mask : 0;
        const float *base = f->base ? f->base : f->c;
        __m512 alpha = _mm512_set1_ps(f->alpha), zero = _mm512_setzero_ps();
        __m512 bias = f->bias ? _mm512_maskz_loadu_ps(mask, f->bias + j) : zero;
        __m512 least = _mm512_set1_ps(f->relu ? 0 : -INFINITY);
        for (size_t i = 0; i < f->rows; i++) {
            __m512 x = _mm512_load_ps(sums + i * AMX_BLOCK + j);
            x = _mm512_fmadd_ps(x, alpha, bias);
            x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(mask_base, base + i * f->ldc + j));
            x = _mm512_max_ps(least, x); /* in this order NaN stays */
            _mm512_mask_storeu_ps(f->c + i * f->ldc + j, mask, x);
        }
    }
}

static void block(const struct finish *f, const uint32_t *left, const uint32_t *right,
                  size_t blocks, int parts)
{
    _Alignas(64) float sums[AMX_BLOCK * AMX_BLOCK];
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    if (blocks && parts == 1)
        sum_one_part(left, right, blocks);
    else if (blocks)
        sum_three_parts(left, right, blocks);
    bool whole = f->rows == AMX_BLOCK && f->cols == AMX_BLOCK && !f->base && !f->bias &&
                 f->alpha == 1 && !f->relu;
    float *to = whole ? f->c : sums;
    size_t ld = whole ? f->ldc : AMX_BLOCK;
    _tile_stored(0, to, ld * sizeof *to);
    _tile_stored(1, to + 16, ld * sizeof *to);
    _tile_stored(2, to + 16 * ld, ld * sizeof *to);
    _tile_stored(3, to + 16 * ld + 16, ld * sizeof *to);
    if (!whole)
        finish_block(f, sums);
}

/* ---- the product ---- */

struct product {
    const struct gpu_matmul *mm;
    struct amx_operand left, right;
    uint32_t *left_words;
    const uint32_t *right_words; /* all of it */
};

static inline size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Left rows of blocks m0..m1, packed for blocks k0..k1, times all of the right operand. What is
 * added comes with the first part of k, what is done to the sum with the last. */
static void multiply_rows(const struct product *p, size_t m0, size_t m1, size_t k0, size_t k1)
{
    const struct gpu_matmul *mm = p->mm;
    size_t words = amx_block_words(p->left.parts), all_k = amx_blocks(mm->k);
    const float *base = k0 || mm->accumulate ? mm->c : mm->base;
    bool last = k1 == all_k;
    for (size_t n = 0; n < amx_blocks(mm->n); n++)
        for (size_t m = m0; m < m1; m++) {
            size_t row = m * AMX_BLOCK, col = n * AMX_BLOCK, at = row * mm->ldc + col;
            struct finish f = {
                .c = mm->c + at,
                .base = base ? base + at : NULL,
                .bias = last && mm->bias ? mm->bias + col : NULL,
                .ldc = mm->ldc,
                .rows = least(mm->m - row, AMX_BLOCK),
                .cols = least(mm->n - col, AMX_BLOCK),
                .alpha = mm->alpha,
                .relu = last && mm->relu,
            };
            block(&f, p->left_words + (m - m0) * (k1 - k0) * words,
                  p->right_words + (n * all_k + k0) * words, k1 - k0, p->left.parts);
        }
}

void amx_matmul(struct gpu_queue *q, const struct gpu_matmul *mm)
{
    int parts = mm->precision == GPU_BF16 ? 1 : AMX_MOST_PARTS;
    struct product p = {
        .mm = mm,
        .left = {mm->a, mm->lda, mm->m, mm->k, mm->ta, true, parts},
        .right = {mm->b, mm->ldb, mm->n, mm->k, !mm->tb, false, parts},
    };
    if (q->failure.code || mm->m == 0 || mm->n == 0)
        return;
    size_t all_m = amx_blocks(mm->m), all_k = amx_blocks(mm->k);
    size_t row_words = all_k * amx_block_words(parts);
    size_t rows = least(LEFT_ROWS / AMX_BLOCK, all_m);
    if (row_words && row_words <= NEAR_WORDS)
        rows = least(NEAR_WORDS / row_words, all_m);
    size_t deep = least(LEFT_WORDS / (rows * amx_block_words(parts)), all_k);
    size_t left_words = rows * deep * amx_block_words(parts);
    struct cpu_packs *packs = ((struct cpu_queue *)q)->packs;
    p.right_words = mm->stable ? packs_get(packs, &p.right, amx_pack) : NULL;
    size_t right_words = p.right_words ? 0 : amx_words(&p.right);
    p.left_words = cpu_scratch(q, (left_words + right_words) * sizeof *p.left_words);
    if (!p.left_words)
        return;
    if (!p.right_words) {
        amx_pack(p.left_words + left_words, &p.right, 0, amx_blocks(mm->n), 0, all_k);
        p.right_words = p.left_words + left_words;
    }
    configure();
    for (size_t k = 0; k == 0 || k < all_k; k += deep + !deep)
        for (size_t m = 0; m < all_m; m += rows) {
            size_t m1 = least(m + rows, all_m), k1 = least(k + deep, all_k);
            amx_pack(p.left_words, &p.left, m, m1, k, k1);
            multiply_rows(&p, m, m1, k, k1);
        }
    _tile_release();
}
