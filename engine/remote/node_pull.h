/* Nodes and the shared cache (engine/remote/). What goes wrong there is said once and costs no more
 * than the work that it would have saved. */
#pragma once

#include "engine/session/session.h"

/* Takes what was made under a key, of the node or of a segment of it, into the store. False: the
 * shared cache has none, or there is no shared cache. */
bool node_pull(struct session *s, uint32_t i, const struct digest *key);
/* Whether it has something under a key. */
bool node_is_shared(struct session *s, uint32_t i, const struct digest *key);
/* "NODE WHAT the shared cache: ..." */
void node_note_remote(struct session *s, uint32_t i, const char *what, const struct err *e);
