/* See tensor_checks.h. A case is a list of buffers, which have the same contents on both devices,
 * and calls on them; afterwards all buffers are compared. */
#include "ops/doctor/tensor_checks.h"

#include "base/rng.h"
#include "ops/doctor/tensor_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t offsets[SEQUENCES + 1] = {0, 1, 14, 54, ROWS};

size_t tensor_checks_number(void)
{
    return layer_cases_number + tensor_cases_number;
}

static const struct check_case *check(size_t i)
{
    return i < layer_cases_number ? &layer_cases[i] : &tensor_cases[i - layer_cases_number];
}

const char *tensor_check_name(size_t i)
{
    return check(i)->name;
}

static bool is_narrow(const struct buffer *b, const struct check_case *c,
                      const struct gpu_device *d)
{
    return (b->what == STORED || b->what == EMPTY) && gpu_stored(d, c->precision) == GPU_TYPE_BF16;
}

/* Converts n numbers from bf16 to f32 (`widen`) or back, in place. */
static void convert(void *x, size_t n, bool widen)
{
    uint32_t *wide = x;
    uint16_t *narrow = x;
    for (size_t i = 0; i < n && !widen; i++)
        narrow[i] = (uint16_t)(wide[i] >> 16);
    for (size_t i = n; i-- > 0 && widen;)
        wide[i] = (uint32_t)narrow[i] << 16;
}

static size_t bytes_of(const struct buffer *b)
{
    return b->n * (b->what == DOUBLES ? sizeof(double) : sizeof(float));
}

static void fill(void *to, const struct buffer *b, size_t number, enum gpu_precision precision)
{
    struct rng r = rng_new(5, number);
    float *x = to;
    uint32_t *word = to;
    for (size_t i = 0; i < b->n; i++)
        switch (b->what) {
        case NORMAL: x[i] = (float)rng_normal(&r); break;
        case STORED:
            x[i] = (float)rng_normal(&r);
            word[i] &= precision == GPU_BF16 ? 0xffff0000 : UINT32_MAX;
            break;
        case POSITIVE: x[i] = (float)(0.5 + rng_double(&r)); break;
        case COSINE: x[i] = (float)(2 * rng_double(&r) - 1); break;
        case OFFSETS: word[i] = offsets[i]; break;
        case EVEN: word[i] = (uint32_t)(i * ROWS / MANY); break;
        case NAMES: word[i] = (uint32_t)rng_below(&r, WORDS); break;
        case TARGETS: word[i] = (uint32_t)((i + ROWS / 2) % ROWS); break;
        case ORDER: word[i] = (uint32_t)(i * 7 % ROWS); break;
        case NONE:
        case EMPTY:
        case ZERO: x[i] = 0; break;
        case DOUBLES: ((double *)to)[i] = (double)i + 1; break;
        }
}

static enum err_code run(void *const *host, const struct check_case *c, struct gpu_device *d,
                         struct err *e)
{
    void *p[BUFFERS] = {NULL};
    struct gpu_queue *q = NULL;
    enum err_code code = gpu_queue_new(&q, d, e);
    for (size_t i = 0; i < BUFFERS && c->buffers[i].n && !code; i++)
        if (!(code = gpu_alloc(&p[i], d, bytes_of(&c->buffers[i]), e))) {
            fill(host[i], &c->buffers[i], i, c->precision);
            if (is_narrow(&c->buffers[i], c, d))
                convert(host[i], c->buffers[i].n, false);
            gpu_write(q, p[i], host[i], bytes_of(&c->buffers[i]));
        }
    if (!code) {
        c->run(q, p, c->precision);
        for (size_t i = 0; i < BUFFERS && c->buffers[i].n; i++)
            gpu_read(q, host[i], p[i], bytes_of(&c->buffers[i]));
        code = gpu_finish(q, e);
        for (size_t i = 0; i < BUFFERS && c->buffers[i].n; i++)
            if (is_narrow(&c->buffers[i], c, d))
                convert(host[i], c->buffers[i].n, true);
    }
    for (size_t i = 0; i < BUFFERS; i++)
        gpu_free(d, p[i]);
    gpu_queue_free(q);
    return err_up(e, code);
}

static double number_of(const struct buffer *b, const void *x, size_t i)
{
    switch (b->what) {
    case DOUBLES: return ((const double *)x)[i];
    case OFFSETS:
    case EVEN:
    case NAMES:
    case TARGETS:
    case ORDER: return ((const uint32_t *)x)[i];
    default: return (double)((const float *)x)[i];
    }
}

static double difference(const struct buffer *b, const void *x, const void *y)
{
    double most = 0;
    for (size_t i = 0; i < b->n; i++) {
        double u = number_of(b, x, i), v = number_of(b, y, i);
        double off = u == v ? 0 : fabs(u - v) / (1 + fabs(v));
        most = off > most || isnan(off) ? off : most;
    }
    return most;
}

enum err_code tensor_check_run(struct tensor_check *out, size_t i, struct gpu_device *device,
                               struct gpu_device *cpu, struct err *e)
{
    const struct check_case *c = check(i);
    void *host[3][BUFFERS] = {{NULL}};
    struct gpu_device *devices[] = {cpu, device, device};
    enum err_code code = OK;
    *out = (struct tensor_check){.name = c->name, .tolerance = c->tolerance, .repeats = true};
    for (int k = 0; k < 3 && !code; k++) {
        for (size_t j = 0; j < BUFFERS && c->buffers[j].n && !code; j++)
            if (!(host[k][j] = calloc(1, bytes_of(&c->buffers[j]))))
                code = err_fail(e, ERR_NOMEM, "no memory to check ops");
        if (!code)
            code = err_up(e, run(host[k], c, devices[k], e));
    }
    for (size_t j = 0; j < BUFFERS && c->buffers[j].n && !code; j++) {
        double off = difference(&c->buffers[j], host[1][j], host[0][j]);
        out->off = off > out->off || isnan(off) ? off : out->off;
        out->repeats &= memcmp(host[1][j], host[2][j], bytes_of(&c->buffers[j])) == 0;
    }
    for (int k = 0; k < 3; k++)
        for (size_t j = 0; j < BUFFERS; j++)
            free(host[k][j]);
    return code;
}
