/* At the end of a run: what finished nodes made goes into the shared cache (engine/remote/). */
#pragma once

#include "engine/session/session.h"

/* What is not there yet. */
void nodes_push(struct session *s);
