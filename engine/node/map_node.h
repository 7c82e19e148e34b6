/* Runs maps: one action per element; see map_node.c. */
#pragma once

#include "engine/node/node.h"

/* Returns false if there are no elements to hand out. */
bool map_new(struct worker *w, struct node_run *r);
void map_free(struct node_run *r);
/* Takes the next range of elements. Returns false if none may start now. Caller holds the mutex. */
bool map_take(uint64_t *from, uint64_t *n, struct node_run *r);
bool map_has_more(const struct node_run *r); /* caller holds the mutex */
/* Runs a range. A plan only counts elements that are not cheap; map_close then returns no outputs.
 */
void map_range(struct worker *w, struct node_run *r, uint64_t from, uint64_t n);
/* Records that a range is finished. Returns true if it was the last one. Caller holds the mutex. */
bool map_finish_range(struct node_run *r);
enum outcome map_close(struct worker *w, struct node_run *r);
