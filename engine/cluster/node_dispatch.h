/* The blocks of a node that a cluster computes, and their transfer. A block is some elements of a
 * map, or a whole chain or task. Its name is the key of the action that computes it, so that a
 * master that restarts after a crash finds the blocks it has submitted. Files, in
 * FOLDER/KEY-OF-THE-NODE/:
 *
 *     inputs.pack    the inputs of all blocks: refs in/PORT.NUMBER point to them
 *     KEY.in         the elements of a block, a pack; ref in/0.0
 *     N.list         the keys of batch N, one per line: the tasks of one job array
 *     KEY.pack       a worker's results: its actions, their outputs and traces
 *     KEY.failed     the error of an op that failed for good, instead of a pack
 *     KEY.store      of a chain: its segments, so that a resubmitted block continues from them
 *     JOB.log        output of a worker
 *     JOB.end        written when the job has ended
 *
 * Not thread-safe. */
#pragma once

#include "base/map.h"
#include "engine/cluster/slurm.h"
#include "engine/node/map_tree.h"
#include "store/collection/collection.h"

struct cluster {
    struct arena arena;
    struct profile profile;
    const char *dir;            /* parent of the nodes' folders */
    const char *prefix;         /* of the names of all Slurm jobs of this dir */
    const char *const *command; /* command line of a worker, up to the node: "PROGRAM", "work", ...,
                                 * "JOB" */
    bool submitted;             /* has submitted jobs, or found some of an earlier master */
    struct name_map ended;      /* finished jobs -> when their end was noticed, ns */
};

struct block {
    struct digest key;
    uint64_t n; /* number of elements; of a chain: segments */
    enum { BLOCK_WAITING, BLOCK_SUBMITTED, BLOCK_DONE } state;
    unsigned attempts;
    bool damaged;     /* its pack could not be imported */
    const char *id;   /* id of its Slurm job */
    uint64_t gone_ns; /* since when squeue lists it as over or not at all; 0: it is active */
};

struct dispatch {
    struct cluster *c;
    struct node_run *r;
    const char *folder;
    struct arena arena, work; /* work: reset after each step */
    struct store_batch *batch;
    struct block *blocks;
    size_t n, cap, n_waiting, n_submitted;
    struct digest_map by_key;  /* -> index of the block */
    struct digest_map adopted; /* keys that an earlier master submitted -> index in adopted_ids */
    const char **adopted_ids;
    size_t n_adopted;
    unsigned batches;
    unsigned refused; /* consecutive failures of sbatch */
    /* Maps. */
    struct collection *input;
    struct map_tree *tree;
    uint64_t at, window;
    bool cut; /* all blocks have been cut */
};

/* Sets r->dispatch. `jobs`: all that squeue lists now. Imports the results that earlier masters
 * left and adopts their jobs. */
enum err_code dispatch_open(struct node_run *r, struct cluster *c, const struct slurm_job *jobs,
                            size_t n_jobs, struct err *e);
/* `done`: removes the folder, which is no longer needed. */
void dispatch_close(struct node_run *r, bool done);
/* Cuts and submits blocks, up to the limit of blocks in flight. */
enum err_code dispatch_submit(struct dispatch *x, struct err *e);
/* Imports finished blocks and resubmits dead ones; `jobs` must have been listed before. Fails with
 * ERR_FAILED, and the reason, if a block died too often or the op failed. */
enum err_code dispatch_poll(struct dispatch *x, const struct slurm_job *jobs, size_t n_jobs,
                            struct err *e);
bool dispatch_is_over(const struct dispatch *x);

/* Looks up the block key of a task of a batch. */
enum err_code dispatch_task_key(struct digest *out, struct arena *a, const char *folder,
                                const char *batch, uint64_t task, struct err *e);

#define ERRAND_INPUT "in/%zu.%zu" /* port, number */

/* ---- dispatch_cut.c, for node_dispatch.c ---- */
enum err_code dispatch_cut_open(struct dispatch *x, struct err *e);
void dispatch_cut_close(struct dispatch *x);
/* Cuts the next block. Sets x->cut if there is no more. */
enum err_code dispatch_cut_next(struct dispatch *x, struct err *e);
/* Writes inputs.pack. */
enum err_code dispatch_pack_inputs(struct dispatch *x, struct err *e);
