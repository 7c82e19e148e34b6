/* The numerics class in action keys names the kernels that run: were the two chosen by different
 * demands, one key could stand for two results. */
#include "engine/cache/action.h"
#include "gpu/gpu.h"
#include "tests/unit.h"

TEST(class)
{
    struct gpu_device *d;
    assert_int_equal(gpu_open_cpu(&d, NULL, NULL, NULL), OK);
    const char *kernels = d->ops.name, *class = key_numerics();
    assert_memory_equal(kernels, "cpu-", 4);
    assert_memory_equal(class, "cpu-f32-", 8);
    if (strcmp(kernels, "cpu-amx") ==
        0) /* tiles multiply bf16 only, and f32 is what classes name */
        kernels = "cpu-avx512";
    assert_string_equal(kernels + 4, class + 8);
    gpu_close(d);
}

/* What the environment names is what runs, or nothing does. */
TEST(forced)
{
    struct gpu_device *d;
    struct err e;
    const char *named = getenv("EQLOOM_CPU");
    if (named) {
        assert_int_equal(gpu_open_cpu(&d, NULL, NULL, NULL), OK);
        assert_string_equal(d->ops.name + strlen("cpu-"), named);
        /* The library that multiplies is held to it too. */
        if (strcmp(named, "base") == 0 || strcmp(named, "avx2") == 0)
            assert_null(gpu_cpu_bf16());
        gpu_close(d);
    }
    setenv("EQLOOM_CPU", "avx9", 1);
    assert_int_equal(gpu_open_cpu(&d, NULL, NULL, &e), ERR_UNSUPPORTED);
    assert_non_null(strstr(e.message, "avx9"));
    unsetenv("EQLOOM_CPU");
    if (named)
        setenv("EQLOOM_CPU", named, 1);
}
