/* The difference of two action keys in words: "rules changed: 1 edited (trig/tan-def); param steps:
 * 1000 -> 2000". */
#ifndef ENGINE_EXPLAIN_H
#define ENGINE_EXPLAIN_H

#include "engine/graph.h"
#include "schemas/action.pb-c.h"
#include "store/store.h"

/* Collections that were computed but not stored (sources read by `plan`). */
struct unstored {
    struct digest id;
    struct digest *ids;
    char **labels;
    size_t n;
};
struct unstored_set {
    struct unstored *lists;
    size_t n, cap;
};
const struct unstored *unstored_find(const struct unstored_set *set, const struct digest *id);

/* One line; "" when the keys are equal. `unstored` may be NULL. What cannot be read any more is
 * described without its details; never fails. */
char *explain_difference(struct arena *a, struct store *s, const struct unstored_set *unstored,
                         const struct node *node, const Eqloom__ActionKey *before,
                         const Eqloom__ActionKey *now);

#endif
