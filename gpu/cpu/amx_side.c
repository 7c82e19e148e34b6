/* Work beside the tile units; see amx_side.h. */
#include "gpu/cpu/amx_side.h"

#include <immintrin.h>
#include <math.h>

enum { ROWS = 8 }; /* of a block that are finished at a time */

static inline __mmask16 positive(const float *at, __mmask16 mask)
{
    return _mm512_cmp_ps_mask(_mm512_maskz_loadu_ps(mask, at), _mm512_setzero_ps(), _CMP_GT_OQ);
}

static void finish_rows(const struct amx_finish *f, const float *sums, size_t from, size_t to)
{
    for (size_t j = 0; j < f->cols; j += 16) {
        __mmask16 mask = (__mmask16)(f->cols - j < 16 ? (1u << (f->cols - j)) - 1 : 0xffff);
        __mmask16 mask_base = f->base ? mask : 0;
        const float *base = f->base ? f->base : f->c;
        __m512 alpha = _mm512_set1_ps(f->alpha), zero = _mm512_setzero_ps();
        __m512 bias = f->bias ? _mm512_maskz_loadu_ps(mask, f->bias + j) : zero;
        __m512 least = _mm512_set1_ps(f->relu ? 0 : -INFINITY);
        for (size_t i = from; i < to; i++) {
            __m512 x = _mm512_load_ps(sums + i * AMX_BLOCK + j);
            x = _mm512_fmadd_ps(x, alpha, bias);
            x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(mask_base, base + i * f->ldc + j));
            x = _mm512_max_ps(least, x); /* in this order NaN stays */
            if (f->mask)
                x = _mm512_maskz_mov_ps(positive(f->mask + i * f->ldc + j, mask), x);
            _mm512_mask_storeu_ps(f->c + i * f->ldc + j, mask, x);
        }
    }
}

static void finish_some(struct amx_side *s)
{
    size_t end = s->row + ROWS < s->finish.rows ? s->row + ROWS : s->finish.rows;
    finish_rows(&s->finish, s->sums, s->row, end);
    s->row = end;
    if (end == s->finish.rows)
        s->sums = NULL;
}

/* Packs one, and fetches the same quarter of the block after. */
static void pack_quarter(struct amx_packing *p)
{
    bool more = p->k + 1 < p->k1;
    amx_pack_quarter(p->at, p->o, p->f, p->k, p->quarter);
    amx_fetch_quarter(p->o, more ? p->f : p->f + 1, more ? p->k + 1 : p->k0, p->quarter);
    p->left--;
    if (++p->quarter < AMX_QUARTERS)
        return;
    p->quarter = 0;
    p->at += amx_block_words(p->o->parts);
    if (++p->k == p->k1) {
        p->k = p->k0;
        p->f++;
    }
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
        pack_quarter(s->right.left ? &s->right : &s->left_rows);
}

void amx_side_finish(struct amx_side *s)
{
    while (s->sums)
        finish_some(s);
}
