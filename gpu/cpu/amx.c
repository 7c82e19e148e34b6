/* The product itself. Panels of left rows, packed for one run of k, are multiplied by all of the
 * right operand, column of blocks after column; a panel is low where what it needs of the right
 * operand stays in the second cache, so that its own rows stay in the first, else high. While tiles
 * multiply, the vector units finish the block before and pack the next panel (amx_side.h). */
#include "gpu/cpu/amx.h"

#include "gpu/cpu/amx_block.h"
#include "gpu/cpu/cpu.h"
#include "gpu/cpu/packs.h"

#include <immintrin.h>

enum { NEAR_WORDS = 768 * 256 /* 768 KiB */, LOW_ROWS = 32, HIGH_ROWS = 128 };

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

/* ---- the product ---- */

struct product {
    const struct gpu_matmul *mm;
    struct amx_operand left, right;
    struct amx_form form;
    amx_block *block;
    size_t all_m, all_n, all_k; /* blocks */
    size_t deep, high;          /* of a panel: blocks of k and of m */
    bool along_k;               /* panels of the same rows follow each other */
    uint32_t *panel[2];         /* left rows: the present panel's and the next one's */
    uint32_t *right_packed;     /* all of it */
    bool right_ready;
    struct amx_side side;
    bool turn; /* whose sums: this block's, while the block's before are being finished */
    _Alignas(64) uint32_t sums[2][AMX_SUMS];
};

static inline size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Panel i: blocks m0..m1 of rows by k0..k1. */
struct panel {
    size_t m0, m1, k0, k1;
};

static size_t panels_along_k(const struct product *p)
{
    return p->all_k ? amx_blocks(p->all_k, p->deep) : 1;
}

static size_t panels_of(const struct product *p)
{
    return amx_blocks(p->all_m, p->high) * panels_along_k(p);
}

static struct panel panel_at(const struct product *p, size_t i)
{
    size_t along_m = amx_blocks(p->all_m, p->high), along_k = panels_along_k(p);
    size_t m = (p->along_k ? i / along_k : i % along_m) * p->high,
           k = (p->along_k ? i % along_k : i / along_m) * p->deep;
    return (struct panel){m, least(m + p->high, p->all_m), k, least(k + p->deep, p->all_k)};
}

/* Words of one block's run in a panel. */
static size_t run_words(const struct product *p, const struct panel *a)
{
    return a->k1 > a->k0 ? p->form.head_words + (a->k1 - a->k0) * p->form.block_words : 0;
}

static size_t panel_pieces(const struct product *p, const struct panel *a)
{
    return a->k1 > a->k0 ? (a->m1 - a->m0) * amx_pieces(&p->left, a->k1 - a->k0) : 0;
}

static uint32_t *right_run(const struct product *p, size_t n, size_t k)
{
    return p->right_packed + amx_words_before(&p->form, p->all_k, n, k);
}

/* Sets out to pack the left rows of panel i. */
static void begin_left(struct product *p, size_t i)
{
    struct panel a = panel_at(p, i);
    p->side.left_rows = (struct amx_packing){
        .o = &p->left, .at = p->panel[i % 2], .f = a.m0, .k0 = a.k0, .k1 = a.k1};
}

/* Adds to what is due the right operand's column n of blocks k0..k1. */
static void begin_right(struct product *p, size_t n, size_t k0, size_t k1)
{
    if (k0 == k1)
        return;
    p->side.right = (struct amx_packing){.o = &p->right,
                                         .at = right_run(p, n, k0),
                                         .f = n,
                                         .k0 = k0,
                                         .k1 = k1,
                                         .left = amx_pieces(&p->right, k1 - k0)};
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
        size_t all = panel_pieces(p, &b);
        p->side.left_rows.left = all * (n + 1) / p->all_n - all * n / p->all_n;
    }
    amx_side_plan(&p->side, (a->m1 - a->m0) * (a->k1 - a->k0));
}

/* What is added comes with the first panel of k, what is done to the sum with the last. */
static struct amx_finish finish_of(const struct product *p, const struct panel *a, size_t m,
                                   size_t n)
{
    const struct gpu_matmul *mm = p->mm;
    size_t row = m * p->form.free, col = n * p->form.free, at = row * mm->ldc + col;
    const float *base = a->k0 || mm->accumulate ? mm->c : mm->base;
    bool last = a->k1 == p->all_k;
    return (struct amx_finish){
        .c = mm->c + at,
        .base = base ? base + at : NULL,
        .bias = last && mm->bias ? mm->bias + col : NULL,
        .mask = mm->mask ? mm->mask + at : NULL,
        .ldc = mm->ldc,
        .rows = least(mm->m - row, p->form.free),
        .cols = least(mm->n - col, p->form.free),
        .alpha = mm->alpha,
        .relu = last && mm->relu,
    };
}

static void multiply_panel(struct product *p, size_t i)
{
    struct panel a = panel_at(p, i);
    size_t run = run_words(p, &a);
    if (i + 1 < panels_of(p))
        begin_left(p, i + 1);
    for (size_t n = 0; n < p->all_n; n++) {
        plan_column(p, i, &a, n);
        for (size_t m = a.m0; m < a.m1; m++) {
            struct amx_finish f = finish_of(p, &a, m, n);
            p->turn = !p->turn;
            p->block(&f, p->sums[p->turn], p->panel[i % 2] + (m - a.m0) * run,
                     right_run(p, n, a.k0), a.k1 - a.k0, &p->side);
        }
    }
    amx_side_finish(&p->side);
}

/* All that the first column of the first panel needs. */
static void begin(struct product *p)
{
    struct panel a = panel_at(p, 0);
    begin_left(p, 0);
    p->side.left_rows.left = panel_pieces(p, &a);
    if (!p->right_ready)
        begin_right(p, 0, a.k0, a.k1);
    amx_side_plan(&p->side, 1);
    amx_side_step(&p->side);
}

void amx_matmul(struct gpu_queue *q, const struct gpu_matmul *mm)
{
    struct amx_form form = amx_form_of(mm->precision);
    struct product p = {
        .mm = mm,
        .left = {mm->a, mm->lda, mm->m, mm->k, mm->ta, true, mm->precision},
        .right = {mm->b, mm->ldb, mm->n, mm->k, !mm->tb, false, mm->precision},
        .form = form,
        .block = mm->precision == GPU_F32 ? amx_block_digits : amx_block_bf16,
        .all_m = amx_blocks(mm->m, form.free),
        .all_n = amx_blocks(mm->n, form.free),
        .all_k = amx_blocks(mm->k, form.k),
    };
    if (q->failure.code || mm->m == 0 || mm->n == 0)
        return;
    size_t right = amx_words(&p.right);
    p.deep = least(form.run, p.all_k);
    /* The rows of c stay near then; not where memory goes along m: what is near in it comes first.
     */
    p.along_k = !mm->ta && right <= NEAR_WORDS;
    bool low = p.all_n * p.deep * form.block_words <= NEAR_WORDS;
    p.high = least((low ? LOW_ROWS : HIGH_ROWS) / form.free, p.all_m);
    struct cpu_packs *packs = ((struct cpu_queue *)q)->packs;
    p.right_packed = mm->stable ? (uint32_t *)packs_get(packs, &p.right, amx_pack) : NULL;
    p.right_ready = p.right_packed != NULL;
    struct panel first = panel_at(&p, 0);
    size_t panel = p.high * run_words(&p, &first);
    uint32_t *scratch = cpu_scratch(q, (2 * panel + (p.right_ready ? 0 : right)) * sizeof *scratch);
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
