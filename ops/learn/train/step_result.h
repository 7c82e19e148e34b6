/* The result of a training step. */
#pragma once

#include <stdint.h>

struct step_result {
    uint64_t step;        /* from 1 on */
    double loss;          /* mean over the batch's vectors, triplets or target tokens */
    double accuracy;      /* share of vectors whose positive ranks first, of triplets in order, or
                           * of target tokens predicted correctly */
    double gradient_norm; /* before clipping */
    double lr;
    uint64_t tokens; /* or nodes */
};
