/* Collects the content of a pack (store/pack/) of a node's results: the outputs with every record
 * that they refer to and the inputs do not; the actions of the node, its elements and blocks; and
 * their traces. A store that imports the pack is in the same state as after a run of the node, so a
 * later edit recomputes only what it affects. */
#pragma once

#include "base/map.h"
#include "engine/session/session.h"
#include "store/pack/pack.h"

struct node_pack {
    struct node_run *r;
    struct arena arena, work; /* work: reset after each step */
    struct pack_root *roots;
    struct digest *actions, *traces; /* keys */
    size_t n_roots, n_actions, n_traces, cap_roots, cap_actions, cap_traces;
    struct digest_map is_action;
};

void node_pack_open(struct node_pack *p, struct node_run *r);
void node_pack_close(struct node_pack *p);
/* Sets the key under which other stores look the node up: for a chain that of its last segment, so
 * that longer trainings find it. Adds the action of this key to the pack. */
enum err_code node_pack_name(struct digest *name, struct node_pack *p, struct err *e);
/* If `whole`, packs the node's outputs; otherwise, for a map, the outputs of each element, since
 * some elements may have failed. *out is valid as long as the pack. */
enum err_code node_pack_fill(struct pack_contents *out, struct node_pack *p, bool whole,
                             struct err *e);
