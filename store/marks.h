/* Marks beside the database. `suspect` says that something may be missing or bad although actions
 * still lead to it: the next run checks and repairs all before it believes any action. Readers
 * leave it when they meet damage, since they cannot write to the store; fsck without --repair and a
 * rebuild leave it, too. `damaged` says that files of the database are bad: the next writer
 * rebuilds it. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

/* Best effort: where nothing can be written, nothing can be repaired either. */
void mark_suspect(const char *store_path);
bool mark_is_suspect(const char *store_path);
/* Around a repair: what is suspected meanwhile stays suspected after it. A repair that was cut off
 * leaves the store suspected. */
void mark_repair_begins(const char *store_path);
void mark_repair_ends(const char *store_path);

/* `why` is what was found bad first; an earlier mark stays. */
void mark_damaged(const char *store_path, const char *why);
/* NULL if it is not marked. */
const char *mark_damage(struct arena *a, const char *store_path);
void mark_rebuilt(const char *store_path);
