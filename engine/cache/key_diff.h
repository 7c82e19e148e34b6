/* The difference of two action keys in words: "rules changed: 1 edited (trig/tan-def); param steps:
 * 1000 -> 2000". */
#pragma once

#include "engine/job/job.h"
#include "schemas/action.pb-c.h"
#include "store/store.h"

/* Returns one line; "" if the keys are equal. Records that can no longer be read are described
 * without details; never fails. */
char *explain_difference(struct arena *a, struct store *s, const struct node *node,
                         const Eqloom__ActionKey *before, const Eqloom__ActionKey *now);
