/* Operands of matrix products into tiles; see amx.h. */
#include "gpu/cpu/amx.h"

#include <immintrin.h>

/* 32 values as bf16 parts, u in the lower halves of the words and v in the upper; of three parts
 * the first two are rounded to nearest and the last is exact. */
static inline __attribute__((always_inline)) void split(__m512i *part, __m512 u, __m512 v,
                                                        int parts)
{
    const __m512i interleave =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000);
    for (int i = 0; i < parts; i++) {
        part[i] = _mm512_permutexvar_epi16(interleave, (__m512i)_mm512_cvtne2ps_pbh(v, u));
        u = _mm512_sub_ps(u, (__m512)_mm512_slli_epi32(part[i], 16));
        v = _mm512_sub_ps(v, (__m512)_mm512_and_si512(part[i], upper));
    }
}

/* 16 rows of 16 words become columns. */
static inline __attribute__((always_inline)) void transpose(__m512i r[16])
{
    __m512i t[16];
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4)
        for (int j = 0; j < 2; j++) {
            r[i + 2 * j] = _mm512_unpacklo_epi64(t[i + j], t[i + j + 2]);
            r[i + 2 * j + 1] = _mm512_unpackhi_epi64(t[i + j], t[i + j + 2]);
        }
    for (int i = 0; i < 16; i += 8)
        for (int j = 0; j < 4; j++) {
            t[i + j] = _mm512_shuffle_i32x4(r[i + j], r[i + j + 4], 0x88);
            t[i + j + 4] = _mm512_shuffle_i32x4(r[i + j], r[i + j + 4], 0xdd);
        }
    for (int j = 0; j < 8; j++) {
        r[j] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0x88);
        r[j + 8] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0xdd);
    }
}

/* Where a tile's values are: row i of 16 at `at` + i * ld, its upper halves `upper` further on;
 * what the masks and counts of rows leave out is 0. */
struct piece {
    const float *at;
    size_t ld, upper, rows_u, rows_v;
    __mmask16 mask_u, mask_v;
};

static inline size_t left_over(size_t n, size_t from)
{
    return n <= from ? 0 : n - from < 16 ? n - from : 16;
}

static struct piece find(const struct amx_operand *o, size_t f, size_t k)
{
    size_t nf = left_over(o->free, f), nu = left_over(o->k, k), nv = left_over(o->k, k + 16);
    __mmask16 mf = (__mmask16)((1u << nf) - 1), mu = (__mmask16)((1u << nu) - 1),
              mv = (__mmask16)((1u << nv) - 1);
    if (o->k_major)
        return (struct piece){o->at + k * o->ld + f, o->ld, 16 * o->ld, nu, nv, mf, mf};
    return (struct piece){o->at + f * o->ld + k, o->ld, 16, nf, nf, mu, mv};
}

static inline __attribute__((always_inline)) void
pack_tile(uint32_t *out, const struct amx_operand *o, size_t f, size_t k, int parts)
{
    struct piece p = find(o, f, k);
    bool turn = o->left == o->k_major;
    __m512i row[AMX_MOST_PARTS][16];
    for (size_t i = 0; i < 16; i++) {
        __m512i part[AMX_MOST_PARTS];
        const float *at = p.at + i * p.ld;
        __m512 u = _mm512_maskz_loadu_ps(i < p.rows_u ? p.mask_u : 0, at);
        __m512 v = _mm512_maskz_loadu_ps(i < p.rows_v ? p.mask_v : 0, at + p.upper);
        split(part, u, v, parts);
        for (int j = 0; j < parts; j++)
            if (turn)
                row[j][i] = part[j];
            else
                _mm512_store_si512(out + (size_t)j * 2 * AMX_TILE + 16 * i, part[j]);
    }
    for (int j = 0; turn && j < parts; j++) {
        transpose(row[j]);
        for (size_t i = 0; i < 16; i++)
            _mm512_store_si512(out + (size_t)j * 2 * AMX_TILE + 16 * i, row[j][i]);
    }
}

void amx_pack(uint32_t *out, const struct amx_operand *o, size_t f0, size_t f1, size_t k0,
              size_t k1)
{
    for (size_t f = f0; f < f1; f++)
        for (size_t k = k0; k < k1; k++, out += amx_block_words(o->parts))
            for (size_t half = 0; half < 2; half++) {
                uint32_t *tile = out + half * AMX_TILE;
                size_t row = f * AMX_BLOCK + half * 16;
                if (o->parts == 1)
                    pack_tile(tile, o, row, k * AMX_BLOCK, 1);
                else
                    pack_tile(tile, o, row, k * AMX_BLOCK, AMX_MOST_PARTS);
            }
}
