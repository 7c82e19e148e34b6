/* What a site says of its Slurm: slurm.yaml beside the job file, or the file that $EQLOOM_SLURM
 * names. Without one, everything is Slurm's default. */
#pragma once

#include "engine/job/job.h"

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
