/* A run in progress: what the scheduler (sched.c), the nodes (node.c, map_node.c, chain_node.c) and the run
 * record (run_record.c) share. Internal to the engine.
 *
 * Locks: `mutex` guards phases, counts, outputs and the queue; it is never held while an op runs,
 * a record is read or a batch is written. Each map has a mutex of its own for the order of its
 * results. A node's arena is used by the one worker that begins or closes it, and by the one that
 * prepares it in between. */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include "engine/cache/group_commit.h"
#include "engine/ctx/ctx.h"
#include "engine/cache/key_diff.h"
#include "engine/run/history.h"
#include "engine/cache/action_key.h"
#include "engine/run/progress.h"
#include "engine/cache/witness_counts.h"
#include "engine/run/run.h"
#include "engine/cache/source_files.h"

#include <pthread.h>
#include <stdatomic.h>

enum phase {
    PHASE_UNWANTED, /* not above any target */
    PHASE_WAITING,  /* for what it reads */
    PHASE_READY,    /* to be looked up */
    PHASE_OPEN,     /* has work to hand out */
    PHASE_BUSY,     /* a worker has all of it */
    PHASE_DONE,
};

struct map_run;

struct node_run {
    enum phase phase;
    bool queued;
    uint32_t waiting;  /* inputs (edges) not done */
    uint64_t priority; /* time to the end of the run along the longest path, estimated */
    /* Set when an output turned out to be damaged: only what can be read and verified counts as
     * made. */
    bool distrust;
    unsigned reopened;
    enum node_state state;  /* when done */
    struct digest *outputs; /* by op->outputs; zero: absent */
    struct arena arena;     /* keys and inputs; kept for the run record */
    struct arena work;      /* of this attempt: what the op prepared */
    struct ctx_input *inputs;
    struct key_input *key_inputs;
    struct key key;
    bool has_key;
    struct ctx_node *shared;
    pthread_mutex_t prepare_mutex;
    bool prepared;
    void *op_state;
    struct err prepare_failure;
    struct map_run *map;
    struct ctx_loss loss;
    uint64_t elements, cached, failed;
    uint64_t ran, reused; /* over all attempts */
    uint64_t work_ns;     /* of maps: what processors spent on the ranges in which any ran */
    struct witness_counts witnesses; /* of the reused ones */
    uint64_t start_ns, wall_ns;
    char *why, *failure; /* heap */
};

struct session {
    const struct job *job;
    struct store *store;
    const struct run_options *options;
    struct arena *arena; /* of the run; only the calling thread allocates */
    struct history history;
    struct committer *commit;
    struct progress *progress;
    struct ctx_host host;
    struct pool *pool; /* NULL unless some wanted op is parallel */
    unsigned threads;
    char *run; /* its name */
    int64_t started_ns;
    uint64_t start_ns;

    pthread_mutex_t mutex;
    pthread_cond_t work, over;
    struct node_run *nodes;
    uint32_t *consumers, *consumer_begin; /* edges to those who read a node */
    uint32_t *heap;                       /* queue: highest priority first */
    size_t n_heap;
    size_t wanted, done;
    unsigned active; /* workers at work */
    bool exclusive;  /* one of them alone, by right */
    unsigned workers;
    bool announced;       /* a Run record with state "running" was written */
    uint64_t recorded_ns; /* when the Run record was last written again */
    uint64_t recorded;    /* how many elements were done then */
    struct err fatal;     /* the store failed, ...: the run ends */
    atomic_bool stop;
    _Atomic uint64_t signal_ns; /* when the first signal was seen; 0: none was */
    bool left;                  /* workers were left behind; the mutex is held for ever */
};

struct worker {
    struct session *s;
    struct arena arena; /* of one action */
    struct store_batch *batch;
};

/* How an attempt at (a part of) a node ended. */
enum outcome {
    OUT_DONE,
    OUT_OPEN,    /* has work to hand out */
    OUT_FAILED,  /* node_run.failure says why */
    OUT_LOST,    /* node_run.loss: a stored input is damaged */
    OUT_DROPPED, /* interrupted, or the run ends */
};

int session_signals(const struct session *s);      /* so far */
bool session_interrupted(const struct session *s); /* start nothing new */
bool session_cancelled(const struct session *s);   /* and end what has been started */
void session_fail(struct session *s, const struct err *e);
void session_drop_batch(struct worker *w);

/* sched.c */
enum err_code sched_run(struct session *s, struct err *e);
void sched_init(struct session *s, const bool *wanted);

/* run.c */
bool *session_wanted(struct arena *a, const struct job *job, const struct run_options *options);
enum err_code session_open(struct session *s, struct arena *a, const struct job *job,
                           struct store *store, const struct run_options *options, struct err *e);
void session_close(struct session *s);
void session_fill_result(struct run_result *out, struct session *s);

/* node.c */
enum err_code node_make_key(struct session *s, uint32_t i, struct err *e);
void node_bind(struct session *s, uint32_t i); /* inputs from outputs; caller holds the mutex */
/* Of a node that is known: what was made anew above it came out the same (early cutoff). On the
 * heap; NULL: nothing was made anew. */
char *node_cut_off(const struct session *s, uint32_t i);
/* Adds to why the node is made what of it stands by which proofs. */
void node_explain_reuse(struct session *s, uint32_t i);
enum outcome node_begin(struct worker *w, uint32_t i);
enum outcome node_whole(struct worker *w, uint32_t i);
/* Once per attempt, whoever comes first. */
enum err_code node_prepare(struct worker *w, uint32_t i, struct err *e);
/* Writes the node's action and refs, and sees to it that they are in the store. */
enum outcome node_commit(struct worker *w, uint32_t i, struct action_result *made);
enum outcome node_fail(struct worker *w, uint32_t i, const char *where, const struct err *e);
/* Sorts an op's end into failure, loss and interruption. */
enum outcome node_op_failed(struct worker *w, uint32_t i, const struct op_ctx *ctx,
                            const char *where, const struct err *e);
enum outcome node_lost(struct session *s, uint32_t i, const struct ctx_loss *loss);
bool node_is_lost(struct session *s, uint32_t i);
char *node_failure_text(struct arena *a, const struct node *node, const char *where,
                        const struct err *e);
void node_end_attempt(struct session *s, uint32_t i);
/* Looks a source up and, if its files are new, runs it into the batch. *fresh: it gave something
 * that the store did not have. Under --check, a difference is noted as the node's failure. */
enum err_code source_node(struct action_result *out, bool *fresh, bool *hit, struct session *s, uint32_t i,
                          struct arena *a, struct store_batch *b, struct err *e);
enum err_code node_write_refs(struct store_batch *b, struct session *s, uint32_t i,
                              const struct digest *outputs, struct err *e);
char *node_why(struct session *s, uint32_t i, struct arena *a, bool output_missing);
/* Refuses outputs that differ from those of an earlier run of the same action. */
enum err_code check_same(const struct op *op, const struct action_result *before, const struct action_result *now,
                         struct err *e);

/* map_node.c */
enum err_code map_element_key(struct key *key, struct session *s, struct arena *a, uint32_t i,
                              const struct digest *id, struct err *e);
enum { MAP_WINDOW = 4096, MAP_RANGE = 64 };
void map_new(struct worker *w, uint32_t i);
bool map_has_work(const struct session *s, uint32_t i); /* before any was handed out */
void map_free(struct map_run *m, const struct op *op);
/* The next elements to do; false when none may be handed out now. Caller holds the mutex. */
bool map_take(uint64_t *from, uint64_t *n, struct session *s, uint32_t i);
bool map_has_more(struct session *s, uint32_t i); /* caller holds the mutex */
void map_range(struct worker *w, uint32_t i, uint64_t from, uint64_t n);
bool map_is_over(struct session *s, uint32_t i);  /* caller holds the mutex */
void map_put_back(struct session *s, uint32_t i); /* a range is finished; holds the mutex */
enum outcome map_close(struct worker *w, uint32_t i);

/* chain_node.c */
enum outcome chain_run(struct worker *w, uint32_t i);
/* Fills the node's counts with what a run would do; outputs: of the last segment that is known. */
enum err_code chain_plan(struct digest *outputs, struct worker *w, uint32_t i, struct err *e);

/* run_record.c */
enum err_code record_running(struct session *s, struct store_batch *b, struct err *e);
void record_progress(struct session *s, struct store_batch *b); /* now and then */
enum err_code record_final(struct session *s, struct err *e);
/* The run ends by an error: its record, if there is one, says so, if it can be written. */
void record_broken(struct session *s);

#endif
