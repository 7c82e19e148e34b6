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
    uint64_t warmup; /* steps of linear rise to lr, before the schedule proper */
    uint64_t steps;  /* LINEAR, COSINE: where lr_min is reached */
    uint64_t period; /* RESTARTS: steps of the first cosine; */
    uint64_t growth; /* each next one is that many times longer */
    uint64_t every;  /* STEP: after so many steps, each time, */
    double factor;   /* the rate is multiplied by this; never below lr_min */
};

/* Of the step that follows `step` done ones. */
double schedule_lr(const struct schedule *s, uint64_t step);
