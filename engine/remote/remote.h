/* A cache that several stores share. It holds one pack (store/pack/) for each node's action, or for
 * the last segment of a chain, under "OP-VERSION/KEY.pack": the outputs with all that they refer to
 * and the inputs do not, the actions of elements and blocks, and their traces. So whoever takes a
 * pack in has what a run of the node would have left. Thread-safe. */
#pragma once

#include "engine/op.h"
#include "store/pack/pack.h"

struct remote_options {
    const char *address; /* a folder, ssh://HOST[:PORT]/PATH or s3://BUCKET[/PREFIX] */
    const char *scratch; /* a folder of this machine for files that are deleted again */
    bool (*cancelled)(void *arg);
    void *arg;
};

struct remote;
enum err_code remote_open(struct remote **out, const struct remote_options *o, struct err *e);
void remote_close(struct remote *r);
/* False after a failure of what carries packs: no more is tried. */
bool remote_works(struct remote *r);
/* Whether it has a pack. */
enum err_code remote_has(bool *out, struct remote *r, const struct op *op, const struct digest *key,
                         struct err *e);
/* Takes the pack into the store, verified. After one that is bad remote_has says no, so that a
 * good one takes its place. */
enum err_code remote_pull(struct pack_result *out, struct remote *r, struct store *s,
                          const struct op *op, const struct digest *key, struct err *e);
/* One at a time. */
enum err_code remote_push(struct pack_result *out, struct remote *r, struct store *s,
                          const struct op *op, const struct digest *key,
                          const struct pack_contents *what, struct err *e);
