/* Action keys: what identifies a chunk of work. The preimage is an ActionKey (schemas/action.proto)
 * in canonical form and holds everything that the result may depend on, and nothing else: never a
 * node's name, a path, the number of threads or a time. */
#pragma once

#include "engine/job/job.h"
#include "schemas/action.pb-c.h"

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
