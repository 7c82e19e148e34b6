/* Actions. A key identifies a chunk of work: its preimage is an ActionKey (schemas/action.proto) in
 * canonical form and holds everything that the result may depend on, and nothing else: never a
 * node's name, a path, the number of threads or a time. Under it is stored what the action made:
 * outputs by role, cost, the run. Works for whole nodes (one id a role: a record or a collection),
 * elements of maps (any number) and segments of chains. */
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
    const char *numerics; /* enters only if the op says that its result depends on it */
    const struct key_input *inputs;
    size_t n_inputs;
    /* Chain segments: the text that replaces the parameters, and the key of the segment before
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
/* The key with one input, of a role that only this purpose uses ("@reads"), or of a map's
 * element without its side inputs. */
enum err_code key_of_input(struct key *out, struct arena *a, const struct node *node,
                           const char *numerics, const char *role, const struct digest *id,
                           struct err *e);
/* The numerics class of this machine: results of ops that depend on it may differ in the last bit
 * between classes, and are the same within one. */
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
    const Eqloom__ActionKey *key; /* of one that was read: its preimage, or NULL */
    uint64_t elements;            /* of a whole map or chain */
    uint64_t cost_ns;
    int64_t finished_ns;
    const char *run;
    const char *note; /* of an element, for people; may be NULL */
    /* By op->outputs, of a block of a map's input (map_tree.h); else NULL. Then the outputs are
     * the collections, one each. */
    struct slice *slices;
};

/* ERR_NOTFOUND when there is no such action, or none that can be understood. */
enum err_code action_read(struct action_result *out, struct arena *a, struct store *s,
                          const struct op *op, const struct digest *key, struct err *e);
/* Whether every output exists. */
bool action_is_whole(struct store *s, const struct op *op, const struct action_result *made);
/* Reads an action of which all outputs exist. */
bool action_find(struct action_result *out, struct arena *a, struct store *s, const struct op *op,
                 const struct digest *key);
enum err_code action_write(struct store_batch *b, struct arena *a, const struct op *op,
                           const struct key *key, const struct action_result *made, struct err *e);

/* Traces: shortcuts from a digest (of an element, of what is read) to the action that made the
 * result, and to the witness that its op left. One that is missing, old or leads nowhere costs no
 * more than the work that it would have saved. */
struct trace {
    struct digest action;
    struct digest made_by; /* the action that ran, under which the witness is stored; zero: none */
    struct span witness;   /* in the arena */
};

/* False: there is none that can be understood. */
bool trace_read(struct trace *out, struct arena *a, struct store *s, const struct digest *at);
bool trace_parse(struct trace *out, struct arena *a, struct span bytes);
enum err_code trace_write(struct store_batch *b, struct arena *a, const struct digest *at,
                          const struct trace *trace, struct err *e);
/* The action that it leads to, if that is stored. */
bool trace_follow(struct action_result *out, struct arena *a, struct store *s, const struct op *op,
                  const struct digest *at);
