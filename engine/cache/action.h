/* Actions. A key identifies a unit of work: its preimage is an ActionKey (schemas/action.proto) in
 * canonical form and holds everything that the result may depend on, and nothing else: no node
 * name, path, number of threads or time. The store maps it to the result: outputs by role, cost,
 * the run. Actions exist for whole nodes (one id per role: a record or a collection), elements of
 * maps (any number of ids) and segments of chains. */
#pragma once

#include "engine/job/job.h"
#include "schemas/action.pb-c.h"
#include "store/store.h"

struct key_input {
    const char *role;
    const struct digest *ids;
    size_t n; /* 0: absent, and absent from the key */
};

struct key_spec {
    const struct node *node;
    const char *numerics; /* part of the key only if the op declares that its result depends on it
                           */
    const struct key_input *inputs;
    size_t n_inputs;
    /* Chain segments: the text that replaces the parameters, and the key of the previous segment
     * (NULL in the first one). */
    const char *segment;
    const struct digest *after;
};

struct key {
    struct digest digest;
    Eqloom__ActionKey *message;
};

enum err_code key_make(struct key *out, struct arena *a, const struct key_spec *spec,
                       struct err *e);
/* Makes a key with a single input: one whose role has a special purpose ("@reads"), or a map's
 * element without its side inputs. */
enum err_code key_of_input(struct key *out, struct arena *a, const struct node *node,
                           const char *numerics, const char *role, const struct digest *id,
                           struct err *e);
/* Returns the numerics class of this machine. Results of ops that depend on it may differ in the
 * last bit between classes; within a class they are identical. */
const char *key_numerics(void);

struct id_list {
    struct digest *ids;
    size_t n;
};

/* Elements [from, from + n) of a collection. */
struct slice {
    struct digest collection;
    uint64_t from, n;
};

struct action_result {
    struct id_list *outputs;      /* by op->outputs */
    const Eqloom__ActionKey *key; /* the preimage, if the action was read; may be NULL */
    uint64_t elements;            /* of a whole map or chain */
    uint64_t cost_ns;
    int64_t finished_ns;
    const char *run;
    const char *note; /* of an element, for display; may be NULL */
    bool foreign;     /* it rests on a claim of a pack */
    /* For a block of a map's input (map_tree.h), by op->outputs; else NULL. The outputs are then
     * the collections, one each. */
    struct slice *slices;
};

/* Fails with ERR_NOTFOUND if there is no such action or it cannot be parsed. */
enum err_code action_read(struct action_result *out, struct arena *a, struct store *s,
                          const struct op *op, const struct digest *key, struct err *e);
/* Returns whether every output exists. */
bool action_is_complete(struct store *s, const struct op *op, const struct action_result *made);
/* Reads an action; returns false unless all of its outputs exist. */
bool action_find(struct action_result *out, struct arena *a, struct store *s, const struct op *op,
                 const struct digest *key);
enum err_code action_write(struct store_batch *b, struct arena *a, const struct op *op,
                           const struct key *key, const struct action_result *made, struct err *e);

/* Traces: shortcuts from a digest (of an element, of stated reads) to the action that made the
 * result, and to the witness that its op stored. A missing, stale or dangling trace costs no more
 * than the work that it would have saved. */
struct trace {
    struct digest action;
    struct digest made_by; /* the action that ran; key of the witness; zero: none */
    struct span witness;   /* in the arena */
    bool foreign;          /* a claim of a pack */
};

/* Returns false if there is no trace or it cannot be parsed. */
bool trace_read(struct trace *out, struct arena *a, struct store *s, const struct digest *at);
bool trace_parse(struct trace *out, struct arena *a, struct span bytes);
enum err_code trace_write(struct store_batch *b, struct arena *a, const struct digest *at,
                          const struct trace *trace, struct err *e);
/* Removes the actions of this op, and all traces, that are claims of packs. */
enum err_code action_forget_claims(struct store *s, const struct op *op, struct err *e);
/* Reads the action that the trace refers to. Returns false if it is not stored. */
bool trace_follow(struct action_result *out, struct arena *a, struct store *s, const struct op *op,
                  const struct digest *at);
