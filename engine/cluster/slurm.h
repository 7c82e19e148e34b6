/* A site's profile of its Slurm, and calls of Slurm's commands sbatch, squeue and scancel. squeue
 * also lists ended jobs, as long as slurmctld remembers them (MinJobAge, by default five minutes),
 * so no accounting database is needed. No other file runs these programs. */
#pragma once

#include "engine/job/job.h"

struct slurm_job {
    const char *id; /* "12", or "12_3" in an array */
    const char *name, *state, *reason;
    bool over;
};

/* Lists the user's jobs whose names have this prefix, with those that ended recently; one entry per
 * task of an array. */
enum err_code slurm_list(struct slurm_job **jobs, size_t *n, struct arena *a, const char *prefix,
                         struct err *e);
/* argv: sbatch and its arguments, including "--parsable". */
enum err_code slurm_submit(char **id, struct arena *a, const char *const *argv, struct err *e);
/* Jobs that have already ended are ignored. */
enum err_code slurm_cancel(const char *const *ids, size_t n, struct err *e);

/* Read from slurm.yaml in the job file's folder, or from the file that $EQLOOM_SLURM names. Without
 * one, Slurm's defaults apply. */
struct profile {
    const char *partition, *gpu_partition; /* NULL: Slurm's default; gpu_partition: for nodes with
                                            * gpus */
    struct node_resources resources;       /* default of nodes; without gpus */
    const char *spool;                     /* a folder that all machines share; NULL: in the store
                                            */
    const char *program;                   /* path of eqloom on the nodes; NULL: that of this
                                            * process */
    const char *const *options;            /* additional arguments of sbatch, NULL-terminated */
    uint64_t block;                        /* elements per block; 0: depends on the size of the
                                            * input */
    uint64_t attempts;                     /* maximal number of submissions of a block */
    uint64_t most;                         /* maximal number of blocks of a node in Slurm at a time
                                            */
    uint64_t poll_ms;
};

enum err_code profile_load(struct profile *out, struct arena *a, const struct job *job,
                           struct err *e);
