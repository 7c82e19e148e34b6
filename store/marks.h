/* Marker files beside the database. `suspect` means that something may be missing or bad although
 * actions still refer to it: the next run checks and repairs everything before it trusts an action.
 * Readers that meet damage set it, since they cannot write to the store; so do fsck without
 * --repair and a rebuild. `damaged` means that files of the database are bad: the next writer
 * rebuilds it. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

/* Best effort: if no file can be written, the store cannot be repaired either. */
void mark_suspect(const char *store_path);
bool mark_is_suspect(const char *store_path);
/* Called before and after a repair. A suspicion raised during the repair outlives it, and an
 * interrupted repair leaves the store suspect. */
void mark_repair_begins(const char *store_path);
void mark_repair_ends(const char *store_path);

/* `why` describes the first damage; an earlier mark stays. */
void mark_damaged(const char *store_path, const char *why);
/* Returns the reason, or NULL if the store is not marked. */
const char *mark_damage(struct arena *a, const char *store_path);
void mark_rebuilt(const char *store_path);
