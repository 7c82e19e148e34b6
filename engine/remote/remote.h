/* A cache that several stores share. It holds one pack (store/pack/) for each node's action, or for
 * the last segment of a chain, under "OP-VERSION/KEY.pack": the outputs with all that they refer to
 * and the inputs do not, the actions of elements and blocks, and their traces. So whoever takes a
 * pack in has what a run of the node would have left. What goes wrong there is said once and costs
 * no more than the work that it would have saved. Thread-safe. */
#pragma once

#include "engine/session/session.h"
#include "store/pack/pack.h"

struct remote_options {
    const char *address; /* a folder, ssh://HOST[:PORT]/PATH or s3://BUCKET[/PREFIX] */
    const char *scratch; /* a folder of this machine for files that are deleted again */
};

/* Sets s->remote. */
enum err_code remote_open(struct session *s, const struct remote_options *o, struct err *e);
void remote_close(struct remote *x);
/* False after a failure of what carries packs: no more is tried. */
bool remote_works(struct remote *x);
/* Whether it has a pack of the node, or of a segment of it. */
bool remote_has(struct node_run *r, const struct digest *key);
/* Takes the pack into the store, verified. False: there is none, or no shared cache. After one that
 * is bad remote_has says no, so that a good one takes its place. */
bool remote_pull(struct node_run *r, const struct digest *key);
/* "NODE WHAT the shared cache: ..." */
void remote_note(struct node_run *r, const char *what, const struct err *e);
/* One at a time. */
void remote_push(struct node_run *r, const struct digest *key, const struct pack_contents *what);
