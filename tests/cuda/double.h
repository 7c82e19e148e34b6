/* The double: CUDA's runtime, cuBLASLt and cuDNN, as far as the back end uses them, by the CPU.
 * Copies, products and kernels are done late, at the waits that the back end makes, and at these
 * only; in between nobody but they can touch the card's memory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct double_control {
    bool now;             /* work is done at once, on memory that everybody may touch */
    bool no_event_waits;  /* a planted fault: waits for events return at once */
    bool no_stream_waits; /* another: waits for streams do */
    long fail_at;         /* this call, from 1 on, fails; 0: none */
    long calls;           /* so far */
    long live;            /* allocations, streams, events, handles that nobody gave back */
    uint64_t seed;        /* of the order of threads; 0: always the same */
    long submitted[2];    /* work, by card: there are two */
    /* What a card is given to do; waits for it. */
    long launches, products, copies, clears, waits;
    long allocations; /* of the card's memory outside its pool, so far */
    bool no_cudnn;    /* it is not there */
};
extern struct double_control eqloom_double;

#ifdef __cplusplus
}
#endif
