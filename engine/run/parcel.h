/* What goes into a pack of a node's results (store/pack/): outputs with all that they refer to and
 * its inputs do not, actions of the node, its elements and blocks, and their traces. Whoever takes
 * it in has what a run of the node would have left: a rule edited later costs what it touches. */
#pragma once

#include "base/map.h"
#include "engine/session/session.h"
#include "store/pack/pack.h"

struct parcel {
    struct node_run *r;
    struct arena arena, work; /* work: of one step */
    struct pack_root *roots;
    struct digest *actions, *traces; /* keys */
    size_t n_roots, n_actions, n_traces, cap_roots, cap_actions, cap_traces;
    struct digest_map is_action;
};

void parcel_open(struct parcel *p, struct node_run *r);
void parcel_close(struct parcel *p);
/* The key by which others look for the node; a chain's is that of its last segment, so that longer
 * trainings find it. Its action goes into the parcel. */
enum err_code parcel_name(struct digest *name, struct parcel *p, struct err *e);
/* `whole`: the node's outputs. Else, of a map, what its elements gave one by one: some may have
 * failed. *out lives as long as the parcel. */
enum err_code parcel_fill(struct pack_contents *out, struct parcel *p, bool whole, struct err *e);
