/* At the end of a run: what finished nodes made goes into the shared cache (engine/remote/). */
#ifndef ENGINE_NODE_PUSH_H
#define ENGINE_NODE_PUSH_H

#include "engine/session/session.h"

/* What is not there yet. */
void nodes_push(struct session *s);

#endif
