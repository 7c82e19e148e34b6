/* See double.h. Each allocation has pages of its own, closed to everybody while no work is done,
 * and a closed page behind it. */
#include "tests/cuda/double.h"

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <vector>

struct double_control eqloom_double = {false, false, false, 0, 0, 0, 88172645463325252u,
                                       {0, 0}, 0, 0, 0, 0, 0, 0};
uint64_t emu_seed;
static std::recursive_mutex lock;
static std::map<char *, size_t> device; /* allocations */
enum { PAGE = 4096 };

enum { CARDS = sizeof eqloom_double.submitted / sizeof *eqloom_double.submitted };
static thread_local int current; /* card */

struct CUstream_st {
    int card;
    std::deque<std::function<void()>> work;
    size_t done;
};
struct CUevent_st {
    CUstream_st *stream;
    size_t at;
};
static CUstream_st null_stream;
static std::vector<CUstream_st *> streams;
typedef std::lock_guard<std::recursive_mutex> guard;

static bool fails()
{
    return ++eqloom_double.calls == eqloom_double.fail_at;
}
#define MAY_FAIL(with)                                                                             \
    guard hold(lock);                                                                              \
    if (fails())                                                                                   \
    return with

static void open_memory(bool open)
{
    for (auto &x : device)
        if (!eqloom_double.now)
            mprotect(x.first, (x.second + PAGE - 1) / PAGE * PAGE,
                     open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

static void drain(CUstream_st *s, size_t until)
{
    if (s->work.empty() || s->done >= until)
        return;
    open_memory(true);
    for (; !s->work.empty() && s->done < until; s->done++) {
        s->work.front()();
        s->work.pop_front();
    }
    open_memory(eqloom_double.now);
}

static void drain_all()
{
    drain(&null_stream, SIZE_MAX);
    for (CUstream_st *s : streams)
        drain(s, SIZE_MAX);
}

static void submit(cudaStream_t stream, std::function<void()> work)
{
    CUstream_st *s = stream ? stream : &null_stream;
    if (stream && s->card != current)
        fprintf(stderr, "double: work for another card than the thread's\n"), abort();
    eqloom_double.submitted[current]++;
    s->work.push_back(work);
    if (eqloom_double.now)
        drain(s, SIZE_MAX);
}

void emu_submit(cudaStream_t stream, std::function<void()> work)
{
    guard hold(lock);
    eqloom_double.launches++;
    if (!emu_seed)
        emu_seed = eqloom_double.seed;
    submit(stream, work);
}

static size_t pending(const CUstream_st *s)
{
    return s->done + s->work.size();
}

template <class T, class X> static cublasStatus_t made(T *out, X *x)
{
    eqloom_double.live++;
    *out = (T)(void *)x;
    return CUBLAS_STATUS_SUCCESS;
}
template <class X> static cublasStatus_t unmade(X *x)
{
    guard hold(lock);
    eqloom_double.live--;
    delete x;
    return CUBLAS_STATUS_SUCCESS;
}

extern "C" {

/* ---- runtime ---- */

cudaError_t cudaGetDeviceCount(int *n)
{
    MAY_FAIL(cudaErrorInsufficientDriver);
    *n = CARDS;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *v)
{
    return *v = 13000, cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *v)
{
    return *v = CUDART_VERSION, cudaSuccess;
}
#undef cudaGetDeviceProperties
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int index)
{
    MAY_FAIL(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    strcpy(p->name, "a double of a card");
    p->major = 9;
    p->totalGlobalMem = (size_t)8 << 30;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int index)
{
    MAY_FAIL(cudaErrorInvalidDevice);
    current = index;
    return index < 0 || index >= CARDS ? cudaErrorInvalidDevice : cudaSuccess;
}
cudaError_t cudaGetLastError(void)
{
    MAY_FAIL(cudaErrorLaunchFailure);
    return cudaSuccess;
}
const char *cudaGetErrorString(cudaError_t e)
{
    return e == cudaErrorMemoryAllocation ? "out of memory" : "an error of the double";
}
cudaError_t cudaMemGetInfo(size_t *room, size_t *all)
{
    *all = (size_t)8 << 30;
    *room = (size_t)1 << 30;
    return cudaSuccess;
}
#undef cudaMalloc
cudaError_t cudaMalloc(void **p, size_t bytes)
{
    MAY_FAIL(cudaErrorMemoryAllocation);
    size_t size = (bytes + PAGE - 1) / PAGE * PAGE, used = 0;
    for (auto &x : device)
        used += x.second;
    if (used + bytes > (size_t)1 << 30)
        return cudaErrorMemoryAllocation;
    char *at = eqloom_double.now /* the sanitizers watch it */
                   ? (char *)malloc(bytes)
                   : (char *)mmap(NULL, size + PAGE, PROT_NONE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!at || at == MAP_FAILED)
        return cudaErrorMemoryAllocation;
    eqloom_double.allocations++;
    device[at] = bytes;
    open_memory(true);
    memset(at, 0xff, bytes < (1 << 20) ? bytes : 1 << 20); /* NaN: what was there before */
    open_memory(eqloom_double.now);
    eqloom_double.live++;
    *p = at;
    return cudaSuccess;
}
cudaError_t cudaFree(void *p)
{
    guard hold(lock);
    bool bad = fails();
    if (!p)
        return bad ? cudaErrorInvalidValue : cudaSuccess;
    auto x = device.find((char *)p);
    if (x == device.end())
        return fprintf(stderr, "double: cudaFree of what it never gave\n"), abort(), cudaSuccess;
    drain_all(); /* as the real one does */
    if (eqloom_double.now)
        free(x->first);
    else
        munmap(x->first, (x->second + PAGE - 1) / PAGE * PAGE + PAGE);
    device.erase(x);
    eqloom_double.live--;
    return bad ? cudaErrorInvalidValue : cudaSuccess;
}
#undef cudaMallocHost
cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    MAY_FAIL(cudaErrorMemoryAllocation);
    eqloom_double.live++;
    *p = malloc(bytes);
    return cudaSuccess;
}
cudaError_t cudaFreeHost(void *p)
{
    guard hold(lock);
    eqloom_double.live -= p != NULL;
    free(p);
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind kind,
                            cudaStream_t s)
{
    MAY_FAIL(cudaErrorInvalidValue);
    eqloom_double.copies++;
    submit(s, [=] { memmove(to, from, n); });
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t s)
{
    MAY_FAIL(cudaErrorInvalidValue);
    eqloom_double.clears++;
    submit(s, [=] { memset(p, value, n); });
    return cudaSuccess;
}
cudaError_t cudaMemset(void *p, int value, size_t n)
{
    return cudaMemsetAsync(p, value, n, NULL);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
    MAY_FAIL(cudaErrorInvalidValue);
    eqloom_double.live++;
    *s = new CUstream_st();
    (*s)->card = current;
    streams.push_back(*s);
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    guard hold(lock);
    for (size_t i = 0; i < streams.size(); i++)
        if (streams[i] == s)
            streams.erase(streams.begin() + (long)i);
    eqloom_double.live--;
    delete s;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    MAY_FAIL(cudaErrorIllegalAddress);
    eqloom_double.waits++;
    if (!eqloom_double.no_stream_waits)
        drain(s, SIZE_MAX);
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize(void)
{
    MAY_FAIL(cudaErrorIllegalAddress);
    eqloom_double.waits++;
    drain_all();
    return cudaSuccess;
}
#undef cudaEventCreateWithFlags
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags)
{
    MAY_FAIL(cudaErrorInvalidValue);
    eqloom_double.live++;
    *e = new CUevent_st();
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    guard hold(lock);
    eqloom_double.live--;
    delete e;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    MAY_FAIL(cudaErrorInvalidValue);
    e->stream = s;
    e->at = pending(s);
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    MAY_FAIL(cudaErrorIllegalAddress);
    eqloom_double.waits++;
    if (e->stream && !eqloom_double.no_event_waits)
        drain(e->stream, e->at);
    return cudaSuccess;
}

/* ---- cuBLASLt ---- */

struct desc {
    cublasOperation_t op[2];
    cublasLtEpilogue_t epilogue;
    const float *bias;
    bool bf16;
};
struct layout {
    uint64_t rows, cols;
    int64_t ld;
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
    return made(h, new int());
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t h)
{
    return unmade((int *)h);
}
#undef cublasLtMatmulDescCreate
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *d, cublasComputeType_t type,
                                        cudaDataType_t scale)
{
    MAY_FAIL(CUBLAS_STATUS_ALLOC_FAILED);
    desc *x = new desc();
    x->bf16 = type == CUBLAS_COMPUTE_32F_FAST_16BF;
    return made(d, x);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d)
{
    return unmade((desc *)d);
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
    return made(l, new layout{rows, cols, ld});
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l)
{
    return unmade((layout *)l);
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *p)
{
    MAY_FAIL(CUBLAS_STATUS_ALLOC_FAILED);
    return made(p, new preference());
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p)
{
    return unmade((preference *)p);
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

/* What an algorithm was found for. */
struct algorithm {
    uint64_t m, n;
    uint32_t align;
    int epilogue;
};

/* There is none for a bias with an odd number of columns. */
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t d,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t c,
                                              cublasLtMatmulPreference_t p, int wanted,
                                              cublasLtMatmulHeuristicResult_t *out, int *n)
{
    MAY_FAIL(CUBLAS_STATUS_INTERNAL_ERROR);
    const desc *how = (const desc *)d;
    const layout *to = (const layout *)c;
    algorithm a = {to->cols, to->rows, ((preference *)p)->align[0], how->epilogue};
    *n = !(how->bias && to->rows % 2);
    memset(out, 0, sizeof *out);
    memcpy(&out->algo, &a, sizeof a);
    return *n ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

static float bf16(float x, bool round)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (round && (bits & 0x7fffffff) <= 0x7f800000) {
        bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
        memcpy(&x, &bits, sizeof x);
    }
    return x;
}

static void multiply(const desc &how, float alpha, const float *a, layout la, const float *b,
                     layout lb, float beta, const float *c, layout lc, float *d)
{
    bool ta = how.op[0] == CUBLAS_OP_T, tb = how.op[1] == CUBLAS_OP_T;
    size_t m = lc.rows, n = lc.cols, k = ta ? la.rows : la.cols, ld = (size_t)lc.ld;
    std::vector<float> left(k * m), sum(m);
    for (size_t l = 0; l < k; l++)
        for (size_t i = 0; i < m; i++)
            left[l * m + i] =
                bf16(ta ? a[i * (size_t)la.ld + l] : a[l * (size_t)la.ld + i], how.bf16);
    for (size_t j = 0; j < n; j++) {
        std::fill(sum.begin(), sum.end(), 0.0f);
        for (size_t l = 0; l < k; l++) {
            float x = bf16(tb ? b[l * (size_t)lb.ld + j] : b[j * (size_t)lb.ld + l], how.bf16);
            for (size_t i = 0; i < m; i++)
                sum[i] += left[l * m + i] * x;
        }
        for (size_t i = 0; i < m; i++) {
            float x = alpha * sum[i] + (beta != 0 ? beta * c[j * ld + i] : 0);
            if (how.bias)
                x += how.bias[i];
            if (how.epilogue == CUBLASLT_EPILOGUE_RELU ||
                how.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS)
                x = x < 0 ? 0 : x;
            d[j * ld + i] = x;
        }
    }
}

/* A third of the algorithms found for other sizes do not do for these. */
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
    uintptr_t bits = (uintptr_t)a | (uintptr_t)b | (uintptr_t)c | (uintptr_t)out;
    if ((!same && (x.m + x.n) % 3 == 0) || bits % x.align || x.epilogue != how.epilogue)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    float by = *(const float *)alpha, add = *(const float *)beta;
    eqloom_double.products++;
    submit(stream, [=] {
        multiply(how, by, (const float *)a, A, (const float *)b, B, add, (const float *)c, C,
                 (float *)out);
    });
    return CUBLAS_STATUS_SUCCESS;
}
}
