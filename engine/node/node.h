/* What all kinds of nodes share (node.c): keys and inputs, why a node runs, failures and damage,
 * commits. */
#pragma once

#include "engine/cache/source_files.h"
#include "engine/session/session.h"

/* How an attempt at (a part of) a node ended. */
enum outcome {
    OUT_DONE,
    OUT_OPEN,    /* has work to hand out */
    OUT_AWAY,    /* has work for the cluster */
    OUT_FAILED,  /* node_run.failure says why */
    OUT_DROPPED, /* interrupted, or the run ends, or heals the store first */
};

void node_bind(struct node_run *r); /* inputs from outputs; caller holds the mutex */
/* From the first n_inputs of the inputs. */
enum err_code node_make_key(struct node_run *r, size_t n_inputs, struct err *e);
/* Adds the ids of the node's files behind n_inputs inputs, and gives the files. */
enum err_code node_add_files(struct source_files *files, struct node_run *r, size_t n_inputs,
                             struct store_batch *b, struct err *e);
/* The key of one element of a map, or of a block of its input. */
enum err_code node_element_key(struct key *key, struct node_run *r, struct arena *a,
                               const struct digest *id, struct err *e);
/* What is stored of an element, if all of it is. The key in any case: that of the node was made of
 * the same parameters. */
bool node_find_element(struct action_result *made, struct key *key, struct node_run *r,
                       struct arena *a, const struct digest *id);
/* One line: the reason why the node has to run. */
char *node_reason(struct node_run *r, struct arena *a, bool output_missing);
/* Of a cached node: which inputs were made anew and came out the same (early cutoff); NULL: none.
 */
char *node_cut_off(struct node_run *r);
/* Adds to the node's `why` how many elements were reused, and why. */
void node_explain_reuse(struct node_run *r);

/* Once per attempt, whoever comes first. */
enum err_code node_prepare(struct node_run *r, struct err *e);
/* Takes the outputs of a result over. */
void node_adopt(struct node_run *r, const struct action_result *made);
/* Writes the node's action and refs, and waits until they are in the store. */
enum outcome node_commit(struct worker *w, struct node_run *r, struct action_result *made);
enum err_code node_write_refs(struct store_batch *b, struct node_run *r, struct err *e);
/* Sets a ref unless it has this value. */
enum err_code node_set_ref(struct store_batch *b, struct store *s, const char *name,
                           const struct digest *id, struct err *e);
/* Refuses outputs that differ from those of an earlier run of the same action. */
enum err_code node_check_same(const struct op *op, const struct action_result *before,
                              const struct action_result *now, struct err *e);

enum outcome node_fail(struct node_run *r, const char *where, const struct err *e);
/* Sorts the end of an op into failure, loss and interruption. */
enum outcome node_op_failed(struct worker *w, struct node_run *r, const struct op_ctx *ctx,
                            const char *where, const struct err *failure);
/* The store itself failed: the run ends. */
enum outcome node_store_failed(struct worker *w, const struct err *e);
/* Where the store lacks a record, the node is lost; any other error ends the run. */
enum outcome node_cannot_read(struct worker *w, struct node_run *r, const struct err *failure);
char *node_failure_text(struct arena *a, const struct node *node, const char *where,
                        const struct err *e);

/* ---- what the scheduler calls: node_work.c ---- */
/* Looks the node up; OUT_OPEN: it has to run. */
enum outcome node_begin(struct worker *w, struct node_run *r);
/* All of a task or chain. */
enum outcome node_whole(struct worker *w, struct node_run *r);
void node_end_attempt(struct node_run *r);
/* Looks a source up and, if its files are new, runs it into the batch. Sets the node's outputs,
 * refs, state (NODE_RAN: it gave something that the store did not have) and reason. Under --check,
 * a difference is the node's failure. */
enum err_code source_read(struct node_run *r, struct store_batch *b, struct err *e);
