/* cuBLASLt's double; see double.h. Sums are in order, whatever the sizes of tiles. */
#include "tests/cuda/double_calls.hpp"

#include <cstdlib>
#include <cstring>
#include <cublasLt.h>
#include <vector>

extern "C" {

struct desc {
    cublasOperation_t op[2];
    cublasLtEpilogue_t epilogue;
    const void *bias;
    bool bf16;
};
struct layout {
    uint64_t rows, cols;
    int64_t ld;
    bool bf16;

    float get(const void *x, size_t i) const
    {
        return bf16 ? double_widened(((const uint16_t *)x)[i]) : ((const float *)x)[i];
    }
    void put(void *x, size_t i, float value) const
    {
        if (bf16)
            ((uint16_t *)x)[i] = double_narrowed(value);
        else
            ((float *)x)[i] = value;
    }
};
struct preference {
    uint64_t workspace;
    uint32_t align[4], sums;
};

size_t cublasLtGetVersion(void)
{
    return CUBLAS_VERSION;
}
const char *cublasLtGetStatusName(cublasStatus_t s)
{
    return s == CUBLAS_STATUS_NOT_SUPPORTED ? "not supported" : "an error of the double";
}
cublasStatus_t cublasLtCreate(cublasLtHandle_t *h)
{
    MAY_FAIL(CUBLAS_STATUS_NOT_INITIALIZED);
    *h = made<cublasLtHandle_t>(new int());
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t h)
{
    unmade((int *)h);
    return CUBLAS_STATUS_SUCCESS;
}
#undef cublasLtMatmulDescCreate
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *d, cublasComputeType_t type,
                                        cudaDataType_t scale)
{
    MAY_FAIL(CUBLAS_STATUS_ALLOC_FAILED);
    desc *x = new desc();
    x->bf16 = type == CUBLAS_COMPUTE_32F_FAST_16BF;
    *d = made<cublasLtMatmulDesc_t>(x);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d)
{
    unmade((desc *)d);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t h,
                                              cublasLtMatmulDescAttributes_t what, const void *v,
                                              size_t size)
{
    MAY_FAIL(CUBLAS_STATUS_INTERNAL_ERROR);
    desc *d = (desc *)h;
    if (what == CUBLASLT_MATMUL_DESC_TRANSA)
        memcpy(&d->op[0], v, size);
    else if (what == CUBLASLT_MATMUL_DESC_TRANSB)
        memcpy(&d->op[1], v, size);
    else if (what == CUBLASLT_MATMUL_DESC_EPILOGUE)
        memcpy(&d->epilogue, v, size);
    else if (what == CUBLASLT_MATMUL_DESC_BIAS_POINTER)
        memcpy(&d->bias, v, size);
    else
        abort();
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *l, cudaDataType type,
                                          uint64_t rows, uint64_t cols, int64_t ld)
{
    MAY_FAIL(CUBLAS_STATUS_ALLOC_FAILED);
    if (ld < (int64_t)rows)
        return CUBLAS_STATUS_INVALID_VALUE;
    *l = made<cublasLtMatrixLayout_t>(new layout{rows, cols, ld, type == CUDA_R_16BF});
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l)
{
    unmade((layout *)l);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *p)
{
    MAY_FAIL(CUBLAS_STATUS_ALLOC_FAILED);
    *p = made<cublasLtMatmulPreference_t>(new preference());
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p)
{
    unmade((preference *)p);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t h,
                                                    cublasLtMatmulPreferenceAttributes_t what,
                                                    const void *v, size_t size)
{
    MAY_FAIL(CUBLAS_STATUS_INTERNAL_ERROR);
    preference *p = (preference *)h;
    if (what == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
        memcpy(&p->workspace, v, size);
    else if (what == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK)
        memcpy(&p->sums, v, size);
    else if (what >= CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES &&
             what <= CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES)
        memcpy(&p->align[what - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], v, size);
    else
        abort();
    return CUBLAS_STATUS_SUCCESS;
}

/* The largest power of two up to 16 that divides the distance of a matrix's rows in bytes and, as
 * far as the algorithm loads them whole, their length. */
static uint32_t row_alignment(const layout &l)
{
    uint64_t bits = ((uint64_t)l.ld | l.rows) * (l.bf16 ? 2 : 4) | 16;
    return (uint32_t)(bits & -bits);
}

/* What an algorithm was found for. */
struct algorithm {
    uint64_t m, n;
    uint32_t align, rows[3];
    int epilogue;
};

/* The first of several does not work. There is none for a bias with an odd number of columns. */
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t d,
                                              cublasLtMatrixLayout_t la, cublasLtMatrixLayout_t lb,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t c,
                                              cublasLtMatmulPreference_t p, int wanted,
                                              cublasLtMatmulHeuristicResult_t *out, int *n)
{
    MAY_FAIL(CUBLAS_STATUS_INTERNAL_ERROR);
    const desc *how = (const desc *)d;
    const layout *to = (const layout *)c;
    algorithm a = {to->cols,
                   to->rows,
                   ((preference *)p)->align[0],
                   {row_alignment(*(layout *)la), row_alignment(*(layout *)lb), row_alignment(*to)},
                   how->epilogue};
    *n = how->bias && to->rows % 2 ? 0 : wanted < 2 ? wanted : 2;
    for (int i = 0; i < *n; i++) {
        memset(&out[i], 0, sizeof out[i]);
        out[i].state = i + 1 < *n ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
        memcpy(&out[i].algo, &a, out[i].state ? 0 : sizeof a);
    }
    return *n ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

/* How many rows of a column-major product, and how many columns, are summed up at a time. */
enum { TILE_ROWS = 64, TILE_COLS = 4, LANES = 16 };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

/* sum (TILE_COLS, TILE_ROWS) over l < k, in order, of left (k, TILE_ROWS) by right (k, TILE_COLS).
 */
__attribute__((always_inline)) static inline void sum_tile(float *sum, const float *left,
                                                           const float *right, size_t k)
{
    lanes s[TILE_COLS][TILE_ROWS / LANES] = {}, x;
    for (size_t l = 0; l < k; l++)
        for (size_t i = 0; i < TILE_ROWS / LANES; i++) {
            memcpy(&x, left + l * TILE_ROWS + i * LANES, sizeof x);
            for (size_t j = 0; j < TILE_COLS; j++)
                s[j][i] += x * right[l * TILE_COLS + j];
        }
    memcpy(sum, s, sizeof s);
}
#ifdef __x86_64__
__attribute__((target("avx512f"))) static void sum_tile_512(float *sum, const float *left,
                                                            const float *right, size_t k)
{
    sum_tile(sum, left, right, k);
}
#endif
static void sum_tile_any(float *sum, const float *left, const float *right, size_t k)
{
#ifdef __x86_64__
    static const bool wide = __builtin_cpu_supports("avx512f");
    if (wide)
        return sum_tile_512(sum, left, right, k);
#endif
    sum_tile(sum, left, right, k);
}

/* x (n, k), or if `across` x (k, n), to groups (k, tile) of n, with zeros behind the last. */
static std::vector<float> pack(const void *x, const layout &l, size_t n, size_t k, bool across,
                               size_t tile, bool round)
{
    size_t ld = (size_t)l.ld;
    std::vector<float> out((n + tile - 1) / tile * tile * k);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < k; c++)
            out[(i / tile * k + c) * tile + i % tile] = l.get(x, across ? c * ld + i : i * ld + c);
    for (size_t i = 0; i < out.size() && round; i++)
        out[i] = double_widened(double_narrowed(out[i]));
    return out;
}

static void multiply(const desc &how, float alpha, const void *a, layout la, const void *b,
                     layout lb, float beta, const void *c, layout lc, void *d)
{
    bool ta = how.op[0] == CUBLAS_OP_T, tb = how.op[1] == CUBLAS_OP_T;
    size_t m = lc.rows, n = lc.cols, k = ta ? la.rows : la.cols, ld = (size_t)lc.ld;
    std::vector<float> left = pack(a, la, m, k, !ta, TILE_ROWS, how.bf16);
    std::vector<float> right = pack(b, lb, n, k, tb, TILE_COLS, how.bf16);
    float sum[TILE_COLS * TILE_ROWS];
    bool relu =
        how.epilogue == CUBLASLT_EPILOGUE_RELU || how.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
    for (size_t j0 = 0; j0 < n; j0 += TILE_COLS)
        for (size_t i0 = 0; i0 < m; i0 += TILE_ROWS) {
            sum_tile_any(sum, &left[i0 * k], &right[j0 * k], k);
            for (size_t j = j0; j < n && j < j0 + TILE_COLS; j++)
                for (size_t i = i0; i < m && i < i0 + TILE_ROWS; i++) {
                    float x = alpha * sum[(j - j0) * TILE_ROWS + i - i0] +
                              (beta != 0 ? beta * lc.get(c, j * ld + i) : 0);
                    if (how.bias)
                        x += lc.get(how.bias, i);
                    lc.put(d, j * ld + i, relu && x < 0 ? 0 : x);
                }
        }
}

/* A third of the algorithms found for other sizes do not do for these, which is said; one for better
 * aligned rows fails on the card. */
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t d, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t la, const void *b,
                              cublasLtMatrixLayout_t lb, const void *beta, const void *c,
                              cublasLtMatrixLayout_t lc, void *out, cublasLtMatrixLayout_t ld,
                              const cublasLtMatmulAlgo_t *algo, void *workspace, size_t bytes,
                              cudaStream_t stream)
{
    MAY_FAIL(CUBLAS_STATUS_EXECUTION_FAILED);
    desc how = *(const desc *)d;
    layout A = *(layout *)la, B = *(layout *)lb, C = *(layout *)lc;
    algorithm x;
    memcpy(&x, algo, sizeof x);
    bool same = x.m == C.cols && x.n == C.rows;
    if (A.bf16 != B.bf16 || (C.bf16 && !A.bf16) || (A.bf16 && how.bf16))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    uintptr_t bits = (uintptr_t)a | (uintptr_t)b | (uintptr_t)c | (uintptr_t)out;
    if ((!same && (x.m + x.n) % 3 == 0) || bits % x.align || x.epilogue != how.epilogue)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    for (int i = 0; i < 3; i++)
        if (row_alignment(i == 0 ? A : i == 1 ? B : C) < x.rows[i])
            return CUBLAS_STATUS_EXECUTION_FAILED;
    float by = *(const float *)alpha, add = *(const float *)beta;
    eqloom_double.products++;
    double_submit(stream, [=] { multiply(how, by, a, A, b, B, add, c, C, out); });
    return CUBLAS_STATUS_SUCCESS;
}
}
