/* The headers of every unit test: cmocka wants the first three before it. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
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

/* Whether this build has a sanitizer, which makes a test some five times slower: random tests then
 * try fewer cases than the release build does. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#elif defined __has_feature
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif
#define CASES(all, sanitized) (SANITIZED ? (sanitized) : (all))

/* Of numbers that are compared with slow references: one in so many where a test runs once more,
 * with other kernels or with a sanitizer. */
static inline size_t test_stride(size_t sparse)
{
    return SANITIZED || getenv("EQLOOM_CPU") ? sparse : 1;
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
        unit_add(__FILE__, __LINE__, "test_" #name, test_##name, setup, teardown, NULL);           \
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
/* What is called before all tests of a file and after them. */
#define TESTS_AROUND(setup, teardown)                                                              \
    __attribute__((constructor)) static void tests_around(void)                                    \
    {                                                                                              \
        unit_add(__FILE__, __LINE__, NULL, NULL, setup, teardown, NULL);                           \
    }

/* Without a name: what is around all tests of the file. */
void unit_add(const char *file, int line, const char *name, CMUnitTestFunction test,
              CMFixtureFunction setup, CMFixtureFunction teardown, void *state);
/* Runs the tests of the file test_STEM.c, or with NULL those of all files of the program; the exit
 * status. A program that needs no more has no main of its own, and takes the stem as its argument.
 */
int unit_run(const char *stem);
