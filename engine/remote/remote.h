/* A cache that several stores share. It holds one pack (store/pack/, run/node_pack.h) per node
 * action, or for the last segment of a chain, under "OP-VERSION/KEY.pack": the outputs with every
 * record that they refer to and the inputs do not, the actions of elements and blocks, and their
 * traces. A store that imports a pack is in the same state as after a run of the node. Failures of
 * the cache are reported once and cost no more than the work that it would have saved. Thread-safe.
 */
#pragma once

#include "engine/session/session.h"
#include "store/pack/pack.h"

struct remote_options {
    const char *address; /* a folder, ssh://HOST[:PORT]/PATH or s3://BUCKET[/PREFIX] */
    const char *scratch; /* a local folder for temporary files */
};

/* Sets s->remote. */
enum err_code remote_open(struct session *s, const struct remote_options *o, struct err *e);
void remote_close(struct remote *x);
/* Returns false after a transport failure: the cache is not used again in this run. */
bool remote_works(struct remote *x);
/* Returns whether the cache has a pack of the node, or of a segment of it. */
bool remote_has(struct node_run *r, const struct digest *key);
/* Verifies the pack and imports it into the store. Returns false if there is no pack or no shared
 * cache. After a bad pack remote_has returns false, so that a good one replaces it. */
bool remote_pull(struct node_run *r, const struct digest *key);
/* Prints "NODE WHAT the shared cache: ...". */
void remote_note(struct node_run *r, const char *what, const struct err *e);
/* Uploads a pack. Calls must not overlap. */
void remote_push(struct node_run *r, const struct digest *key, const struct pack_contents *what);
