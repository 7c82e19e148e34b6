/* What goes into a pack of a node's results (store/pack/): outputs with all that they refer to and
 * its inputs do not, actions of the node, its elements and blocks, and their traces. Whoever takes
 * it in has what a run of the node would have left: a rule edited later costs what it touches. */
#pragma once

#include "base/map.h"
#include "engine/session/session.h"
#include "store/pack/pack.h"

struct parcel {
    struct worker work;
    struct arena arena;
    uint32_t node;
    struct pack_root *roots;
    struct digest *actions, *traces; /* keys */
    size_t n_roots, n_actions, n_traces, cap_roots, cap_actions, cap_traces;
    struct digest_map is_action;
};

void parcel_open(struct parcel *p, struct session *s, uint32_t i);
void parcel_close(struct parcel *p);
/* The key by which others look for the node; a chain's is that of its last segment, so that longer
 * trainings find it. Its action goes into the parcel. */
enum err_code parcel_name(struct digest *name, struct parcel *p, struct err *e);
/* `whole`: the node's outputs. Else, of a map, what its elements gave one by one: some may have
 * failed. */
enum err_code parcel_fill(struct parcel *p, bool whole, struct err *e);
/* Lives as long as the parcel. */
void parcel_contents(struct pack_contents *out, struct parcel *p);
