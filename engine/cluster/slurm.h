/* Slurm by its own commands: sbatch, squeue, scancel. What ended is told by squeue, too, as long as
 * slurmctld remembers it (MinJobAge, by default five minutes): no accounting database is needed.
 * The only place that runs these programs. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

struct slurm_job {
    const char *id; /* "12", or "12_3" in an array */
    const char *name, *state, *reason;
    bool over;
};

/* Ours whose names begin so, those that ended lately among them; one for each task of an array. */
enum err_code slurm_list(struct slurm_job **jobs, size_t *n, struct arena *a, const char *prefix,
                         struct err *e);
/* argv: sbatch and its arguments, "--parsable" among them. */
enum err_code slurm_submit(char **id, struct arena *a, const char *const *argv, struct err *e);
/* Jobs that are over already do no harm. */
enum err_code slurm_cancel(const char *const *ids, size_t n, struct err *e);
