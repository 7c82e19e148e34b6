/* Notes of results (op_set_witness) as they come in, united into one by the op: those of a leaf's
 * elements, those of a larger block's leaves (map_tree.h). One thread at a time; zero is an empty
 * pile. */
#ifndef ENGINE_WITNESS_UNION_H
#define ENGINE_WITNESS_UNION_H

#include "engine/op.h"

enum {
    UNION_BATCH = 64,
    WITNESS_MAX = 64 << 10
}; /* united at a time; bytes, beyond which none is kept */

struct witness_union {
    struct arena arena;
    struct span notes[UNION_BATCH];
    size_t n;
    bool lacking; /* one of the results has no note, so nothing can be said of all */
};

/* Copied; without data: the result has no note. */
void witness_union_add(struct witness_union *p, const struct op *op, struct span note);
/* One note for all, good until the pile changes; without data if there is none. */
struct span witness_union_get(struct witness_union *p, const struct op *op);
/* Empties it. */
void witness_union_clear(struct witness_union *p);

#endif
