/* Operands of matrix products into tiles; see amx.h. */
#include "gpu/cpu/amx_digits.h"
#include "gpu/cpu/amx_turn.h"

enum { ROWS = 8 /* that are packed at a time: half a tile */, BLOCK = 32, QUARTERS = 4 };

/* ---- bf16 ---- */

/* A row of a tile, 32 values rounded to nearest, ties to even: u in the lower halves of the words
 * and v in the upper. */
static inline __attribute__((always_inline)) void round_row(uint32_t *out, __m512 u, __m512 v)
{
    const __m512i interleave =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    _mm512_store_si512(out,
                       _mm512_permutexvar_epi16(interleave, (__m512i)_mm512_cvtne2ps_pbh(v, u)));
}

/* Where a tile's values are: row i of 16 at `at` + i * ld, its upper halves `upper` further on. */
struct place {
    const float *at;
    size_t ld, upper;
};

/* A tile's values, from `edge` where some of its 16 by 32 are not there. */
static inline __attribute__((always_inline)) struct place
find(float *edge, const struct amx_operand *o, size_t f, size_t k)
{
    size_t nf = amx_left_over(o->free, f), nu = amx_left_over(o->k, k),
           nv = amx_left_over(o->k, k + 16);
    const float *at = o->k_major ? o->at + k * o->ld + f : o->at + f * o->ld + k;
    size_t upper = o->k_major ? 16 * o->ld : 16;
    if (nf == 16 && nv == 16)
        return (struct place){at, o->ld, upper};
    amx_copy_part(edge, at, o->ld, o->k_major ? nu : nf, o->k_major ? nf : nu);
    amx_copy_part(edge + 256, at + upper, o->ld, o->k_major ? nv : nf, o->k_major ? nf : nv);
    return (struct place){edge, 16, 256};
}

static void turn_rows(float *out, const float *at, size_t ld)
{
    __m512d rows[ROWS];
    amx_turn_half(rows, at, ld);
    for (size_t i = 0; i < ROWS; i++)
        _mm512_store_pd(out + 16 * i, rows[i]);
}

/* Rows 8 * half .. of a tile. */
static void pack_rows(uint32_t *out, const struct amx_operand *o, size_t f, size_t k, size_t half)
{
    _Alignas(64) float edge[2 * 256], turned[2 * ROWS * 16];
    struct place p = find(edge, o, f, k);
    if (o->left == o->k_major) {
        turn_rows(turned, p.at + ROWS * half, p.ld);
        turn_rows(turned + ROWS * 16, p.at + p.upper + ROWS * half, p.ld);
        p = (struct place){turned, 16, ROWS * 16};
    } else {
        p.at += ROWS * half * p.ld;
    }
    out += ROWS * half * 16;
    for (size_t i = 0; i < ROWS; i++, out += 16)
        round_row(out, _mm512_loadu_ps(p.at + i * p.ld),
                  _mm512_loadu_ps(p.at + i * p.ld + p.upper));
}

/* Addresses beyond the operand do no harm. */
static void fetch_rows(const struct amx_operand *o, size_t f, size_t k, size_t half)
{
    size_t at = o->k_major ? (k + half * ROWS) * o->ld + f : (f + half * ROWS) * o->ld + k;
    size_t upper = o->k_major ? 16 * o->ld : 16;
    for (size_t i = 0; i < ROWS; i++, at += o->ld) {
        _mm_prefetch((const char *)((uintptr_t)o->at + at * sizeof(float)), _MM_HINT_T0);
        _mm_prefetch((const char *)((uintptr_t)o->at + (at + upper) * sizeof(float)), _MM_HINT_T0);
    }
}

static void round_piece(uint32_t *out, const struct amx_operand *o, size_t f, size_t k0, size_t k1,
                        size_t piece)
{
    struct amx_form form = amx_form_of(GPU_BF16);
    size_t block = piece / QUARTERS, tile = piece % QUARTERS / 2, half = piece % 2;
    size_t k = k0 + block, row = f * BLOCK + tile * AMX_TILE_ROWS;
    bool more = k + 1 < k1;
    pack_rows(out + block * form.block_words + tile * AMX_TILE, o, row, k * BLOCK, half);
    fetch_rows(o, more ? row : row + BLOCK, (more ? k + 1 : k0) * BLOCK, half);
}

/* ---- either ---- */

size_t amx_pieces(const struct amx_operand *o, size_t blocks)
{
    switch (o->precision) {
    case GPU_F32: return amx_digits_pieces(o, blocks);
    case GPU_BF16: return QUARTERS * blocks;
    }
    return 0;
}

void amx_pack_piece(uint32_t *out, const struct amx_operand *o, size_t f, size_t k0, size_t k1,
                    size_t piece)
{
    switch (o->precision) {
    case GPU_F32: amx_digits_piece(out, o, f, k0, k1, piece); break;
    case GPU_BF16: round_piece(out, o, f, k0, k1, piece); break;
    }
}

void amx_pack(uint32_t *out, const struct amx_operand *o)
{
    struct amx_form form = amx_form_of(o->precision);
    size_t all_k = amx_blocks(o->k, form.k);
    for (size_t f = 0; f < amx_blocks(o->free, form.free); f++)
        for (size_t k = 0; k < all_k; k += form.run) {
            size_t end = k + form.run < all_k ? k + form.run : all_k;
            for (size_t piece = 0; piece < amx_pieces(o, end - k); piece++)
                amx_pack_piece(out + amx_words_before(&form, all_k, f, k), o, f, k, end, piece);
        }
}
