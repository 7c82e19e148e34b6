/* A function compiled for several instruction sets, the best chosen when the program starts:
 *
 *     EQL_CLONES double dot(const float *a, const float *b, size_t n) ...
 *
 * Sanitizers' instrumentation would run in the resolvers, before the sanitizer's own start: one
 * version only there. */
#ifndef BASE_CLONES_H
#define BASE_CLONES_H

#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) &&                 \
    !defined(__SANITIZE_ADDRESS__)
#define EQL_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define EQL_CLONES
#endif

#endif
