/* A thread that shows how far something came, while the thread that does it is busy with it. */
#ifndef ENGINE_TICKER_H
#define ENGINE_TICKER_H

#include "engine/run/progress.h"

struct ticker;
/* NULL, which may be freed, if no thread can be had: then nothing is shown. */
struct ticker *ticker_new(struct progress *p);
void ticker_free(struct ticker *t);

#endif
