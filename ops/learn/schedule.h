/* The learning rate as a function of the step. */
#ifndef OPS_LEARN_SCHEDULE_H
#define OPS_LEARN_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum schedule_kind { SCHEDULE_CONSTANT, SCHEDULE_LINEAR, SCHEDULE_COSINE, SCHEDULE_RESTARTS };

struct schedule {
    enum schedule_kind kind;
    double lr, lr_min;
    uint64_t warmup; /* steps of linear rise to lr, before the schedule proper */
    uint64_t steps;  /* LINEAR, COSINE: where lr_min is reached */
    uint64_t period; /* RESTARTS: steps of the first cosine; */
    uint64_t growth; /* each next one is that many times longer */
};

/* Of the step that follows `step` done ones. */
double schedule_lr(const struct schedule *s, uint64_t step);
/* Whether the values depend on the total number of steps. */
bool schedule_needs_steps(enum schedule_kind kind);

#endif
