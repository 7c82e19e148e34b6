/* Maps: one action per element; see map_node.c. */
#pragma once

#include "engine/node/node.h"

/* False: there is nothing to hand out. */
bool map_new(struct worker *w, struct node_run *r);
void map_free(struct node_run *r);
/* The next elements to do; false when none may be handed out now. Caller holds the mutex. */
bool map_take(uint64_t *from, uint64_t *n, struct node_run *r);
bool map_has_more(const struct node_run *r); /* caller holds the mutex */
/* When planning, elements that are not cheap are only counted: then map_close gives nothing. */
void map_range(struct worker *w, struct node_run *r, uint64_t from, uint64_t n);
/* A range is finished. True: the map is over. Caller holds the mutex. */
bool map_put_back(struct node_run *r);
enum outcome map_close(struct worker *w, struct node_run *r);
