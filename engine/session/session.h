/* A run in progress: the state that the scheduler (run/sched.c), the nodes (node/) and the run
 * record (run_record.c) share. Internal to the engine.
 *
 * Locks: `mutex` guards phases, counts and outputs; it is never held while an op runs, a record is
 * read or a batch is written. Each map has its own mutex for the order of its results. A node's
 * arena is used only by the worker that opens or closes the node and, in between, by the one that
 * prepares it. */
#pragma once

#include "engine/cache/action.h"
#include "engine/cache/group_commit.h"
#include "engine/cache/witness_counts.h"
#include "engine/ctx/ctx.h"
#include "engine/run/run.h"
#include "engine/session/history.h"
#include "engine/session/progress.h"
#include "store/pack/pack.h"

#include <pthread.h>
#include <stdatomic.h>

enum phase {
    PHASE_UNWANTED,   /* no target depends on it */
    PHASE_WAITING,    /* for its inputs */
    PHASE_READY,      /* can be looked up */
    PHASE_OPEN,       /* has work to hand out */
    PHASE_BUSY,       /* a worker has all of it */
    PHASE_ON_CLUSTER, /* on a cluster: run/offload.c */
    PHASE_DONE,
};

struct map_run;
struct remote;
struct offload;
struct dispatch;
struct session;

struct node_run {
    struct session *s;
    const struct node *node;
    const struct op *op; /* of the node */
    uint32_t index;      /* in job->nodes */
    enum phase phase;
    uint64_t priority;        /* estimated time along the longest path to the end of the run */
    bool from_cluster;        /* returned from a cluster: missing results are computed here */
    bool reported;            /* it was done, and reported, before the store was repaired */
    enum node_state state;    /* when done */
    struct digest *outputs;   /* by op->outputs; zero: absent */
    struct arena arena;       /* keys, inputs and texts; kept for the run record */
    struct arena work;        /* of this attempt: state from op.prepare */
    struct key_input *inputs; /* by op->inputs, followed by the files of programs and sources */
    struct key key;
    bool has_key;
    bool foreign; /* rests on a claim of a pack */
    struct ctx_node *shared;
    pthread_mutex_t prepare_mutex;
    bool prepared;
    void *op_state;
    int card;                  /* the card in use while it runs; -1: none */
    struct dispatch *dispatch; /* while it is on a cluster */
    struct err prepare_failure;
    struct map_run *map;
    uint64_t elements, cached, failed;
    uint64_t ran, reused; /* over all attempts */
    uint64_t work_ns;     /* maps: processor time of the ranges in which any element ran */
    struct witness_counts witnesses; /* of reused elements */
    /* Time in the queue is excluded: start_ns is advanced by it when work starts. */
    uint64_t start_ns, begin_ns, wall_ns;
    bool working;
    char *why, *failure;
};

struct session {
    const struct job *job;
    struct store *store;
    const struct run_options *options;
    struct arena *arena; /* of the run; only the main thread allocates */
    struct history history;
    struct committer *commit;
    struct progress *progress;
    const char *numerics;    /* of this machine: key_numerics */
    struct remote *remote;   /* NULL: no shared cache */
    struct offload *offload; /* NULL: no cluster */
    size_t n_on_cluster;     /* nodes */
    bool has_poller;         /* a thread is running offload_run */
    /* On a cluster worker: the inputs of its one node, by port, instead of other nodes' outputs. */
    const struct id_list *worker_inputs;
    uint64_t pulled, pushed, pulled_bytes, pushed_bytes;
    struct pool *pool; /* NULL unless a wanted op is parallel */
    unsigned threads;
    char *run; /* name of the run */
    int64_t started_ns;
    uint64_t start_ns;

    pthread_mutex_t mutex;
    pthread_cond_t work, over;
    struct node_run *nodes;
    size_t wanted, done;
    unsigned active; /* number of busy workers */
    uint32_t cards;  /* bit mask of cards in use, each by one worker */
    bool exclusive;  /* one worker has the pool: only nodes with cards may start */
    unsigned workers;
    bool announced;       /* a Run record with state "running" was written */
    uint64_t recorded_ns; /* when the Run record was last rewritten */
    uint64_t recorded;    /* progress at that time */
    struct err fatal;     /* an error that ends the run, such as a failure of the store */
    atomic_bool stop;
    /* A required record cannot be read. No new work starts; when the workers have ended, the store
     * is checked and repaired, and all nodes are looked up again. */
    atomic_bool lost;
    char loss[600]; /* message: the record and the node that needs it */
    unsigned repairs;
    /* `plan` evaluates a run that is never committed. After this os_process_ns time it no longer
     * looks up single elements, and ops are cancelled. */
    bool planning;
    uint64_t deadline_ns;       /* UINT64_MAX: none */
    _Atomic uint64_t signal_ns; /* time of the first signal; 0: none */
    bool left;                  /* workers were left behind; the mutex stays locked */
};

struct worker {
    struct session *s;
    struct arena arena; /* of one action */
    struct store_batch *batch;
};

/* Returns the node's current result; its texts belong to the session. */
struct node_result session_view(const struct node_run *r);
int session_signals(const struct session *s); /* number of signals received */
uint64_t session_ms_since_signal(const struct session *s);
bool session_interrupted(const struct session *s); /* no new work may start */
bool session_cancelled(const struct session *s);   /* work in flight must end, too */
bool session_late(const struct session *s);        /* a plan is past its deadline */
/* Ends the run with this error, after a failure of the store. */
void session_fail(struct session *s, const struct err *e);
void session_drop_batch(struct worker *w);
/* Writes a pack of stored records to a file. */
enum err_code session_pack(struct pack_result *out, const struct session *s, const char *path,
                           const struct pack_contents *what, struct err *e);
