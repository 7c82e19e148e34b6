/* cuDNN's plans of our shapes, made for cards that are described: no card is needed, but a driver
 * in which nothing but its version can be asked (make_stub.sh). Exit status 77: this version of
 * cuDNN does not plan without a card. */
#include "gpu/cuda/cudnn_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int version, multiprocessors, shared;
} cards[] = {{800, 108, 166912}, {900, 132, 232448}, {1000, 148, 232448}, {1200, 170, 101376}};

static const char *describe(char *text, size_t size, int i)
{
    snprintf(text, size,
             "{\"maxGridSize\":[2147483647,65535,65535],\"maxBlockSize\":[1024,1024,64],"
             "\"regsPerBlock\":65536,\"multiProcessorCount\":%d,\"warpSize\":32,"
             "\"maxSharedMemoryPerBlock\":49152,\"maxSharedMemoryPerBlockOptin\":%d,"
             "\"reservedSharedMemoryPerBlock\":1024,\"maxRegistersPerSM\":65536,"
             "\"maxCtasPerSM\":32,\"maxThreadsPerBlock\":1024,\"maxThreadsPerSM\":2048,"
             "\"pciDeviceId\":0,\"isTccDriver\":0,\"supportCoopLaunch\":1,"
             "\"totalGlobalMem\":85014478848,\"smClockRateKHz\":1980000,"
             "\"memClockRateKHz\":2619000,\"l2CacheSize\":52428800,\"cudaDeviceId\":0,"
             "\"deviceVer\":%d,\"driverVer\":13000,\"deviceName\":\"sm_%d\"}",
             cards[i].multiprocessors, cards[i].shared, cards[i].version, cards[i].version / 10);
    return text;
}

static struct cudnn_key key_of(enum cudnn_kind kind, enum gpu_precision precision)
{
    struct cudnn_key k;
    memset(&k, 0, sizeof k);
    k.kind = kind;
    k.precision = precision;
    return k;
}

struct tally {
    int asked, plans;
    int64_t workspace;
};

static int ask(struct tally *t, struct cudnn_cache *c, const struct cudnn_key *key,
               const char *what)
{
    const struct cudnn_plan *p, *again;
    struct err e;
    if (cudnn_plan_for(&p, c, key, &e) || cudnn_plan_for(&again, c, key, &e))
        return fprintf(stderr, "%s: %s\n", what, e.message), 1;
    if (p != again || (p->plan && (p->workspace < 0 || p->workspace > CUDNN_WORKSPACE)))
        return fprintf(stderr, "%s: a plan is made twice, or too large\n", what), 1;
    t->asked++;
    t->plans += p->plan != NULL;
    t->workspace = p->plan && p->workspace > t->workspace ? p->workspace : t->workspace;
    if (getenv("VERBOSE"))
        printf("  %s, kind %d, precision %d: %s, workspace %lld\n", what, (int)key->kind,
               (int)key->precision, p->plan ? "plan" : "none", (long long)p->workspace);
    return 0;
}

/* Layers of the networks on images, as jobs have them. */
static const struct gpu_convolution layers[] = {
    {64, 32, 128, 1, 32, 3, 3}, {64, 15, 63, 32, 32, 3, 3}, {64, 15, 63, 32, 64, 3, 3},
    {64, 13, 61, 64, 64, 5, 5}, {1, 32, 128, 32, 32, 3, 3},
};
/* Sequences, heads, size, longest. */
static const size_t attentions[][4] = {{64, 8, 64, 256}, {16, 8, 64, 512}, {256, 4, 32, 128}};

static int check_card(int i)
{
    char text[2048], what[32];
    struct cudnn_cache *c;
    struct tally convolutions[3] = {0}, attention = {0};
    struct err e;
    int bad = 0;
    if (cudnn_cache_new(&c, describe(text, sizeof text, i), &e)) {
        printf("sm_%d: skipped: %s\n", cards[i].version / 10, e.message);
        return -1;
    }
    snprintf(what, sizeof what, "sm_%d", cards[i].version / 10);
    for (size_t l = 0; l < sizeof layers / sizeof *layers; l++)
        for (int kind = CONVOLVE; kind <= CONVOLVE_BACK_FILTERS; kind++)
            for (int p = GPU_F32; p <= GPU_BF16; p++) {
                struct cudnn_key key = key_of((enum cudnn_kind)kind, (enum gpu_precision)p);
                key.convolution = layers[l];
                bad |= ask(&convolutions[p], c, &key, what);
            }
    for (size_t l = 0; l < sizeof attentions / sizeof *attentions; l++) {
        struct cudnn_key key = key_of(ATTEND, GPU_BF16);
        key.attention.sequences = attentions[l][0];
        key.attention.heads = attentions[l][1];
        key.attention.size = attentions[l][2];
        key.attention.longest = attentions[l][3];
        key.attention.ld = 3 * attentions[l][1] * attentions[l][2]; /* beside each other */
        bad |= ask(&attention, c, &key, what);
    }
    printf("%s: plans of convolutions: f32 %d, tf32 %d, bf16 %d, of %d each; attention %d of %d; "
           "workspace up to %lld KiB\n",
           what, convolutions[0].plans, convolutions[1].plans, convolutions[2].plans,
           convolutions[0].asked, attention.plans, attention.asked,
           (long long)(convolutions[0].workspace >> 10));
    cudnn_cache_free(c);
    int plans = attention.plans;
    for (int p = 0; p < 3; p++)
        plans += convolutions[p].plans;
    return bad ? 1 : plans ? 0 : -1;
}

int main(void)
{
    const char *why;
    size_t version = cudnn_version(&why);
    int skipped = 0, n = sizeof cards / sizeof *cards, bad = 0;
    if (!version)
        return printf("skipped: no cuDNN: %s\n", why), 77;
    printf("cuDNN %zu.%zu.%zu\n", version / 10000, version / 100 % 100, version % 100);
    for (int i = 0; i < n; i++) {
        int x = check_card(i);
        skipped += x < 0;
        bad |= x > 0;
    }
    return bad ? 1 : skipped == n ? 77 : 0;
}
