/* What cuDNN computes, on the double of a card (double.h), with and without its library:
 * convolution and long attention give what the CPU gives, and each call that fails is told. */
#include "base/rng.h"
#include "gpu/gpu.h"
#include "tests/cuda/find_double.h"

enum { LONG = 130, HEAD = 8, PIXELS = 2 * 6 * 5 * 4, KERNEL = 6 * 3 * 2 * 4, OUT = 2 * 4 * 4 * 6 };

/* n numbers of bf16, in place. */
static void widen(float *x, size_t n)
{
    const uint16_t *narrow = (const uint16_t *)x;
    for (size_t i = n; i-- > 0;) {
        uint32_t bits = (uint32_t)narrow[i] << 16;
        memcpy(&x[i], &bits, sizeof x[i]);
    }
}

/* Of both precisions, on one device; out: PIXELS + KERNEL + OUT + 6 numbers, and LONG * HEAD. */
static enum err_code compute(float *out, const char *device, struct err *e)
{
    static float x[PIXELS], w[KERNEL], dy[OUT], qkv[3 * LONG * HEAD];
    static const uint32_t offset[] = {0, LONG};
    const struct gpu_convolution how = {2, 6, 5, 4, 6, 3, 2, true, GPU_BF16};
    struct rng r = rng_new(5, 0);
    struct gpu_device *d;
    struct gpu_queue *q = NULL;
    char *memory = NULL;
    float *all[] = {x, w, dy, qkv};
    const size_t n[] = {PIXELS, KERNEL, OUT, 3 * LONG * HEAD};
    struct gpu_layout l = {0};
    float *at[11];
    uint32_t *ranges;
    for (int i = 0; i < 4; i++)
        for (size_t k = 0; k < n[i]; k++)
            all[i][k] = (float)rng_normal(&r);
    enum err_code code = gpu_open(&d, device, NULL, e);
    if (code)
        return code;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 4; i++)
            at[i] = gpu_carve_floats(&l, n[i]);
        ranges = gpu_carve(&l, sizeof offset);
        at[4] = gpu_carve_floats(&l, LONG);
        for (int i = 0; i < 3; i++)
            at[5 + i] = gpu_carve_floats(&l, n[i]);
        at[8] = gpu_carve_floats(&l, 6);
        at[9] = gpu_carve_floats(&l, LONG * HEAD);
        at[10] = gpu_carve_floats(&l, 3 * LONG * HEAD);
        if (pass == 0 && (code = gpu_alloc((void **)&memory, d, l.used, e)))
            break;
        l = (struct gpu_layout){.base = memory};
    }
    if (!code && !(code = gpu_queue_new(&q, d, e))) {
        enum gpu_type type = gpu_stored(d, GPU_BF16);
        void *beside = type == GPU_TYPE_BF16 ? at[10] : at[3];
        struct gpu_attention a = {.sequences = 1,
                                  .heads = 1,
                                  .size = HEAD,
                                  .rows = LONG,
                                  .first = ranges,
                                  .end = ranges + 1,
                                  .key_first = ranges,
                                  .key_end = ranges + 1,
                                  .q = beside,
                                  .k = gpu_at(type, beside, HEAD),
                                  .v = gpu_at(type, beside, 2 * HEAD),
                                  .q_ld = 3 * HEAD,
                                  .kv_ld = 3 * HEAD,
                                  .lse = at[4],
                                  .scale = 0.3F,
                                  .type = type,
                                  .longest = LONG};
        for (int i = 0; i < 4; i++)
            gpu_write(q, at[i], all[i], n[i] * sizeof(float));
        gpu_write(q, ranges, offset, sizeof offset);
        q->op->convolve(q, at[7], at[0], at[1], NULL, &how);
        q->op->convolve_back_input(q, at[5], at[2], at[1], &how);
        q->op->convolve_back_filters(q, at[6], at[8], at[2], at[0], &how);
        if (type == GPU_TYPE_BF16)
            q->op->round_bf16(q, beside, at[3], 1, n[3], n[3]);
        q->op->attention(q, at[9], &a);
        for (int i = 0; i < 3; out += n[i++])
            gpu_read(q, out, at[5 + i], n[i] * sizeof(float));
        gpu_read(q, out, at[8], 6 * sizeof(float));
        gpu_read(q, out + 6, at[9], gpu_bytes(type, LONG * HEAD));
        code = gpu_finish(q, e);
        if (type == GPU_TYPE_BF16)
            widen(out + 6, LONG * HEAD);
    }
    gpu_queue_free(q);
    gpu_free(d, memory);
    gpu_close(d);
    return code;
}

TEST(compute)
{
    enum { ALL = PIXELS + KERNEL + OUT + 6 + LONG * HEAD };
    static float want[ALL], got[2][ALL], broken[ALL];
    struct err e;
    assert_int_equal(compute(want, "cpu", NULL), OK);
    for (int without = 0; without < 2; without++) {
        control->no_cudnn = without;
        control->calls = 0;
        assert_int_equal(compute(got[without], "cuda", NULL), OK);
        assert_int_equal(control->live, 0);
        for (size_t i = 0; i < ALL; i++)
            /* The CPU multiplies f32 where it has no units for bf16. */
            if (!(fabsf(got[without][i] - want[i]) <= 0.06F * (1 + fabsf(want[i]))))
                fail_msg("number %zu, cuDNN %d: %g, on the CPU %g", i, !without,
                         (double)got[without][i], (double)want[i]);
        long n = control->calls;
        print_message("%ld calls\n", n);
        for (long at = 1; at <= n; at++) {
            err_clear(&e);
            control->calls = 0;
            control->fail_at = at;
            enum err_code code = compute(broken, "cuda", &e);
            bool happened = control->calls >= at;
            control->fail_at = 0;
            if (happened && code == OK && memcmp(broken, got[without], sizeof broken) != 0)
                fail_msg("call %ld of %ld fails, and nobody says so", at, n);
            if (code && !e.message[0])
                fail_msg("call %ld of %ld fails without a message", at, n);
            assert_int_equal(control->live, 0);
        }
    }
    control->no_cudnn = false;
}

int main(int argc, char **argv)
{
    return find_double(argc, argv) ? unit_run(NULL) : 2;
}
