/* Blocks of the result; see amx_block.h. Macros, for tiles are named by constants. A tile is loaded
 * anew as soon as its last product has been asked for, so that the loads run beside the products.
 */
#include "gpu/cpu/amx_block.h"

#include <immintrin.h>

enum { ROW_BYTES = 64 };

#define LOAD(tile, at)                                                                             \
    _tile_loadd(tile, at, ROW_BYTES);                                                              \
    AMX_GAP()

/* Where the result goes is fetched while it is worked out: training writes it to memory that was
 * not touched for long. */
static void fetch_result(const struct amx_finish *f)
{
    const float *other = f->base ? f->base : f->mask;
    for (size_t i = 0; i < f->rows; i++)
        for (size_t j = 0; j < f->cols; j += 16) {
            __builtin_prefetch(f->c + i * f->ldc + j, 1, 3);
            if (other && other != f->c)
                __builtin_prefetch(other + i * f->ldc + j, 0, 3);
        }
}

/* ---- bf16: tiles 0..3 hold the result, 4 and 5 the left operand's two, 6 and 7 the right one's
 * ---- */

#define PRODUCT(to, left, right)                                                                   \
    _tile_dpbf16ps(to, left, right);                                                               \
    AMX_GAP()

static inline __attribute__((always_inline)) void
sum_bf16(const uint32_t *left, const uint32_t *right, size_t blocks, struct amx_side *side)
{
    LOAD(4, left);
    LOAD(6, right);
    LOAD(7, right + AMX_TILE);
    LOAD(5, left + AMX_TILE);
    for (size_t i = 1; i < blocks; i++) {
        left += 2 * AMX_TILE;
        right += 2 * AMX_TILE;
        PRODUCT(0, 4, 6);
        PRODUCT(1, 4, 7);
        LOAD(4, left);
        PRODUCT(2, 5, 6);
        LOAD(6, right);
        PRODUCT(3, 5, 7);
        LOAD(5, left + AMX_TILE);
        LOAD(7, right + AMX_TILE);
        amx_side_step(side);
    }
    PRODUCT(0, 4, 6);
    PRODUCT(1, 4, 7);
    PRODUCT(2, 5, 6);
    PRODUCT(3, 5, 7);
}

void amx_block_bf16(const struct amx_finish *f, uint32_t *sums, const uint32_t *left,
                    const uint32_t *right, size_t blocks, struct amx_side *side)
{
    fetch_result(f);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    if (blocks)
        sum_bf16(left, right, blocks, side);
    bool whole = f->rows == 32 && f->cols == 32 && !f->base && !f->bias && !f->mask &&
                 f->alpha == 1 && !f->relu;
    void *to[2] = {whole ? (void *)f->c : sums, whole ? (void *)(f->c + 16 * f->ldc) : sums + 512};
    size_t ld = (whole ? f->ldc : 32) * sizeof *sums;
    _tile_stored(0, to[0], ld);
    _tile_stored(1, (char *)to[0] + ROW_BYTES, ld);
    _tile_stored(2, to[1], ld);
    _tile_stored(3, (char *)to[1] + ROW_BYTES, ld);
    amx_side_step(side);
    amx_side_finish(side);
    if (!whole)
        amx_side_leave(side, f, sums);
}

#undef PRODUCT

/* ---- digits: tiles 0..2 hold the sums from the highest digits on, 3 and 4 two left digits, 5 to 7
 * the right ones. No tile serves more than three products, so that there is a load for each. In
 * slow phases a load takes 8 ns; five of them together measured best. What is to come is not
 * fetched: the next block's operands mostly are near, and fetching c costs more than waiting for
 * it. ---- */

#define PRODUCT(to, left, right)                                                                   \
    _tile_dpbssd(to, left, right);                                                                 \
    AMX_GAP()

static inline __attribute__((always_inline)) void
sum_digits(const uint32_t *left, const uint32_t *right, size_t blocks, struct amx_side *side)
{
    for (size_t i = 0; i < blocks; i++) {
        LOAD(3, left);
        LOAD(4, left + AMX_TILE);
        LOAD(5, right);
        LOAD(6, right + AMX_TILE);
        LOAD(7, right + 2 * AMX_TILE);
        PRODUCT(0, 3, 5);
        PRODUCT(1, 3, 6);
        PRODUCT(2, 3, 7);
        LOAD(3, left + 2 * AMX_TILE);
        PRODUCT(1, 4, 5);
        PRODUCT(2, 4, 6);
        PRODUCT(2, 3, 5);
        left += AMX_DIGITS * AMX_TILE;
        right += AMX_DIGITS * AMX_TILE;
        amx_side_step(side);
    }
}

void amx_block_digits(const struct amx_finish *f, uint32_t *sums, const uint32_t *left,
                      const uint32_t *right, size_t blocks, struct amx_side *side)
{
    enum { HEAD = 16 };
    static const _Alignas(64) float nothing[HEAD];
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    sum_digits(left + HEAD, right + HEAD, blocks, side);
    _tile_stored(0, sums, ROW_BYTES);
    _tile_stored(1, sums + AMX_TILE, ROW_BYTES);
    _tile_stored(2, sums + 2 * AMX_TILE, ROW_BYTES);
    amx_side_finish(side);
    struct amx_finish mine = *f;
    mine.row_scales = blocks ? (const float *)(const void *)left : nothing;
    mine.col_scales = blocks ? (const float *)(const void *)right : nothing;
    amx_side_leave(side, &mine, sums);
}
