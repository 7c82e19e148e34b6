/* Maps: one action per element; see map_node.c. */
#pragma once

#include "engine/node/node.h"

enum { MAP_WINDOW = 4096, MAP_RANGE = 64 };

void map_new(struct worker *w, uint32_t i);
bool map_has_work(const struct session *s, uint32_t i); /* before any was handed out */
void map_free(struct map_run *m, const struct op *op);
/* The next elements to do; false when none may be handed out now. Caller holds the mutex. */
bool map_take(uint64_t *from, uint64_t *n, struct session *s, uint32_t i);
bool map_has_more(struct session *s, uint32_t i); /* caller holds the mutex */
/* When planning, elements that are not cheap are only counted: then map_close gives nothing. */
void map_range(struct worker *w, uint32_t i, uint64_t from, uint64_t n);
bool map_is_over(struct session *s, uint32_t i);  /* caller holds the mutex */
void map_put_back(struct session *s, uint32_t i); /* a range is finished; holds the mutex */
enum outcome map_close(struct worker *w, uint32_t i);
