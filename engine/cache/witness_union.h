/* Witnesses of results (op_set_witness), merged by the op as they come in: those of a leaf's
 * elements, those of a larger block's leaves (map_tree.h). One thread at a time; zero is empty. */
#pragma once

#include "engine/op.h"

enum {
    UNION_BATCH = 64,       /* merged at a time */
    WITNESS_MAX = 64 << 10, /* bytes; a larger union is dropped */
};

struct witness_union {
    struct arena arena;
    struct span witnesses[UNION_BATCH];
    size_t n;
    bool lacking; /* one of the results has no witness: then the union has none */
};

/* Copies the witness. One without data: the result has none. */
void witness_union_add(struct witness_union *p, const struct op *op, struct span witness);
/* One witness for all results, valid until the next call; without data if there is none. */
struct span witness_union_get(struct witness_union *p, const struct op *op);
void witness_union_clear(struct witness_union *p);
