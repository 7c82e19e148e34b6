/* The product: the right operand is packed whole, the left one in panels of some rows, which stay
 * in the second cache while the right operand's columns pass by. Each block of 32 by 32 sums is
 * taken over all of k in four tiles, then the epilogue writes it.
 *
 * This is the smallest form that keeps the tiles busy. Whether it is worth having beside oneDNN's
 * own bf16 kernels has to be measured where there are tile units. */
#include "gpu/cpu/amx.h"

#include "gpu/cpu/amx_operand.h"
#include "gpu/cpu/cpu_queue.h"
#include "gpu/cpu/vec.h"

#include <assert.h>
#include <immintrin.h>

enum { PANEL = 4 /* blocks of rows */, ROW_BYTES = 64 };

/* Tile instructions one upon another are slow while the core's other hardware thread is busy (26 ns
 * for a product, with 8 instructions of any kind between them 17); else 7 ns either way. */
#define GAP() __asm__ volatile(".rept 8\n\tnop\n\t.endr")

#define LOAD(tile, at)                                                                             \
    _tile_loadd(tile, at, ROW_BYTES);                                                              \
    GAP()

#define PRODUCT(to, left, right)                                                                   \
    _tile_dpbf16ps(to, left, right);                                                               \
    GAP()

/* All eight tiles whole: 16 rows of 64 bytes. */
static void configure(void)
{
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } __attribute__((aligned(64))) config = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        config.bytes[i] = ROW_BYTES;
        config.rows[i] = 16;
    }
    /* The intrinsic says that it reads the first 8 bytes only. */
    __asm__ volatile("" : : "r"(&config) : "memory");
    _tile_loadconfig(&config);
}

/* Tiles 0..3 hold the sums, 4 and 5 the left operand's block, 6 and 7 the right one's. A tile is
 * loaded anew as soon as its last product has been issued, so that loads overlap products. */
static void multiply_block(float *sums, const uint32_t *left, const uint32_t *right, size_t blocks)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    if (blocks) {
        LOAD(4, left);
        LOAD(6, right);
        LOAD(7, right + AMX_TILE);
        LOAD(5, left + AMX_TILE);
        for (size_t i = 1; i < blocks; i++) {
            left += AMX_BLOCK_WORDS;
            right += AMX_BLOCK_WORDS;
            PRODUCT(0, 4, 6);
            PRODUCT(1, 4, 7);
            LOAD(4, left);
            PRODUCT(2, 5, 6);
            LOAD(6, right);
            PRODUCT(3, 5, 7);
            LOAD(5, left + AMX_TILE);
            LOAD(7, right + AMX_TILE);
        }
        PRODUCT(0, 4, 6);
        PRODUCT(1, 4, 7);
        PRODUCT(2, 5, 6);
        PRODUCT(3, 5, 7);
    }
    _tile_stored(0, sums, 2 * ROW_BYTES);
    _tile_stored(1, sums + 16, 2 * ROW_BYTES);
    _tile_stored(2, sums + 16 * AMX_BLOCK, 2 * ROW_BYTES);
    _tile_stored(3, sums + 16 * AMX_BLOCK + 16, 2 * ROW_BYTES);
}

/* Writes the block whose first element is (row, col). */
static void epilogue(const struct gpu_matmul *mm, const float *sums, size_t row, size_t col)
{
    size_t rows = mm->m - row < AMX_BLOCK ? mm->m - row : AMX_BLOCK;
    size_t cols = mm->n - col < AMX_BLOCK ? mm->n - col : AMX_BLOCK;
    const float *base = mm->beta == 0 ? NULL : mm->base ? mm->base : mm->c;
    const float *bias = mm->bias, *mask = mm->mask;
    float *c = mm->c;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j += LANES) {
            size_t at = (row + i) * mm->ldc + col + j, n = cols - j;
            vf x = vf_load(sums + i * AMX_BLOCK + j) * mm->alpha;
            if (bias)
                x += vf_load_some(bias + col + j, n);
            if (base)
                x += vf_load_some(base + at, n);
            if (mm->relu)
                x = vf_max(x, vf_set(0));
            if (mask)
                x = (vf)((vf_load_some(mask + at, n) > 0.0f) & (vi)x);
            vf_store_some(c + at, x, n);
        }
}

/* A base that is scaled becomes c, to which the product is then added. */
static void begin_with_scaled(struct gpu_queue *q, struct gpu_matmul *mm)
{
    if (mm->beta == 0 || mm->beta == 1)
        return;
    if (mm->base)
        q->op->copy_rows(q, mm->c, mm->ldc, mm->base, mm->ldc, NULL, mm->m, mm->n);
    for (size_t i = 0; i < mm->m; i++)
        q->op->scale(q, (float *)mm->c + i * mm->ldc, mm->n, mm->beta);
    mm->base = NULL;
    mm->beta = 1;
}

void amx_matmul(struct gpu_queue *q, const struct gpu_matmul *how)
{
    struct gpu_matmul copy = *how, *mm = &copy;
    struct amx_operand left = {mm->a, mm->lda, mm->m, mm->k, mm->ta, true};
    struct amx_operand right = {mm->b, mm->ldb, mm->n, mm->k, !mm->tb, false};
    size_t all_m = amx_blocks(mm->m), all_n = amx_blocks(mm->n), all_k = amx_blocks(mm->k);
    size_t words = all_k * AMX_BLOCK_WORDS; /* of 32 rows or columns */
    _Alignas(64) float sums[AMX_BLOCK * AMX_BLOCK];
    assert(mm->read == GPU_TYPE_F32 && mm->write == GPU_TYPE_F32);
    if (q->failure.code || mm->m == 0 || mm->n == 0)
        return;
    uint32_t *panel = cpu_scratch(q, ((PANEL + all_n) * words + 1) * sizeof *panel);
    if (!panel)
        return;
    begin_with_scaled(q, mm);
    uint32_t *columns = panel + PANEL * words;
    amx_pack(columns, &right, 0, all_n);
    configure();
    for (size_t first = 0; first < all_m; first += PANEL) {
        size_t end = first + PANEL < all_m ? first + PANEL : all_m;
        amx_pack(panel, &left, first, end);
        for (size_t n = 0; n < all_n; n++)
            for (size_t m = first; m < end; m++) {
                multiply_block(sums, panel + (m - first) * words, columns + n * words, all_k);
                epilogue(mm, sums, m * AMX_BLOCK, n * AMX_BLOCK);
            }
    }
    _tile_release();
}
