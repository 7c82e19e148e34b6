/* What the parts of an errand share: cutting (errand_cut.c), sending and coming back (errand.c). */
#pragma once

#include "engine/cluster/errand.h"
#include "engine/node/map_tree.h"
#include "store/collection/collection.h"

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

/* errand_cut.c; the rest is in errand.c. */
enum err_code errand_cut_open(struct errand *x, struct err *e);
void errand_cut_close(struct errand *x);
/* The next block, if there is one more: x->cut says. */
enum err_code errand_cut_next(struct errand *x, struct err *e);
/* What all blocks read. */
enum err_code errand_pack_inputs(struct errand *x, struct err *e);
