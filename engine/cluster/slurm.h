/* What a site says of its Slurm, and Slurm by its own commands: sbatch, squeue, scancel. What ended
 * is told by squeue, too, as long as slurmctld remembers it (MinJobAge, by default five minutes):
 * no accounting database is needed. The only place that runs these programs. */
#pragma once

#include "engine/job/job.h"

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

/* From slurm.yaml beside the job file, or the file that $EQLOOM_SLURM names. Without one,
 * everything is Slurm's default. */
struct profile {
    const char *partition, *gpu_partition; /* NULL: Slurm's; gpu_partition: of nodes with gpus */
    struct node_resources resources;       /* of nodes that do not say; no gpus */
    const char *spool;                     /* a folder that all machines see; NULL: in the store */
    const char *program;                   /* eqloom on the nodes; NULL: this one's path */
    const char *const *options;            /* more arguments of sbatch; ended by NULL */
    uint64_t block;                        /* elements in a block; 0: by the size of the input */
    uint64_t attempts;                     /* how often a block may be given to Slurm */
    uint64_t most;                         /* blocks of a node that Slurm has at once */
    uint64_t poll_ms;
};

enum err_code profile_load(struct profile *out, struct arena *a, const struct job *job,
                           struct err *e);
