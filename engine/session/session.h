/* A run in progress: the state that the scheduler (run/sched.c), the nodes (node/) and the run
 * record (run_record.c) share. Internal to the engine.
 *
 * Locks: `mutex` guards phases, counts and outputs; it is never held while an op
 * runs, a record is read or a batch is written. Each map has a mutex of its own for the order of
 * its results. A node's arena is used by the one worker that begins or closes it, and by the one
 * that prepares it in between. */
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
    PHASE_UNWANTED, /* not above any target */
    PHASE_WAITING,  /* for what it reads */
    PHASE_READY,    /* to be looked up */
    PHASE_OPEN,     /* has work to hand out */
    PHASE_BUSY,     /* a worker has all of it */
    PHASE_AWAY,     /* a cluster has it: run/away.c */
    PHASE_DONE,
};

struct map_run;
struct remote;
struct away;
struct errand;
struct session;

struct node_run {
    struct session *s;
    const struct node *node;
    const struct op *op; /* of the node */
    uint32_t index;      /* in job->nodes */
    enum phase phase;
    uint64_t priority;        /* estimated time along the longest path to the end of the run */
    bool back;                /* from a cluster: what is still missing is made here */
    bool again;               /* it was done before the store was healed, and this has been told */
    enum node_state state;    /* when done */
    struct digest *outputs;   /* by op->outputs; zero: absent */
    struct arena arena;       /* keys, inputs and texts; kept for the run record */
    struct arena work;        /* of this attempt: what the op prepared */
    struct key_input *inputs; /* by op->inputs; then the files of programs and sources */
    struct key key;
    bool has_key;
    struct ctx_node *shared;
    pthread_mutex_t prepare_mutex;
    bool prepared;
    void *op_state;
    int card;              /* while it is worked on; -1: none */
    struct errand *errand; /* while a cluster has it */
    struct err prepare_failure;
    struct map_run *map;
    uint64_t elements, cached, failed;
    uint64_t ran, reused; /* over all attempts */
    uint64_t work_ns;     /* of maps: processor time of the ranges in which any element ran */
    struct witness_counts witnesses; /* of the reused ones */
    /* Time in the queue does not count: start_ns moves on by it when the work starts. */
    uint64_t start_ns, begin_ns, wall_ns;
    bool working;
    char *why, *failure;
};

struct session {
    const struct job *job;
    struct store *store;
    const struct run_options *options;
    struct arena *arena; /* of the run; only the calling thread allocates */
    struct history history;
    struct committer *commit;
    struct progress *progress;
    const char *numerics;  /* of this machine: key_numerics */
    struct remote *remote; /* NULL: no shared cache */
    struct away *away;     /* NULL: no cluster */
    size_t n_away;         /* nodes */
    bool looked_after;     /* by a thread */
    /* Of a cluster's worker: the inputs of its one node, by port, in place of nodes' outputs. */
    const struct id_list *given;
    uint64_t pulled, pushed, pulled_bytes, pushed_bytes;
    struct pool *pool; /* NULL unless some wanted op is parallel */
    unsigned threads;
    char *run; /* its name */
    int64_t started_ns;
    uint64_t start_ns;

    pthread_mutex_t mutex;
    pthread_cond_t work, over;
    struct node_run *nodes;
    size_t wanted, done;
    unsigned active; /* workers at work */
    uint32_t cards;  /* in use, each by one of them, as bits */
    bool exclusive;  /* one worker has the pool: only nodes with cards may start */
    unsigned workers;
    bool announced;       /* a Run record with state "running" was written */
    uint64_t recorded_ns; /* when the Run record was last written again */
    uint64_t recorded;    /* how far it was then */
    struct err fatal;     /* the store failed, ...: the run ends */
    atomic_bool stop;
    /* A record that should be there cannot be read. Nothing new starts; when the workers are gone,
     * the store is checked and repaired, and the nodes are looked up once more. */
    atomic_bool lost;
    char loss[600]; /* which one, and whose it is */
    unsigned heals;
    /* `plan` looks at a run that is never committed. After this moment of os_process_ns it no
     * longer looks at single elements, and ops are cancelled. */
    bool planning;
    uint64_t deadline_ns;       /* UINT64_MAX: none */
    _Atomic uint64_t signal_ns; /* when the first signal was seen; 0: none */
    bool left;                  /* workers were left behind; the mutex stays locked */
};

struct worker {
    struct session *s;
    struct arena arena; /* of one action */
    struct store_batch *batch;
};

/* The node as run_result shows it; its texts are the session's. */
struct node_result session_view(const struct node_run *r);
int session_signals(const struct session *s); /* received so far */
uint64_t session_ms_since_signal(const struct session *s);
bool session_interrupted(const struct session *s); /* start nothing new */
bool session_cancelled(const struct session *s);   /* end what has been started, too */
bool session_late(const struct session *s);        /* past the deadline of a plan */
/* The store failed: the run ends with this error. */
void session_fail(struct session *s, const struct err *e);
void session_drop_batch(struct worker *w);
/* A pack of what is stored, as a file. */
enum err_code session_pack(struct pack_result *out, const struct session *s, const char *path,
                           const struct pack_contents *what, struct err *e);
