/* Work beside the tile units; see amx_side.h. */
#include "gpu/cpu/amx_side.h"

#include <immintrin.h>
#include <math.h>

enum { ROWS = 8 }; /* of a block that are finished at a time */

static inline __mmask16 positive(const float *at, __mmask16 mask)
{
    return _mm512_cmp_ps_mask(_mm512_maskz_loadu_ps(mask, at), _mm512_setzero_ps(), _CMP_GT_OQ);
}

/* 32 columns of f32. */
static void finish_sums(const struct amx_finish *f, const uint32_t *sums, size_t from, size_t to)
{
    for (size_t j = 0; j < f->cols; j += 16) {
        __mmask16 mask = (__mmask16)(f->cols - j < 16 ? (1u << (f->cols - j)) - 1 : 0xffff);
        __mmask16 mask_base = f->base ? mask : 0;
        const float *base = f->base ? f->base : f->c;
        __m512 alpha = _mm512_set1_ps(f->alpha), zero = _mm512_setzero_ps();
        __m512 bias = f->bias ? _mm512_maskz_loadu_ps(mask, f->bias + j) : zero;
        __m512 least = _mm512_set1_ps(f->relu ? 0 : -INFINITY);
        for (size_t i = from; i < to; i++) {
            __m512 x = _mm512_load_ps(sums + i * 32 + j);
            x = _mm512_fmadd_ps(x, alpha, bias);
            x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(mask_base, base + i * f->ldc + j));
            x = _mm512_max_ps(least, x); /* in this order NaN stays */
            if (f->mask)
                x = _mm512_maskz_mov_ps(positive(f->mask + i * f->ldc + j, mask), x);
            _mm512_mask_storeu_ps(f->c + i * f->ldc + j, mask, x);
        }
    }
}

static inline __attribute__((always_inline)) __m512 integers(const uint32_t *at)
{
    return _mm512_cvtepi32_ps(_mm512_load_si512(at));
}

/* A run's three sums, 16 columns each, those of the highest digits first. */
static inline __attribute__((always_inline)) void finish_digits(const struct amx_finish *f,
                                                                const uint32_t *sums, size_t from,
                                                                size_t to, bool base, bool masked)
{
    __mmask16 mask = (__mmask16)((1u << f->cols) - 1);
    const __m512 first = _mm512_set1_ps(0x1p16f), second = _mm512_set1_ps(0x1p8f);
    __m512 col = _mm512_mul_ps(_mm512_load_ps(f->col_scales), _mm512_set1_ps(f->alpha));
    __m512 bias = f->bias ? _mm512_maskz_loadu_ps(mask, f->bias) : _mm512_setzero_ps();
    __m512 least = _mm512_set1_ps(f->relu ? 0 : -INFINITY);
    size_t ldc = f->ldc, at = from * ldc;
    float *c = f->c;
    for (size_t i = from; i < to; i++, at += ldc) {
        const uint32_t *sum = sums + i * 16;
        __m512 x = _mm512_fmadd_ps(integers(sum + AMX_TILE), second, integers(sum + 2 * AMX_TILE));
        x = _mm512_fmadd_ps(integers(sum), first, x);
        x = _mm512_mul_ps(x, _mm512_set1_ps(f->row_scales[i]));
        x = _mm512_fmadd_ps(x, col, bias);
        if (base)
            x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(mask, f->base + at));
        x = _mm512_max_ps(least, x);
        if (masked)
            x = _mm512_maskz_mov_ps(positive(f->mask + at, mask), x);
        _mm512_mask_storeu_ps(c + at, mask, x);
    }
}

static void finish_rows(const struct amx_finish *f, const uint32_t *sums, size_t from, size_t to)
{
    if (!f->row_scales)
        finish_sums(f, sums, from, to);
    else if (f->mask)
        finish_digits(f, sums, from, to, f->base != NULL, true);
    else if (f->base)
        finish_digits(f, sums, from, to, true, false);
    else
        finish_digits(f, sums, from, to, false, false);
}

static void finish_some(struct amx_side *s)
{
    size_t end = s->row + ROWS < s->finish.rows ? s->row + ROWS : s->finish.rows;
    finish_rows(&s->finish, s->sums, s->row, end);
    s->row = end;
    if (end == s->finish.rows)
        s->sums = NULL;
}

static void pack_piece(struct amx_packing *p)
{
    amx_pack_piece(p->at, p->o, p->f, p->k0, p->k1, p->piece);
    p->left--;
    if (++p->piece < amx_pieces(p->o, p->k1 - p->k0))
        return;
    struct amx_form form = amx_form_of(p->o->precision);
    p->piece = 0;
    p->at += form.head_words + (p->k1 - p->k0) * form.block_words;
    p->f++;
}

void amx_side_plan(struct amx_side *s, size_t steps)
{
    s->due = s->right.left + s->left_rows.left;
    s->steps = steps ? steps : 1;
    s->owed = 0;
}

void amx_side_step(struct amx_side *s)
{
    if (s->sums)
        finish_some(s);
    for (s->owed += s->due; s->owed >= s->steps; s->owed -= s->steps)
        pack_piece(s->right.left ? &s->right : &s->left_rows);
}

void amx_side_finish(struct amx_side *s)
{
    while (s->sums)
        finish_some(s);
}
