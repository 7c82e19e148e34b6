/* f32 operands into tiles of digits; see amx.h. A run's scales come first, then its blocks, in
 * halves of 8 rows of tiles; where rows of memory are columns of tiles, a third piece turns them.
 */
#include "gpu/cpu/amx_digits.h"

#include "gpu/cpu/amx_turn.h"

#include <math.h>

enum { ROWS = 8, BLOCK = 64, GROUPS = 4 /* of 16 ks in a block */, HALVES = 2 };

/* Integers reach up to LARGEST: below 0x7f7f7f, for what rounding may add. A run whose values are
 * all below LEAST is scaled as if they were not. */
#define LARGEST 0x7f7f00
#define LEAST 0x1p-96f

/* The scale of a run is the unit of its integers times so much; the two make 2^16, the weight of
 * the least sum, and each is a float for all floats. */
static inline float share(const struct amx_operand *o)
{
    return o->left ? 0x1p-6f : 0x1p22f;
}

static inline bool turned(const struct amx_operand *o)
{
    return o->left == o->k_major;
}

/* ---- scales ---- */

static inline __attribute__((always_inline)) __m512i magnitude(__m512i x)
{
    return _mm512_and_si512(x, _mm512_set1_epi32(0x7fffffff));
}

/* Bits of magnitudes are ordered as these are, NaN above infinity. */
static inline __attribute__((always_inline)) __m512i greatest(__m512i a, __m512i b)
{
    return _mm512_max_epu32(a, b);
}

/* The greatest of each of 8 vectors. */
static __m256i greatest_of_each(const __m512i x[ROWS])
{
    __m512i pair[4], four[2];
    for (size_t i = 0; i < 4; i++)
        pair[i] = greatest(_mm512_unpacklo_epi32(x[2 * i], x[2 * i + 1]),
                           _mm512_unpackhi_epi32(x[2 * i], x[2 * i + 1]));
    for (size_t i = 0; i < 2; i++)
        four[i] = greatest(_mm512_unpacklo_epi64(pair[2 * i], pair[2 * i + 1]),
                           _mm512_unpackhi_epi64(pair[2 * i], pair[2 * i + 1]));
    __m512i both = greatest(_mm512_shuffle_i32x4(four[0], four[1], 0x88),
                            _mm512_shuffle_i32x4(four[0], four[1], 0xdd));
    return _mm512_castsi512_si256(
        greatest(_mm512_shuffle_i32x4(both, both, 0x08), _mm512_shuffle_i32x4(both, both, 0x0d)));
}

/* The scales of 16 rows or columns; NaN where the greatest is not finite. */
static __m512 scales_of(__m512i greatest, const struct amx_operand *o)
{
    enum { INFINITE = 0x7f800000 };
    __m512 x = _mm512_max_ps(_mm512_castsi512_ps(greatest), _mm512_set1_ps(LEAST));
    __mmask16 bad = _mm512_cmpge_epi32_mask(greatest, _mm512_set1_epi32(INFINITE));
    return _mm512_mask_mov_ps(_mm512_mul_ps(x, _mm512_set1_ps(share(o) / LARGEST)), bad,
                              _mm512_set1_ps(NAN));
}

static inline __attribute__((always_inline)) __m512i greatest_of_row(const float *at, size_t n)
{
    __m512i x = _mm512_setzero_si512();
    for (; n >= BLOCK; n -= BLOCK, at += BLOCK)
        for (size_t g = 0; g < GROUPS; g++)
            x = greatest(x, magnitude(_mm512_loadu_si512(at + 16 * g)));
    for (; n >= 16; n -= 16, at += 16)
        x = greatest(x, magnitude(_mm512_loadu_si512(at)));
    if (n)
        x = greatest(x, magnitude(_mm512_maskz_loadu_epi32(amx_first(n), at)));
    return x;
}

/* Of 8 rows of memory, ks k..end. */
static void find_by_rows(float *scales, const struct amx_operand *o, size_t f, size_t k, size_t end)
{
    __m512i most[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        most[i] = f + i < o->free ? greatest_of_row(o->at + (f + i) * o->ld + k, end - k)
                                  : _mm512_setzero_si512();
    __m512 x = scales_of(_mm512_castsi256_si512(greatest_of_each(most)), o);
    _mm256_store_ps(scales, _mm512_castps512_ps256(x));
}

/* Of 16 columns of memory, the first or the second half of ks k..end; the magnitudes of the first
 * are left where the scales will be. */
static void find_by_columns(float *scales, const struct amx_operand *o, size_t f, size_t k,
                            size_t end, size_t half)
{
    __mmask16 there = amx_first(amx_left_over(o->free, f));
    size_t middle = k + (end - k) / 2;
    __m512i most = half ? _mm512_load_si512(scales) : _mm512_setzero_si512();
    const float *at = o->at + f;
    for (size_t j = half ? middle : k; j < (half ? end : middle); j++)
        most = greatest(most, magnitude(_mm512_maskz_loadu_epi32(there, at + j * o->ld)));
    if (half)
        _mm512_store_ps(scales, scales_of(most, o));
    else
        _mm512_store_si512(scales, most);
}

static void find_scales(float *scales, const struct amx_operand *o, size_t f, size_t k, size_t end,
                        size_t half)
{
    if (o->k_major)
        find_by_columns(scales, o, f, k, end, half);
    else
        find_by_rows(scales + half * ROWS, o, f + half * ROWS, k, end);
}

/* ---- digits ---- */

/* The digits of 16 values, the highest in the third byte of a word; the fourth is anything. */
static inline __attribute__((always_inline)) __m512i digits(__m512 x, __m512 scale)
{
    const __m512i middle = _mm512_set1_epi32(0x808080);
    __m512i q = _mm512_cvtps_epi32(_mm512_mul_ps(x, scale));
    return _mm512_xor_si512(_mm512_add_epi32(q, middle), middle);
}

/* Row j of each tile: byte g of its words from x[g]. */
static inline __attribute__((always_inline)) void store_row(uint32_t *out, const __m512i x[GROUPS])
{
    const __mmask64 odd = 0xaaaaaaaaaaaaaaaa;
    const __mmask32 upper = 0xaaaaaaaa;
    /* Bytes a0 b0 a2 b2 and a1 b1 a3 b3 of each word. */
    __m512i even1 = _mm512_mask_blend_epi8(odd, x[0], _mm512_slli_epi16(x[1], 8)),
            even2 = _mm512_mask_blend_epi8(odd, x[2], _mm512_slli_epi16(x[3], 8)),
            odd1 = _mm512_mask_blend_epi8(odd, _mm512_srli_epi16(x[0], 8), x[1]),
            odd2 = _mm512_mask_blend_epi8(odd, _mm512_srli_epi16(x[2], 8), x[3]);
    _mm512_store_si512(out, _mm512_mask_blend_epi16(upper, _mm512_srli_epi32(even1, 16), even2));
    _mm512_store_si512(out + AMX_TILE,
                       _mm512_mask_blend_epi16(upper, odd1, _mm512_slli_epi32(odd2, 16)));
    _mm512_store_si512(out + 2 * AMX_TILE,
                       _mm512_mask_blend_epi16(upper, even1, _mm512_slli_epi32(even2, 16)));
}

/* A block's values: vector g of row i of 16 at `at` + i * ld + g * group. */
struct place {
    const float *at;
    size_t ld, group;
};

/* From `edge` where some of its 16 by 64 are not there. */
static inline __attribute__((always_inline)) struct place
find(float *edge, const struct amx_operand *o, size_t f, size_t k)
{
    const float *at = o->k_major ? o->at + k * o->ld + f : o->at + f * o->ld + k;
    size_t group = o->k_major ? 16 * o->ld : 16;
    size_t nf = amx_left_over(o->free, f);
    if (nf == 16 && k + BLOCK <= o->k)
        return (struct place){at, o->ld, group};
    for (size_t g = 0; g < GROUPS; g++) {
        size_t nk = amx_left_over(o->k, k + 16 * g);
        amx_copy_part(edge + 256 * g, at + g * group, o->ld, o->k_major ? nk : nf,
                      o->k_major ? nf : nk);
    }
    return (struct place){edge, 16, 256};
}

static void pack_rows(uint32_t *out, const float *head, const struct amx_operand *o, size_t f,
                      size_t k, size_t half)
{
    _Alignas(64) float edge[GROUPS * 256], scales[16];
    struct place p = find(edge, o, f, k);
    __m512 own = _mm512_div_ps(_mm512_set1_ps(share(o)), _mm512_load_ps(head));
    _mm512_store_ps(scales, own);
    for (size_t i = half * ROWS; i < (half + 1) * ROWS; i++) {
        const float *at = p.at + i * p.ld;
        __m512 scale = o->k_major ? own : _mm512_set1_ps(scales[i]);
        __m512i x[GROUPS];
        for (size_t g = 0; g < GROUPS; g++)
            x[g] = digits(_mm512_loadu_ps(at + g * p.group), scale);
        store_row(out + i * 16, x);
    }
}

static void turn_tile(uint32_t *tile)
{
    __m512d rows[16];
    amx_turn_half(rows, (const float *)(const void *)tile, 16);
    amx_turn_half(rows + 8, (const float *)(const void *)tile + 8, 16);
    for (size_t i = 0; i < 16; i++)
        _mm512_store_pd(tile + 16 * i, rows[i]);
}

/* ---- pieces ---- */

size_t amx_digits_pieces(const struct amx_operand *o, size_t blocks)
{
    return HALVES + (turned(o) ? HALVES + 1 : HALVES) * blocks;
}

void amx_digits_piece(uint32_t *out, const struct amx_operand *o, size_t f, size_t k0, size_t k1,
                      size_t piece)
{
    struct amx_form form = amx_form_of(GPU_F32);
    size_t pieces = turned(o) ? HALVES + 1 : HALVES, end = k1 * BLOCK < o->k ? k1 * BLOCK : o->k;
    float *scales = (float *)(void *)out;
    f *= form.free;
    if (piece < HALVES) {
        find_scales(scales, o, f, k0 * BLOCK, end, piece);
        return;
    }
    size_t block = (piece - HALVES) / pieces, part = (piece - HALVES) % pieces;
    uint32_t *tiles = out + form.head_words + block * form.block_words;
    if (part < HALVES) {
        pack_rows(tiles, scales, o, f, (k0 + block) * BLOCK, part);
        return;
    }
    for (size_t i = 0; i < AMX_DIGITS; i++)
        turn_tile(tiles + i * AMX_TILE);
}
