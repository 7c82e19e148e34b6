/* The runtime of the double; see double.h. Each allocation has pages of its own, closed to
 * everybody while no work is done, and a closed page behind it. */
#include "tests/cuda/double_calls.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

struct double_control eqloom_double;
uint64_t emu_seed;
std::recursive_mutex double_lock;
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

/* $EQLOOM_DOUBLE_FAULT, "fail:N", "crash:N" or "hang:N": what happens at the Nth call; a failure
 * sticks. */
static bool fault_strikes()
{
    static const char *fault = getenv("EQLOOM_DOUBLE_FAULT");
    if (!fault || eqloom_double.calls < atol(strchr(fault, ':') + 1))
        return false;
    if (*fault == 'c')
        raise(SIGSEGV);
    while (*fault == 'h')
        pause();
    return true;
}

bool double_fails()
{
    return ++eqloom_double.calls == eqloom_double.fail_at || fault_strikes();
}

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

void double_submit(cudaStream_t stream, std::function<void()> work)
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
    guard hold(double_lock);
    eqloom_double.launches++;
    if (!emu_seed)
        emu_seed = eqloom_double.seed ? eqloom_double.seed : 88172645463325252u;
    double_submit(stream, work);
}

static size_t pending(const CUstream_st *s)
{
    return s->done + s->work.size();
}

uint16_t double_narrowed(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float double_widened(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float y;
    memcpy(&y, &bits, sizeof y);
    return y;
}

/* $EQLOOM_DOUBLE_LOG: the work that each card was given, for tests of commands. */
__attribute__((destructor)) static void tell()
{
    const char *name = getenv("EQLOOM_DOUBLE_LOG");
    FILE *f = name ? fopen(name, "w") : NULL;
    if (f) {
        fprintf(f, "%ld %ld\n", eqloom_double.submitted[0], eqloom_double.submitted[1]);
        fclose(f);
    }
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
/* $EQLOOM_DOUBLE_NO_POOL: the card has no pool of memory. */
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr what, int)
{
    MAY_FAIL(cudaErrorInvalidDevice);
    *value = what == cudaDevAttrMemoryPoolsSupported && !getenv("EQLOOM_DOUBLE_NO_POOL");
    return cudaSuccess;
}
#undef cudaGetDeviceProperties
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int index)
{
    MAY_FAIL(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    strcpy(p->name, "a double of a card");
    p->major = 9;
    p->multiProcessorCount = 132;
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
#undef cudaMallocAsync
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t s)
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
    device[at] = bytes;
    open_memory(true);
    memset(at, 0xff, bytes < (1 << 20) ? bytes : 1 << 20); /* NaN: what was there before */
    open_memory(eqloom_double.now);
    eqloom_double.live++;
    *p = at;
    return cudaSuccess;
}
#undef cudaMalloc
cudaError_t cudaMalloc(void **p, size_t bytes)
{
    cudaError_t e = cudaMallocAsync(p, bytes, NULL);
    eqloom_double.allocations += e == cudaSuccess;
    return e;
}
cudaError_t cudaFree(void *p)
{
    guard hold(double_lock);
    bool bad = double_fails();
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
/* Behind what its stream has been given, none of which is left where the back end calls it. */
cudaError_t cudaFreeAsync(void *p, cudaStream_t s)
{
    return cudaFree(p);
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int index)
{
    MAY_FAIL(cudaErrorInvalidValue);
    return *pool = NULL, cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr what, void *value)
{
    MAY_FAIL(cudaErrorInvalidValue);
    return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
    MAY_FAIL(cudaErrorInvalidValue);
    return cudaSuccess;
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
    guard hold(double_lock);
    eqloom_double.live -= p != NULL;
    free(p);
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind kind,
                            cudaStream_t s)
{
    MAY_FAIL(cudaErrorInvalidValue);
    eqloom_double.copies++;
    double_submit(s, [=] { memmove(to, from, n); });
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t s)
{
    MAY_FAIL(cudaErrorInvalidValue);
    eqloom_double.clears++;
    double_submit(s, [=] { memset(p, value, n); });
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
    guard hold(double_lock);
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
    guard hold(double_lock);
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
}
