/* Learning-rate schedules; see schedule.h. */
#include "ops/learn/train/schedule.h"

#include <math.h>

static double cosine(const struct schedule *s, double part)
{
    return s->lr_min + (s->lr - s->lr_min) * 0.5 * (1 + cos(3.14159265358979323846 * part));
}

/* The fraction of the steps after the warm-up that are done. */
static double part_done(const struct schedule *s, uint64_t at)
{
    uint64_t total = s->steps > s->warmup ? s->steps - s->warmup : 1;
    return at >= total ? 1 : (double)at / (double)total;
}

static double restarts(const struct schedule *s, uint64_t at)
{
    uint64_t period = s->period ? s->period : 1;
    while (at >= period) {
        at -= period;
        if (s->growth > 1 && period <= UINT64_MAX / s->growth)
            period *= s->growth;
        else
            at %= period;
    }
    return cosine(s, (double)at / (double)period);
}

static double decayed(const struct schedule *s, uint64_t at)
{
    double lr = s->lr * pow(s->factor, (double)(at / (s->every ? s->every : 1)));
    return lr > s->lr_min ? lr : s->lr_min;
}

double schedule_lr(const struct schedule *s, uint64_t step)
{
    if (step < s->warmup)
        return s->lr * (double)(step + 1) / (double)s->warmup;
    uint64_t at = step - s->warmup;
    switch (s->kind) {
    case SCHEDULE_CONSTANT: return s->lr;
    case SCHEDULE_LINEAR: return s->lr + (s->lr_min - s->lr) * part_done(s, at);
    case SCHEDULE_STEP: return decayed(s, at);
    case SCHEDULE_COSINE: return cosine(s, part_done(s, at));
    case SCHEDULE_RESTARTS: return restarts(s, at);
    }
    return s->lr;
}
