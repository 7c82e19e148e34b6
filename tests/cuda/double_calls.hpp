/* What the parts of the double share: each call may be the one that fails, and gives the stream its
 * work. */
#pragma once
#include "tests/cuda/double.h"

#include <cuda_runtime_api.h>

#include <functional>
#include <mutex>

extern std::recursive_mutex double_lock;
typedef std::lock_guard<std::recursive_mutex> guard;
bool double_fails();
#define MAY_FAIL(with)                                                                             \
    guard hold(double_lock);                                                                       \
    if (double_fails())                                                                            \
    return with

void double_submit(cudaStream_t stream, std::function<void()> work);

/* Descriptors and handles: they are counted. */
template <class T, class X> T made(X *x)
{
    eqloom_double.live++;
    return (T)(void *)x;
}
template <class X> void unmade(X *x)
{
    guard hold(double_lock);
    eqloom_double.live--;
    delete x;
}

/* To bf16's nearest, ties to even, and back. */
uint16_t double_narrowed(float x);
float double_widened(uint16_t x);
