/* A training's metrics as the Checkpoint records them: means over windows of steps, measurements
 * on validation data, and what early stopping reads from these. */
#ifndef OPS_LEARN_TRAIN_SERIES_H
#define OPS_LEARN_TRAIN_SERIES_H

#include "base/arena.h"
#include "checkpoint.pb-c.h"
#include "ops/learn/train/trainer.h"

struct series {
    struct arena *arena;
    Eqloom__Metric **all;
    size_t n, cap;
    struct step_result sum; /* of the current window */
    uint64_t steps;
};

/* What a checkpoint holds. */
void series_load(struct series *s, const Eqloom__Checkpoint *c);
/* One step into the window. */
void series_step(struct series *s, const struct step_result *r);
/* The window's means, as of `step`; an empty window is none. */
void series_close_window(struct series *s, uint64_t step);
void series_validation(struct series *s, uint64_t step, const struct step_result *r);

/* The measurement of minimal validation loss, the first of equals. */
struct series_best {
    uint64_t count; /* of all measurements; 0: there is no best */
    uint64_t since; /* measurements after the best one */
    uint64_t step;
    double loss;
};
struct series_best series_best(const struct series *s);

#endif
