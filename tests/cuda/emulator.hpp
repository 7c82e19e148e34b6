/* CUDA kernels as C++, on the CPU. The threads of a block are fibers that change at barriers and
 * warp exchanges only; which warp goes on, and in which order its lanes do, is drawn. Shared memory
 * starts as NaN. Under TSan a fiber counts as a thread that only barriers and exchanges order: a
 * race is reported whatever was drawn. A barrier or an exchange that not all reach ends the
 * program. */
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <math.h>
#include <sys/mman.h>
#include <tuple>
#include <ucontext.h>
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#define EMU_TSAN(x) x
#define EMU_OURS __attribute__((no_sanitize("thread")))
#else
#define EMU_TSAN(x)
#define EMU_OURS
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#define EMU_ASAN(x) x
#else
#define EMU_ASAN(x)
#endif
#if defined __x86_64__ && !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
#define EMU_FAST 1
#endif
#undef __global__
#undef __device__
#undef __shared__
#define __global__
#define __device__
#define __shared__ static __attribute__((section("emu_shared")))
extern char __start_emu_shared[] __attribute__((weak)), __stop_emu_shared[] __attribute__((weak));

/* Runs the work now, or later: tests/cuda/double.cpp. */
void emu_submit(cudaStream_t stream, std::function<void()> work);
extern uint64_t emu_seed;

namespace emu
{
constexpr unsigned LANES = 32, MOST = 1024, STACK = 1 << 16;
enum state { READY, AT_BARRIER, AT_EXCHANGE, DONE };
struct fiber {
    ucontext_t ctx;
    void *sp, *tsan;
    char *stack;
    state at;
    dim3 thread;
    int line;
    unsigned turn;
    uint64_t slot[2]; /* what it exchanges, by turns: the next may be written while this is read */
    unsigned reduced; /* a warp's first: the turn whose sum this is */
    uint64_t sum;
};
inline fiber f[MOST], home;
inline unsigned n, cur;
inline bool idle[MOST / LANES]; /* no lane of the warp can go on */
inline dim3 thread, block, block_size, grid_size;
inline char sync_start, sync_end, sync_block, sync_warp[MOST / LANES];
inline const std::function<void()> *body;

EMU_OURS inline dim3 at_thread()
{
    return thread;
}
EMU_OURS inline dim3 at_block()
{
    return block;
}
EMU_OURS inline unsigned drawn(unsigned below)
{
    emu_seed ^= emu_seed << 13;
    emu_seed ^= emu_seed >> 7;
    emu_seed ^= emu_seed << 17;
    return (unsigned)(emu_seed >> 11) % below;
}
[[noreturn]] EMU_OURS inline void fail(const char *what, unsigned who)
{
    fprintf(stderr, "emulator: %s (block %u, thread %u, line %d)\n", what, block.x, who,
            f[who].line);
    abort();
}

#ifdef EMU_FAST
extern "C" void emu_switch(void **save, void *to);
asm(".text\n.weak emu_switch\nemu_switch:\n push %rbp\n push %rbx\n push %r12\n push %r13\n"
    " push %r14\n push %r15\n mov %rsp,(%rdi)\n mov %rsi,%rsp\n pop %r15\n pop %r14\n pop %r13\n"
    " pop %r12\n pop %rbx\n pop %rbp\n ret\n");
#endif
EMU_OURS inline void change(fiber *from, fiber *to)
{
#ifdef EMU_FAST
    emu_switch(&from->sp, to->sp);
#else
    EMU_TSAN(__tsan_switch_to_fiber(to->tsan, __tsan_switch_to_fiber_no_sync));
    EMU_ASAN(void *fake; __sanitizer_start_switch_fiber(&fake, to->stack, STACK));
    swapcontext(&from->ctx, &to->ctx);
    EMU_ASAN(__sanitizer_finish_switch_fiber(fake, NULL, NULL));
#endif
}
EMU_OURS inline void wait(state s, int line)
{
    fiber *me = &f[cur];
    void *sync = s == AT_BARRIER ? &sync_block : &sync_warp[cur / LANES];
    (void)sync;
    if (!body)
        fail("a barrier in a kernel that was launched without", cur);
    me->at = s;
    me->line = line;
    EMU_TSAN(__tsan_release(sync));
    change(me, &home);
    EMU_TSAN(__tsan_acquire(sync));
}
EMU_OURS inline void entry()
{
    EMU_ASAN(__sanitizer_finish_switch_fiber(NULL, NULL, NULL));
    EMU_TSAN(__tsan_acquire(&sync_start));
    (*body)();
    f[cur].at = DONE;
    EMU_TSAN(__tsan_release(&sync_end));
    change(&f[cur], &home);
}
EMU_OURS inline void begin(fiber *x)
{
    if (!x->stack)
        x->stack =
            (char *)mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    x->at = READY;
    x->turn = x->reduced = 0;
#ifdef EMU_FAST
    void **sp = (void **)(x->stack + STACK);
    sp[-2] = (void *)entry;
    x->sp = sp - 8;
#else
    EMU_TSAN(if (!x->tsan) x->tsan = __tsan_create_fiber(0));
    EMU_TSAN(__tsan_release(&sync_start));
    getcontext(&x->ctx);
    x->ctx.uc_stack.ss_sp = x->stack;
    x->ctx.uc_stack.ss_size = STACK;
    makecontext(&x->ctx, entry, 0);
#endif
}
/* Once all lanes have come to the same exchange they go on. */
EMU_OURS inline bool release_warp(unsigned w)
{
    unsigned here = 0, left = 0, lanes = n - w < LANES ? n - w : LANES;
    for (unsigned i = w; i < w + lanes; i++) {
        here += f[i].at == AT_EXCHANGE;
        left += f[i].at == DONE;
    }
    if (!here)
        return false;
    if (left)
        fail("a lane has left, others wait in an exchange", w);
    if (here < LANES)
        return false;
    for (unsigned i = w; i < w + LANES; i++) {
        if (f[i].line != f[w].line)
            fail("lanes wait in different exchanges", i);
        f[i].at = READY;
    }
    return true;
}
EMU_OURS inline void release_block()
{
    for (unsigned i = 0; i < n; i++) {
        if (f[i].at != AT_BARRIER)
            fail(f[i].at == DONE ? "a thread has left, others wait at a barrier"
                                 : "a barrier that not all reach",
                 i);
        if (f[i].line != f[0].line)
            fail("threads wait at different barriers", i);
    }
    for (unsigned i = 0; i < n; i++) {
        f[i].at = READY;
        idle[i / LANES] = false;
    }
}
EMU_OURS inline void place(unsigned i)
{
    cur = i;
    thread = f[i].thread;
}
EMU_OURS inline bool run_warp(unsigned w, unsigned *left)
{
    if (idle[w / LANES])
        return false;
    unsigned lanes = n - w < LANES ? n - w : LANES, start = drawn(lanes), back = drawn(2);
    for (unsigned k = 0; k < lanes; k++) {
        unsigned i = w + (back ? start + lanes - k : start + k) % lanes;
        if (f[i].at != READY)
            continue;
        place(i);
        change(&home, &f[i]);
        *left -= f[i].at == DONE;
    }
    idle[w / LANES] = !release_warp(w);
    return true;
}
EMU_OURS inline void run_block()
{
    if (__start_emu_shared)
        memset(__start_emu_shared, 0xff, (size_t)(__stop_emu_shared - __start_emu_shared));
    for (unsigned i = 0; i < n; i++) {
        begin(&f[i]);
        idle[i / LANES] = false;
    }
    unsigned warps = (n + LANES - 1) / LANES;
    for (unsigned left = n; left;) {
        bool any = false;
        for (unsigned k = 0; k < warps && left; k++)
            any |= run_warp(drawn(warps) * LANES, &left);
        for (unsigned w = 0; w < n && !any; w += LANES)
            any |= run_warp(w, &left);
        if (left && !any)
            release_block();
    }
    EMU_TSAN(__tsan_acquire(&sync_end));
}
EMU_OURS inline void run(bool barriers, dim3 g, dim3 b, const std::function<void()> &fn)
{
    grid_size = g;
    block_size = b;
    n = b.x * b.y * b.z;
    for (unsigned i = 0; i < n; i++)
        f[i].thread = dim3(i % b.x, i / b.x % b.y, i / b.x / b.y);
    EMU_TSAN(home.tsan = __tsan_get_current_fiber());
    body = barriers ? &fn : NULL;
    for (size_t i = 0; i < (size_t)g.x * g.y * g.z; i++) {
        block = dim3((unsigned)(i % g.x), (unsigned)(i / g.x % g.y), (unsigned)(i / g.x / g.y));
        if (barriers)
            run_block();
        for (unsigned t = 0; t < n && !barriers; t++) {
            place(t);
            fn();
        }
    }
}
template <class... P, class... A>
void launch(cudaStream_t stream, bool barriers, dim3 g, dim3 b, void (*kernel)(P...), A... a)
{
    std::tuple<P...> args(a...);
    emu_submit(stream, [=] { run(barriers, g, b, [&] { std::apply(kernel, args); }); });
}
/* Puts the lane's value where the others find it once all have. */
template <class T> EMU_OURS unsigned offer(T v, int line)
{
    unsigned turn = f[cur].turn++ % 2;
    memcpy(&f[cur].slot[turn], &v, sizeof v);
    wait(AT_EXCHANGE, line);
    return turn;
}
template <class T> EMU_OURS T of_lane(unsigned lane, unsigned turn)
{
    T v;
    memcpy(&v, &f[cur / LANES * LANES + lane].slot[turn], sizeof v);
    return v;
}
template <class T> EMU_OURS T exchange(unsigned mask, T v, unsigned from, int line)
{
    if (mask != ~0u)
        fail("an exchange of some lanes only is not emulated", cur);
    unsigned turn = offer(v, line);
    return of_lane<T>(from, turn);
}
/* What the five exchanges of warp_sum() give, by one: the first lane that goes on works it out. */
template <class T, class F> EMU_OURS T warp_reduce(T v, int line, F join)
{
    unsigned turn = offer(v, line);
    fiber *first = &f[cur / LANES * LANES];
    T x[LANES];
    if (first->reduced == f[cur].turn)
        return memcpy(x, &first->sum, sizeof *x), x[0];
    for (unsigned i = 0; i < LANES; i++)
        x[i] = of_lane<T>(i, turn);
    for (unsigned o = LANES / 2; o; o /= 2)
        for (unsigned i = 0; i < o; i++)
            x[i] = join(x[i], x[i + o]);
    first->reduced = f[cur].turn;
    memcpy(&first->sum, x, sizeof *x);
    return x[0];
}
} // namespace emu
#define threadIdx (emu::at_thread())
#define blockIdx (emu::at_block())
#define blockDim (emu::block_size)
#define gridDim (emu::grid_size)
#define __syncthreads() emu::wait(emu::AT_BARRIER, __LINE__)
#define __shfl_xor_sync(m, v, x) emu::exchange(m, v, (emu::cur % 32) ^ (unsigned)(x), __LINE__)
