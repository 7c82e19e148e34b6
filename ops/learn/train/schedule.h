/* The learning rate as a function of the step. */
#pragma once

#include <stdint.h>

enum schedule_kind {
    SCHEDULE_CONSTANT,
    SCHEDULE_LINEAR,
    SCHEDULE_STEP,
    SCHEDULE_COSINE,
    SCHEDULE_RESTARTS,
};
#define SCHEDULE_NAMES "constant|linear|step|cosine|cosine-restarts"

struct schedule {
    enum schedule_kind kind;
    double lr, lr_min;
    uint64_t warmup; /* steps of linear increase to lr, before the schedule proper */
    uint64_t steps;  /* LINEAR, COSINE: the step at which lr_min is reached */
    uint64_t period; /* RESTARTS: steps of the first period; */
    uint64_t growth; /* each further one is this many times longer */
    uint64_t every;  /* STEP: every so many steps */
    double factor;   /* the rate is multiplied by this, down to lr_min */
};

/* Returns the learning rate of step number `step`, counted from 0. */
double schedule_lr(const struct schedule *s, uint64_t step);
