/* The series of metrics; see series.h. */
#include "ops/learn/train/series.h"

#include <string.h>

static void add(struct series *s, uint64_t step, const char *name, double value)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 64;
        Eqloom__Metric **grown = arena_array(s->arena, Eqloom__Metric *, s->cap);
        if (s->n)
            memcpy(grown, s->all, s->n * sizeof *grown);
        s->all = grown;
    }
    Eqloom__Metric *m = s->all[s->n++] = arena_new(s->arena, Eqloom__Metric);
    eqloom__metric__init(m);
    m->step = step;
    m->name = (char *)name;
    m->value = value;
}

void series_load(struct series *s, const Eqloom__Checkpoint *c)
{
    for (size_t i = 0; i < c->n_metrics; i++)
        add(s, c->metrics[i]->step, c->metrics[i]->name, c->metrics[i]->value);
}

void series_step(struct series *s, const struct step_result *r)
{
    s->sum.loss += r->loss;
    s->sum.accuracy += r->accuracy;
    s->sum.gradient_norm += r->gradient_norm;
    s->sum.lr += r->lr;
    s->sum.tokens += r->tokens;
    s->steps++;
}

void series_close_window(struct series *s, uint64_t step)
{
    if (s->steps == 0)
        return;
    double n = (double)s->steps;
    add(s, step, "loss", s->sum.loss / n);
    add(s, step, "accuracy", s->sum.accuracy / n);
    add(s, step, "gradient_norm", s->sum.gradient_norm / n);
    add(s, step, "learning_rate", s->sum.lr / n);
    add(s, step, "tokens", (double)s->sum.tokens / n);
    s->sum = (struct step_result){0};
    s->steps = 0;
}

void series_validation(struct series *s, uint64_t step, const struct step_result *r)
{
    add(s, step, "valid_loss", r->loss);
    add(s, step, "valid_accuracy", r->accuracy);
}

struct series_best series_best(const struct series *s)
{
    struct series_best best = {0};
    for (size_t i = 0; i < s->n; i++) {
        const Eqloom__Metric *m = s->all[i];
        if (strcmp(m->name, "valid_loss") != 0)
            continue;
        if (best.count == 0 || m->value < best.loss) {
            best.step = m->step;
            best.loss = m->value;
            best.since = 0;
        } else {
            best.since++;
        }
        best.count++;
    }
    return best;
}
