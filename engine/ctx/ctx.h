/* The internals of op_ctx, for the engine. A ctx_node holds the state that all actions of one node
 * share: open collections, side inputs decoded once. An op_ctx is one call of the op, for an
 * element, a segment or a whole node. It belongs to one thread, except for functions that op.h
 * documents as callable from others. */
#pragma once

#include "engine/cache/action.h"
#include "engine/job/job.h"

struct node_run;
struct ctx_node;
/* Opens every collection among the inputs. */
enum err_code ctx_node_new(struct ctx_node **out, struct node_run *r, struct err *e);
void ctx_node_free(struct ctx_node *n);
/* Returns the number of elements of a map's inputs[0]. */
uint64_t ctx_node_elements(const struct ctx_node *n);
enum err_code ctx_node_element(struct digest *id, struct ctx_node *n, uint64_t i, struct err *e);

/* In the middle of its run an op may state everything that the rest of its result depends on
 * (op_recall); a trace maps that to the action that computed the rest. If an element changed only
 * where the op does not look, its earlier result is reused. */
struct recall {
    bool allowed; /* earlier results may be reused */
    bool asked, found;
    struct digest at; /* key in `traces`: the stated reads, op, version, numerics, parameters */
    struct action_result made; /* found: the result, and a note with the reason */
};

/* Parts of a source's work: a trace maps the key of each part to the records that it emitted. */
struct source_parts {
    size_t *from;         /* by op->outputs: number of records emitted before the part */
    uint64_t ran, reused; /* parts that ran and parts that were reused, if they emitted anything */
};

struct op_ctx {
    const struct node *node;
    struct arena *arena;
    struct ctx_node *shared;       /* NULL: parameters only */
    const struct digest *element;  /* map */
    void *share;                   /* map: the element's share from op.together */
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
    /* The message of the first record that could not be read, or "". If set, the failure is the
     * store's, not the op's. */
    char lost[512];
    struct span witness; /* stored by the op for later reuse; data NULL: none */
    struct recall recall;
};

/* An earlier result of an element or block, for op.reuse. */
struct op_earlier {
    struct action_result made; /* its key includes the earlier side inputs */
    struct span witness;
};

/* `batch` is NULL in prepare and when segments are counted. */
void ctx_init(struct op_ctx *ctx, struct node_run *r, struct arena *a, struct store_batch *batch);
/* Checks that every required output exists and that each OP_ONE output has one record. */
enum err_code ctx_check_outputs(const struct op_ctx *ctx, struct err *e);
/* Decodes element i of the input `port`. */
enum err_code ctx_get_element(void *out, struct op_ctx *ctx, size_t port, uint64_t i,
                              struct arena *a, struct err *e);
/* op_emit_file for a file with a name. */
enum err_code ctx_emit_named_file(struct op_ctx *ctx, const char *role, const char *name,
                                  struct span data, const char *media_type, struct err *e);
/* Returns the emitted outputs, at most one id per output: builds their collections. */
enum err_code ctx_collected(struct action_result *out, struct op_ctx *ctx, struct arena *a,
                            struct err *e);
/* Adds to the batch a trace from the reads stated to op_recall to this action. */
enum err_code recall_write(struct store_batch *b, struct op_ctx *ctx, const struct digest *action,
                           struct err *e);
/* Frees the arrays that op_emit grew. */
void ctx_finish(struct op_ctx *ctx);
