/* Notes of results (op_trace) as they come in, united into one by the op: those of a leaf's
 * elements, those of a larger block's leaves (map_tree.h). One thread at a time; zero is an empty
 * pile. */
#ifndef ENGINE_WITNESS_UNION_H
#define ENGINE_WITNESS_UNION_H

#include "engine/op.h"

enum {
    NOTE_PILE = 64,
    NOTE_MAX = 64 << 10
}; /* united at a time; bytes, beyond which none is kept */

struct note_pile {
    struct arena arena;
    struct span notes[NOTE_PILE];
    size_t n;
    bool lacking; /* one of the results has no note, so nothing can be said of all */
};

/* Copied; without data: the result has no note. */
void note_pile_add(struct note_pile *p, const struct op *op, struct span note);
/* One note for all, good until the pile changes; without data if there is none. */
struct span note_pile_all(struct note_pile *p, const struct op *op);
/* Empties it. */
void note_pile_clear(struct note_pile *p);

#endif
