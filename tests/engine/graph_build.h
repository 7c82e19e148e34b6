/* Jobs built by hand, and small ops to fill them: what the tests of the engine run. */
#pragma once

#include "engine/job/job.h"

#include <stdatomic.h>

enum { GRAPH_NODES = 64 };

struct graph {
    struct arena *arena;
    const char *dir;
    struct job job;
    struct node nodes[GRAPH_NODES];
};

/* Lives in the arena. */
struct graph *graph_in(struct arena *a, const char *dir, const char *name);
/* params: "repeat=2 ms=1". inputs: "exprs=seeds names=rules.names list=a,b"; for sources, files of
 * `dir` separated by blanks. */
uint32_t graph_add(struct graph *g, const char *name, const char *op, const char *params,
                   const char *inputs);

/* In toy_chains.c and toy_rank.c; op_table and all other ops are in toy_ops.c. */
extern const struct op toy_fold, toy_spell, toy_rank;
enum err_code toy_emit(struct op_ctx *ctx, const char *role, const char *text, struct err *e);

/* How often ops ran, by anybody in this process. */
extern atomic_int ops_ran, ops_prepared;
extern atomic_int ops_together;   /* calls of op.together */
extern atomic_int ops_lines;      /* that `lines` parsed */
extern atomic_int ops_summarized; /* elements */
extern atomic_int ops_asked;      /* questions to `rank`, about elements or blocks */
/* How many run at this moment, and the most at once that a `parallel` op saw beside itself. */
extern atomic_int ops_beside;
extern atomic_int ops_on_cards; /* how many `card` began */
/* `ops_signals` becomes 1, as by Ctrl-C, when `upper` has run so many more elements; 0: never. */
extern atomic_int ops_until_signal;
extern volatile int ops_signals;
/* Makes the op `count` differ from run to run. */
extern atomic_int ops_drift;
