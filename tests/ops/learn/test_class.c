/* The numerics class in action keys names the kernels that run: were the two chosen by different
 * demands, one key could stand for two results. */
#include "engine/key.h"
#include "gpu/gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_class(void **state)
{
    struct gpu_device *d;
    assert_int_equal(gpu_open_cpu(&d, NULL, NULL, NULL), OK);
    const char *kernels = gpu_device_ops(d)->name, *class = key_numerics();
    assert_memory_equal(kernels, "cpu-", 4);
    assert_memory_equal(class, "cpu-f32-", 8);
    assert_string_equal(kernels + 4, class + 8);
    gpu_close(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_class)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
