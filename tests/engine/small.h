/* The graph of many tests: two sources, two maps, a task, a chain. */
#pragma once

#include "place.h"

enum { SEEDS, NAMES, UPPER, FIRST, JOINED, MODEL };
void small_graph(struct graph *g, const char *lines, const char *names);
/* Of an Expr. */
const char *text_of(struct place *p, const struct digest *id);
