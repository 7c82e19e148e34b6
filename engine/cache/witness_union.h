/* Witnesses of results (op_set_witness), merged by the op as they come in: those of a leaf's
 * elements, those of a larger block's leaves (map_tree.h). One thread at a time; zero is empty. */
#ifndef ENGINE_WITNESS_UNION_H
#define ENGINE_WITNESS_UNION_H

#include "engine/op.h"

enum {
    UNION_BATCH = 64,       /* merged at a time */
    WITNESS_MAX = 64 << 10, /* bytes; a larger union is dropped */
};

struct witness_union {
    struct arena arena;
    struct span notes[UNION_BATCH];
    size_t n;
    bool lacking; /* one of the results has no witness, so nothing can be said of all */
};

/* Copied; without data: the result has no witness. */
void witness_union_add(struct witness_union *p, const struct op *op, struct span note);
/* One witness for all, good until the next call; without data if there is none. */
struct span witness_union_get(struct witness_union *p, const struct op *op);
/* Empties it. */
void witness_union_clear(struct witness_union *p);

#endif
