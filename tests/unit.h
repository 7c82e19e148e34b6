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

/* A test runs because it stands in its file, after those above it:
 *
 *     TEST(sums)
 *     {
 *         assert_int_equal(1 + 1, 2);
 *     }
 *
 * It gets `void **state`, and is reported as test_sums. */
#define TEST(name) TEST_WITH(name, NULL, NULL)
/* With what is called before it and after it. */
#define TEST_WITH(name, setup, teardown)                                                           \
    static void test_##name(void **state);                                                         \
    __attribute__((constructor)) static void test_##name##_stands(void)                            \
    {                                                                                              \
        unit_add(__LINE__, "test_" #name, test_##name, setup, teardown, NULL);                     \
    }                                                                                              \
    static void test_##name(void **state)
/* With `struct arena *a`, which ends with it. */
#define TEST_IN_ARENA(name)                                                                        \
    static void name##_in_arena(struct arena *a);                                                  \
    TEST(name)                                                                                     \
    {                                                                                              \
        struct arena a = {0};                                                                      \
        name##_in_arena(&a);                                                                       \
        arena_free(&a);                                                                            \
    }                                                                                              \
    static void name##_in_arena(struct arena *a)
/* What is called before all tests and after them. */
#define TESTS_AROUND(setup, teardown)                                                              \
    __attribute__((constructor)) static void tests_around(void)                                    \
    {                                                                                              \
        unit_around(setup, teardown);                                                              \
    }

void unit_add(int line, const char *name, CMUnitTestFunction test, CMFixtureFunction setup,
              CMFixtureFunction teardown, void *state);
void unit_around(CMFixtureFunction setup, CMFixtureFunction teardown);
/* Runs them all; the exit status. A file that needs no more has no main of its own. */
int unit_run(void);
