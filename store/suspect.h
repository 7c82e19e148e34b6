/* Suspicion: a file beside the database says that something in the store may be missing or bad
 * although actions still lead to it. Readers leave it where they met damage (they cannot write to
 * the store), a rebuild does, and fsck without repair. The next run heals before it believes any
 * action; without the file that costs one look at a directory. */
#ifndef STORE_SUSPECT_H
#define STORE_SUSPECT_H

#include "store/maintain.h"

/* Best effort: where nothing can be written, nothing can be healed either. */
void suspect_mark(const char *store_path);
bool suspect_is_marked(const char *store_path);
/* Around a repair: what is suspected meanwhile stays suspected after it. */
void suspect_begin(const char *store_path);
void suspect_end(const char *store_path);

/* Writer: if there is suspicion, checks and repairs everything (see store_fsck). *checked says
 * whether there was. */
enum err_code store_heal(bool *checked, struct fsck_result *out, struct store *s, struct err *e);

#endif
