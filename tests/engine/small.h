/* The graph of many tests: two sources, two maps, a task, a chain. */
#pragma once

#include "place.h"

enum { SEEDS, NAMES, UPPER, FIRST, JOINED, MODEL };
struct graph *small_graph(struct place *p, const char *lines, const char *names);
/* Of an Expr. */
const char *text_of(struct place *p, const struct digest *id);
