/* The inside of op_ctx, for the engine. A ctx_node holds what all actions of one node share: open
 * collections, side inputs decoded once. An op_ctx is one call of the op: one element, one segment,
 * one whole node; it belongs to one thread (ops may call the functions that say so from others). */
#pragma once

#include "engine/cache/action.h"
#include "engine/job/job.h"

struct node_run;
struct ctx_node;
/* Opens every collection among the inputs. */
enum err_code ctx_node_new(struct ctx_node **out, struct node_run *r, struct err *e);
void ctx_node_free(struct ctx_node *n);
/* Elements of inputs[0] of a map. */
uint64_t ctx_node_elements(const struct ctx_node *n);
enum err_code ctx_node_element(struct digest *id, struct ctx_node *n, uint64_t i, struct err *e);

/* An op may say in the middle of its run all that its result depends on from there on (op_recall);
 * a trace leads from that to the action that did the rest. So an element that changed where the op
 * does not look costs the looking, and its result is reused. */
struct recall {
    bool may; /* earlier results may be used */
    bool asked, found;
    struct digest at; /* in `traces`: of what is read, with op, version, numerics, parameters */
    struct action_result made; /* found: the result, and the note that says why */
};

/* Parts of a source's work: a trace leads from the key of each to what it emitted. */
struct source_parts {
    size_t *from;         /* by op->outputs: what was emitted before the part */
    uint64_t made, again; /* of those that emitted anything */
};

struct op_ctx {
    const struct node *node;
    struct arena *arena;
    struct ctx_node *shared;       /* NULL: parameters only */
    const struct digest *element;  /* map */
    void *share;                   /* map: what op.together did for the element */
    const struct digest *previous; /* chain, after the first segment */
    uint64_t segment;
    const struct op_file *files; /* source */
    size_t n_files;
    struct source_parts parts;
    struct pool *pool;
    int card;                  /* -1: none */
    struct store_batch *batch; /* NULL: nothing may be emitted (prepare) */
    struct id_list *outputs;   /* by op->outputs, grown by op_emit */
    size_t *output_caps;
    /* Which record could not be read, if any: then the failure is the store's, not the op's. */
    char lost[512];
    struct span witness; /* what the op left for later reuse; data NULL: nothing */
    struct recall recall;
};

/* An earlier result of an element or block, for op.reuse. */
struct op_earlier {
    struct action_result made; /* its key includes the side inputs of that time */
    struct span witness;
};

/* `batch` NULL: for prepare and for counting segments. */
void ctx_init(struct op_ctx *ctx, struct node_run *r, struct arena *a, struct store_batch *batch);
/* Every output that must be there is there, and those of one record are one. */
enum err_code ctx_check_outputs(const struct op_ctx *ctx, struct err *e);
/* An element of a collection among the inputs. */
enum err_code ctx_get_element(void *out, struct op_ctx *ctx, size_t port, uint64_t i,
                              struct arena *a, struct err *e);
/* op_emit_file of a file with a name. */
enum err_code ctx_emit_named_file(struct op_ctx *ctx, const char *role, const char *name,
                                  struct span data, const char *media_type, struct err *e);
/* What was emitted, one id by output (or none): collections are built. */
enum err_code ctx_collected(struct action_result *out, struct op_ctx *ctx, struct arena *a,
                            struct err *e);
/* Into the batch: a trace from what op_recall was asked for to this action. */
enum err_code recall_write(struct store_batch *b, struct op_ctx *ctx, const struct digest *action,
                           struct err *e);
/* Frees what op_emit grew. */
void ctx_finish(struct op_ctx *ctx);
