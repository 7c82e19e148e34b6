/* A node that a cluster computes: its blocks on their way there and back. A block is some elements
 * of a map, or all of a chain or task; its name is the key of the action that computes it, so that
 * a master that comes back after a crash finds what it sent. Files, in FOLDER/KEY-OF-THE-NODE/:
 *
 *     inputs.pack    what all blocks read: refs in/PORT.NUMBER lead to it
 *     KEY.in         the elements of a block, a pack; ref in/0.0
 *     N.list         the keys of batch N, one in a line: the tasks of one job array
 *     KEY.pack       what a worker made: its actions, their outputs and traces
 *     KEY.failed     why an op failed for good, in place of a pack
 *     KEY.store      of a chain: its segments, so that who is given it again goes on from there
 *     JOB.log        what a worker said
 *     JOB.end        it has ended
 *
 * Belongs to one thread. */
#pragma once

#include "base/map.h"
#include "engine/cluster/slurm.h"
#include "engine/node/map_tree.h"
#include "store/collection/collection.h"

struct cluster {
    struct arena arena;
    struct profile profile;
    const char *dir;            /* of the nodes' folders */
    const char *prefix;         /* of the names of all jobs of this dir */
    const char *const *command; /* of a worker, up to the node: "PROGRAM", "work", ..., "JOB" */
    bool submitted;             /* jobs, or found some again */
    struct name_map ended; /* jobs that have nothing more to do -> since when it is known, ns */
};

struct block {
    struct digest key;
    uint64_t n; /* elements; of a chain: segments */
    enum { BLOCK_WAITS, BLOCK_SENT, BLOCK_DONE } state;
    unsigned attempts;
    bool damaged;     /* what came back could not be taken in */
    const char *id;   /* of its job */
    uint64_t gone_ns; /* since when Slurm does not know it, or calls it complete; 0: it does */
};

struct errand {
    struct cluster *c;
    struct node_run *r;
    const char *folder;
    struct arena arena, work; /* work: of one step */
    struct store_batch *batch;
    struct block *blocks;
    size_t n, cap, n_waiting, n_sent;
    struct digest_map by_key;  /* -> index of the block */
    struct digest_map adopted; /* keys that an earlier master sent -> index of ids */
    const char **adopted_ids;
    size_t n_adopted;
    unsigned batches;
    unsigned refused; /* times that sbatch failed in a row */
    /* Maps. */
    struct collection *input;
    struct map_tree *tree;
    uint64_t at, window;
    bool cut; /* no more blocks to come */
};

/* Sets r->errand. `jobs`: all that squeue lists now. What earlier masters left is taken in or found
 * again. */
enum err_code errand_open(struct node_run *r, struct cluster *c, const struct slurm_job *jobs,
                          size_t n_jobs, struct err *e);
/* done: nobody needs its folder any more. */
void errand_close(struct node_run *r, bool done);
/* Cuts blocks and submits them, as many as may be there at once. */
enum err_code errand_send(struct errand *x, struct err *e);
/* Takes in what came back, and finds out what died; `jobs` were listed before. ERR_FAILED: a block
 * died too often, or the op failed; the message says why. */
enum err_code errand_look(struct errand *x, const struct slurm_job *jobs, size_t n_jobs,
                          struct err *e);
bool errand_is_over(const struct errand *x);

/* The key of a task of a batch. */
enum err_code errand_task_key(struct digest *out, struct arena *a, const char *folder,
                              const char *batch, uint64_t task, struct err *e);

#define ERRAND_INPUT "in/%zu.%zu" /* port, number */

/* ---- errand_cut.c, for errand.c ---- */
enum err_code errand_cut_open(struct errand *x, struct err *e);
void errand_cut_close(struct errand *x);
/* The next block, if there is one more: x->cut says. */
enum err_code errand_cut_next(struct errand *x, struct err *e);
/* What all blocks read. */
enum err_code errand_pack_inputs(struct errand *x, struct err *e);
