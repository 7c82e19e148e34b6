/* The headers of every unit test: cmocka wants the first three before it. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of random tests: EQLOOM_TEST_SEED, else the seed given; it is printed. */
static inline uint64_t test_seed(uint64_t otherwise)
{
    const char *text = getenv("EQLOOM_TEST_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : otherwise;
    print_message("EQLOOM_TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}
