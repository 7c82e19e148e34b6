/* Images a second of processor time of the networks on images: bench_images NETWORK TRIPLES [bf16].
 * Prints steps' and inferences' rate on one thread; the third of three. */
#include "ops/learn/image/image_network.h"
#include "tests/bench/bench.h"

int main(int argc, char **argv)
{
    struct arena a = {0};
    struct err e;
    struct gpu_device *device;
    struct trainer *t;
    struct step_result r;
    if (argc < 3)
        return 2;
    struct image_config c = {strcmp(argv[1], "large") == 0 ? IMAGE_LARGE : IMAGE_SMALL, 0};
    struct image_training how = {.task = IMAGE_TRIPLES,
                                 .margin = 1,
                                 .frozen_from = 3,
                                 .optimizer = optimizer_adam((struct schedule){.lr = 0.001}),
                                 .precision = argc > 3 ? GPU_BF16 : GPU_F32};
    size_t triples = strtoul(argv[2], NULL, 10), n = 3 * triples;
    uint8_t *pixels = arena_alloc(&a, n * IMAGE_PIXELS);
    const uint8_t **all = arena_array(&a, const uint8_t *, n);
    for (size_t i = 0; i < n * IMAGE_PIXELS; i++)
        pixels[i] = (uint8_t)(i * 2654435761u >> 24);
    for (size_t i = 0; i < n; i++)
        all[i] = pixels + i * IMAGE_PIXELS;
    struct image_batch b = {triples, all, arena_array(&a, struct image_truth, triples)};
    if (gpu_open_cpu(&device, NULL, NULL, &e) ||
        image_network_new(&t, device, image_model_new(&a, &c), &how, &e))
        return 1;
    double rate[2] = {0};
    for (int i = 0; i < 3; i++) {
        double begun = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (trainer_step_on(&r, t, &b, &e))
            return 1;
        double trained = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (trainer_measure_on(&r, t, &b, &e))
            return 1;
        rate[0] = (double)n / (trained - begun);
        rate[1] = (double)n / (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - trained);
    }
    printf("%.1f %.1f\n", rate[0], rate[1]);
    trainer_free(t);
    gpu_close(device);
    arena_free(&a);
    return 0;
}
