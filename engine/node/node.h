/* Functions that all kinds of nodes share (node.c): keys and inputs, the reason why a node runs,
 * failures and damaged records, commits. */
#pragma once

#include "engine/cache/source_files.h"
#include "engine/session/session.h"

/* The result of an attempt at a node or a part of it. */
enum outcome {
    OUT_DONE,
    OUT_OPEN,       /* has work to hand out */
    OUT_ON_CLUSTER, /* has work for a cluster */
    OUT_FAILED,     /* node_run.failure has the reason */
    OUT_DROPPED,    /* the run was interrupted, ends, or must repair the store first */
};

void node_bind(struct node_run *r); /* sets inputs from other nodes' outputs; caller holds the mutex
                                     */
/* Sets the node's key from the first n_inputs inputs. */
enum err_code node_make_key(struct node_run *r, size_t n_inputs, struct err *e);
/* Appends the ids of the node's files to its first n_inputs inputs and returns the files. */
enum err_code node_add_files(struct source_files *files, struct node_run *r, size_t n_inputs,
                             struct store_batch *b, struct err *e);
/* Computes the key of one element of a map, or of a block of its input. */
enum err_code node_element_key(struct key *key, struct node_run *r, struct arena *a,
                               const struct digest *id, struct err *e);
/* Returns whether an element's action and all of its outputs are stored. Always sets *key; this
 * cannot fail because the node's key has been made from the same parameters. */
bool node_find_element(struct action_result *made, struct key *key, struct node_run *r,
                       struct arena *a, const struct digest *id);
/* Returns, in one line, why the node has to run. */
char *node_reason(struct node_run *r, struct arena *a, bool output_missing);
/* For a cached node: names the inputs that were recomputed and came out the same (early cutoff), or
 * returns NULL. */
char *node_cut_off(struct node_run *r);
/* Appends to the node's `why` how many elements were reused, and for which reasons. */
void node_explain_reuse(struct node_run *r);

/* Prepares the op once per attempt, in the first caller. */
enum err_code node_prepare(struct node_run *r, struct err *e);
/* Sets the node's outputs to those of a result. */
void node_adopt(struct node_run *r, const struct action_result *made);
/* Writes the node's action and refs, and waits until they are in the store. */
enum outcome node_commit(struct worker *w, struct node_run *r, struct action_result *made);
enum err_code node_write_refs(struct store_batch *b, struct node_run *r, struct err *e);
/* Sets a ref unless it already has this value. */
enum err_code node_set_ref(struct store_batch *b, struct store *s, const char *name,
                           const struct digest *id, struct err *e);
/* With --check: compares with the stored result of the same action. If that was made here, fails if
 * the outputs differ. If it is the claim of a pack, says so, and sets *replace: `now` is to be
 * stored. */
enum err_code node_check_same(bool *replace, struct node_run *r, const char *where,
                              const struct action_result *before, const struct action_result *now,
                              struct err *e);

enum outcome node_fail(struct node_run *r, const char *where, const struct err *e);
/* Classifies an op's error as failure, lost record or interruption. */
enum outcome node_op_failed(struct worker *w, struct node_run *r, const struct op_ctx *ctx,
                            const char *where, const struct err *failure);
/* Ends the run because the store failed. */
enum outcome node_store_failed(struct worker *w, const struct err *e);
/* If the store lacks a record, sets session.lost, which leads to a repair; any other error ends the
 * run. */
enum outcome node_read_failed(struct worker *w, struct node_run *r, const struct err *failure);
char *node_failure_text(struct arena *a, const struct node *node, const char *where,
                        const struct err *e);

/* ---- what the scheduler calls: node_work.c ---- */
/* Looks the node up; returns OUT_OPEN if it has to run. */
enum outcome node_begin(struct worker *w, struct node_run *r);
/* Runs a whole task or chain. */
enum outcome node_run_whole(struct worker *w, struct node_run *r);
void node_end_attempt(struct node_run *r);
/* Looks a source up and, if its files are new, runs it into the batch. Sets the node's outputs,
 * refs, state (NODE_RAN if it output anything that the store did not have) and reason. With
 * --check, a difference is a failure of the node. */
enum err_code source_read(struct node_run *r, struct store_batch *b, struct err *e);
